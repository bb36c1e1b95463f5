"""Where chats may be: files, archives with files, folders of files. Each is read as text, chunk by chunk.

Nothing is unpacked to the disk, and no name in an archive is ever used as a path.
"""

from __future__ import annotations

import codecs
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from app.portable.problems import Unreadable, WhyNotRead, why_not_read

MOST_BYTES = 4 << 30  # of all that is read, unpacked
MOST_FILES = 20_000
_MOST_DEPTH = 12  # of folders
_CHUNK_BYTES = 1 << 20
_BOMB_RATIO, _BOMB_BYTES = 200, 100_000_000  # text is never packed so well
_ENCRYPTED = 1  # a flag in archives
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

Open = Callable[[], AbstractContextManager[IO[bytes]]]


@dataclass(frozen=True, slots=True)
class Source:
    """`folder` has the names of the folders above it, below the one that was chosen."""

    name: str
    size_bytes: int
    open: Open
    folder: tuple[str, ...] = ()
    problem: WhyNotRead | None = None


def sources(path: Path) -> Iterator[Source]:
    """What a chosen path holds; a source with a problem for what cannot be opened."""
    name = _shown(path.name)
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            yield from _in_folder(path)
        elif not stat.S_ISREG(kind):
            yield _bad(name, WhyNotRead.DISK)
        elif zipfile.is_zipfile(path):
            yield from _in_archive(path)
        else:
            yield Source(name, path.stat().st_size, lambda: path.open("rb"))
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
    for folder, below, names in os.walk(top):
        parts = Path(folder).relative_to(top).parts
        below[:] = sorted(below) if len(parts) < _MOST_DEPTH else []
        for name in sorted(name for name in names if name.lower().endswith(".json")):
            path = Path(folder) / name
            if path.is_symlink() or not path.is_file():
                continue
            count += 1
            if count > MOST_FILES:
                yield _bad(_shown(top.name), WhyNotRead.TOO_LARGE)
                return
            yield Source(_shown(name), path.stat().st_size, _opener(path), tuple(map(_shown, parts)))


def _opener(path: Path) -> Open:
    return lambda: path.open("rb")


def _in_archive(path: Path) -> Iterator[Source]:
    """The conversations of an export; in an archive of anything else, all its JSON."""
    with zipfile.ZipFile(path) as archive:
        inside = [each for each in archive.infolist() if each.filename.lower().endswith(".json")]
        named = [each for each in inside if PurePosixPath(each.filename).name.lower().startswith("conversations")]
        chosen = named or inside
        if not chosen or len(chosen) > MOST_FILES:
            yield _bad(_shown(path.name), WhyNotRead.TOO_LARGE if chosen else WhyNotRead.UNKNOWN)
            return
        unpacked, packed = sum(each.file_size for each in chosen), sum(each.compress_size for each in chosen)
        if unpacked > MOST_BYTES or (unpacked > _BOMB_BYTES and unpacked > _BOMB_RATIO * max(1, packed)):
            yield _bad(_shown(path.name), WhyNotRead.TOO_LARGE)
            return
        for member in chosen:
            name = _shown(PurePosixPath(member.filename).name)
            if member.flag_bits & _ENCRYPTED:
                yield _bad(name, WhyNotRead.ENCRYPTED)
            else:
                yield Source(name, member.file_size, lambda member=member: archive.open(member))  # type: ignore[misc]


def chunks(source: Source, read: Callable[[int], None]) -> Iterator[str]:
    """The text of a source. `read` hears how many bytes were read. Raises Unreadable."""
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
    """A name as it can be shown and stored."""
    return os.fsencode(name).decode("utf-8", "replace")[:200]
