"""Reading small files with limits: no start blocks on a pipe or fills the memory."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

from engine import open_plain, patiently

MOST_BYTES = 64 << 20


def read_small(file: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """The bytes. Raises OSError if the disk fails, ValueError for what is no plain file or too large."""
    return patiently(partial(_read, file, most_bytes))


def _read(file: Path, most_bytes: int) -> bytes:
    with open_plain(file) as stream:
        if os.fstat(stream.fileno()).st_size > most_bytes:
            raise ValueError(f"{file.name} is no small file")
        return stream.read()


def is_in_the_way(file: Path) -> bool:
    """Whether something other than a file is there."""
    return os.path.lexists(file) and not file.is_file()


def move_aside(file: Path) -> None:
    """Rename what is there if it is no file. Raises OSError."""
    if is_in_the_way(file):
        file.rename(file.with_name(f"{file.name}-aside-{time.time_ns()}"))
