"""Reading rows out of damaged databases, and putting them together by id and time."""

from __future__ import annotations

import logging
import re
import sqlite3
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import tee, zip_longest
from pathlib import Path
from typing import Any

from app.storage.attachments import attachments_from_json, attachments_to_json
from app.storage.codec import as_text
from app.storage.pages import Pages, Value

log = logging.getLogger(__name__)

TABLES = ("folders", "chats", "messages", "unsent", "edits", "requests")
_KEY = dict.fromkeys(TABLES, "id") | {"unsent": "chat_id", "edits": "message_id"}
_TYPED = ("unsent", "edits")  # what was typed and not sent: without a time, and no two for one key
# Those of schema version 4 are these and more behind them; rows that an older version wrote stay as short as they were.
_FOLDER_COLUMNS = ("id", "name", "parent_id", "opened", "created_at")
_CHAT_COLUMNS = ("id", "title", "renamed", "pinned", "created_at", "updated_at", "leaf_id", "deleted_at")
_CHAT_COLUMNS_4 = (*_CHAT_COLUMNS, "folder_id", "unseen", "options", "place")
_MESSAGE_COLUMNS = (
    *("id", "chat_id", "parent_id", "role", "text", "thinking", "thinking_s", "status"),
    *("main_name", "draft_name", "stats", "error", "created_at", "deleted_at"),
)
_MESSAGE_COLUMNS_4 = (*_MESSAGE_COLUMNS, "attachments", "drafting")
_FIRST_MESSAGE_COLUMNS = (*_MESSAGE_COLUMNS[:8], "finish", *_MESSAGE_COLUMNS[8:])  # of schema version 1
_UNSENT_COLUMNS = ("chat_id", "text")
_UNSENT_COLUMNS_4 = (*_UNSENT_COLUMNS, "attachments")
_EDIT_COLUMNS = ("message_id", "kind", "role", "text")
_EDIT_COLUMNS_7 = (*_EDIT_COLUMNS, "attachments")
_REQUEST_COLUMNS = (
    *("id", "chat_id", "message_id", "main_name", "draft_name", "status"),
    *("language", "content", "stats", "created_at"),
)
_COLUMNS = {
    "folders": (_FOLDER_COLUMNS,),
    "chats": (_CHAT_COLUMNS,),
    "messages": (_MESSAGE_COLUMNS, _FIRST_MESSAGE_COLUMNS),
    "unsent": (_UNSENT_COLUMNS,),
    "edits": (_EDIT_COLUMNS,),
    "requests": (_REQUEST_COLUMNS,),
}
_CARVED_COLUMNS = {
    "messages": (_MESSAGE_COLUMNS, _MESSAGE_COLUMNS_4, _FIRST_MESSAGE_COLUMNS),
    "chats": (_CHAT_COLUMNS, _CHAT_COLUMNS_4),
    "folders": (_FOLDER_COLUMNS,),
    "edits": (_EDIT_COLUMNS, _EDIT_COLUMNS_7),
    "unsent": (_UNSENT_COLUMNS, _UNSENT_COLUMNS_4),
    "requests": (_REQUEST_COLUMNS,),
}
# What refers to a row of another table, or of its own; `unsent` and `edits` have their keys in the place of one.
_REFERENCES = {
    "folders": {"parent_id": "folders"},
    "chats": {"leaf_id": "messages", "folder_id": "folders"},
    "messages": {"chat_id": "chats", "parent_id": "messages"},
    "unsent": {"chat_id": "chats"},
    "edits": {"message_id": "messages"},
    "requests": {"chat_id": "chats", "message_id": "messages"},
}
_PARENT_INDEXES = ("messages_by_parent", "messages_by_own_parent")
_ROLES = ("user", "assistant", "system")
# How many ids are tried one by one: between two that can be read, and behind the last one.
_BETWEEN, _BEHIND = 100_000, 1000
LARGEST_NUMBER = 1 << 30  # of a row: half of what Qt's signals can name, and no chat of a person has as many
_INSTEAD = 1 << 29  # the first of the numbers that rows with impossible ones get
_LATEST_S = 4e10
_LOST, _LOST_SIGN = re.compile("\0+"), " … "
# The second is raised where SQLite's own words about a damaged schema are not UTF-8.
FAULTS = (sqlite3.DatabaseError, UnicodeDecodeError)

_TIES = (
    # What was deleted before it was made was never deleted: the Trash would forget it at once.
    "UPDATE chats SET deleted_at = NULL WHERE deleted_at < created_at",
    "UPDATE messages SET deleted_at = NULL WHERE deleted_at < created_at",
    # A message of no chat belongs where the message before it does; otherwise it gets a chat.
    "UPDATE messages SET chat_id = 0 WHERE typeof(chat_id) != 'integer'",
    """UPDATE messages SET chat_id = (SELECT chat_id FROM messages AS earlier WHERE earlier.id = messages.parent_id)
    WHERE chat_id NOT IN (SELECT id FROM chats)
    AND parent_id IN (SELECT id FROM messages WHERE chat_id IN (SELECT id FROM chats))""",
    """INSERT INTO chats (id, created_at, updated_at, leaf_id)
    SELECT chat_id, min(created_at), max(created_at), max(id) FROM messages
    WHERE chat_id NOT IN (SELECT id FROM chats) GROUP BY chat_id""",
    # A message behind a lost one, or behind itself, comes behind the last one before it.
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
    # A chat shows its branch to the end: the number of that may be damaged, or have been given to another message.
    """UPDATE chats SET leaf_id = (WITH RECURSIVE below(id) AS (SELECT chats.leaf_id UNION
    SELECT messages.id FROM messages JOIN below ON parent_id = below.id WHERE deleted_at IS NULL)
    SELECT max(id) FROM below WHERE NOT EXISTS (SELECT 1 FROM messages WHERE parent_id = below.id
    AND deleted_at IS NULL)) WHERE leaf_id IS NOT NULL""",
)

Row = dict[str, Any]
Rows = Iterable[tuple[str, Row]]  # table, row


def read_rows(path: Path) -> Rows:
    """Every row that SQLite can reach, each by itself, so that a broken page loses only its own rows."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.row_factory = sqlite3.Row
            connection.text_factory = as_text
            # With this, SQLite opens files that are shorter than they should be, or whose schema is damaged.
            connection.execute("PRAGMA writable_schema = ON")
            for table in TABLES:
                rows = map(dict, _table_rows(connection, table) if _has_its_columns(connection, table) else ())
                for row in _by_indexes(rows, connection) if table == "messages" else rows:
                    yield table, _as_of_today(row)
    except FAULTS as error:
        log.info("not all of the database can be read: %s", error.__class__.__name__)


def _by_indexes(rows: Iterator[Row], connection: sqlite3.Connection) -> Iterator[Row]:
    """Messages with the numbers and parents that the indexes know: two of three outvote a damaged row.

    Rows come in the order of their numbers, so one that is out of order has the lost number that fits there.
    """
    parents, numbers = _parents_by_indexes(connection), _numbers(connection)
    lost = sorted(parents.keys() - numbers.keys()) if numbers else []
    before = 0
    for row, following in zip_longest(*_twice(rows)):
        end = following["id"] if following is not None else 1 << 63
        in_doubt = row["id"] not in parents or numbers[row["id"]] > 1
        if in_doubt and not before < row["id"] < end:
            fitting = lost[bisect_right(lost, before) : bisect_left(lost, end)]
            row["id"] = fitting[0] if len(fitting) == 1 else row["id"]
        before = row["id"]
        row["parent_id"] = parents.get(before, row["parent_id"])
        yield row


def _twice(rows: Iterator[Row]) -> tuple[Iterator[Row], Iterator[Row]]:
    """The rows, and those one further on."""
    here, further = tee(rows)
    next(further, None)
    return here, further


def _numbers(connection: sqlite3.Connection) -> Counter[int]:
    """Of the messages that the table itself has, and how often; none where it cannot be read to its end."""
    try:
        return Counter(row["id"] for row in connection.execute("SELECT id FROM messages NOT INDEXED"))
    except FAULTS:
        return Counter()


def _parents_by_indexes(connection: sqlite3.Connection) -> dict[int, int | None]:
    """What both indexes say comes before a message: two of three outvote a damaged row."""
    found: list[dict[int, int | None]] = []
    for index in _PARENT_INDEXES:
        try:
            found.append(dict(connection.execute(f"SELECT id, parent_id FROM messages INDEXED BY {index}").fetchall()))
        except FAULTS:
            return {}
    first, second = found
    return {number: parent for number, parent in first.items() if second.get(number, 0) == parent}


def _has_its_columns(connection: sqlite3.Connection, table: str) -> bool:
    """False where a damaged schema gives values the names of others; such rows are carved."""
    names = tuple(row["name"] for row in connection.execute(f"PRAGMA table_info({table})"))
    return any(names[: len(columns)] == columns for columns in _COLUMNS[table])


def _table_rows(connection: sqlite3.Connection, table: str) -> Iterator[sqlite3.Row]:
    """From both ends to the damaged place, and what is between them by single ids.

    An error tells where the damage begins.
    """
    key = _KEY[table]
    low, high = -1, None
    try:
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY {key}"):
            yield row
            low = row[key]
        return
    except FAULTS:
        pass
    try:
        for row in connection.execute(f"SELECT * FROM {table} WHERE {key} > ? ORDER BY {key} DESC", (low,)):
            yield row
            high = row[key]
    except FAULTS:
        pass
    for number in range(low + 1, low + _BEHIND if high is None else min(high, low + _BETWEEN)):
        try:
            yield from connection.execute(f"SELECT * FROM {table} WHERE {key} = ?", (number,))
        except FAULTS:
            continue


def carved(pages: Pages) -> Rows:
    """Rows found in single pages, told apart by the number and kinds of their columns."""
    for row_id, values in pages.rows():
        table, columns = _kind(values)
        if table and (row_id or table == "unsent"):  # chat 0 is the one that has no message yet
            yield table, _as_of_today(dict(zip(columns, [row_id, *values[1:]], strict=True)))


def _kind(values: list[Value]) -> tuple[str, tuple[str, ...]]:
    """The table that a row is of, and its columns; no table where it can be of none."""
    for table, is_of in _SIGNS.items():
        for columns in _CARVED_COLUMNS[table]:
            if len(values) == len(columns) and is_of(values):
                return table, columns
    return "", ()


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < _LATEST_S


# By what a row of each table is known, besides the number of its columns.
_SIGNS: dict[str, Callable[[list[Value]], bool]] = {
    "messages": lambda values: values[3] in _ROLES and isinstance(values[4], str),
    "chats": lambda values: isinstance(values[1], str) and _is_time(values[4]),
    "folders": lambda values: isinstance(values[1], str) and values[3] in (0, 1) and _is_time(values[4]),
    "edits": lambda values: values[2] in _ROLES and isinstance(values[3], str),
    "unsent": lambda values: values[0] is None and isinstance(values[1], str),  # a note has its name in the first
    "requests": lambda values: isinstance(values[3], str) and isinstance(values[8], str) and _is_time(values[9]),
}


def _as_of_today(values: Row) -> Row:
    """A row of schema version 1 without the column that version 2 made part of the status."""
    finish = values.pop("finish", None)
    if finish in ("length", "context", "memory") and values["status"] == "done":
        values["status"] = finish
    return values


@dataclass
class _Source:
    """Rows that stand for another one's id are damaged ones: what refers to that id means the first row that had it."""

    moved: dict[tuple[str, object], int] = field(default_factory=dict)  # rows that got another id
    met: set[tuple[str, object]] = field(default_factory=set)


@dataclass
class Merge:
    """Rows of several sources in one database, the best source first.

    A row whose id is taken is the same row if it was made at the same time; otherwise it gets an id of its own. An id
    that no program gives becomes another one, wherever it stands.
    """

    fresh: sqlite3.Connection
    messages: int = 0
    from_copies: int = 0
    _made: dict[str, dict[int, object]] = field(default_factory=lambda: {table: {} for table in TABLES})
    _said: set[tuple[object, ...]] = field(default_factory=set)
    _instead: dict[tuple[str, int], int] = field(default_factory=dict)  # of impossible ids
    _torn: list[tuple[str, Row]] = field(default_factory=list)

    def add(self, rows: Rows, is_copy: bool = False, is_carved: bool = False) -> None:
        """`is_carved`: its ids are in doubt, so a row with known words is known."""
        source = _Source()
        for table, row in rows:
            self._make_possible(table, row)
            if "\0" in as_text(row.get("text")):  # as lost pages are read: another source may have all of it
                self._torn.append((table, row))
                continue
            if is_carved and _words(table, row) in self._said:
                continue
            if self._add(table, row, source) and table == "messages":
                self.messages += 1
                self.from_copies += is_copy

    def _make_possible(self, table: str, row: Row) -> None:
        for column, of in ({_KEY[table]: table} | _REFERENCES[table]).items():
            number = row.get(column)
            if isinstance(number, int) and not 0 <= number <= LARGEST_NUMBER:
                row[column] = self._instead.setdefault((of, number), _INSTEAD + len(self._instead))

    def _add(self, table: str, row: Row, source: _Source) -> bool:
        key, made = _KEY[table], self._made[table]
        number, when = row.get(key), row.get("created_at")
        if not isinstance(number, int) or self._has(table, number, when):
            if table in _TYPED and (table, number) in source.met:
                self._join(table, row)
            source.met.add((table, number))
            return False
        if number in made:
            row[key] = max(made) + 1
            if (table, number) not in source.met:
                source.moved[table, number] = row[key]
        source.met.add((table, number))
        for column, of in _REFERENCES[table].items():
            if column in row and column != key:
                row[column] = source.moved.get((of, row[column]), row[column])
        if not self._insert(table, row):
            return False
        made[row[key]] = when
        self._said.add(_words(table, row))
        return True

    def _has(self, table: str, number: int, when: object) -> bool:
        made = self._made[table]
        if number not in made:
            return False
        return table in _TYPED or made[number] == when or when in made.values()

    def _join(self, table: str, row: Row) -> None:
        """Of two rows with one number one is damaged, and nobody can tell which: what they hold is put together."""
        number, where = row[_KEY[table]], f"WHERE {_KEY[table]} = ?"
        if isinstance(row["text"], str) and _words(table, row) not in self._said:
            self.fresh.execute(f"UPDATE {table} SET text = text || char(10, 10) || ? {where}", (row["text"], number))
            self._said.add(_words(table, row))
        if more := attachments_from_json(row.get("attachments")):
            for (stored,) in self.fresh.execute(f"SELECT attachments FROM {table} {where}", (number,)).fetchall():
                joined = attachments_to_json(tuple(dict.fromkeys((*attachments_from_json(stored), *more))))
                self.fresh.execute(f"UPDATE {table} SET attachments = ? {where}", (joined, number))

    def _insert(self, table: str, row: Mapping[str, Any]) -> bool:
        values = {name: value for name, value in row.items() if value is not None}
        if table not in _TYPED:
            values.setdefault("created_at", 0.0)
        if table == "chats":
            values.setdefault("updated_at", values["created_at"])
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        try:
            self.fresh.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))
        except (sqlite3.Error, OverflowError):
            return False
        return True

    def add_torn(self) -> None:
        """What no source has whole, with a sign for what is lost of its text."""
        for table, row in self._torn:
            if row[_KEY[table]] not in self._made[table]:
                lost = {name: as_text(value).replace("\0", "") for name, value in row.items() if isinstance(value, str)}
                text = _LOST.sub(_LOST_SIGN, as_text(row["text"]))
                self.add([(table, row | lost | {"text": text})])

    def tie_up(self) -> None:
        """Mends what ties rows together: every message is in a chat, and behind another one if it was before."""
        for statement in _TIES:
            self.fresh.execute(statement)


def _words(table: str, row: Row) -> tuple[object, ...]:
    if table == "chats":
        return table, row.get("created_at"), hash(as_text(row.get("title")))
    if table in ("folders", "requests"):
        return table, row.get("id"), row.get("created_at")
    return table, row.get("chat_id"), hash(as_text(row.get("text")))
