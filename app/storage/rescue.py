"""Making a sound file of a damaged one. Of the damaged file nothing is thrown away, and the rescue may be interrupted.

A new file is built beside the damaged one, out of what SQLite can read of that and the latest copy, by the numbers of
the rows. It gets the name `…-ready-DATE.db` when it is complete. Only then does the damaged file move aside, and the
new one takes its place; `finish` does that, now or at the next start.
"""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

from app.storage import schema
from app.storage.copies import copies_of, forget_in
from app.storage.database import LARGEST_NUMBER, READ_TEXT, TRIES, Connection, address_of, is_passing
from app.storage.trash import Trash
from engine import sync_folder

# what SQLite keeps beside a database
_LOG = "-wal"
_INDEX = "-shm"
_READ_BYTES = 1 << 20
_READ_S = 2.0
_STAMP = "%Y%m%d-%H%M%S"
_STAMP_CHARS = 15

_PATIENCE_S = 3.0  # with a file that gives no row
_STEPS = 1000  # of SQLite between two looks at the time
_MOST_RANGES = 2000  # of a table, that are tried around its damaged places
_MOST_ROW_BYTES = 256 << 20

_DELETED_BY_MARK = {"chats", "messages"}  # and for good only together with their rows in the copies
_LEFT_OUT = {"notes", "rewritten"}
_NOTES = ("identity", "purged", "left")
# The second is raised where SQLite's own words about a damaged schema are not UTF-8.
_FAULTS = (sqlite3.Error, UnicodeDecodeError)

_TIES = (
    # Messages of no possible chat are in a new one; other chats that are lost come back without their titles.
    f"""UPDATE messages SET chat_id = (SELECT ifnull(max(id), 0) + 1 FROM chats)
    WHERE typeof(chat_id) != 'integer' OR chat_id NOT BETWEEN 1 AND {LARGEST_NUMBER}""",
    """INSERT INTO chats (id, created_at, updated_at, leaf_id)
    SELECT chat_id, min(created_at), max(created_at), max(id) FROM messages
    WHERE chat_id NOT IN (SELECT id FROM chats) GROUP BY chat_id""",
    # A message after a lost one, or after itself, comes after the last one before it.
    """UPDATE messages SET parent_id = (SELECT max(id) FROM messages AS earlier
    WHERE earlier.chat_id = messages.chat_id AND earlier.id < messages.id AND earlier.deleted_at IS NULL)
    WHERE parent_id IS NOT NULL AND (parent_id = id OR NOT EXISTS
    (SELECT 1 FROM messages AS parent WHERE parent.id = messages.parent_id AND parent.chat_id = messages.chat_id))""",
    # So does one that goes round in a circle. A later number alone is no fault: messages can be inserted.
    """UPDATE messages SET parent_id = (SELECT max(id) FROM messages AS earlier
    WHERE earlier.chat_id = messages.chat_id AND earlier.id < messages.id AND earlier.deleted_at IS NULL)
    WHERE id NOT IN (WITH RECURSIVE reached(id) AS (SELECT id FROM messages WHERE parent_id IS NULL UNION
    SELECT messages.id FROM messages JOIN reached ON parent_id = reached.id) SELECT id FROM reached)""",
    """UPDATE chats SET leaf_id = (SELECT max(id) FROM messages WHERE chat_id = chats.id AND deleted_at IS NULL)
    WHERE leaf_id IS NULL OR leaf_id NOT IN (SELECT id FROM messages WHERE chat_id = chats.id)""",
    # What was in a lost folder is in none.
    "UPDATE chats SET folder_id = NULL WHERE folder_id NOT IN (SELECT id FROM folders)",
    "UPDATE folders SET parent_id = NULL WHERE parent_id = id OR parent_id NOT IN (SELECT id FROM folders)",
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rescued:
    """What a rescue came to, in figures; `from_copies` of the messages were only in a copy."""

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
    """Reads the file. Raises OSError where the disk does not give a byte: then the file need not be at fault."""
    end = time.monotonic() + _READ_S
    for file in (path, _beside(path, _LOG)):
        if file.exists():
            with file.open("rb") as stream:
                while time.monotonic() < end and stream.read(_READ_BYTES):
                    pass


def rebuild(path: Path) -> None:
    """Puts a sound file in the place of the damaged one, which is kept beside it."""
    stamp = _free_stamp(path)
    work = path.with_name(f"{path.stem}-rescue")
    _sweep(work)
    work.mkdir(mode=0o700)
    fresh = work / "fresh.db"
    with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
        merge = _merge(path, work, connection)
        rescued = Rescued(f"{path.stem}-damaged-{stamp}.db", merge.messages, merge.from_copies)
        connection.execute("INSERT INTO notes VALUES ('rescued', ?)", (json.dumps(asdict(rescued)),))
    fresh.chmod(0o600)
    fresh.replace(path.with_name(f"{path.stem}-ready-{stamp}.db"))
    sync_folder(path.parent)
    _log.warning("the database was damaged: %d messages saved, %d of copies", merge.messages, merge.from_copies)
    finish(path)


def finish(path: Path) -> None:
    """Ends a rescue whose new file is complete; otherwise only deletes the files of one that was interrupted."""
    for ready in sorted(path.parent.glob(f"{path.stem}-ready-*.db")):
        stamp = ready.stem.removeprefix(f"{path.stem}-ready-")
        damaged = path.with_name(f"{path.stem}-damaged-{stamp}.db")
        for suffix in ("", _LOG):
            part = _beside(path, suffix)
            if part.exists() and part.stat().st_size and not _beside(damaged, suffix).exists():
                part.replace(_beside(damaged, suffix))
        for suffix in (_LOG, _INDEX):
            _beside(path, suffix).unlink(missing_ok=True)
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


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _free_stamp(path: Path) -> str:
    stamp = time.strftime(_STAMP)
    taken = len(list(path.parent.glob(f"{path.stem}-damaged-{stamp}*.db")))
    return f"{stamp}-{taken}" if taken else stamp


def _merge(path: Path, work: Path, fresh: sqlite3.Connection) -> _Merge:
    """What SQLite reads of the damaged file, then what only the latest copy has that can be read to its end."""
    merge = _Merge(fresh)
    with closing(_Readable(path)) as damaged:
        schema.migrate(fresh, damaged.version)
        merge.add(damaged)
        notes = damaged.notes()
    schema.migrate(fresh)
    end = time.monotonic() + _PATIENCE_S  # with copies of which none is whole
    for copy in reversed(copies_of(path)):
        brought_up = work / copy.name
        shutil.copyfile(copy, brought_up)
        try:
            with closing(sqlite3.connect(brought_up, isolation_level=None)) as connection:
                schema.migrate(connection)
        except (*_FAULTS, schema.DatabaseTooNew) as error:
            if is_passing(error):
                raise
            continue
        with closing(_Readable(brought_up)) as readable:
            merge.add(readable, but_not=damaged.through - _DELETED_BY_MARK)
            notes += readable.notes()
        if not readable.met_damage or time.monotonic() > end:
            break
    fresh.executemany("INSERT OR IGNORE INTO notes VALUES (?, ?)", notes)
    forget_in(fresh, Trash(Connection(fresh)).traces)
    fresh.execute("BEGIN")
    for statement in _TIES:
        fresh.execute(statement)
    fresh.execute("COMMIT")
    return merge


class _Readable:
    """The rows of a file, as far as SQLite reads them within a time; the file is not changed.

    `through`: the tables that were read to their ends.
    """

    def __init__(self, path: Path) -> None:
        self.through: set[str] = set()
        self.met_damage = False
        self._left_s = _PATIENCE_S
        self._looked_at = time.monotonic()
        self._connection = sqlite3.connect(f"{address_of(path)}mode=ro", uri=True, isolation_level=None)
        self._connection.text_factory = READ_TEXT
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_ROW_BYTES)
        self._connection.set_progress_handler(self._is_out_of_time, _STEPS)
        try:
            if not self._read("SELECT count(*) FROM sqlite_schema"):
                # With this, SQLite opens files that are shorter than they say, or whose schema is damaged: what it
                # could read of that when it was asked first.
                self._read("PRAGMA writable_schema = ON")
                self._read("SELECT count(*) FROM sqlite_schema")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()

    @property
    def version(self) -> int:
        """Of its schema; where that makes no sense, the newest one."""
        newest = schema.newest_version()
        found = self._read("SELECT value FROM notes WHERE name = 'version'") + self._read("PRAGMA user_version")
        possible = {str(number): number for number in range(1, newest + 1)}
        return next((possible[str(value)] for (value,) in found if str(value) in possible), newest)

    def rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Each with its number first, and no number twice. A range of numbers with a fault in it is halved.

        Raises sqlite3.Error where the disk or another program is at fault.
        """
        numbers: set[int] = set()
        had_fault = False
        ranges = deque([(-1, self._end_of(table))])
        until = ""  # at first to the end, whatever numbers there are: damage may have changed one of them
        for _ in range(_MOST_RANGES):
            if not ranges or self._is_out_of_time():
                break
            low, high = ranges.popleft()
            sql = f'SELECT rowid, * FROM "{table}" NOT INDEXED WHERE rowid > {low} {until.format(high)} ORDER BY rowid'
            until = "AND rowid < {}"
            try:
                for row in self._connection.execute(sql):
                    if 0 <= row[0] <= LARGEST_NUMBER and row[0] not in numbers:
                        numbers.add(row[0])
                        low = max(low, row[0]) if row[0] < high else low
                        yield row
                        self._looked_at = time.monotonic()  # time in which a row came does not count
            except _FAULTS as error:
                if is_passing(error):
                    raise
                had_fault = True
                middle = (low + high) // 2
                if high - low > 2:
                    ranges.extend([(low, middle + 1), (middle, high)])
        if had_fault or ranges:
            self.met_damage = True
        else:
            self.through.add(table)

    def notes(self) -> list[tuple[str, str]]:
        return self._read("SELECT name, value FROM notes WHERE name IN (?, ?, ?)", _NOTES)

    def _end_of(self, table: str) -> int:
        """Above all numbers that were given, as far as that can be read."""
        given = [number for (number,) in self._read("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))]
        possible = [number for number in given if type(number) is int and 0 < number <= LARGEST_NUMBER]
        return max(possible, default=LARGEST_NUMBER) + 1

    def _read(self, sql: str, values: Sequence[str] = ()) -> list[Any]:
        """Nothing where the file is damaged there. Raises sqlite3.Error where it is not the file's fault.

        SQLite takes a disk that fails for damage, too: such a disk may fail once.
        """
        for _ in range(TRIES):
            try:
                return self._connection.execute(sql, values).fetchall()
            except _FAULTS as error:
                if is_passing(error):
                    raise
        return []

    def _is_out_of_time(self) -> bool:
        now = time.monotonic()
        self._left_s -= now - self._looked_at
        self._looked_at = now
        return self._left_s < 0


class _Merge:
    """Rows of several files in one database, the best file first: a row whose number is there is not added."""

    def __init__(self, fresh: sqlite3.Connection) -> None:
        self.messages = 0
        self.from_copies = 0
        self._fresh = fresh
        self._numbers: dict[str, set[int]] = {}

    def add(self, file: _Readable, but_not: set[str] | None = None) -> None:
        """`but_not`, for a copy: tables in which what is lacking was deleted since."""
        self._fresh.execute("BEGIN")
        for table in self._tables():
            if but_not is None or table not in but_not:
                added = self._add(table, file)
                if table == "messages":
                    self.messages += added
                    self.from_copies += 0 if but_not is None else added
        self._fresh.execute("COMMIT")

    def _add(self, table: str, file: _Readable) -> int:
        columns = self._fresh.execute(f"PRAGMA table_info({table})").fetchall()
        key = next(place for place, _, _, _, _, is_key in columns if is_key)
        # REPLACE also puts a column's default in the place of a NULL that it may not have.
        sql = f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(columns))})"
        numbers = self._numbers.setdefault(table, set())
        before = len(numbers)
        for number, *values in file.rows(table):
            if number not in numbers and len(values) == len(columns):
                values[key] = number
                with suppress(sqlite3.IntegrityError, sqlite3.DataError):  # a damaged value
                    self._fresh.execute(sql, values)
                    numbers.add(number)
        return len(numbers) - before

    def _tables(self) -> list[str]:
        sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        return [name for (name,) in self._fresh.execute(sql).fetchall() if name not in _LEFT_OUT]
