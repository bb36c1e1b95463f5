"""Where imported chats came from, kept with their options, so that importing one twice does not double it.

A chat that has grown where it came from grows here by the messages that are new; what was written here stays. So does
a chat of this database that was carried on with elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
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
    """The chats of a database by their origins, as they are now."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._by_origin = {origin: (number, as_of) for number, (origin, as_of) in origins(stores.database).items()}
        own = stores.database.row("SELECT value FROM notes WHERE name = ?", (_IDENTITY,))
        self._own = f"{_OURS}{as_text(own['value'])}:" if own is not None else ""

    def has(self, chat: PortableChat) -> bool:
        """Whether that chat is here with all of its messages."""
        number, as_of = self._found(chat.origin)
        if number is None or not chat.origin.startswith(_OURS):
            return number is not None and chat.updated_at <= as_of
        return not _Here(self._stores, number).lacks(chat)

    def chat(self, origin: str) -> int | None:
        """The chat that came from there; None where none is here."""
        return self._found(origin)[0]

    def add(self, origin: str, chat_id: int, updated_at: float) -> None:
        self._by_origin[origin] = chat_id, updated_at

    def _found(self, origin: str) -> tuple[int | None, float]:
        number, as_of = self._by_origin.get(origin, (None, -1.0))
        if number is None and self._own and origin.startswith(self._own):
            own = origin.removeprefix(self._own)
            if own.isascii() and own.isdigit():
                number = min(int(own[:18]), 1 << 62)
        there = number is not None and self._stores.chats.summary(number) is not None
        return (number, as_of) if there else (None, -1.0)


def grow(stores: Stores, chat_id: int, chat: PortableChat, add: AddMessage) -> Grown:
    """Within a transaction of the caller's. What was deleted here is not added again."""
    options, leaf = stores.states.options(chat_id), stores.chats.leaf(chat_id)
    here = _Here(stores, chat_id)
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


class _Here:
    """The messages of a chat, to be found by those of a file.

    Messages are the same that say the same in the same place. So are those that were written at the same moment, one of
    which may have been moved since, changed sides, or gone on. What was put behind a message of this database, which is
    newer than it is itself, is known by its words.
    """

    def __init__(self, stores: Stores, chat_id: int) -> None:
        sql = "SELECT id, parent_id, role, text, created_at FROM messages WHERE chat_id = ? ORDER BY id DESC"
        rows = [(row, as_text(row["text"])) for row in stores.database.rows(sql, (chat_id,))]
        self._placed = {(row["parent_id"], row["role"], text): row["id"] for row, text in rows}
        self._moved = {(row["role"], text): row["id"] for row, text in rows if (row["parent_id"] or 0) > row["id"]}
        self._written: dict[object, list[tuple[int, str, str]]] = defaultdict(list)
        for row, text in rows:
            self._written[row["created_at"]].append((row["id"], row["role"], text))

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
        return self._placed.get((parent, *said)) or self._moved.pop(said, None) or self._by_time(message)

    def _by_time(self, message: PortableMessage) -> int | None:
        if not message.created_at:
            return None
        for number, role, text in self._written.get(message.created_at, ()):
            goes_on = role == message.role and bool(message.text) and text.startswith(message.text)
            if text == message.text or goes_on:
                return number
        return None


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
