"""Writes a disk image as macOS's .dmg: the bytes of a volume in compressed chunks (UDIF, zlib)."""

from __future__ import annotations

import plistlib
import struct
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

_SECTOR = 512
_CHUNK_SECTORS = 2048  # 1 MiB
_AT_A_TIME = 32  # chunks in memory, packed on all processors
_LEVEL = 6  # MEASURED: 9 takes twice as long, and saves 0.4 %
_ZLIB, _RAW, _END = 0x80000005, 0x00000001, 0xFFFFFFFF
_CRC32 = 2


def write_dmg(volume: Path, target: Path) -> None:
    """`volume`: a file system, of whole sectors."""
    chunks, crc, written_crc, sectors = [], 0, 0, 0
    with volume.open("rb") as source, target.open("wb") as image:
        for data, packed in _packed(source):
            count = len(data) // _SECTOR
            if count * _SECTOR != len(data):
                raise ValueError(f"{volume}: no whole number of sectors")
            kind, stored = (_ZLIB, packed) if len(packed) < len(data) else (_RAW, data)
            chunks.append(struct.pack(">2I4Q", kind, 0, sectors, count, image.tell(), len(stored)))
            image.write(stored)
            crc, written_crc, sectors = zlib.crc32(data, crc), zlib.crc32(stored, written_crc), sectors + count
        length = image.tell()
        chunks.append(struct.pack(">2I4Q", _END, 0, sectors, 0, length, 0))
        blocks = plistlib.dumps({"resource-fork": {"blkx": [_partition(chunks, sectors, crc)], "plst": []}})
        image.write(blocks)
        image.write(_trailer(length, len(blocks), sectors, written_crc, crc))


def _packed(source: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Each chunk, as it is and compressed."""
    with ThreadPoolExecutor() as pool:
        while chunks := [data for _ in range(_AT_A_TIME) if (data := source.read(_CHUNK_SECTORS * _SECTOR))]:
            yield from zip(chunks, pool.map(lambda data: zlib.compress(data, _LEVEL), chunks), strict=True)


def _checksum(value: int) -> bytes:
    return struct.pack(">2I", _CRC32, 32) + struct.pack(">I", value).ljust(128, b"\0")


def _partition(chunks: list[bytes], sectors: int, crc: int) -> dict[str, object]:
    header = struct.pack(">4sI3QIi24x", b"mish", 1, 0, sectors, 0, _CHUNK_SECTORS + 8, 0)
    data = header + _checksum(crc) + struct.pack(">I", len(chunks)) + b"".join(chunks)
    return {"Attributes": "0x0050", "CFName": "whole disk", "Data": data, "ID": "0", "Name": "whole disk"}


def _trailer(length: int, plist_length: int, sectors: int, written_crc: int, crc: int) -> bytes:
    start = struct.pack(">4s3I5Q2I16x", b"koly", 4, 512, 1, 0, 0, length, 0, 0, 1, 1)
    middle = _checksum(written_crc) + struct.pack(">2Q120x", length, plist_length)
    master = zlib.crc32(struct.pack(">I", crc))
    return start + middle + _checksum(master) + struct.pack(">IQ12x", 1, sectors)
