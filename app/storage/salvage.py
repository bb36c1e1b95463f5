"""Reading rows out of damaged databases, and putting them together by id and time.

Rows are read by SQLite, and from the bytes of single pages where SQLite finds no way to them. That follows the file
format (https://www.sqlite.org/fileformat2.html). Nothing there is trusted: what does not fit is skipped.
"""

from __future__ import annotations

import logging
import re
import sqlite3
import struct
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import tee, zip_longest
from pathlib import Path
from typing import Any

from app.storage.codec import LATEST_S, as_text
from app.storage.parts import attachments_from_json, parts_to_json

log = logging.getLogger(__name__)

TABLES = ("folders", "chats", "messages", "unsent", "edits", "requests")
_KEY = dict.fromkeys(TABLES, "id") | {"unsent": "chat_id", "edits": "message_id"}
_TYPED = ("unsent", "edits")  # what was typed and not sent: without a time, and no two for one key
# Those of schema version 4 are these and more after them; rows that an older version wrote stay as short as they were.
_FOLDER_COLUMNS = ("id", "name", "parent_id", "opened", "created_at")
_CHAT_COLUMNS = ("id", "title", "renamed", "pinned", "created_at", "updated_at", "leaf_id", "deleted_at")
_CHAT_COLUMNS_4 = (*_CHAT_COLUMNS, "folder_id", "unseen", "options", "place")
_MESSAGE_COLUMNS = (
    *("id", "chat_id", "parent_id", "role", "text", "thinking", "thinking_s", "status"),
    *("main_name", "draft_name", "stats", "error", "created_at", "deleted_at"),
)
_MESSAGE_COLUMNS_4 = (*_MESSAGE_COLUMNS, "parts", "drafting")
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
# How many ids are tried one by one: between two that can be read, and after the last one.
_BETWEEN, _BEHIND = 100_000, 1000
LARGEST_NUMBER = 1 << 30  # of a row: half of what Qt's signals can name, and no chat has as many
_INSTEAD = 1 << 29  # the first of the numbers that rows with impossible ones get
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
    # A chat shows its branch to the end: the number of that may be damaged, or have been given to another message.
    """UPDATE chats SET leaf_id = (WITH RECURSIVE below(id) AS (SELECT chats.leaf_id UNION
    SELECT messages.id FROM messages JOIN below ON parent_id = below.id WHERE deleted_at IS NULL)
    SELECT max(id) FROM below WHERE NOT EXISTS (SELECT 1 FROM messages WHERE parent_id = below.id
    AND deleted_at IS NULL)) WHERE leaf_id IS NOT NULL""",
)

Row = dict[str, Any]
Rows = Iterable[tuple[str, Row]]  # table, row

Value = int | float | str | bytes | None

_MOST_PAGES = 1 << 24
_PART_BYTES = 1 << 20
_HEAD_BYTES = 8  # of such a page
_LEAST_CELL_BYTES = 6  # with its pointer
_LOG_HEADER_BYTES = 32
_FRAME_HEADER_BYTES = 24
_MAGIC = (0x377F0682, 0x377F0683)

PAGE_BYTES = 4096  # of our files; also where the header cannot be read
LEAF, _INNER = 0x0D, 0x05  # pages of a table: with rows, with the numbers of pages
_TREE_HEAD_BYTES = {0x02: 12, 0x05: 12, 0x0A: 8, LEAF: 8}
_HEADER_BYTES = 100
_LOCKED_BYTE = 1 << 30  # SQLite leaves the page of it as it is
_AHEAD_BYTES = 1 << 20

Child = tuple[int, int, int]  # its number, and between which ids its rows are: above the first, up to the second
# page n is at (n - 1) * page_bytes + shift, where that is from the first place to the last
Shift = tuple[int, int, int]


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number as SQLite writes it, and where it ends. Raises IndexError."""
    value = 0
    for step in range(8):
        byte = data[at + step]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    return value << 8 | data[at + 8], at + 9


def page_bytes_of(header: bytes) -> int:
    size = int.from_bytes(header[16:18], "big")
    return 65536 if size == 1 else size if size in (512 << n for n in range(8)) else PAGE_BYTES


def free_pages(page: Callable[[int], bytes], count: int, page_bytes: int) -> set[int]:
    """Pages of rows that were deleted; they may still hold them."""
    free: set[int] = set()
    trunk = int.from_bytes(page(1)[32:36], "big")
    while 0 < trunk <= count and trunk not in free:
        free.add(trunk)
        numbers = page(trunk)
        leaves = min(int.from_bytes(numbers[4:8], "big"), page_bytes // 4 - 2)
        free.update(int.from_bytes(numbers[8 + 4 * n : 12 + 4 * n], "big") for n in range(leaves))
        trunk = int.from_bytes(numbers[:4], "big")
    return free


def has_lost_page(file: Path, count: int, logged: Mapping[int, bytes]) -> bool:
    """Whether a page in use is all zeros, or cut off: what SQLite misses there it takes for zeros, too.

    `logged` has the pages that are in the log.
    """
    with file.open("rb", buffering=_AHEAD_BYTES) as stream:
        page_bytes = page_bytes_of(stream.read(18))
        zeros = bytes(page_bytes)
        stream.seek(0)
        lost = {number for number in range(1, count + 1) if stream.read(page_bytes) in (zeros, b"")}
        if stream.tell() < count * page_bytes:
            lost.add(stream.tell() // page_bytes + 1)
        lost -= {_LOCKED_BYTE // page_bytes + 1, *logged}

        def page(number: int) -> bytes:
            stream.seek((number - 1) * page_bytes)
            return logged.get(number) or stream.read(page_bytes)

        return bool(lost and lost - free_pages(page, count, page_bytes))


def straightened(data: bytes, page_bytes: int, size: int) -> bytes:
    """The file with its pages in their places again, where bytes were cut out of it or put into it.

    `size`: of the whole file, with zeros after `data`.
    """
    said = int.from_bytes(data[28:32], "big")
    shifts = _shifts(data, page_bytes, size - said * page_bytes)
    if len(shifts) == 1 and shifts[0][0] == 0:
        return data
    count = -(-(len(data) - shifts[-1][0]) // page_bytes)
    pages = (_page(data, number, page_bytes, shifts) for number in range(count))
    return b"".join(page.ljust(page_bytes, b"\0") for page in pages)


def _shifts(data: bytes, page_bytes: int, in_all: int) -> list[Shift]:
    """Each shift, as far as pages show it. `in_all`: the last one, if the header is right."""
    shifts: list[Shift] = [(0, 0, 0)]
    for at in _leaves(data, page_bytes):
        shift, first, _ = shifts[-1]
        if (at - shift) % page_bytes == 0:
            shifts[-1] = shift, first, at
            continue
        put_in = (at - shift) % page_bytes
        nearest = shift + (put_in if put_in <= page_bytes // 2 else put_in - page_bytes)
        shifts.append((in_all if (at - in_all) % page_bytes == 0 else nearest, at, at))
    moved_by_pages = len(shifts) == 1 and in_all and in_all % page_bytes == 0
    return _shifts_by_children(data, page_bytes, in_all) if moved_by_pages else shifts


def _shifts_by_children(data: bytes, page_bytes: int, in_all: int) -> list[Shift]:
    """Where whole pages were cut out or put in: by the pages that others point to, and the ids of their rows."""
    children = sorted(
        child for at in range(page_bytes, len(data), page_bytes) for child in _children(data, at, page_bytes)
    )
    here, moved = ([_fits(data, (each[0] - 1) * page_bytes + by, each) for each in children] for by in (0, in_all))
    first = max(range(len(children) + 1), key=lambda n: (sum(here[:n]) + sum(moved[n:]), n))
    if first == len(children):
        return [(0, 0, len(data))]
    last = (children[first - 1][0] - 1) * page_bytes if first else 0
    return [(0, 0, last), (in_all, (children[first][0] - 1) * page_bytes + in_all, len(data))]


def _children(data: bytes, at: int, page_bytes: int) -> Iterator[Child]:
    if data[at] != _INNER or not _is_tree(data, at, page_bytes):
        return
    lowest = 0
    for place in range(at + 12, at + 12 + 2 * int.from_bytes(data[at + 3 : at + 5], "big"), 2):
        cell = at + int.from_bytes(data[place : place + 2], "big")
        with suppress(IndexError):
            highest, _ = varint(data, cell + 4)
            yield int.from_bytes(data[cell : cell + 4], "big"), lowest, highest
            lowest = highest
    yield int.from_bytes(data[at + 8 : at + 12], "big"), lowest, 1 << 63


def _fits(data: bytes, at: int, child: Child) -> bool:
    if not 0 <= at < len(data) - 10 or data[at] != LEAF:
        return 0 <= at < len(data) and data[at] == _INNER
    try:
        _, id_at = varint(data, at + int.from_bytes(data[at + 8 : at + 10], "big"))
        return child[1] < varint(data, id_at)[0] <= child[2]
    except IndexError:
        return False


def _leaves(data: bytes, page_bytes: int) -> Iterator[int]:
    """Where a page with rows begins, or all looks like it."""
    at = data.find(LEAF, _HEADER_BYTES + 1)  # not that of the first page, which is after the header
    while at >= 0:
        if _is_tree(data, at, page_bytes):
            yield at
            at += page_bytes - 1
        at = data.find(LEAF, at + 1)


def _is_tree(data: bytes, at: int, page_bytes: int) -> bool:
    head = _TREE_HEAD_BYTES.get(data[at]) if 0 <= at < len(data) else None
    if head is None:
        return False
    cells, content = (int.from_bytes(data[at + n : at + n + 2], "big") for n in (3, 5))
    end = at + head + 2 * cells
    if not 0 < cells <= page_bytes // 6 or not head + 2 * cells <= content < page_bytes or end > len(data):
        return False
    return all(content <= int.from_bytes(data[n : n + 2], "big") < page_bytes for n in range(at + head, end, 2))


def _page(data: bytes, number: int, page_bytes: int, shifts: list[Shift]) -> bytes:
    """The bytes of a page. Near a shift it is taken where it looks like a page, or like a piece of a long text."""
    begun = max(n for n, (shift, first, _) in enumerate(shifts) if number * page_bytes + shift >= first)
    near = [number * page_bytes + shift for shift, _, _ in shifts[begun : begun + 2]]
    if near[0] <= shifts[begun][2]:
        near = near[:1]
    fits = [at for at in near if _is_tree(data, at, page_bytes)] or [at for at in near if _is_piece(data, at)] or near
    return data[fits[0] : fits[0] + page_bytes]


def _is_piece(data: bytes, at: int) -> bool:
    """Whether an overflow page may begin there: it begins with the number of the next one."""
    return 0 <= at <= len(data) - 4 and int.from_bytes(data[at : at + 4], "big") <= len(data) // 512


@dataclass(frozen=True, slots=True)
class Frame:
    """One page in the write-ahead log. `sound`: it and all before it have their checksums."""

    number: int
    commits: bool
    data: bytes
    sound: bool


def log_frames(log: Path) -> Iterator[Frame]:
    """The frames of the log that were written since it was last emptied."""
    data = log.read_bytes() if log.exists() else b""
    if len(data) < _LOG_HEADER_BYTES:
        return
    magic, _, page_bytes = struct.unpack(">3I", data[:12])
    order = ">" if magic & 1 else "<"
    sums = _checksum(order, data[:24], (0, 0))
    sound = magic in _MAGIC and sums == struct.unpack(">2I", data[24:32])
    page_bytes = page_bytes if sound else PAGE_BYTES
    # What these frames have and older ones lack is in the header, and in each frame too.
    salts = data[16:24] if sound else data[_LOG_HEADER_BYTES + 8 : _LOG_HEADER_BYTES + 16]
    step = _FRAME_HEADER_BYTES + page_bytes
    for at in range(_LOG_HEADER_BYTES, len(data) - step + 1, step):
        head, page = data[at : at + _FRAME_HEADER_BYTES], data[at + _FRAME_HEADER_BYTES : at + step]
        if head[8:16] != salts:
            continue
        if sound:
            sums = _checksum(order, page, _checksum(order, head[:8], sums))
            sound = sums == struct.unpack(">2I", head[16:24])
        number, committed = struct.unpack(">2I", head[:8])
        yield Frame(number, committed > 0, page, sound)


def _checksum(order: str, data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second


def _without_zeros_behind(file: Path) -> bytes:
    """All of it but most zeros at its end: a file of gigabytes may be nothing else."""
    parts: list[bytes] = []
    zeros, behind = bytes(_PART_BYTES), 0
    with file.open("rb") as stream:
        while part := stream.read(_PART_BYTES):
            if part == zeros[: len(part)]:
                behind += len(part)
            else:
                parts += [bytes(behind), part]
                behind = 0
    return b"".join(parts)


class Pages:
    """The pages of a file in their places, with those of its log."""

    def __init__(self, file: Path, log: Path) -> None:
        data = _without_zeros_behind(file)
        self.page_bytes = page_bytes_of(data)
        self._data = straightened(data, self.page_bytes, file.stat().st_size)
        self._later = {frame.number: frame.data for frame in log_frames(log)}
        reserved = self._data[20] if len(self._data) > 20 else 0
        self._usable = self.page_bytes - (reserved if reserved <= 32 else 0)

    def write_to(self, target: Path) -> None:
        with target.open("wb") as file:
            for number in range(1, self.count + 1):
                file.write(self.page(number).ljust(self.page_bytes, b"\0"))

    @cached_property
    def count(self) -> int:
        """Pages after the end of the file are in the log, or within what the header says: else a number is damaged."""
        in_file = -(-len(self._data) // self.page_bytes)
        most = max(in_file + len(self._later), int.from_bytes(self.page(1)[28:32], "big"))
        return max([in_file, *(number for number in self._later if number <= min(most, _MOST_PAGES))])

    def page(self, number: int) -> bytes:
        later = self._later.get(number)
        at = (number - 1) * self.page_bytes
        return later if later is not None else self._data[at : at + self.page_bytes]

    def rows(self) -> Iterator[tuple[int, list[Value]]]:
        """Each row of each table that can be read, with its id."""
        free = free_pages(self.page, self.count, self.page_bytes)
        for number in range(1, self.count + 1):
            if number not in free:
                yield from self._rows_of(self.page(number), 100 if number == 1 else 0)

    def _rows_of(self, page: bytes, start: int) -> Iterator[tuple[int, list[Value]]]:
        if len(page) < start + _HEAD_BYTES:
            return
        if page[start] == LEAF:
            yield from self._rows_at(page, self._cells_of(page, start))
        elif (cells := int.from_bytes(page[start + 3 : start + 5], "big")) <= self.page_bytes // _LEAST_CELL_BYTES:
            # Its first byte may be the damaged one: then everything else in it fits.
            found = list(self._rows_at(page, self._cells_of(page, start)))
            if len(found) >= cells:
                yield from found

    def _cells_of(self, page: bytes, start: int) -> Iterator[int]:
        """Where its cells are; also after their number, which may be damaged, up to a place that none can be at."""
        at = start + _HEAD_BYTES
        while at + 2 <= len(page):
            cell = int.from_bytes(page[at : at + 2], "big")
            at += 2
            if cell >= at:
                yield cell
            elif at > start + _HEAD_BYTES + 2 * int.from_bytes(page[start + 3 : start + 5], "big"):
                return

    def _rows_at(self, page: bytes, cells: Iterable[int]) -> Iterator[tuple[int, list[Value]]]:
        for cell in cells:
            try:
                yield self._row(page, cell)
            except (IndexError, ValueError, struct.error):
                continue

    def _row(self, page: bytes, at: int) -> tuple[int, list[Value]]:
        size, at = varint(page, at)
        row_id, at = varint(page, at)
        if not (0 < size < 1 << 30 and 0 <= row_id < 1 << 48):
            raise ValueError(row_id)
        return row_id, _values(self._payload(page, at, size))

    def _payload(self, page: bytes, at: int, size: int) -> bytes:
        usable = self._usable
        if size <= usable - 35:
            return _exactly(page[at : at + size], size)
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        local = local if local <= usable - 35 else least
        parts, left = [_exactly(page[at : at + local], local)], size - local
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        if size > self.count * self.page_bytes:
            raise ValueError(size)
        while left > 0:
            if not 0 < following <= self.count:  # what follows is lost, and is there as zeros
                parts.append(bytes(left))
                break
            overflow = self.page(following)
            taken = min(left, usable - 4)
            parts.append(overflow[4 : 4 + taken].ljust(taken, b"\0"))
            following, left = int.from_bytes(overflow[:4], "big"), left - taken
        return b"".join(parts)


def _exactly(data: bytes, size: int) -> bytes:
    if len(data) != size:
        raise ValueError(size)
    return data


def _values(payload: bytes) -> list[Value]:
    head_bytes, at = varint(payload, 0)
    kinds = []
    while at < head_bytes:
        kind, at = varint(payload, at)
        kinds.append(kind)
    values: list[Value] = []
    at = head_bytes
    for kind in kinds:
        size = _size(kind)
        values.append(_value(kind, _exactly(payload[at : at + size], size)))
        at += size
    return values


def _size(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    if kind in (10, 11):
        raise ValueError(kind)
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind]


def _value(kind: int, data: bytes) -> Value:
    if kind == 0:
        return None
    if kind in (8, 9):
        return kind - 8
    if kind == 7:
        number: float = struct.unpack(">d", data)[0]
        return number
    if kind >= 12:
        return data.decode("utf-8", "replace") if kind % 2 else data
    return int.from_bytes(data, "big", signed=True)


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
                    yield table, _as_of_today(table, row)
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

    An error says where the damage begins.
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
    """Rows found in single pages, kept apart by the number and kinds of their columns."""
    for row_id, values in pages.rows():
        table, columns = _kind(values)
        if table and (row_id or table == "unsent"):  # chat 0 is the one that has no message yet
            yield table, _as_of_today(table, dict(zip(columns, [row_id, *values[1:]], strict=True)))


def _kind(values: list[Value]) -> tuple[str, tuple[str, ...]]:
    """The table that a row is of, and its columns; no table where it can be of none."""
    for table, is_of in _SIGNS.items():
        for columns in _CARVED_COLUMNS[table]:
            if len(values) == len(columns) and is_of(values):
                return table, columns
    return "", ()


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < LATEST_S


# By what a row of each table is known, besides the number of its columns.
_SIGNS: dict[str, Callable[[list[Value]], bool]] = {
    "messages": lambda values: values[3] in _ROLES and isinstance(values[4], str),
    "chats": lambda values: isinstance(values[1], str) and _is_time(values[4]),
    "folders": lambda values: isinstance(values[1], str) and values[3] in (0, 1) and _is_time(values[4]),
    "edits": lambda values: values[2] in _ROLES and isinstance(values[3], str),
    "unsent": lambda values: values[0] is None and isinstance(values[1], str),  # a note has its name in the first
    "requests": lambda values: isinstance(values[3], str) and isinstance(values[8], str) and _is_time(values[9]),
}


def _as_of_today(table: str, values: Row) -> Row:
    """A row of schema version 1 without the column that version 2 made part of the status; version 8 named another."""
    finish = values.pop("finish", None)
    if finish in ("length", "context", "memory") and values["status"] == "done":
        values["status"] = finish
    if table == "messages" and "attachments" in values:
        values["parts"] = values.pop("attachments")
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
    that no program gives becomes another one, wherever it is.
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
        """Of two rows with one number one is damaged, and which one is not known: what they hold is put together."""
        number, where = row[_KEY[table]], f"WHERE {_KEY[table]} = ?"
        if isinstance(row["text"], str) and _words(table, row) not in self._said:
            self.fresh.execute(f"UPDATE {table} SET text = text || char(10, 10) || ? {where}", (row["text"], number))
            self._said.add(_words(table, row))
        if more := attachments_from_json(row.get("attachments")):
            for (stored,) in self.fresh.execute(f"SELECT attachments FROM {table} {where}", (number,)).fetchall():
                joined = parts_to_json(tuple(dict.fromkeys((*attachments_from_json(stored), *more))))
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
        """Repairs what ties rows together: every message is in a chat, and after another one if it was before."""
        for statement in _TIES:
            self.fresh.execute(statement)


def _words(table: str, row: Row) -> tuple[object, ...]:
    if table == "chats":
        return table, row.get("created_at"), hash(as_text(row.get("title")))
    if table in ("folders", "requests"):
        return table, row.get("id"), row.get("created_at")
    return table, row.get("chat_id"), hash(as_text(row.get("text")))
