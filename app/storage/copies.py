"""Backups of the database, in `backups/`: one an hour while something changes.

The newest of each of the last 24 hours and 14 days are kept, within a twentieth of the disk.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from app.storage.database import address_of, is_passing
from app.storage.records import Purged
from app.storage.tree import PASS_OVER

_HOUR_S = 3600.0
_DAY_S = 86_400.0
_HOURS = 24
_DAYS = 14
_PART_OF_DISK = 0.05
_LEFT_BYTES = 64 << 20  # free disk space that a copy must leave, at most
_BUSY_S = 1.0

_log = logging.getLogger(__name__)


def copies_of(path: Path) -> list[Path]:
    """Copies, oldest first. They are numbered, since dates depend on a clock that may jump."""
    return sorted(_folder(path).glob(f"{path.stem}-*.db"), key=lambda copy: (_number(copy), copy.name))


def all_copies(path: Path) -> list[Path]:
    """All copies, also those made before a migration."""
    return [*copies_of(path), *copies_before_migrations(path)]


def copies_before_migrations(path: Path) -> list[Path]:
    return list(path.parent.glob(f"{path.stem}-before-v*.db"))


def copy_to(connection: sqlite3.Connection, target: Path) -> None:
    """Copies the whole database atomically, for the owner's eyes only. Raises OSError or sqlite3.Error."""
    partial = target.with_name(target.name + ".new")
    partial.unlink(missing_ok=True)
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
            connection.backup(copy, progress=_refuse_to_wait)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, even while it is open
        partial.replace(target)
    finally:
        for suffix in ("", "-journal", "-wal", "-shm"):
            partial.with_name(partial.name + suffix).unlink(missing_ok=True)


def _refuse_to_wait(status: int, _remaining: int, _total: int) -> None:
    """Do not wait for SQLite's lock: Python itself would wait without limit."""
    if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        raise BlockingIOError


def copy_if_due(path: Path) -> None:
    """Copy the database if something changed and the last copy is an hour old; delete old copies.

    Raises OSError if the copy would almost fill the disk.
    """
    if not _is_due(path):
        return
    needed = path.stat().st_size
    disk = shutil.disk_usage(path.parent)
    if disk.free < needed + min(needed, _LEFT_BYTES) or needed > disk.total * _PART_OF_DISK:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    target = _folder(path) / f"{path.stem}-{max(map(_number, copies_of(path)), default=0) + 1:06d}.db"
    target.parent.mkdir(mode=0o700, exist_ok=True)
    changed_ns = _changed_ns(path)
    with closing(sqlite3.connect(f"{address_of(path)}mode=ro", uri=True, isolation_level=None)) as connection:
        copy_to(connection, target)
    os.utime(target, ns=(changed_ns, changed_ns))
    for copy in _too_many(copies_of(path), disk.total * _PART_OF_DISK):
        copy.unlink()


def _is_due(path: Path) -> bool:
    """Whether no copy is from within an hour of now; one from the future counts for its own hour.

    A copy has the time of its last change, so a clock that differs at each start makes one copy for each hour, not for
    each start.
    """
    made_ns = [copy.stat().st_mtime_ns for copy in copies_of(path)]
    now = time.time()
    if any(abs(now - each / 1e9) < _HOUR_S for each in made_ns):
        return False
    return not made_ns or _changed_ns(path) != made_ns[-1]


def _changed_ns(path: Path) -> int:
    files = (path, path.with_name(path.name + "-wal"))
    return max(file.stat().st_mtime_ns for file in files if file.exists())


def _too_many(copies: list[Path], most_bytes: float) -> Iterator[Path]:
    hours: set[float] = set()
    days: set[float] = set()
    kept_bytes = 0
    for copy in reversed(copies):
        status = copy.stat()
        hour = status.st_mtime // _HOUR_S
        day = status.st_mtime // _DAY_S
        is_kept = (hour not in hours and len(hours) < _HOURS) or (day not in days and len(days) < _DAYS)
        if is_kept and kept_bytes + status.st_size <= most_bytes:
            hours.add(hour)
            days.add(day)
            kept_bytes += status.st_size
        else:
            yield copy


def forget_in_copies(path: Path, purged: Purged) -> None:
    """Delete rows for good in every copy; a copy that cannot be changed is deleted.

    One that cannot be changed at present (full disk, locked file) stays; sqlite3.Error is raised after all others are
    done.
    """
    if not purged:
        return
    left: sqlite3.Error | None = None
    for copy in all_copies(path):
        try:
            made_ns = copy.stat().st_mtime_ns
            with closing(sqlite3.connect(copy, timeout=_BUSY_S, isolation_level=None)) as connection:
                forget_in(connection, purged)
            os.utime(copy, ns=(made_ns, made_ns))
        except sqlite3.DatabaseError as error:
            if is_passing(error):
                left = error
            else:
                _log.warning("a copy could not be cleaned and is deleted: %s", error.__class__.__name__)
                copy.unlink(missing_ok=True)
    if left is not None:
        raise left


def forget_in(connection: sqlite3.Connection, purged: Purged) -> None:
    """Delete rows for good in one file."""
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(PASS_OVER, [(number,) * 3 for number in purged.messages])
    connection.executemany("DELETE FROM messages WHERE id = ?", [(number,) for number in purged.messages])
    connection.executemany("DELETE FROM messages WHERE chat_id = ?", [(number,) for number in purged.chats])
    connection.executemany("DELETE FROM chats WHERE id = ?", [(number,) for number in purged.chats])
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if "unsent" in tables:  # absent in earlier versions
        connection.executemany("DELETE FROM unsent WHERE chat_id = ?", [(number,) for number in purged.chats])
    if "edits" in tables:
        connection.execute("DELETE FROM edits WHERE message_id NOT IN (SELECT id FROM messages)")
    connection.execute("COMMIT")


def _number(copy: Path) -> int:
    last = copy.stem.rpartition("-")[2]
    return int(last) if last.isdecimal() else 0


def _folder(path: Path) -> Path:
    return path.with_name("backups")
