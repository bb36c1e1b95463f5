"""Reads other apps' chats in another process (`child`) into a file to import.

Finds the files with chats in folders and archives, their formats, and what cannot be read.
"""

from __future__ import annotations

import codecs
import json
import math
import os
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

from app.portable.beside import USER_FILES, Beside, Named, Open, beside
from app.portable.problems import NotImported, Unreadable, WhyNotRead, why_not_read
from app.storage.codec import LATEST_S, storable
from app.storage.parts import Attachment, AttachmentKind
from app.system.limited_child import ChildFailed, ChildLimits, Stop, lines_of
from engine import open_plain

LIMITS = ChildLimits(cpu_s=1200, memory_bytes=3 << 30, output_bytes=2 << 30)
_MOST_PROBLEMS = 1000  # kept; more are only counted
LONGEST_NAME = 500  # characters
LONGEST_RESULT = 100_000  # characters of a tool's result
MOST_BYTES = 4 << 30  # of all that is read, unpacked
MOST_FILES = 20_000
MOST_NODES = 200_000  # messages of a chat
_MOST_DEPTH = 12  # of folders
_CHUNK_BYTES = 1 << 20
_BOMB_RATIO = 200  # text never compresses so well
_BOMB_BYTES = 100_000_000
_OF_EXPORT = "user.json"  # where it lies, an export of ChatGPT was unpacked
_ENCRYPTED = 1  # a flag in archives
_AROUND = 1  # levels of folders below the file's in which its pictures may be
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True)
class FoundChats:
    """Chats found in files. `spool`: a chat in each line, in our own format; `missing`: pictures without files."""

    spool: Path
    origins: tuple[str, ...]
    messages: int
    problems: tuple[NotImported, ...]
    more_problems: int = 0
    presets: tuple[dict[str, Any], ...] = ()
    missing: int = 0


def find_chats(paths: Sequence[Path], spool: Path, stop: Stop, progress: Callable[[float], None]) -> FoundChats:
    """Raises Stopped after `stop`. Problems include what cannot be read and a crash of the process."""
    notes = _Notes(progress)
    try:
        for line in lines_of("--read-chats", [str(spool), *map(str, paths)], LIMITS, stop):
            notes.take(json.loads(line))
    except (ChildFailed, ValueError):
        notes.problems.append(NotImported("", WhyNotRead.TOO_MUCH))
        _cut_to_lines(spool)
    kept = tuple(notes.problems[:_MOST_PROBLEMS])
    more = len(notes.problems) - len(kept)
    return FoundChats(spool, tuple(notes.origins), notes.messages, kept, more, tuple(notes.presets), notes.missing)


def _cut_to_lines(spool: Path) -> None:
    """Drop an incomplete last line, left by a process that crashed."""
    with spool.open("a+b") as file:
        file.seek(0)
        file.truncate(sum(len(line) for line in file if line.endswith(b"\n")))


class _Notes:
    def __init__(self, progress: Callable[[float], None]) -> None:
        self._progress = progress
        self.origins: list[str] = []
        self.messages = self.missing = 0
        self.presets: list[dict[str, Any]] = []
        self.problems: list[NotImported] = []

    def take(self, said: dict[str, Any]) -> None:
        if "done" in said:
            self._progress(min(1.0, said["done"] / max(1, said["all"])))
        elif "origin" in said:
            self.origins.append(said["origin"])
            self.messages += said["messages"]
            self.missing += said["missing"]
        elif "preset" in said:
            self.presets.append(said["preset"])
        elif "refused" in said:
            raise OSError(said["refused"], os.strerror(said["refused"]))
        elif "why" in said:
            self.problems.append(NotImported(said["file"], WhyNotRead(said["why"]), said.get("chat", "")))


# Values out of other apps' JSON: of the kind that was hoped for, or the usual one.


def object_at(found: Any, name: str) -> dict[str, Any]:
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, dict) else {}


def list_at(found: Any, name: str) -> list[Any]:
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, list) else []


def text_at(found: Any, name: str) -> str:
    value = found.get(name) if isinstance(found, dict) else None
    return storable(value) if isinstance(value, str) else ""


def name_at(found: Any, name: str) -> str:
    """A short text on one line."""
    return " ".join(text_at(found, name)[:LONGEST_NAME].split())


def number_at(found: Any, name: str) -> float:
    value = found.get(name) if isinstance(found, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e15 or math.isnan(value):
        return 0.0
    return float(value)


def time_at(found: Any, name: str, *, unit_s: float = 1.0) -> float:
    value = number_at(found, name) * unit_s
    return value if 0 < value < LATEST_S else 0.0


def note(name: str) -> Attachment:
    """A note for something that the file does not contain."""
    return Attachment(name, AttachmentKind.NOTE, "", 0)


def options_with(system_prompt: str) -> dict[str, Any] | None:
    """Options of a chat that has this system prompt, if any."""
    return {"system_prompt": system_prompt} if system_prompt else None


# Where chats may be: files, archives of files, folders of files; read as text in chunks. Names in archives are never
# used as paths, and only their pictures are unpacked to the disk.


@dataclass(frozen=True, slots=True)
class Source:
    """`folder`: names of the folders from the chosen one down."""

    name: str
    size_bytes: int
    open: Open
    folder: tuple[str, ...] = ()
    problem: WhyNotRead | None = None
    beside: Beside = field(default_factory=Beside)


def sources(path: Path) -> Iterator[Source]:
    """The sources in a chosen path; one with a problem for what cannot be opened."""
    name = _shown(path.name)
    try:
        if path.is_dir():
            yield from _in_folder(path)
            return
        with open_plain(path) as file:
            if zipfile.is_zipfile(file):
                yield from _in_archive(name, file)
                return
            size_bytes = os.fstat(file.fileno()).st_size
        yield Source(name, size_bytes, partial(open_plain, path), beside=beside(path, _AROUND))
    except OSError as error:
        yield _bad(name, why_not_read(error))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError):
        yield _bad(name, WhyNotRead.NOT_JSON)


def _bad(name: str, why: WhyNotRead) -> Source:
    def nothing() -> AbstractContextManager[IO[bytes]]:
        raise Unreadable(why)

    return Source(name, 0, nothing, problem=why)


def _in_folder(top: Path) -> Iterator[Source]:
    """Links are not followed."""
    count = 0
    files = beside(top, _MOST_DEPTH)
    for folder, below, names in os.walk(top):
        parts = Path(folder).relative_to(top).parts
        below[:] = sorted(each for each in below if each != USER_FILES) if len(parts) < _MOST_DEPTH else []
        of_export = list(filter(_is_of_export, names)) if _OF_EXPORT in names else []
        for name in sorted(of_export or filter(_is_json, names)):
            path = Path(folder) / name
            if path.is_symlink() or not path.is_file():
                continue
            count += 1
            if count > MOST_FILES:
                yield _bad(_shown(top.name), WhyNotRead.TOO_LARGE)
                return
            opened = partial(open_plain, path, os.O_NOFOLLOW)
            yield Source(_shown(name), path.stat().st_size, opened, tuple(map(_shown, parts)), beside=files)


def _is_json(name: str) -> bool:
    """Not what macOS puts beside a file of that name, in archives and on disks of other systems."""
    return name.lower().endswith(".json") and not name.startswith("._")


def _is_of_export(name: str) -> bool:
    return _is_json(name) and name.lower().startswith("conversations")


def _in_archive(name: str, file: IO[bytes]) -> Iterator[Source]:
    """The conversations of an export; in an archive of anything else, all its JSON."""
    with zipfile.ZipFile(file) as archive:
        inside = [each for each in archive.infolist() if _is_json(PurePosixPath(each.filename).name)]
        named = [each for each in inside if _is_of_export(PurePosixPath(each.filename).name)]
        chosen = named or inside
        if not chosen or len(chosen) > MOST_FILES:
            yield _bad(name, WhyNotRead.TOO_LARGE if chosen else WhyNotRead.UNKNOWN)
            return
        folders = [PurePosixPath("/", each.filename.lstrip("/")).parent for each in chosen]
        top = os.path.commonpath(folders)
        files = Beside(lambda: _in(archive))
        unpacked = sum(each.file_size for each in chosen)
        packed = sum(each.compress_size for each in chosen)
        if unpacked > MOST_BYTES or (unpacked > _BOMB_BYTES and unpacked > _BOMB_RATIO * max(1, packed)):
            yield _bad(name, WhyNotRead.TOO_LARGE)
            return
        for member, folder in zip(chosen, folders, strict=True):
            inner = _shown(PurePosixPath(member.filename).name)
            if member.flag_bits & _ENCRYPTED:
                yield _bad(inner, WhyNotRead.ENCRYPTED)
            else:
                opened = partial(archive.open, member)
                parts = tuple(map(_shown, folder.relative_to(top).parts[:_MOST_DEPTH]))
                yield Source(inner, member.file_size, opened, parts, beside=files)


def _in(archive: zipfile.ZipFile) -> Iterator[Named]:
    for each in archive.infolist():
        yield PurePosixPath(each.filename).name, partial(archive.open, each)


def chunks(source: Source, read: Callable[[int], None]) -> Iterator[str]:
    """The text of a source. `read` gets how many bytes were read. Raises Unreadable."""
    decoder: codecs.IncrementalDecoder | None = None
    taken = 0
    try:
        with source.open() as file:
            while data := file.read(_CHUNK_BYTES):
                taken += len(data)
                read(len(data))
                if taken > min(MOST_BYTES, max(source.size_bytes, _CHUNK_BYTES) * 2):
                    raise Unreadable(WhyNotRead.TOO_LARGE)  # more than the archive said
                if decoder is None:
                    decoder, data = _decoder(data)
                yield decoder.decode(data)
        if decoder is not None:
            yield decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise Unreadable(WhyNotRead.NOT_JSON) from None
    except OSError as error:
        raise Unreadable(why_not_read(error)) from None
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError):
        raise Unreadable(WhyNotRead.TRUNCATED) from None
    except Exception as error:
        if type(error).__module__ in ("zlib", "_lzma", "bz2"):  # each has an error of its own
            raise Unreadable(WhyNotRead.TRUNCATED) from None
        raise


def _decoder(data: bytes) -> tuple[codecs.IncrementalDecoder, bytes]:
    for mark, name in _BOMS:
        if data.startswith(mark):
            return codecs.getincrementaldecoder(name)(), data[len(mark) :]
    return codecs.getincrementaldecoder("utf-8")(), data


def _shown(name: str) -> str:
    """A name as it can be shown and stored; some systems decompose letters."""
    return unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "replace"))[:200]
