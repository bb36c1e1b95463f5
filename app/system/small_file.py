"""Reading small files with limits: no start blocks on a pipe or fills the memory."""

from __future__ import annotations

import os
import stat
import time
from functools import partial
from pathlib import Path
from typing import BinaryIO

from engine import patiently

MOST_BYTES = 64 << 20


def read_small(file: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """The bytes. Raises OSError if the disk fails, ValueError for what is no plain file or too large."""
    return patiently(partial(_read, file, most_bytes))


def _read(file: Path, most_bytes: int) -> bytes:
    with open_plain(file) as stream:
        if os.fstat(stream.fileno()).st_size > most_bytes:
            raise ValueError(f"{file.name} is no small file")
        return stream.read()


def open_plain(file: Path) -> BinaryIO:
    """Raises OSError, or ValueError for what is no plain file. Never blocks, even if it was replaced by a pipe."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(f"{file.name} is no plain file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def is_in_the_way(file: Path) -> bool:
    """Whether something other than a file is there."""
    return os.path.lexists(file) and not file.is_file()


def move_aside(file: Path) -> None:
    """Rename what is there if it is no file. Raises OSError."""
    if is_in_the_way(file):
        file.rename(file.with_name(f"{file.name}-aside-{time.time_ns()}"))
