"""Connections to the SQLite file, transactions, and the reasons why something could not be stored or read.

A connection is used by the thread that opened it: one writes (`opening.Database`), others read.
"""

from __future__ import annotations

import errno
import fcntl
import math
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, TypeVar

BUSY_MS = 5000
TRIES = 3  # a disk may fail once
LARGEST_NUMBER = 1 << 30  # of a row id: half of what Qt's signals can hold

T = TypeVar("T")

# Bytes that are not UTF-8 become replacement characters. No Python function: a chat has thousands of texts.
READ_TEXT = partial(str, encoding="utf-8", errors="replace")
_LITTLE_SPACE_BYTES = 1_000_000
_SET_BACK_S = 400 * 86_400.0  # a clock is taken to have been set back by as much; else it was ahead before


class Connection:
    """SQL on one connection. Bytes that are not UTF-8 are read as replacement characters."""

    chat_numbers: Iterator[int | None] = repeat(None)  # of new chats; None: SQLite's choice

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
        """Run one change; returns the id of an inserted row."""
        return self.connection.execute(sql, values).lastrowid or 0

    @contextmanager
    def transaction(self, durable: bool = True) -> Iterator[None]:
        """All or nothing; within another one, a part of that.

        Without `durable` a power cut may undo it, but a crash of the app may not.
        """
        is_within = self.connection.in_transaction
        if is_within:
            yield
            return
        if not durable:
            self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:  # SQLite rolls back some failed transactions itself
                self.connection.execute("ROLLBACK")
            raise
        finally:
            if not durable:  # for single changes outside transactions, which stay durable
                self.connection.execute("PRAGMA synchronous = FULL")


class Store:
    """Some of the tables, over one connection."""

    def __init__(self, database: Connection) -> None:
        self._db = database


def later_than_all(database: Connection, column: str, *rows: str) -> float:
    """The present moment; where the clock was set back, just after the latest one in a column of `rows`."""
    now = time.time()
    moments = [now]
    for each in rows:  # no BETWEEN: with it SQLite takes no index of a part of the rows
        sql = f"SELECT max({column}) FROM {each} AND {column} >= ? AND {column} <= ?"
        latest: float | None = database.rows(sql, (now, now + _SET_BACK_S))[0][0]
        if latest is not None:
            moments.append(math.nextafter(latest, math.inf))
    return max(moments)


class ReadConnection(Connection):
    """A read-only connection to the file of a `Database`. Failed reads are retried, since a disk may fail once."""

    def __init__(self, address: str) -> None:
        self._address = address
        super().__init__(self._opened())

    def open_anew(self) -> None:
        """Where another file is at the address now."""
        former = self.connection
        super().__init__(self._opened())
        former.close()

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(f"{self._address}mode=ro", uri=True, isolation_level=None)
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS // 50}")
        return connection

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
    """The file as an SQLite URI, to which parameters can be added."""
    return f"{path.absolute().as_uri()}?"


class Reason(StrEnum):
    FULL = "full"  # no room on the disk
    LOCKED = "locked"  # another program holds the file
    NO_LOCKS = "no_locks"  # the disk cannot lock files
    READ_ONLY = "read_only"
    REPLACED = "replaced"  # another file has taken the place of the one that is open
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
_OF_SYSTEM = {
    errno.ENOSPC: Reason.FULL,
    errno.EDQUOT: Reason.FULL,
    errno.EROFS: Reason.READ_ONLY,
    errno.EACCES: Reason.READ_ONLY,
    errno.EPERM: Reason.READ_ONLY,
    errno.ESTALE: Reason.REPLACED,
}
_PASSING = {Reason.FULL, Reason.LOCKED, Reason.UNREADABLE}


@dataclass(frozen=True, slots=True)
class NotStored:
    """A change was not made; nothing of it is on disk."""

    reason: Reason
    folder: str


@dataclass(frozen=True, slots=True)
class NotOpened:
    """The chats' file cannot be opened at present; it is unchanged."""

    reason: Reason
    folder: str


StorageProblem = NotStored | NotOpened


def reason_of(error: Exception, path: Path) -> Reason:
    """Why SQLite or the system refused. A full disk may look like an I/O error, if SQLite cannot enlarge one of its own
    files, and a disk without locks like another program's lock.
    """
    reason = Reason.OTHER
    if isinstance(error, sqlite3.Error):
        reason = _REASONS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, Reason.OTHER)
    elif isinstance(error, OSError):
        reason = _OF_SYSTEM.get(error.errno or 0, Reason.UNREADABLE)
    if reason is Reason.UNREADABLE and _is_full(path):
        return Reason.FULL
    if reason in (Reason.LOCKED, Reason.UNREADABLE) and not _has_locks(path.parent):
        return Reason.NO_LOCKS
    return reason


def is_damage(error: sqlite3.Error) -> bool:
    return _REASONS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF) is Reason.DAMAGED


def is_busy(error: sqlite3.Error) -> bool:
    return _REASONS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF) is Reason.LOCKED


def is_passing(error: Exception) -> bool:
    """Whether the cause may be the disk or another program rather than the file."""
    return _REASONS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF) in _PASSING


def _is_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _LITTLE_SPACE_BYTES
    except OSError:
        return False


def _has_locks(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
    return True
