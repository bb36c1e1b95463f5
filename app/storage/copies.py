"""Daily copies of the database: when one is due, which are kept, and taking out of them what was deleted for good.

They are numbered, because a clock that jumps would put their dates out of order.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from app.storage.problems import Reason, reason_of
from app.storage.records import Purged
from app.storage.tree import PASS_OVER

log = logging.getLogger(__name__)

_KEPT = 3
_DAY_S = 86_400
_BUSY_S = 1.0
_PASSING = {Reason.FULL, Reason.LOCKED, Reason.UNREADABLE}  # not the copy's own fault
_LEFT_BYTES = 64 << 20  # of the disk, at most, that a copy leaves free
_DATED = re.compile(r"-\d{8}-\d{6}$")  # the name that earlier versions gave


def all_of(path: Path) -> list[Path]:
    """Oldest first."""
    return sorted(_folder(path).glob(f"{path.stem}-*.db"), key=lambda copy: (_number(copy), copy.name))


def copy_to(connection: sqlite3.Connection, target: Path) -> None:
    """Copies the whole database atomically, for the owner's eyes only."""
    partial = target.with_name(target.name + ".new")
    partial.unlink(missing_ok=True)
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        connection.execute("VACUUM INTO ?", (str(partial),))
        partial.replace(target)
    finally:  # SQLite leaves what it has written of one that fails
        partial.unlink(missing_ok=True)


def make_if_due(path: Path) -> None:
    """Copies the database if the last copy is a day old, and keeps the newest few.

    Raises OSError where the disk would be all but full with it: the chats themselves need that room.
    """
    if _is_due(path):
        needed = path.stat().st_size
        if _free_bytes(path.parent) < needed + min(needed, _LEFT_BYTES):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            copy_to(connection, _next_name(path))
        for old in all_of(path)[:-_KEPT]:
            old.unlink()


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _is_due(path: Path) -> bool:
    """Where none was made within a day of now; one that seems to come from the future counts for its own day.

    A clock that is another at each start has a copy for each of its days, not one for each start.
    """
    now = time.time()
    return all(abs(now - copy.stat().st_mtime) >= _DAY_S for copy in all_of(path))


def _next_name(path: Path) -> Path:
    _folder(path).mkdir(mode=0o700, exist_ok=True)
    return _folder(path) / f"{path.stem}-{max(map(_number, all_of(path)), default=0) + 1:06d}.db"


def forget(path: Path, purged: Purged) -> None:
    """Takes what was deleted for good out of every copy; a copy that cannot be changed is deleted.

    One that cannot be changed now (the disk is full, another program holds the file) stays as it is. Raises
    sqlite3.Error then, once all others are clean.
    """
    if not purged:
        return
    left: sqlite3.Error | None = None
    for copy in [*all_of(path), *path.parent.glob(f"{path.stem}-before-v*.db")]:
        try:
            with closing(sqlite3.connect(copy, timeout=_BUSY_S, isolation_level=None)) as connection:
                _forget_in(connection, purged)
        except sqlite3.DatabaseError as error:
            if reason_of(error, copy) in _PASSING:
                left = error
            else:
                log.warning("a copy could not be cleaned and is deleted: %s", error.__class__.__name__)
                copy.unlink(missing_ok=True)
    if left is not None:
        raise left


def _forget_in(connection: sqlite3.Connection, purged: Purged) -> None:
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(PASS_OVER, [(number,) for number in purged.messages])
    connection.executemany("DELETE FROM messages WHERE id = ?", [(number,) for number in purged.messages])
    connection.executemany("DELETE FROM messages WHERE chat_id = ?", [(number,) for number in purged.chats])
    connection.executemany("DELETE FROM chats WHERE id = ?", [(number,) for number in purged.chats])
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if "unsent" in tables:  # those of earlier versions are not
        connection.executemany("DELETE FROM unsent WHERE chat_id = ?", [(number,) for number in purged.chats])
    if "edits" in tables:
        connection.execute("DELETE FROM edits WHERE message_id NOT IN (SELECT id FROM messages)")
    connection.execute("COMMIT")


def _number(copy: Path) -> int:
    """0 for a dated copy of an earlier version."""
    last = copy.stem.rpartition("-")[2]
    return int(last) if last.isdigit() and not _DATED.search(copy.stem) else 0


def _folder(path: Path) -> Path:
    return path.with_name("backups")
