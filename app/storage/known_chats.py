"""The order and the titles of all chats in memory, for the searcher's thread: a search reads only what has changed.

The writer notes the numbers of the chats that it changes (`ChangedChats`).
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Collection, Iterator
from itertools import accumulate
from threading import Lock

from app.markup.folding import fold
from app.storage.codec import as_text
from app.storage.database import Connection

_COLUMNS = "SELECT id, title, pinned, updated_at FROM chats WHERE deleted_at IS NULL"
_FEW = 500  # chats; where more have changed, all are read again
_COMMON = 8  # titles for one with the words: then each is looked into
_MOST_CHARS = 50_000_000  # of all titles; more are read for each search

_Key = tuple[float, float, int]  # pinned, time, number: the first chat of the list has the last of them


class ChangedChats:
    """From the thread that writes to the one that searches."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._numbers: set[int] = set()
        self._any = True  # they are not counted yet

    def note(self, changed: Callable[[], Collection[int]]) -> None:
        """Those that it gives. If it fails, any chat may have changed."""
        try:
            self.add(changed())
        except sqlite3.Error:
            self.add_all()

    def add(self, numbers: Collection[int]) -> None:
        with self._lock:
            if not self._any:
                self._numbers.update(numbers)
                self._any = len(self._numbers) > _FEW

    def add_all(self) -> None:
        with self._lock:
            self._any = True

    def take(self) -> set[int] | None:
        """Those since the last time. None: any may have."""
        with self._lock:
            taken = None if self._any else self._numbers
            self._numbers, self._any = set(), False
            return taken


class KnownChats:
    def __init__(self, changed: ChangedChats | None = None) -> None:
        self._changed = changed
        self._keys: dict[int, _Key] = {}
        self._titles: dict[int, str] = {}  # folded
        self._order: list[_Key] = []
        self._text = ""  # all titles, where they have not changed since
        self._ends: list[int] = []
        self._numbers: list[int] = []

    def follow(self, reader: Connection) -> None:
        """Reads what has changed since the last time; the database must have it by now."""
        changed = None if self._changed is None else self._changed.take()
        try:
            if changed is None:
                self._read_all(reader)
            elif changed:
                self._read(reader, changed)
        except BaseException:
            if self._changed is not None:
                self._changed.add_all()
            raise

    def titled(self, folded: str) -> set[int]:
        """Those with the words in their titles."""
        if not self._text:
            self._text = "\n".join(self._titles.values())
            self._ends = list(accumulate(len(title) + 1 for title in self._titles.values()))
            self._numbers = list(self._titles)
        if self._text.count(folded) > len(self._titles) // _COMMON:
            return {number for number, title in self._titles.items() if folded in title}
        found, at = set[int](), self._text.find(folded)
        while at >= 0:
            place = bisect_right(self._ends, at)
            found.add(self._numbers[place])
            at = self._text.find(folded, self._ends[place])
        return found

    def in_order(self, chats: set[int] | None = None) -> Iterator[int]:
        """As the list has them; of these, or all."""
        if chats is None or len(chats) > len(self._order) // 10:  # most searches need only the first ones
            return (key[2] for key in reversed(self._order) if chats is None or key[2] in chats)
        return (key[2] for key in sorted((self._keys[each] for each in chats & self._keys.keys()), reverse=True))

    def _read_all(self, reader: Connection) -> None:
        rows = reader.rows(_COLUMNS)
        self._keys = {row["id"]: _key(row) for row in rows}
        self._titles = {row["id"]: fold(as_text(row["title"])) for row in rows}
        self._text = ""
        self._order = sorted(self._keys.values())
        if self._changed is not None and sum(map(len, self._titles.values())) > _MOST_CHARS:
            self._changed.add_all()

    def _read(self, reader: Connection, changed: set[int]) -> None:
        rows = {row["id"]: row for row in reader.rows(f"{_COLUMNS} AND id IN ({','.join(map(str, changed))})")}
        self._text = ""
        for number in changed:
            if key := self._keys.pop(number, None):
                del self._order[bisect_left(self._order, key)], self._titles[number]
            if row := rows.get(number):
                self._keys[number] = _key(row)
                self._titles[number] = fold(as_text(row["title"]))
                insort(self._order, self._keys[number])


def _key(row: sqlite3.Row) -> _Key:
    """Damaged values come last."""
    number, _title, pinned, updated_at = row
    is_sound = isinstance(pinned, int) and isinstance(updated_at, float)
    return (pinned, updated_at, number) if is_sound else (-1, 0.0, number)
