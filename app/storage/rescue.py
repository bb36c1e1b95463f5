"""The daily copies of the database, and making a sound file of a damaged one.

Of a damaged file nothing is thrown away, and the rescue may be interrupted anywhere.

A new file is built beside the damaged one, out of everything that can be read: the file as SQLite reads it, its pages
one by one, and the daily copies. It gets the name `…-ready-DATE.db` when it is complete. Only then does the damaged
file move aside, and the new one takes its place; `finish` does that, now or at the next start.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

from app.storage.database import Reason, reason_of
from app.storage.records import Purged
from app.storage.salvage import FAULTS, Merge, Pages, Rows, carved, log_frames, read_rows
from app.storage.tree import PASS_OVER
from engine import sync_folder

log = logging.getLogger(__name__)

_LOG, _INDEX = "-wal", "-shm"  # what SQLite keeps beside a database
_READ_BYTES = 1 << 20
_STAMP, _STAMP_CHARS = "%Y%m%d-%H%M%S", 15
_KEPT = 3  # daily copies
_DAY_S = 86_400
_BUSY_S = 1.0
_PASSING = {Reason.FULL, Reason.LOCKED, Reason.UNREADABLE}  # not the copy's own fault
_LEFT_BYTES = 64 << 20  # of the disk, at most, that a copy leaves free
_DATED = re.compile(r"-\d{8}-\d{6}$")  # the name that earlier versions gave


@dataclass(frozen=True, slots=True)
class Rescued:
    """What a rescue came to, in figures; `from_copies` of the messages were only in daily copies."""

    damaged_file: str
    saved_messages: int
    from_copies: int = 0

    @classmethod
    def from_json(cls, text: str) -> Rescued | None:
        """None where damage has made something else of it."""
        try:
            rescued = cls(**json.loads(text))
        except (ValueError, TypeError, RecursionError):
            return None
        kinds = [type(value) for value in astuple(rescued)]
        return rescued if kinds == [str, int, int] else None


def read_through(path: Path) -> None:
    """Reads every byte. Raises OSError where the disk does not give one: then the file need not be at fault."""
    for file in (path, _beside(path, _LOG)):
        if file.exists():
            with file.open("rb") as stream:
                while stream.read(_READ_BYTES):
                    pass


def log_is_broken(path: Path) -> bool:
    """Whether something was committed after a damaged place in the log, where SQLite does not look for it."""
    return any(frame.commits and not frame.sound for frame in log_frames(_beside(path, _LOG)))


def logged_pages(path: Path) -> dict[int, bytes]:
    return {frame.number: frame.data for frame in log_frames(_beside(path, _LOG))}


def rebuild(path: Path, make_tables: Callable[[sqlite3.Connection], None]) -> None:
    """Puts a sound file in the place of the damaged one, which is kept beside it."""
    stamp = _free_stamp(path)
    work = path.with_name(f"{path.stem}-rescue")
    _sweep(work)
    work.mkdir(mode=0o700)
    fresh = work / "fresh.db"
    os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT, 0o600))
    with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
        make_tables(connection)
        connection.execute("BEGIN")
        merged = _merge(path, work, connection)
        rescued = Rescued(f"{path.stem}-damaged-{stamp}.db", merged.messages, merged.from_copies)
        connection.execute("INSERT INTO notes VALUES ('rescued', ?)", (json.dumps(asdict(rescued)),))
        if identity := _identity([*sorted(work.glob("[aw]*.db")), *reversed(copies_of(path))]):
            connection.execute("INSERT INTO notes VALUES ('identity', ?)", (identity,))
        connection.execute("COMMIT")
    fresh.replace(path.with_name(f"{path.stem}-ready-{stamp}.db"))
    sync_folder(path.parent)
    log.warning("the database was damaged: %d messages saved, %d of copies", merged.messages, merged.from_copies)
    finish(path)


def finish(path: Path) -> None:
    """Ends a rescue whose new file is complete; otherwise only deletes the files of one that was interrupted."""
    for ready in sorted(path.parent.glob(f"{path.stem}-ready-*.db")):
        stamp = ready.stem.removeprefix(f"{path.stem}-ready-")
        damaged = path.with_name(f"{path.stem}-damaged-{stamp}.db")
        for suffix in ("", _LOG):
            part = _beside(path, suffix)
            if part.exists() and not _beside(damaged, suffix).exists():
                part.replace(_beside(damaged, suffix))
        _beside(path, _INDEX).unlink(missing_ok=True)
        ready.replace(path)
        sync_folder(path.parent)
    _sweep(path.with_name(f"{path.stem}-rescue"))


def _sweep(work: Path) -> None:
    if work.is_dir() and not work.is_symlink():
        shutil.rmtree(work, ignore_errors=True)
    else:
        work.unlink(missing_ok=True)


def forget_old(path: Path, overdue: Callable[[Iterable[float]], Iterable[float]]) -> None:
    """Deletes damaged files whose dates are `overdue`: what was deleted from the chats is still in them."""
    damaged: dict[float, list[Path]] = {}
    for file in damaged_files(path):
        when = _set_aside_at(file.stem.removeprefix(f"{path.stem}-damaged-"))
        if when is not None:
            damaged.setdefault(when, []).append(file)
    for file in [file for when in overdue(damaged) for file in damaged[when]]:
        for suffix in (_LOG, ""):  # the file itself last, so that one that is interrupted is found again
            _beside(file, suffix).unlink(missing_ok=True)


def damaged_files(path: Path) -> list[Path]:
    """That are kept, as long as the Trash."""
    return list(path.parent.glob(f"{path.stem}-damaged-*.db"))


def _set_aside_at(stamp: str) -> float | None:
    try:
        return time.mktime(time.strptime(stamp[:_STAMP_CHARS], _STAMP))
    except (ValueError, OverflowError):
        return None


def _merge(path: Path, work: Path, fresh: sqlite3.Connection) -> Merge:
    """Newest first: what the log has, what SQLite reads, what single pages hold, then the copies."""
    merge = Merge(fresh)
    pages = Pages(path, _beside(path, _LOG))
    if pages.count:
        for rows in _own_rows(path, work, pages):
            merge.add(rows)
        merge.add(carved(pages), is_carved=True)
    for copy in reversed(copies_of(path)):
        merge.add(read_rows(copy), is_copy=True)
    merge.add_torn()
    merge.tie_up()
    return merge


def _own_rows(path: Path, work: Path, pages: Pages) -> Iterator[Rows]:
    """Reads copies of the file, because SQLite may change what it opens."""
    whole = work / "whole.db"
    pages.write_to(whole)
    yield read_rows(whole)
    as_it_is = work / "as-it-is.db"
    for suffix in ("", _LOG):
        if _beside(path, suffix).exists():
            shutil.copyfile(_beside(path, suffix), _beside(as_it_is, suffix))
    yield read_rows(as_it_is)


def _identity(files: Sequence[Path]) -> str:
    """By which exported chats are known again; the first that can be read."""
    for file in files:
        try:
            with closing(sqlite3.connect(file)) as connection:
                row = connection.execute("SELECT value FROM notes WHERE name = 'identity'").fetchone()
        except FAULTS:
            continue
        if row is not None and isinstance(row[0], str):
            return row[0]
    return ""


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _free_stamp(path: Path) -> str:
    stamp = time.strftime(_STAMP)
    taken = len(list(path.parent.glob(f"{path.stem}-damaged-{stamp}*.db")))
    return f"{stamp}-{taken}" if taken else stamp


def copies_of(path: Path) -> list[Path]:
    """Of each day, oldest first. They are numbered: a clock that jumps would put their dates out of order."""
    return sorted(_folder(path).glob(f"{path.stem}-*.db"), key=lambda copy: (_number(copy), copy.name))


def all_copies(path: Path) -> list[Path]:
    """With those that were made before an update of the tables."""
    return [*copies_of(path), *path.parent.glob(f"{path.stem}-before-v*.db")]


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


def copy_if_due(path: Path) -> None:
    """Copies the database if the last copy is a day old, and keeps the newest few.

    Raises OSError where the disk would be all but full with it: the chats themselves need that room.
    """
    if _is_due(path):
        needed = path.stat().st_size
        if _free_bytes(path.parent) < needed + min(needed, _LEFT_BYTES):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            copy_to(connection, _next_name(path))
        for old in copies_of(path)[:-_KEPT]:
            old.unlink()


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _is_due(path: Path) -> bool:
    """Where none was made within a day of now; one that seems to come from the future counts for its own day.

    A clock that is another at each start has a copy for each of its days, not one for each start.
    """
    now = time.time()
    return all(abs(now - copy.stat().st_mtime) >= _DAY_S for copy in copies_of(path))


def _next_name(path: Path) -> Path:
    _folder(path).mkdir(mode=0o700, exist_ok=True)
    return _folder(path) / f"{path.stem}-{max(map(_number, copies_of(path)), default=0) + 1:06d}.db"


def forget_in_copies(path: Path, purged: Purged) -> None:
    """Takes what was deleted for good out of every copy; a copy that cannot be changed is deleted.

    One that cannot be changed now (the disk is full, another program holds the file) stays as it is. Raises
    sqlite3.Error then, once all others are clean.
    """
    if not purged:
        return
    left: sqlite3.Error | None = None
    for copy in all_copies(path):
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
    connection.executemany(PASS_OVER, [(number,) * 3 for number in purged.messages])
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
