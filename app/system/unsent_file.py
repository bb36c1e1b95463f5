"""The file for words that were typed in a run whose database keeps none; a start that has one takes them over."""

from __future__ import annotations

import os
from pathlib import Path

from app.system.small_file import is_in_the_way, read_small


class UnsentFile:
    """What an earlier run has put there stays until `forget`, whether or not it can be read. Changes raise OSError."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, words: str) -> None:
        """On the disk when this returns, after what is there."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        if is_in_the_way(self._file):  # to write to a pipe would wait for its reader
            self._file.unlink()
        with os.fdopen(os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
            parting = "\n\n" if os.fstat(file.fileno()).st_size else ""
            file.write((parting + words).encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())

    @property
    def is_there(self) -> bool:
        return os.path.lexists(self._file)

    def words(self) -> str:
        """Empty where there are none, or where the disk does not give them."""
        try:
            return read_small(self._file).decode("utf-8", "replace")
        except (OSError, ValueError):
            return ""

    def forget(self) -> None:
        self._file.unlink(missing_ok=True)
