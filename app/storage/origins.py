"""Where imported chats came from, kept with their options, so that importing one twice does not double it.

A chat that has grown where it came from grows here by the messages that are new; what was written here stays. So does
a chat of this database that was carried on with elsewhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.storage.codec import as_json_object, as_text
from app.storage.database import Connection
from app.storage.storage import Stores

if TYPE_CHECKING:
    from app.storage.portable import PortableChat, PortableMessage

IMPORTED = "imported"  # among a chat's options: its origin, and when it was changed there last
_IDENTITY = "identity"
_OURS = "hunch:"  # such a chat may come from several Macs, each with other messages: no single time says what is here

AddMessage = Callable[[Connection, int, "PortableMessage", dict[int, int]], int]


@dataclass(frozen=True, slots=True)
class Grown:
    """What an import has added to a chat that was here, and what it was like before."""

    chat_id: int
    leaf_id: int | None
    imported: dict[str, Any] | None  # None: it began here
    messages: tuple[int, ...]


def imported_from(chat: PortableChat) -> dict[str, Any]:
    """Options that say so."""
    return {IMPORTED: {"from": chat.origin, "as_of": chat.updated_at}}


def origin_in(options: dict[str, Any]) -> tuple[str, float] | None:
    found = options.get(IMPORTED)
    if not isinstance(found, dict) or not isinstance(found.get("from"), str):
        return None
    as_of = found.get("as_of")
    return found["from"], float(as_of) if isinstance(as_of, int | float) else 0.0


def origins(database: Connection) -> dict[int, tuple[str, float]]:
    """By chat, of those that are not in the Trash."""
    sql = "SELECT id, options FROM chats WHERE deleted_at IS NULL AND options LIKE ? ORDER BY id"
    rows = database.rows(sql, (f'%"{IMPORTED}"%',))
    found = {row["id"]: origin_in(as_json_object(row["options"]) or {}) for row in rows}
    return {number: origin for number, origin in found.items() if origin is not None}


class Known:
    """The chats of a database by their origins, as they are now.

    A chat of our own is known by the moment when it began as well: a database that was put back from a copy, or copied
    to another Mac, gives the numbers of its chats to others. 0.0 in a file says nothing about that moment.
    """

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._by_origin: dict[tuple[str, float], tuple[int, float]] = {}
        for number, (origin, as_of) in origins(stores.database).items():
            self._put(origin, _began(stores, number), number, as_of)
        own = stores.database.row("SELECT value FROM notes WHERE name = ?", (_IDENTITY,))
        self._own = f"{_OURS}{as_text(own['value'])}:" if own is not None else ""

    def may_have(self, origin: str) -> bool:
        """False: no chat from there is here."""
        return (origin, 0.0) in self._by_origin or self._own_number(origin) is not None

    def has(self, chat: PortableChat) -> bool:
        """Whether that chat is here with all of its messages."""
        number, as_of = self._found(chat)
        if number is None or not chat.origin.startswith(_OURS):
            return number is not None and chat.updated_at <= as_of
        return not _Here(self._stores, number, chat).lacks(chat)

    def number(self, chat: PortableChat) -> int | None:
        """That of the chat here; None where it is not here."""
        return self._found(chat)[0]

    def add(self, chat: PortableChat, number: int) -> None:
        self._put(chat.origin, chat.created_at, number, chat.updated_at)

    def _put(self, origin: str, began: float, number: int, as_of: float) -> None:
        self._by_origin[origin, 0.0] = number, as_of
        if origin.startswith(_OURS):
            self._by_origin[origin, began] = number, as_of

    def _found(self, chat: PortableChat) -> tuple[int | None, float]:
        began = chat.created_at if chat.origin.startswith(_OURS) else 0.0
        number, as_of = self._by_origin.get((chat.origin, began), (None, -1.0))
        if number is None:
            own = self._own_number(chat.origin)
            number = own if own is not None and _began(self._stores, own) == began else None
        there = number is not None and self._stores.chats.summary(number) is not None
        return (number, as_of) if there else (None, -1.0)

    def _own_number(self, origin: str) -> int | None:
        """Which chat of this database it was when it was exported."""
        number = origin.removeprefix(self._own) if self._own and origin.startswith(self._own) else ""
        return min(int(number[:18]), 1 << 62) if number.isascii() and number.isdigit() else None


def _began(stores: Stores, chat_id: int) -> float:
    row = stores.database.row("SELECT created_at FROM chats WHERE id = ?", (chat_id,))
    return row["created_at"] if row is not None and isinstance(row["created_at"], float) else 0.0


def grow(stores: Stores, chat_id: int, chat: PortableChat, add: AddMessage) -> Grown:
    """Within a transaction of the caller's. What was deleted here is not added again."""
    options, leaf = stores.states.options(chat_id), stores.chats.leaf(chat_id)
    here = _Here(stores, chat_id, chat)
    ids: dict[int, int] = {}
    added: list[int] = []
    for message in chat.messages:
        parent = None if message.parent is None else ids[message.parent]
        known = here.find(message, parent)
        ids[message.number] = known or add(stores.database, chat_id, message, ids)
        added += [] if known else [ids[message.number]]
    if added:
        stores.chats.set_leaf(chat_id, ids.get(chat.shown or 0, added[-1]))
        sql = "UPDATE chats SET updated_at = max(updated_at, ?) WHERE id = ?"
        stores.database.execute(sql, (chat.updated_at, chat_id))
    if IMPORTED in options:
        stores.states.put_options(chat_id, imported_from(chat))
    return Grown(chat_id, leaf, options.get(IMPORTED), tuple(added))


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    parent: int | None
    role: str
    text: str
    moment: object

    def began_as(self, message: PortableMessage) -> bool:
        """Whether it has been that: a reply may have gone on since, and either side may have become the other."""
        if self.text == message.text:
            return True
        goes_on = bool(message.text) and message.role == "assistant" and self.text.startswith(message.text)
        return self.role == message.role and goes_on

    def was_empty(self, message: PortableMessage) -> bool:
        return self.role == message.role and not message.text


class _Here:
    """The messages of a chat, to be found by those of a file, each by one at most.

    Messages are the same that say the same in the same place. What was put behind a message of this database, which is
    newer than it is itself, is known by its words. A message that was moved, changed sides, or has gone on since is
    known by the moment when it was written: where that is like no other in the chat, or no other in its place. Some
    apps give all messages of a chat one moment.
    """

    def __init__(self, stores: Stores, chat_id: int, chat: PortableChat) -> None:
        rows = _rows(stores, chat_id)
        self._placed = _by((row.parent, row.role, row.text, row) for row in rows)
        self._moved = _by((row.role, row.text, row) for row in rows if (row.parent or 0) > row.number)
        self._written = _by((row.moment, row) for row in rows)
        self._beside = _by((row.moment, row.parent, row) for row in rows)
        self._moments = Counter(message.created_at for message in chat.messages)
        self._moments_beside = Counter((message.created_at, message.parent) for message in chat.messages)
        self._given: set[int] = set()

    def lacks(self, chat: PortableChat) -> bool:
        """Whether any message of it is not here."""
        ids: dict[int | None, int | None] = {None: None}
        for message in chat.messages:
            ids[message.number] = self.find(message, ids[message.parent])
            if ids[message.number] is None:
                return True
        return False

    def find(self, message: PortableMessage, parent: int | None) -> int | None:
        """`parent`: the message here that it follows there."""
        said = message.role, message.text
        found = self._first(self._placed[parent, *said]) or self._first(self._moved[said])
        found = found or (self._by_time(message, parent) if message.created_at else None)
        if found is not None:
            self._given.add(found.number)
        return None if found is None else found.number

    def _first(self, rows: list[_Row]) -> _Row | None:
        """Of those that no message was found by."""
        while rows and rows[-1].number in self._given:
            rows.pop()
        return rows[-1] if rows else None

    def _by_time(self, message: PortableMessage, parent: int | None) -> _Row | None:
        row = self._only(self._written[message.created_at,], self._moments[message.created_at])
        if row is not None and (row.began_as(message) or row.was_empty(message)):
            return row
        times = self._moments_beside[message.created_at, message.parent]
        row = self._only(self._beside[message.created_at, parent], times)
        return row if row is not None and row.began_as(message) else None

    def _only(self, rows: list[_Row], times: int) -> _Row | None:
        """`times`: how often the file has what these have in common."""
        alone = len(rows) == times == 1 and rows[0].number not in self._given
        return rows[0] if alone else None


def _rows(stores: Stores, chat_id: int) -> list[_Row]:
    """Also what was deleted; the latest first."""
    sql = "SELECT id, parent_id, role, text, created_at FROM messages WHERE chat_id = ? ORDER BY id DESC"
    return [
        _Row(row["id"], row["parent_id"], row["role"], as_text(row["text"]), row["created_at"])
        for row in stores.database.rows(sql, (chat_id,))
    ]


def _by(keyed: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], list[_Row]]:
    """Rows by what stands before each."""
    found: dict[tuple[Any, ...], list[_Row]] = defaultdict(list)
    for *key, row in keyed:
        found[tuple(key)].append(row)
    return found


def shrink(stores: Stores, grown: Iterable[Grown]) -> None:
    """Takes that back, but for messages that somebody has answered here since."""
    alone = "NOT EXISTS (SELECT 1 FROM messages AS answer WHERE answer.parent_id = messages.id)"
    with stores.database.transaction():
        for each in grown:
            for number in reversed(each.messages):
                stores.database.execute(f"DELETE FROM messages WHERE id = ? AND {alone}", (number,))
            left = [number for number in each.messages if stores.messages.message(number) is not None]
            if not left:
                stores.chats.set_leaf(each.chat_id, each.leaf_id)
            if each.imported is not None:
                stores.states.put_options(each.chat_id, {IMPORTED: each.imported})
