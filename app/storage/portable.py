"""Chats as values for export and import.

An import stores a file in steps, and recognises by their origins the chats that exist already.
"""

from __future__ import annotations

import heapq
import sqlite3
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

from app.storage.codec import as_json_object, as_text, as_time, exportable_object, object_to_json
from app.storage.columns import COLUMNS, ROLES, insert_message
from app.storage.database import Connection
from app.storage.parts import Attachment, AttachmentKind, Attachments, Call, Parts, Text, all_parts, of_kind
from app.storage.project_files import MOST_CHARACTERS
from app.storage.storage import Stores
from app.storage.tree import Tree, read_tree

_IDENTITY = "identity"
# Options of a chat or a folder that are neither exported nor imported: what tools it may use, and which models.
OF_THIS_MACHINE = ("tools", "folders", "main", "draft")

Json = dict[str, Any] | None

# The origin of an imported chat is stored with its options, so that importing twice makes no copy. If it has grown at
# its origin, the new messages are added; messages written here stay. The same holds for a chat of this database that
# was continued elsewhere.
IMPORTED = "imported"  # key in a chat's options: origin, and the time of its last change there
FOREIGN = "foreign"  # key in options of a chat or a folder: it has words that the user did not write here
_OF_ORIGIN = (IMPORTED, FOREIGN)
_OURS = "hunch:"  # our own chats may come from several Macs with different messages, so no single time applies

AddMessage = Callable[[Connection, int, "PortableMessage", dict[int, int]], int]
STEP_CHATS = 50
STEP_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class Grown:
    """A chat that an import has extended, and its former state."""

    chat_id: int
    leaf_id: int | None
    updated_at: float
    origin: dict[str, Any]  # of its options, IMPORTED and FOREIGN
    messages: tuple[int, ...]
    latest: float  # its time since


def imported_from(chat: PortableChat) -> dict[str, Any]:
    """Options with the origin of a chat."""
    return {IMPORTED: {"from": chat.origin, "as_of": chat.updated_at}}


def is_foreign(options: Mapping[str, Any]) -> bool:
    """Whether words of a chat or folder with these options came from elsewhere, at once or later."""
    return not options.keys().isdisjoint(_OF_ORIGIN)


def origin_in(options: dict[str, Any]) -> tuple[str, float] | None:
    found = options.get(IMPORTED)
    if not isinstance(found, dict) or not isinstance(found.get("from"), str):
        return None
    as_of = found.get("as_of")
    return found["from"], float(as_of) if isinstance(as_of, int | float) else 0.0


def origins(database: Connection) -> dict[int, tuple[str, float]]:
    """Origins of the chats outside the Trash."""
    sql = "SELECT id, options FROM chats WHERE deleted_at IS NULL AND options LIKE ? ORDER BY id"
    rows = database.rows(sql, (f'%"{IMPORTED}"%',))
    found = {row["id"]: origin_in(as_json_object(row["options"]) or {}) for row in rows}
    return {number: origin for number, origin in found.items() if origin is not None}


class Known:
    """The present chats by their origins.

    Our own chats are identified by their time of creation as well: a restored or copied database may reuse ids. 0.0 in
    a file means unknown.
    """

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._by_origin: dict[tuple[str, float], tuple[int, float]] = {}
        for number, (origin, as_of) in origins(stores.database).items():
            self._put(origin, _began(stores, number), number, as_of)
        own = stores.database.row("SELECT value FROM notes WHERE name = ?", (_IDENTITY,))
        self._own = f"{_OURS}{as_text(own['value'])}:" if own is not None else ""

    def may_have(self, origin: str) -> bool:
        """False if no chat of that origin is here."""
        return (origin, 0.0) in self._by_origin or self._own_number(origin) is not None

    def has(self, chat: PortableChat) -> bool:
        """Whether that chat is here with all of its messages."""
        number, as_of = self._found(chat)
        if number is None:
            return False
        if chat.updated_at > chat.created_at and not chat.origin.startswith(_OURS):  # else no time says it
            return chat.updated_at <= as_of
        return not _Here(self._stores, number, chat).lacks(chat)

    def number(self, chat: PortableChat) -> int | None:
        """The id of that chat here; None if it is not here."""
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
        """The chat's id if it was exported from this database."""
        number = origin.removeprefix(self._own) if self._own and origin.startswith(self._own) else ""
        return min(int(number[:18]), 1 << 62) if number.isascii() and number.isdigit() else None


def _began(stores: Stores, chat_id: int) -> float:
    row = stores.database.row("SELECT created_at FROM chats WHERE id = ?", (chat_id,))
    return row["created_at"] if row is not None and isinstance(row["created_at"], float) else 0.0


def grow(stores: Stores, chat_id: int, chat: PortableChat, add: AddMessage) -> Grown:
    """Add new messages, in the caller's transaction. Messages deleted here are not restored."""
    options = stores.states.options(chat_id)
    origin = {name: options[name] for name in _OF_ORIGIN if name in options}
    chat = _without_texts(chat)
    row = stores.database.rows("SELECT leaf_id, updated_at FROM chats WHERE id = ?", (chat_id,))[0]
    latest = max(as_time(row["updated_at"]), chat.updated_at)
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
        stores.database.execute("UPDATE chats SET updated_at = ? WHERE id = ?", (latest, chat_id))
        stores.states.put_options(chat_id, {FOREIGN: True})
    if IMPORTED in options:
        stores.states.put_options(chat_id, imported_from(chat))
    return Grown(chat_id, row["leaf_id"], as_time(row["updated_at"]), origin, tuple(added), latest)


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    parent: int | None
    role: str
    text: str
    moment: object

    def began_as(self, message: PortableMessage) -> bool:
        """Whether this row may have been that message: replies grow, and roles can be switched."""
        if self.text == message.text:
            return True
        goes_on = bool(message.text) and message.role == "assistant" and self.text.startswith(message.text)
        return self.role == message.role and goes_on


class _Here:
    """Finds a file's messages among those of a chat; each row is found at most once.

    Messages with the same text at the same place are the same. An inserted message, which is newer than its parent's
    followers, is found by its text. A message that was moved, changed its role, or was continued is found by its time
    of creation, if that is unique in the chat or at its place. Some apps give all messages of a chat one time.
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
        """Whether any message of it is missing here."""
        ids: dict[int | None, int | None] = {None: None}
        for message in chat.messages:
            ids[message.number] = self.find(message, ids[message.parent])
            if ids[message.number] is None:
                return True
        return False

    def find(self, message: PortableMessage, parent: int | None) -> int | None:
        """`parent`: the row here of the message that it follows in the file."""
        said = message.role, message.text
        found = self._first(self._placed[parent, *said]) or self._first(self._moved[said])
        if found is None and of_kind(Call, message.parts):  # earlier versions left calls out, and joined the texts
            texts = (each.text for each in of_kind(Text, all_parts(message)))
            found = self._first(self._placed[parent, message.role, "\n\n".join(texts)])
        found = found or (self._by_time(message, parent) if message.created_at else None)
        if found is not None:
            self._given.add(found.number)
        return None if found is None else found.number

    def _first(self, rows: list[_Row]) -> _Row | None:
        """The first row that was not found before."""
        while rows and rows[-1].number in self._given:
            rows.pop()
        return rows[-1] if rows else None

    def _by_time(self, message: PortableMessage, parent: int | None) -> _Row | None:
        row = self._only(self._written[message.created_at,], self._moments[message.created_at])
        if row is not None and (row.began_as(message) or (row.role == message.role and not message.text)):
            return row
        times = self._moments_beside[message.created_at, message.parent]
        row = self._only(self._beside[message.created_at, parent], times)
        return row if row is not None and row.began_as(message) else None

    def _only(self, rows: list[_Row], times: int) -> _Row | None:
        """The single such row; `times`: how often the key occurs in the file."""
        alone = len(rows) == times == 1 and rows[0].number not in self._given
        return rows[0] if alone else None


def _rows(stores: Stores, chat_id: int) -> list[_Row]:
    """All rows, deleted ones too; the latest first."""
    sql = "SELECT id, parent_id, role, text, created_at FROM messages WHERE chat_id = ? ORDER BY id DESC"
    return [
        _Row(row["id"], row["parent_id"], row["role"], as_text(row["text"]), row["created_at"])
        for row in stores.database.rows(sql, (chat_id,))
    ]


def _by(keyed: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], list[_Row]]:
    """Rows by their parent."""
    found: dict[tuple[Any, ...], list[_Row]] = defaultdict(list)
    for *key, row in keyed:
        found[tuple(key)].append(row)
    return found


def shrink(stores: Stores, grown: Sequence[Grown]) -> None:
    """Undo `grow`, the last one first, except for messages that were answered here since."""
    alone = "NOT EXISTS (SELECT 1 FROM messages AS answer WHERE answer.parent_id = messages.id)"
    with stores.database.transaction():
        for each in reversed(grown):
            for number in reversed(each.messages):
                stores.database.execute(f"DELETE FROM messages WHERE id = ? AND {alone}", (number,))
            left = [number for number in each.messages if stores.messages.message(number) is not None]
            if not left:
                if stores.chats.leaf(each.chat_id) in each.messages:
                    stores.chats.set_leaf(each.chat_id, each.leaf_id)
                sql = "UPDATE chats SET updated_at = ? WHERE id = ? AND updated_at = ?"
                stores.database.execute(sql, (each.updated_at, each.chat_id, each.latest))
            stores.states.put_options(each.chat_id, each.origin, () if left else set(_OF_ORIGIN) - each.origin.keys())


@dataclass(frozen=True, slots=True)
class PortableMessage:
    """INVARIANT: `parent` is the index of an earlier message of the chat."""

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
    parts: Parts = ()
    created_at: float = 0.0
    pinned: bool = False
    reads_from: int | None = None  # an earlier message, or None

    @property
    def attachments(self) -> Attachments:
        return of_kind(Attachment, self.parts)


@dataclass(frozen=True, slots=True)
class PortableChat:
    """`shown`: the last message of the branch on screen; `folder`: names from the top.

    `projects`: what these folders have; None for one that has nothing, or that an earlier chat of the file has.
    """

    origin: str
    title: str
    messages: tuple[PortableMessage, ...]
    shown: int | None = None
    renamed: bool = False
    pinned: bool = False
    created_at: float = 0.0
    updated_at: float = 0.0
    folder: tuple[str, ...] = ()
    projects: tuple[Json, ...] = ()
    options: Json = None


def with_files(chat: PortableChat, changed: Callable[[Attachment], Attachment]) -> PortableChat:
    """With what becomes of each file."""

    def whole(message: PortableMessage) -> PortableMessage:
        parts = tuple(changed(each) if isinstance(each, Attachment) else each for each in message.parts)
        return replace(message, parts=parts)

    return replace(chat, messages=tuple(map(whole, chat.messages)))


def identity(stores: Stores) -> str:
    """This database's identity in exported chats; made at the first call."""
    row = stores.database.row("SELECT value FROM notes WHERE name = ?", (_IDENTITY,))
    if row is not None:
        return as_text(row["value"])
    made = uuid.uuid4().hex
    stores.database.execute("INSERT INTO notes VALUES (?, ?)", (_IDENTITY, made))
    return made


def chat_ids(database: Connection) -> list[int]:
    """Ids in the list's order."""
    sql = "SELECT id FROM chats WHERE deleted_at IS NULL ORDER BY updated_at DESC, id DESC"
    return [row["id"] for row in database.rows(sql)]


FilesOf = Callable[[int], Sequence[str]]  # names of the files that a folder has for its chats
TextsOf = Callable[[int], Mapping[str, str]]  # by name, a chat's documents that are in no file


def chats(
    database: Connection,
    numbers: Sequence[int],
    identity: str,
    files_of: FilesOf = lambda _folder_id: (),
    texts_of: TextsOf = lambda _chat_id: {},
) -> Iterator[PortableChat]:
    """The chats, one at a time, without those deleted meanwhile."""
    from_elsewhere = origins(database)
    folders = {row["id"]: row for row in database.rows("SELECT * FROM folders ORDER BY id")}
    names = _names(folders)
    written: set[int] = set()  # folders that an earlier chat has
    for number in numbers:
        row = database.row("SELECT * FROM chats WHERE id = ? AND deleted_at IS NULL", (number,))
        if row is not None:
            origin, _as_of = from_elsewhere.get(number, (f"hunch:{identity}:{number}", 0.0))
            path = _path(row["folder_id"], folders)
            projects = tuple(None if each["id"] in written else _project(each, files_of(each["id"])) for each in path)
            written |= {each["id"] for each in path}
            chat = _with_texts(_chat(database, row, origin), partial(texts_of, number))
            folder = tuple(names[each["id"]] for each in path)
            yield replace(chat, folder=folder, projects=projects if any(projects) else ())


def _names(folders: Mapping[int, sqlite3.Row]) -> dict[int, str]:
    """By id: an import knows folders by their names, so that of two beside each other one gets a number."""
    given: dict[tuple[object, str], int] = {}
    for number, row in folders.items():
        name = as_text(row["name"])
        free = chain((name,), (f"{name} {at}" for at in count(2)))
        given[next(key for each in free if (key := (row["parent_id"], each)) not in given)] = number
    return {number: name for (_parent, name), number in given.items()}


def _with_texts(chat: PortableChat, texts_of: Callable[[], Mapping[str, str]]) -> PortableChat:
    """With the texts of documents that are nowhere else."""
    if not any(each.kind is AttachmentKind.SEARCHED for message in chat.messages for each in message.attachments):
        return chat
    texts = texts_of()

    def with_text(attachment: Attachment) -> Attachment:
        is_document = attachment.kind is AttachmentKind.SEARCHED
        return replace(attachment, text=texts.get(attachment.name, "")) if is_document else attachment

    return with_files(chat, with_text)


def _path(folder: int | None, folders: dict[int, sqlite3.Row]) -> list[sqlite3.Row]:
    path: dict[int, sqlite3.Row] = {}
    while folder in folders and folder not in path:
        path[folder] = folders[folder]
        folder = path[folder]["parent_id"]
    return list(path.values())[::-1]


def _project(row: sqlite3.Row, files: Sequence[str]) -> Json:
    """Of files only the names, for the reader of the export."""
    instructions = as_text(row["instructions"])
    options = _for_elsewhere(exportable_object(row["options"]))
    if not (instructions or options or files):
        return None
    return {"instructions": instructions, "options": options or {}} | ({"files": list(files)} if files else {})


def _chat(database: Connection, row: sqlite3.Row, origin: str) -> PortableChat:
    tree = read_tree(database, row["id"])
    messages = tuple(_messages(database, tree))
    shown = tree.end_shown(row["leaf_id"])
    numbers = {message.number for message in messages}
    return PortableChat(
        origin=origin,
        title=as_text(row["title"]),
        messages=messages,
        shown=shown if shown in numbers else None,
        renamed=row["renamed"] in (1, 2),  # by the user or a model
        pinned=row["pinned"] == 1,
        created_at=as_time(row["created_at"]),
        updated_at=as_time(row["updated_at"]),
        options=_for_elsewhere(exportable_object(row["options"])),
    )


def _for_elsewhere(options: Json) -> Json:
    left_out = (*_OF_ORIGIN, *OF_THIS_MACHINE)
    return {name: value for name, value in (options or {}).items() if name not in left_out} or None


def _messages(database: Connection, tree: Tree) -> Iterator[PortableMessage]:
    """The readable messages; followers of an unreadable one follow its parent."""
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
    """Rows by id, but parents first. Rows with damaged parents begin a branch."""
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
    values = {name: column.from_row(row[name]) for name, column in COLUMNS.items()}
    read = row["reads_from"]
    return PortableMessage(row["id"], parent, **values, reads_from=read if isinstance(read, int) else None)


Projects = dict[tuple[str, ...], dict[str, Any]]  # by path, what a file's chats so far have said of folders


def projects_of(chat: PortableChat) -> Projects:
    return {chat.folder[: at + 1]: each for at, each in enumerate(chat.projects[: len(chat.folder)]) if each}


def add(stores: Stores, chat: PortableChat, projects: Projects | None = None, is_copy: bool = False) -> int:
    """Add a chat in the caller's transaction. Returns its id. `projects`: of earlier chats of the file.

    `is_copy`: of a chat that is here, which alone is known by its origin: an export has both.
    """
    now = time.time()
    chat = _without_texts(chat)
    folder = _folder(stores.database, chat.folder, (projects or {}) | projects_of(chat))
    origin = {FOREIGN: True} if is_copy else imported_from(chat)
    options = object_to_json((_for_elsewhere(chat.options) or {}) | origin)
    sql = (
        "INSERT INTO chats (id, title, renamed, pinned, created_at, updated_at, folder_id, options)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    )
    moments = (chat.created_at or now, chat.updated_at or now)
    number = next(stores.database.chat_numbers)
    chat_id = stores.database.execute(sql, (number, chat.title, chat.renamed, chat.pinned, *moments, folder, options))
    ids = {message.number: 0 for message in chat.messages}
    for message in chat.messages:
        ids[message.number] = add_message(stores.database, chat_id, message, ids)
    shown = ids.get(chat.shown) if chat.shown is not None else None
    stores.chats.set_leaf(chat_id, shown or max(ids.values(), default=None))
    return chat_id


def add_message(database: Connection, chat_id: int, message: PortableMessage, ids: dict[int, int]) -> int:
    parent_id = None if message.parent is None else ids[message.parent]
    values = {name: column.to_row(getattr(message, name)) for name, column in COLUMNS.items()}
    read = None if message.reads_from is None else ids.get(message.reads_from)
    return insert_message(database, chat_id, parent_id, values | {"reads_from": read or None})


def texts_in(chat: PortableChat) -> dict[str, str]:
    """By name, the documents that came with a chat, cut to what is searched of one."""
    files = (each for message in chat.messages for each in message.attachments if each.text)
    return {each.name: each.text[:MOST_CHARACTERS] for each in files if each.kind is AttachmentKind.SEARCHED}


def _without_texts(chat: PortableChat) -> PortableChat:
    """Of documents only the name; those without a text stay where the chat is from."""
    texts = texts_in(chat)

    def without(attachment: Attachment) -> Attachment:
        if attachment.kind is not AttachmentKind.SEARCHED:
            return attachment
        kind = AttachmentKind.SEARCHED if attachment.name in texts else AttachmentKind.NOTE
        return replace(attachment, text="", kind=kind)

    return with_files(chat, without)


def _folder(database: Connection, path: Sequence[str], projects: Projects) -> int | None:
    """The folder of that name there; makes it if it does not exist, with what the file says of it.

    One that exists keeps its own: its chats must not begin with words that came in a file.
    """
    folder: int | None = None
    for depth, name in enumerate(path, start=1):
        row = database.row("SELECT id FROM folders WHERE name = ? AND parent_id IS ? ORDER BY id", (name, folder))
        if row is None:
            project = projects.get(tuple(path[:depth]))
            instructions = as_text(project.get("instructions")) if project else ""
            options = (_for_elsewhere(project.get("options")) or {}) | {FOREIGN: True} if project else None
            sql = "INSERT INTO folders (name, parent_id, created_at, instructions, options) VALUES (?, ?, ?, ?, ?)"
            values = (name, folder, time.time(), instructions, object_to_json(options))
            folder = database.execute(sql, values)
        else:
            folder = row["id"]
    return folder


def put_in_trash(stores: Stores, numbers: Sequence[int], folders: Collection[int]) -> float:
    """Undo an import, with the `folders` that it made unless they have something else by now; the returned mark
    restores its chats.
    """
    empty = (
        "DELETE FROM folders WHERE id = :id"
        " AND NOT EXISTS (SELECT 1 FROM chats WHERE folder_id = :id AND deleted_at IS NULL)"
        " AND NOT EXISTS (SELECT 1 FROM folders AS inner WHERE inner.parent_id = :id)"
    )
    with stores.database.transaction():
        mark = stores.trash.put_chats(numbers)
        made = [{"id": each} for each in sorted(folders, reverse=True)]  # the innermost first
        stores.database.connection.executemany(empty, made)
    return mark


def forget(stores: Stores, numbers: Sequence[int], folders: Collection[int]) -> None:
    """Undo an unfinished import completely."""
    with stores.database.transaction():
        put_in_trash(stores, numbers, folders)
        stores.database.connection.executemany("DELETE FROM chats WHERE id = ?", [(number,) for number in numbers])


ChatOf = Callable[[bytes], PortableChat]


class Importing:
    """The import of a file, on the thread that writes, in transactions. `again`: existing chats too, as copies."""

    def __init__(self, spool: Path, chat_of: ChatOf, *, again: bool) -> None:
        self._file = spool.open("rb")
        self._chat_of = chat_of
        self._again = again
        self._known: Known | None = None
        self._projects: Projects = {}
        self.folders: set[int] = set()  # that it has made
        self.ids: list[int] = []
        self.grown: list[Grown] = []  # existing chats that got new messages
        self.documents: list[tuple[int, str, str]] = []  # chat, name and text of each that came with the file
        self.skipped = 0

    def step(self, stores: Stores) -> bool:
        """Import some chats; returns whether there may be more. If it raises, nothing has changed; call it again."""
        start = self._file.tell()
        ids = list(self.ids)
        grown = list(self.grown)
        documents = list(self.documents)
        skipped = self.skipped
        try:
            with stores.database.transaction():
                before = {each.id for each in stores.folders.all()}
                has_more = self._step(stores)
                made = {each.id for each in stores.folders.all()} - before
        except BaseException:
            self._file.seek(start)
            self._known = None
            self.ids = ids
            self.grown = grown
            self.documents = documents
            self.skipped = skipped
            raise
        self.folders |= made
        return has_more

    def _step(self, stores: Stores) -> bool:
        taken = 0
        self._known = self._known or Known(stores)
        for _ in range(STEP_CHATS):
            line = self._file.readline()
            if not line:
                return False
            self._put(stores, self._known, line)
            taken += len(line)
            if taken >= STEP_BYTES:
                break
        return True

    def _put(self, stores: Stores, known: Known, line: bytes) -> None:
        chat = self._chat_of(line)
        self._projects |= projects_of(chat)
        number = known.number(chat)
        if number is None or self._again:
            is_copy = number is not None
            number = add(stores, chat, self._projects, is_copy)
            self.ids.append(number)
            if not is_copy:
                known.add(chat, number)
        elif known.has(chat):
            self.skipped += 1  # but for its documents: an import that a crash ended has stored none
        else:
            self.grown.append(grow(stores, number, chat, add_message))
            known.add(chat, number)
        texts = texts_in(chat).items()  # those of messages that are there: some may have been deleted for good
        self.documents += [(number, *each) for each in texts if stores.messages.has_document(number, each[0])]

    @property
    def done(self) -> int:
        return len(self.ids) + len(self.grown) + self.skipped

    def close(self) -> None:
        self._file.close()
