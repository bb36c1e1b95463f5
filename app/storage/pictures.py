"""Picture files, named by their SHA-256, in a folder beside the database. Any thread.

A file is written before the first row that names it, and deleted when no row names it, here or in a copy: after a
deletion for good, and at a start. Pictures attached to an unsent message are kept.
"""

from __future__ import annotations

import hashlib
import logging
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from app.storage.copies import all_copies
from app.storage.database import Connection
from app.storage.parts import digests_in
from app.storage.rescue import damaged_files
from app.system.small_file import read_small
from engine import write_atomically

_FOLDER = "pictures"
_MOST_BYTES = 32 << 20
_NAME = re.compile(r"[0-9a-f]{64}\.png(\.[0-9a-f]+\.new)?")  # ours, and what a kill has left of one
_COLUMNS = (("messages", "parts"), ("messages", "attachments"), ("unsent", "attachments"), ("edits", "attachments"))

_log = logging.getLogger(__name__)


class Pictures:
    def __init__(self, database: Path) -> None:
        self._database = database
        self.folder = database.parent / _FOLDER
        self._all_stay = False
        self._lock = threading.Lock()
        self._memory: dict[str, bytes] | None = None  # used in a run that must not write to the disk
        self._new: set[str] = set()  # stored in this run, neither attached nor given up
        self._in_hand: frozenset[str] = frozenset()

    def keep_in_memory(self) -> None:
        self._memory = {}

    def keep_all(self) -> None:
        """Delete none: text of an earlier run that is not restored yet may name some."""
        self._all_stay = True

    def put(self, data: bytes) -> str:
        """Store the bytes; returns their digest when they are on disk. Raises OSError."""
        digest = hashlib.sha256(data).hexdigest()
        with self._lock:  # before the check: a sweep may be deleting it
            self._new.add(digest)
        if self._memory is not None:
            self._memory[digest] = data
        elif self.get(digest) is None:
            write_atomically(self._file(digest), data, most_bytes=_MOST_BYTES)
        return digest

    def get(self, digest: str) -> bytes | None:
        """The bytes; None if the file is missing or changed."""
        if self._memory is not None and digest in self._memory:
            return self._memory[digest]
        try:
            data = read_small(self._file(digest), _MOST_BYTES)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            _log.warning("a picture cannot be read: %s", type(error).__name__)
            return None
        return data if hashlib.sha256(data).hexdigest() == digest else None

    def path(self, digest: str) -> Path | None:
        file = self._file(digest)
        return file if self._memory is None and file.is_file() else None

    def take_in_hand(self, digests: Iterable[str]) -> None:
        """Set the attached pictures that no row names yet."""
        with self._lock:
            self._in_hand = frozenset(digests)

    def give_up(self, *digests: str) -> None:
        """These are not needed, or a row names them."""
        with self._lock:
            self._new.difference_update(digests)

    def sweep(self, database: Connection | None) -> None:
        """Delete files that neither a row nor an attachment names. Runs on the thread that writes.

        Not while a damaged database is kept, or a copy cannot be read: lost rows may name some.
        """
        try:
            if not (database is None or self._all_stay or damaged_files(self._database)):
                self._sweep(database)
        except sqlite3.Error as error:
            _log.warning("pictures that no row names stay until the next start: %s", type(error).__name__)

    def _sweep(self, database: Connection) -> None:
        files = [] if self._memory is not None else [each for each in self._files() if _NAME.fullmatch(each.name)]
        left = _without(_named(database.rows) if files else set(), files)
        for file in _without(self._named_in_copies() if left else set(), left):
            with self._lock, suppress(OSError):  # the next start tries again
                if file.stem.partition(".")[0] not in self._new | self._in_hand:
                    file.unlink()

    def _named_in_copies(self) -> set[str]:
        named: set[str] = set()
        for copy in all_copies(self._database):
            with closing(sqlite3.connect(f"{copy.as_uri()}?mode=ro", uri=True)) as connection:
                named |= _named(connection.execute)
        return named

    def _files(self) -> list[Path]:
        with suppress(OSError):
            return list(self.folder.iterdir())
        return []

    def _file(self, digest: str) -> Path:
        return self.folder / f"{digest}.png"


def _without(named: set[str], files: Iterable[Path]) -> list[Path]:
    return [file for file in files if file.suffix != ".png" or file.stem not in named]


def _named(rows: Callable[[str], Iterable[Any]]) -> set[str]:
    """Digests in all rows, those in the Trash too. Copies of earlier versions have other columns."""
    named: set[str] = set()
    for table, column in _COLUMNS:
        if any(each[1] == column for each in rows(f"PRAGMA table_info({table})")):
            sql = f"SELECT {column} FROM {table} WHERE instr({column}, '\"digest\"')"
            named.update(*(digests_in(row[0]) for row in rows(sql)))
    return named
