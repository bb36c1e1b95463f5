"""Makes a sound database out of a damaged one, which is kept. An interrupted rescue is repeated or finished.

A new file is built beside the damaged one from its readable rows and the latest copy, by row ids. When complete it is
named `…-ready-DATE.db`. Only then is the damaged file renamed, and replaced by the new one; `finish` does that, at once
or at the next start.
"""

from __future__ import annotations

import calendar
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

# files that SQLite keeps beside a database
_LOG = "-wal"
_INDEX = "-shm"
_READ_BYTES = 1 << 20
_READ_S = 2.0
_STAMP = "%Y%m%d-%H%M%S"
_STAMP_CHARS = 15

_PATIENCE_S = 3.0  # with a file that returns no row
_STEPS = 1000  # SQLite's steps between two checks of the time
_MOST_RANGES = 2000  # ranges of ids to try around a table's damaged places
_MOST_ROW_BYTES = 256 << 20

_DELETED_BY_MARK = {"chats", "messages"}  # deleted for good only together with their rows in the copies
_LEFT_OUT = {"notes", "rewritten", "consents"}  # a consent that ended must not come back from a copy
_NOTES = ("identity", "purged", "left")
# UnicodeDecodeError: SQLite's message about a damaged schema may not be UTF-8.
_FAULTS = (sqlite3.Error, UnicodeDecodeError)

_TIES = (
    # Nothing is deleted before it is made: a deletion that old would at once be for good.
    *(f"UPDATE {table} SET deleted_at = NULL WHERE deleted_at < created_at" for table in ("chats", "messages")),
    # Messages with impossible chat ids get a new chat; other lost chats are restored without titles.
    f"""UPDATE messages SET chat_id = (SELECT ifnull(max(id), 0) + 1 FROM
    (SELECT id FROM chats UNION SELECT chat_id FROM unsent WHERE chat_id < {LARGEST_NUMBER}))
    WHERE typeof(chat_id) != 'integer' OR chat_id NOT BETWEEN 1 AND {LARGEST_NUMBER}""",
    """INSERT INTO chats (id, created_at, updated_at, leaf_id)
    SELECT chat_id, min(created_at), max(created_at), max(id) FROM messages
    WHERE chat_id NOT IN (SELECT id FROM chats) GROUP BY chat_id""",
    # A message whose parent is lost, or is itself, follows the last message before it.
    """UPDATE messages SET parent_id = (SELECT max(id) FROM messages AS earlier
    WHERE earlier.chat_id = messages.chat_id AND earlier.id < messages.id AND earlier.deleted_at IS NULL)
    WHERE parent_id IS NOT NULL AND (parent_id = id OR NOT EXISTS
    (SELECT 1 FROM messages AS parent WHERE parent.id = messages.parent_id AND parent.chat_id = messages.chat_id))""",
    # So does one in a cycle of parents. A parent with a larger id is valid: messages can be inserted.
    """UPDATE messages SET parent_id = (SELECT max(id) FROM messages AS earlier
    WHERE earlier.chat_id = messages.chat_id AND earlier.id < messages.id AND earlier.deleted_at IS NULL)
    WHERE id NOT IN (WITH RECURSIVE reached(id) AS (SELECT id FROM messages WHERE parent_id IS NULL UNION
    SELECT messages.id FROM messages JOIN reached ON parent_id = reached.id) SELECT id FROM reached)""",
    """UPDATE chats SET leaf_id = (SELECT max(id) FROM messages WHERE chat_id = chats.id AND deleted_at IS NULL)
    WHERE leaf_id IS NULL OR leaf_id NOT IN (SELECT id FROM messages WHERE chat_id = chats.id)""",
    # Chats of lost folders are in none.
    "UPDATE chats SET folder_id = NULL WHERE folder_id NOT IN (SELECT id FROM folders)",
    "UPDATE folders SET parent_id = NULL WHERE parent_id = id OR parent_id NOT IN (SELECT id FROM folders)",
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rescued:
    """The result in figures; `from_copies`: messages found only in a copy."""

    damaged_file: str
    saved_messages: int
    from_copies: int = 0

    @classmethod
    def from_json(cls, text: str) -> Rescued | None:
        """None if it is damaged."""
        try:
            rescued = cls(**json.loads(text))
        except (ValueError, TypeError, RecursionError):
            return None
        kinds = [type(value) for value in astuple(rescued)]
        return rescued if kinds == [str, int, int] else None


def read_through(path: Path) -> None:
    """Read the whole file. Raises OSError if the disk fails: then the file need not be damaged."""
    end = time.monotonic() + _READ_S
    for file in (path, _beside(path, _LOG)):
        if file.exists():
            with file.open("rb") as stream:
                while time.monotonic() < end and stream.read(_READ_BYTES):
                    pass


def rebuild(path: Path) -> None:
    """Replace a damaged file by a sound one; the damaged file is kept beside it."""
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
    """Finish a rescue whose new file is complete; else delete its unfinished files."""
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
    """Delete damaged files whose dates are `overdue`: they still contain deleted chats."""
    damaged: dict[float, list[Path]] = {}
    for file in damaged_files(path):
        when = _set_aside_at(file.stem.removeprefix(f"{path.stem}-damaged-"))
        if when is not None:
            damaged.setdefault(when, []).append(file)
    for file in [file for when in overdue(damaged) for file in damaged[when]]:
        for suffix in (_LOG, ""):  # the file itself last: an interrupted deletion is found again
            _beside(file, suffix).unlink(missing_ok=True)


def damaged_files(path: Path) -> list[Path]:
    """The kept damaged files; kept as long as the Trash."""
    return list(path.parent.glob(f"{path.stem}-damaged-*.db"))


def _set_aside_at(stamp: str) -> float | None:
    """As if in UTC: the age is counted by this number, which must not change when the user travels."""
    try:
        return float(calendar.timegm(time.strptime(stamp[:_STAMP_CHARS], _STAMP)))
    except (ValueError, OverflowError):
        return None


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _free_stamp(path: Path) -> str:
    stamp = time.strftime(_STAMP)
    taken = len(list(path.parent.glob(f"{path.stem}-damaged-{stamp}*.db")))
    return f"{stamp}-{taken}" if taken else stamp


def _merge(path: Path, work: Path, fresh: sqlite3.Connection) -> _Merge:
    """Merge the damaged file's readable rows, then further rows of the latest complete copy."""
    merge = _Merge(fresh)
    with closing(_Readable(path)) as damaged:
        schema.migrate(fresh, damaged.version)
        merge.add(damaged)
        notes = damaged.notes()
    schema.migrate(fresh)
    end = time.monotonic() + _PATIENCE_S  # for trying copies that are not complete
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
    """The rows of a file that SQLite can read in limited time, without changing it.

    `through`: tables that were read completely.
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
                # SQLite then opens files that are too short, or whose schema is damaged.
                self._read("PRAGMA writable_schema = ON")
                self._read("SELECT count(*) FROM sqlite_schema")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()

    @property
    def version(self) -> int:
        """Its schema version; the newest if it is invalid."""
        newest = schema.newest_version()
        found = self._read("SELECT value FROM notes WHERE name = 'version'") + self._read("PRAGMA user_version")
        possible = {str(number): number for number in range(1, newest + 1)}
        return next((possible[str(value)] for (value,) in found if str(value) in possible), newest)

    def rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Rows that begin with their ids, each id once. A range of ids with a fault is halved.

        Raises sqlite3.Error where the disk or another program is at fault.
        """
        numbers: set[int] = set()
        had_fault = False
        ranges = deque([(-1, self._end_of(table))])
        until = ""  # first all ids, since damage may have changed some
        for _ in range(_MOST_RANGES):
            if not ranges or self._is_out_of_time():
                break
            low, high = ranges.popleft()
            sql = f'SELECT rowid, * FROM "{table}" NOT INDEXED WHERE rowid > {low} {until.format(high)} ORDER BY rowid'
            until = "AND rowid < {}"
            try:
                for row in _in_order_first(self._connection.execute(sql)):
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
        """An upper limit of its ids, as far as readable."""
        given = [number for (number,) in self._read("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))]
        possible = [number for number in given if type(number) is int and 0 < number <= LARGEST_NUMBER]
        return max(possible, default=LARGEST_NUMBER) + 1

    def _read(self, sql: str, values: Sequence[str] = ()) -> list[Any]:
        """Rows of a range; () if it is damaged. Raises sqlite3.Error for other causes.

        SQLite reports a failing disk as damage, too: it is asked twice.
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


def _in_order_first(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """A row whose id does not ascend has a damaged one, which another row may have by right: it comes last.

    Raises the fault at which reading ends, after all rows.
    """
    late = []
    before = -1
    held: tuple[Any, ...] | None = None
    fault: Exception | None = None
    try:
        for row in rows:
            if held is None or row[0] > held[0]:
                if held is not None:
                    before = held[0]
                    yield held
                held = row
            elif row[0] > before:
                late.append(held)
                held = row
            else:
                late.append(row)
    except _FAULTS as error:
        fault = error
    if held is not None:
        yield held
    yield from late
    if fault is not None:
        raise fault


class _Merge:
    """Merges files into one database, the best file first: rows whose ids exist are skipped."""

    def __init__(self, fresh: sqlite3.Connection) -> None:
        self.messages = 0
        self.from_copies = 0
        self._fresh = fresh
        self._numbers: dict[str, set[int]] = {}

    def add(self, file: _Readable, but_not: set[str] | None = None) -> None:
        """`but_not`, for a copy: tables whose missing rows were deleted since."""
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
        # REPLACE also replaces a NULL that the column forbids by its default.
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
