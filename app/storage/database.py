"""Connections to the SQLite file, and transactions. What is in the tables is for the other modules.

Also why something could not be stored or read, as values that are put into words elsewhere.

A connection is used by the thread that opened it: one writes (`opening.Database`), others read.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

BUSY_MS = 5000
TRIES = 3  # what fails once may be the disk's fault
LARGEST_NUMBER = 1 << 30  # of a row: half of what Qt's signals can name, and no chat has as many

T = TypeVar("T")

# Of bytes that are not UTF-8 each is a sign. Without a function of our own: a chat has many thousands of texts.
READ_TEXT = partial(str, encoding="utf-8", errors="replace")
_LITTLE_SPACE_BYTES = 1_000_000


class Connection:
    """SQL on one connection. Text that is not UTF-8 is read with a sign in place of each bad byte."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        connection.row_factory = sqlite3.Row
        connection.text_factory = READ_TEXT

    def close(self) -> None:
        self.connection.close()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        return self.connection.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Row | None:
        found: sqlite3.Row | None = self.connection.execute(sql, values).fetchone()
        return found

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Runs one change; returns the id of the row that an INSERT made."""
        return self.connection.execute(sql, values).lastrowid or 0

    @contextmanager
    def transaction(self, durable: bool = True) -> Iterator[None]:
        """All or nothing. Without `durable` a power cut may undo it, but a crash of the app may not. Does not nest."""
        if not durable:
            self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:  # SQLite itself rolls back some that fail
                self.connection.execute("ROLLBACK")
            raise
        finally:
            if not durable:  # a change by itself begins no transaction here, and is to be on disk all the same
                self.connection.execute("PRAGMA synchronous = FULL")


class ReadConnection(Connection):
    """A connection that cannot write; for what a `Database` has open at this address.

    What the disk does not give is asked for again: a disk may fail once.
    """

    def __init__(self, address: str) -> None:
        super().__init__(sqlite3.connect(f"{address}mode=ro", uri=True, isolation_level=None))
        self.connection.execute(f"PRAGMA busy_timeout = {BUSY_MS // 50}")

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        return _patiently(partial(super().rows, sql, values))

    def row(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Row | None:
        return _patiently(partial(super().row, sql, values))


def _patiently(read: Callable[[], T]) -> T:
    for _ in range(TRIES - 1):
        try:
            return read()
        except sqlite3.DatabaseError as error:
            if not is_damage(error) and error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_IOERR:
                raise
    return read()


def address_of(path: Path) -> str:
    """As SQLite takes it, ready for a parameter more."""
    return f"{path.absolute().as_uri()}?"


class Reason(StrEnum):
    FULL = "full"  # no room on the disk
    LOCKED = "locked"  # another program holds the file
    READ_ONLY = "read_only"
    UNREADABLE = "unreadable"  # the disk does not answer, or the file cannot be opened
    DAMAGED = "damaged"
    OTHER = "other"


_REASONS = {
    sqlite3.SQLITE_FULL: Reason.FULL,
    sqlite3.SQLITE_BUSY: Reason.LOCKED,
    sqlite3.SQLITE_LOCKED: Reason.LOCKED,
    sqlite3.SQLITE_READONLY: Reason.READ_ONLY,
    sqlite3.SQLITE_PERM: Reason.READ_ONLY,
    sqlite3.SQLITE_IOERR: Reason.UNREADABLE,
    sqlite3.SQLITE_CANTOPEN: Reason.UNREADABLE,
    sqlite3.SQLITE_CORRUPT: Reason.DAMAGED,
    sqlite3.SQLITE_NOTADB: Reason.DAMAGED,
}
_PASSING = {Reason.FULL, Reason.LOCKED, Reason.UNREADABLE}


@dataclass(frozen=True, slots=True)
class NotStored:
    """A change was not made; nothing of it is on disk."""

    reason: Reason
    folder: str


@dataclass(frozen=True, slots=True)
class NotOpened:
    """The file with the chats cannot be opened now; it is as it was."""

    reason: Reason
    folder: str


StorageProblem = NotStored | NotOpened


def reason_of(error: Exception, path: Path) -> Reason:
    """SQLite calls a full disk an I/O error where it cannot enlarge one of its own files."""
    if isinstance(error, sqlite3.Error):
        reason = _REASONS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, Reason.OTHER)
    else:
        reason = Reason.UNREADABLE if isinstance(error, OSError) else Reason.OTHER
    return Reason.FULL if reason is Reason.UNREADABLE and _is_full(path) else reason


def is_damage(error: sqlite3.Error) -> bool:
    return _REASONS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF) is Reason.DAMAGED


def is_busy(error: sqlite3.Error) -> bool:
    return _REASONS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF) is Reason.LOCKED


def is_passing(error: Exception) -> bool:
    """Whether the disk or another program may be at fault, and not the file."""
    return _REASONS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF) in _PASSING


def _is_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _LITTLE_SPACE_BYTES
    except OSError:
        return False
