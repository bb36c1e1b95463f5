"""Chats taken out of the database as they are, and put into it: for export, import, and nothing else.

Here: one chat at a time. Not here: which are here already (`origins`).
"""

from __future__ import annotations

import heapq
import json
import math
import sqlite3
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.storage.attachments import Attachments, attachments_from_json, attachments_to_json
from app.storage.codec import as_text
from app.storage.database import Connection
from app.storage.origins import IMPORTED, imported_from, origins
from app.storage.storage import Stores
from app.storage.tree import Tree, read_tree

ROLES = ("user", "assistant", "system")
LATEST_S = 4e10  # a later moment has no date
_IDENTITY = "identity"
_MOST_DEPTH = 100  # of an object that goes with a chat or message
_SOME = 500  # values that one statement takes

Json = dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class PortableMessage:
    """INVARIANT: `parent` is the number of an earlier message of the chat."""

    number: int
    parent: int | None
    role: str
    text: str
    thinking: str = ""
    thinking_s: float = 0.0
    status: str = "done"
    main_name: str = ""
    draft_name: str = ""
    stats: Json = None
    error: Json = None
    drafting: Json = None
    attachments: Attachments = ()
    created_at: float = 0.0


@dataclass(frozen=True, slots=True)
class PortableChat:
    """`shown` is the last message of the branch on screen, `folder` the names from the top."""

    origin: str
    title: str
    messages: tuple[PortableMessage, ...]
    shown: int | None = None
    renamed: bool = False
    pinned: bool = False
    created_at: float = 0.0
    updated_at: float = 0.0
    folder: tuple[str, ...] = ()
    options: Json = None


# Taking out


def identity(stores: Stores) -> str:
    """What tells the chats of this database from those of others; made when it is first asked for."""
    row = stores.database.row("SELECT value FROM notes WHERE name = ?", (_IDENTITY,))
    if row is not None:
        return as_text(row["value"])
    made = uuid.uuid4().hex
    stores.database.execute("INSERT INTO notes VALUES (?, ?)", (_IDENTITY, made))
    return made


def chat_ids(database: Connection) -> list[int]:
    """The latest first, as in the list."""
    sql = "SELECT id FROM chats WHERE deleted_at IS NULL ORDER BY updated_at DESC, id DESC"
    return [row["id"] for row in database.rows(sql)]


def chats(database: Connection, numbers: Sequence[int], identity: str) -> Iterator[PortableChat]:
    """One after another; a chat that was deleted meanwhile is left out."""
    from_elsewhere = origins(database)
    folders = {row["id"]: (as_text(row["name"]), row["parent_id"]) for row in database.rows("SELECT * FROM folders")}
    for number in numbers:
        row = database.row("SELECT * FROM chats WHERE id = ? AND deleted_at IS NULL", (number,))
        if row is not None:
            origin, _as_of = from_elsewhere.get(number, (f"hunch:{identity}:{number}", 0.0))
            yield _chat(database, row, origin, _path(row["folder_id"], folders))


def _path(folder: int | None, folders: dict[int, tuple[str, int | None]]) -> tuple[str, ...]:
    path: list[str] = []
    seen = set()
    while folder in folders and folder not in seen:
        seen.add(folder)
        name, folder = folders[folder]
        path.insert(0, name)
    return tuple(path)


def _chat(database: Connection, row: sqlite3.Row, origin: str, folder: tuple[str, ...]) -> PortableChat:
    tree = read_tree(database, row["id"])
    messages = tuple(_messages(database, tree))
    shown = tree.end_shown(row["leaf_id"])
    numbers = {message.number for message in messages}
    return PortableChat(
        origin=origin,
        title=as_text(row["title"]),
        messages=messages,
        shown=shown if shown in numbers else None,
        renamed=row["renamed"] == 1,
        pinned=row["pinned"] == 1,
        created_at=_time(row["created_at"]),
        updated_at=_time(row["updated_at"]),
        folder=folder,
        options=_without_origin(_json(row["options"])),
    )


def _without_origin(options: Json) -> Json:
    if options is None or IMPORTED not in options:
        return options
    return {name: value for name, value in options.items() if name != IMPORTED} or None


def _messages(database: Connection, tree: Tree) -> Iterator[PortableMessage]:
    """Those that can be read; what follows one that cannot follows the one before it."""
    shown_as: dict[int | None, int | None] = {None: None}
    for number, parent in _parents_first(tree):
        row = _row(database, number)
        shown_as[number] = shown_as[parent] if row is None else number
        if row is not None:
            yield _message(row, shown_as[parent])


def _row(database: Connection, number: int) -> sqlite3.Row | None:
    try:
        row = database.row("SELECT * FROM messages WHERE id = ?", (number,))
    except sqlite3.DatabaseError:
        return None
    return row if row is not None and row["role"] in ROLES else None


def _parents_first(tree: Tree) -> Iterator[tuple[int, int | None]]:
    """As they were made as far as that goes. What damage cut off begins a branch of its own."""
    given: set[int] = set()
    for starts in (tree.versions.get(None, ()), *([number] for number in sorted(tree.parents))):
        waiting = [number for number in starts if number not in given]
        while waiting:
            number = heapq.heappop(waiting)
            parent = tree.parents[number]
            yield number, parent if parent in given else None
            given.add(number)
            for below in tree.versions.get(number, ()):
                if below not in given:
                    heapq.heappush(waiting, below)


def _message(row: sqlite3.Row, parent: int | None) -> PortableMessage:
    status = as_text(row["status"])
    return PortableMessage(
        number=row["id"],
        parent=parent,
        role=row["role"],
        text=as_text(row["text"]),
        thinking=as_text(row["thinking"]),
        thinking_s=_time(row["thinking_s"]),
        status="interrupted" if status == "streaming" else status,
        main_name=as_text(row["main_name"]),
        draft_name=as_text(row["draft_name"]),
        stats=_json(row["stats"]),
        error=_json(row["error"]),
        drafting=_json(row["drafting"]),
        attachments=attachments_from_json(row["attachments"]),
        created_at=_time(row["created_at"]),
    )


def _json(text: object) -> Json:
    """Only what is an object, and can be written as JSON again."""
    try:
        value = None if text is None else json.loads(as_text(text), parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _is_shallow(value) else None


def _is_shallow(value: object) -> bool:
    """No deeper than what is read again."""
    layer = [value]
    for _ in range(_MOST_DEPTH):
        inner = [each.values() if isinstance(each, dict) else each for each in layer if isinstance(each, dict | list)]
        layer = [each for some in inner for each in some]
        if not layer:
            return True
    return False


def _refuse(_constant: str) -> None:
    raise ValueError


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def _time(value: object) -> float:
    return value if isinstance(value, float) and 0 <= value < LATEST_S else 0.0


# Putting in


def add(stores: Stores, chat: PortableChat) -> int:
    """Within a transaction of the caller's. Returns the id of the chat."""
    now = time.time()
    folder, options = _folder(stores.database, chat.folder), _text((chat.options or {}) | imported_from(chat))
    sql = (
        "INSERT INTO chats (title, renamed, pinned, created_at, updated_at, folder_id, options)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)"
    )
    values = (chat.title, chat.renamed, chat.pinned, chat.created_at or now, chat.updated_at or now, folder, options)
    chat_id = stores.database.execute(sql, values)
    ids = {message.number: 0 for message in chat.messages}
    for message in chat.messages:
        ids[message.number] = add_message(stores.database, chat_id, message, ids)
    shown = ids.get(chat.shown) if chat.shown is not None else None
    stores.chats.set_leaf(chat_id, shown or max(ids.values(), default=None))
    return chat_id


def add_message(database: Connection, chat_id: int, message: PortableMessage, ids: dict[int, int]) -> int:
    values = {
        "chat_id": chat_id,
        "parent_id": None if message.parent is None else ids[message.parent],
        "role": message.role,
        "text": message.text,
        "thinking": message.thinking,
        "thinking_s": message.thinking_s,
        "status": message.status,
        "main_name": message.main_name,
        "draft_name": message.draft_name,
        "stats": _text(message.stats),
        "error": _text(message.error),
        "drafting": _text(message.drafting),
        "attachments": attachments_to_json(message.attachments),
        "created_at": message.created_at,
    }
    sql = f"INSERT INTO messages ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
    return database.execute(sql, list(values.values()))


def _text(value: Json) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _folder(database: Connection, path: Sequence[str]) -> int | None:
    """The folder of that name in that place, made where there is none."""
    folder: int | None = None
    for name in path:
        row = database.row("SELECT id FROM folders WHERE name = ? AND parent_id IS ? ORDER BY id", (name, folder))
        if row is None:
            sql = "INSERT INTO folders (name, parent_id, created_at) VALUES (?, ?, ?)"
            folder = database.execute(sql, (name, folder, time.time()))
        else:
            folder = row["id"]
    return folder


def put_in_trash(stores: Stores, numbers: Sequence[int]) -> float:
    """Takes an import back; the returned mark brings all of it again."""
    with stores.database.transaction():
        return stores.trash.put_chats(numbers)


def forget(stores: Stores, numbers: Sequence[int]) -> None:
    """Takes back an import that was not finished, as if it had never begun."""
    with stores.database.transaction():
        for some in _in_parts(numbers):
            stores.database.execute(f"DELETE FROM chats WHERE id IN ({', '.join('?' * len(some))})", some)


def _in_parts(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    for at in range(0, len(numbers), _SOME):
        yield numbers[at : at + _SOME]
