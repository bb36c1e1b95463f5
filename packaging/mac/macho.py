"""Mach-O files: what they are built for, what they link, and one architecture of several. Pure Python.

Layouts as in Apple's <mach-o/loader.h>, <mach-o/fat.h> and <kern/cs_blobs.h>.
"""

from __future__ import annotations

import hashlib
import plistlib
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from operator import ne
from pathlib import Path

ARM64 = 0x0100000C
_MACHO_64 = b"\xcf\xfa\xed\xfe"
_FAT = b"\xca\xfe\xba\xbe"
_MOST_ARCHITECTURES = 16  # a Java class begins with the same four bytes, and a larger number
_ID, _LIBRARY, _WEAK, _REEXPORTED, _LAZY = 0xD, 0xC, 0x80000018, 0x8000001F, 0x20
_RPATH, _BUILD, _VERSION_MIN, _SIGNATURE = 0x8000001C, 0x32, 0x24, 0x1D
_BLOBS, _DIRECTORY, _ENTITLEMENTS = b"\xfa\xde\x0c\xc0", 0, 5
_ADHOC, _HARDENED = 0x2, 0x10000
_DIRECTORY_MAGIC = b"\xfa\xde\x0c\x02"
_HASHES = {1: hashlib.sha1, 2: hashlib.sha256}


@dataclass(frozen=True, slots=True)
class MachO:
    architecture: int
    minimum_macos: tuple[int, int]
    sdk: tuple[int, int]
    libraries: tuple[str, ...]
    rpaths: tuple[str, ...]
    signature: Signature | None


@dataclass(frozen=True, slots=True)
class Signature:
    is_adhoc: bool  # by nobody
    is_hardened: bool
    entitlements: dict[str, object]


@dataclass(slots=True)
class _Commands:
    minimum: tuple[int, int] = (0, 0)
    sdk: tuple[int, int] = (0, 0)
    libraries: list[str] = field(default_factory=list)
    rpaths: list[str] = field(default_factory=list)
    signature: Signature | None = None


def read_macho(path: Path) -> MachO | None:
    """None where it is something else. Of several architectures: arm64's, or the first."""
    with path.open("rb") as file:
        start = file.read(4)
        if start not in (_MACHO_64, _FAT):
            return None
        data = start + file.read()
    if start == _FAT:
        parts = _architectures(data)
        if not parts:
            return None
        data = parts.get(ARM64) or next(iter(parts.values()))
        if not data.startswith(_MACHO_64):  # an archive for a linker
            return None
    (architecture,) = struct.unpack_from("<I", data, 4)
    found = _Commands()
    for command, body in _load_commands(data):
        if command == _SIGNATURE:
            at, length = struct.unpack_from("<2I", body, 8)
            found.signature = _read_signature(data[at : at + length])
        _add(found, command, body)
    return MachO(architecture, found.minimum, found.sdk, tuple(found.libraries), tuple(found.rpaths), found.signature)


def unlike_signature(path: Path, sealed: Mapping[int, Path]) -> Iterator[str]:
    """What was changed after it was signed: pages of its only architecture, and files by the number of their hash."""
    data = path.read_bytes()
    if not data.startswith(_MACHO_64):
        yield "of several architectures"
        return
    at = next((struct.unpack_from("<I", body, 8)[0] for kind, body in _load_commands(data) if kind == _SIGNATURE), None)
    if at is None:
        return
    (count,) = struct.unpack_from(">I", data, at + 8)
    for index in range(count):
        start = at + struct.unpack_from(">I", data, at + 16 + 8 * index)[0]
        if data[start : start + 4] != _DIRECTORY_MAGIC:
            continue
        hashes, _name, files, pages, limit, size, kind, _platform, shift = struct.unpack_from(">5I4B", data, start + 16)
        digest = _HASHES[kind]
        told = [data[start + hashes + number * size :][:size] for number in range(-files, pages)]
        ends = [min((page + 1) << shift, limit) for page in range(pages)]
        own = [digest(data[page << shift : end]).digest()[:size] for page, end in enumerate(ends)]
        if limit != at or own != told[files:]:
            yield f"{sum(map(ne, own, told[files:]))} of {pages} pages are not those that were signed"
        for number, file in sealed.items():
            if number > files or told[files - number] != digest(file.read_bytes()).digest()[:size]:
                yield f"signed with another {file.name}"


def thin(path: Path, architecture: int = ARM64) -> bool:
    """Leave one architecture of a file that has several. False: it has no such part, or only one."""
    with path.open("rb") as file:
        if file.read(4) != _FAT:
            return False
    parts = _architectures(path.read_bytes())
    if architecture not in parts:
        return False
    path.write_bytes(parts[architecture])
    return True


def set_sdk(path: Path, sdk: tuple[int, int]) -> None:
    """Of a file of one architecture, not signed yet: macOS gives a program the look of its main executable's SDK."""
    data = bytearray(path.read_bytes())
    (count,) = struct.unpack_from("<I", data, 16)
    offset = 32
    for _ in range(count):
        command, size = struct.unpack_from("<2I", data, offset)
        if command == _BUILD:
            struct.pack_into("<I", data, offset + 16, sdk[0] << 16 | sdk[1] << 8)
        offset += size
    path.write_bytes(data)


def _load_commands(data: bytes) -> Iterator[tuple[int, bytes]]:
    (count,) = struct.unpack_from("<I", data, 16)
    offset = 32
    for _ in range(count):
        command, size = struct.unpack_from("<2I", data, offset)
        yield command, data[offset : offset + size]
        offset += size


def _architectures(data: bytes) -> dict[int, bytes]:
    (count,) = struct.unpack_from(">I", data, 4)
    if count > _MOST_ARCHITECTURES:
        return {}
    parts = {}
    for index in range(count):
        architecture, _subtype, offset, size, _align = struct.unpack_from(">5I", data, 8 + 20 * index)
        parts[architecture] = data[offset : offset + size]
    return parts


def _read_signature(data: bytes) -> Signature | None:
    """Blobs by their kind. None: it has no directory of hashes."""
    if len(data) < 12 or data[:4] != _BLOBS:
        return None
    (count,) = struct.unpack_from(">I", data, 8)
    places = dict(struct.unpack_from(">2I", data, 12 + 8 * index) for index in range(count))
    if _DIRECTORY not in places:
        return None
    (flags,) = struct.unpack_from(">I", data, places[_DIRECTORY] + 12)
    entitlements: dict[str, object] = {}
    if (at := places.get(_ENTITLEMENTS)) is not None:
        (length,) = struct.unpack_from(">I", data, at + 4)
        entitlements = plistlib.loads(data[at + 8 : at + length])
    return Signature(bool(flags & _ADHOC), bool(flags & _HARDENED), entitlements)


def _add(found: _Commands, command: int, data: bytes) -> None:
    if command in (_LIBRARY, _WEAK, _REEXPORTED, _LAZY):
        found.libraries.append(_text(data))
    elif command == _RPATH:
        found.rpaths.append(_text(data))
    elif command == _BUILD:
        found.minimum, found.sdk = map(_version, struct.unpack_from("<2I", data, 12))
    elif command == _VERSION_MIN:
        found.minimum, found.sdk = map(_version, struct.unpack_from("<2I", data, 8))


def _text(data: bytes) -> str:
    (offset,) = struct.unpack_from("<I", data, 8)
    return data[offset:].split(b"\0", 1)[0].decode()


def _version(packed: int) -> tuple[int, int]:
    return packed >> 16, packed >> 8 & 0xFF
