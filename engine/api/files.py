"""Files: opened without waiting for a pipe's writer; read again if the disk fails once; written so that a power cut
leaves the old or the new content."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

_TRIES = 3
_PAUSE_S = 0.01
_UNFINISHED = re.compile(r".+\.[0-9a-f]{8}\.new")
_UNFINISHED_S = 60.0  # a younger file may be of a write in progress

T = TypeVar("T")


class NotPlainFile(OSError, ValueError):
    """In the place of a file there is a folder, a pipe or a device."""


_LASTING = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError, NotPlainFile)


def patiently(read: Callable[[], T]) -> T:
    """What `read` returns. Tries again after an OSError, because a disk may fail once; then raises it."""
    for _ in range(_TRIES - 1):
        try:
            return read()
        except _LASTING:
            raise
        except OSError:
            time.sleep(_PAUSE_S)
    return read()


def open_plain(path: Path, flags: int = 0) -> BinaryIO:
    """For reading; `flags` of `os.open` are added. Raises OSError, also NotPlainFile.

    Nothing is waited for, as the writer of a pipe would be: also where the file was exchanged for one just now.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotPlainFile(errno.EINVAL, "no plain file", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def write_atomically(path: Path, data: bytes | str, *, private: bool = True, most_bytes: int | None = None) -> None:
    """Replace `path` by a file of `data` (text as UTF-8), making its folder if there is none. Any thread.

    `private`: only this user may read it. `most_bytes`: what the file's reader takes. Raises OSError, with EFBIG for
    more than that; then `path` is unchanged and nothing else is left.
    """
    data = data.encode("utf-8") if isinstance(data, str) else data
    if most_bytes is not None and len(data) > most_bytes:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o777)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    first_mode = 0o600 if private else 0o666
    try:
        with os.fdopen(os.open(temporary, flags, first_mode), "wb") as file:
            file.write(data)
            file.flush()
            sync_file(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sync_file(descriptor: int, *, through_drive: bool = True) -> None:
    """What was written survives a power cut. On a Mac fsync alone leaves it in the memory of the drive.

    `through_drive`: False for all but the last of many, which takes the others along.
    """
    if through_drive and hasattr(fcntl, "F_FULLFSYNC"):
        with suppress(OSError):  # a volume that does not know it
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Makes renames in `folder` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        sync_file(descriptor)
    finally:
        os.close(descriptor)


def remove_unfinished(folder: Path) -> None:
    """Deletes what `write_atomically` left in this folder if the process was killed; raises OSError.

    It may contain settings, texts, or a token.
    """
    for file in folder.iterdir():
        is_left = _UNFINISHED.fullmatch(file.name)
        if is_left and abs(time.time() - file.lstat().st_mtime) > _UNFINISHED_S:  # the clock may have been set back
            file.unlink()
