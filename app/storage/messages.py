"""Messages as a tree of versions, and the branch of it that a chat shows.

A row that cannot be read becomes one message that reports it, without affecting others. An edit is unsaved text of a
message that is being changed, or inserted beside another.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

from app.storage.chats import ChatStore
from app.storage.codec import (
    as_name,
    as_text,
    as_time,
    error_from_json,
    error_to_json,
    stats_from_json,
    stats_to_json,
    storable,
)
from app.storage.columns import insert_message
from app.storage.database import Connection, Store
from app.storage.parts import (
    Attachment,
    AttachmentKind,
    Attachments,
    Part,
    Parts,
    Summary,
    attachments_from_json,
    content_of,
    parts_from_json,
    parts_to_json,
    settled,
)
from app.storage.records import Edit, EditKind, ReadMessages, ReplyStatus, ReplyText, StoredMessage
from app.storage.trash import new_mark
from app.storage.tree import Tree, is_long, read_tree, read_up_to
from engine import EngineError, MessageRole, RequestStats

# UNION, not UNION ALL: it ends even where damaged parents form a cycle.
_BELOW = """
WITH RECURSIVE below (id) AS (
    SELECT ?
    UNION
    SELECT messages.id FROM messages JOIN below ON messages.parent_id = below.id
)
"""

_COUNT_BELOW = "SELECT count(*) AS kept FROM messages WHERE id IN below AND chat_id = ? AND deleted_at IS NULL"
_READ = """
SELECT parent_id, deleted_at IS NULL AS kept, role = 'assistant' AS is_reply, reads_from, stats
FROM messages WHERE id = ? AND chat_id = ?
"""
_PINNED = "SELECT id FROM messages WHERE chat_id = ? AND pinned AND deleted_at IS NULL"
_OF_USER = "SELECT id FROM messages WHERE chat_id = ? AND role = 'user'"
_REPLIES = "SELECT id, reads_from FROM messages WHERE chat_id = ? AND role = 'assistant'"
_PAGE = 500  # messages that are read at one go
_ROLES = {role.value: role for role in MessageRole}


class MessageStore:
    def __init__(self, database: Connection, chats: ChatStore) -> None:
        self._db = database
        self._chats = chats

    def add_user(self, chat_id: int, parent_id: int | None, text: str, attachments: Attachments = ()) -> int:
        place = self._place(chat_id, parent_id)
        return self._add(chat_id, place, MessageRole.USER, text, ReplyStatus.DONE, parts=attachments)

    def put_parts(self, message_id: int, whole: Sequence[Part]) -> None:
        """All parts of a message, in order."""
        content = content_of(whole)
        sql = "UPDATE messages SET text = ?, thinking = ?, thinking_s = ?, parts = ? WHERE id = ?"
        stored = parts_to_json(content.parts)
        self._db.execute(sql, (content.text, content.thinking, content.thinking_s, stored, message_id))

    def begin_reply(self, chat_id: int, parent_id: int, main_name: str, draft_name: str) -> int:
        place = self._place(chat_id, parent_id)
        return self._add(chat_id, place, MessageRole.ASSISTANT, "", ReplyStatus.STREAMING, (main_name, draft_name))

    def insert(self, chat_id: int, parent_id: int | None, role: MessageRole, text: str, parts: Parts = ()) -> int:
        """Insert a message after another one (None: at the start); the former followers follow it."""
        with self._db.transaction():
            goes_on = bool(self._tree(chat_id).versions.get(parent_id))
            leaf = self._chats.leaf(chat_id)
            message_id = self._add(chat_id, parent_id, role, text, ReplyStatus.DONE, parts=parts)
            self._move(chat_id, parent_id, message_id)
            if goes_on:
                self._chats.set_leaf(chat_id, leaf)
        return message_id

    def replace(self, original: StoredMessage, text: str, attachments: Attachments | None = None) -> int:
        """Make a version with other text and files (None: the same); the former followers follow it."""
        parts = original.parts
        if attachments is not None:
            parts = (*attachments, *(each for each in parts if not isinstance(each, Attachment)))
        names = (original.main_name, "")
        with self._db.transaction():
            goes_on = bool(self._tree(original.chat_id).versions.get(original.id))
            leaf = self._chats.leaf(original.chat_id)
            place = self._place(original.chat_id, original.parent_id)
            message_id = self._add(original.chat_id, place, original.role, text, ReplyStatus.DONE, names, parts)
            self._move(original.chat_id, original.id, message_id)
            sql = "UPDATE messages SET (reads_from, pinned) = (?, ?) WHERE id = ?"
            self._db.execute(sql, (original.reads_from, original.pinned, message_id))
            sql = "UPDATE messages SET reads_from = ? WHERE chat_id = ? AND reads_from = ?"
            self._db.execute(sql, (message_id, original.chat_id, original.id))
            if goes_on:
                self._chats.set_leaf(original.chat_id, leaf)
        return message_id

    def set_role(self, message_id: int, role: MessageRole) -> None:
        self._db.execute("UPDATE messages SET role = ?, status = 'done' WHERE id = ?", (role.value, message_id))

    def pin(self, message_id: int, pinned: bool) -> None:
        self._db.execute("UPDATE messages SET pinned = ? WHERE id = ?", (int(pinned), message_id))

    def name_writer(self, message_id: int, main_name: str, draft_name: str) -> None:
        sql = "UPDATE messages SET main_name = ?, draft_name = ? WHERE id = ?"
        self._db.execute(sql, (main_name, draft_name, message_id))

    def resume_reply(self, message_id: int) -> None:
        """Mark a reply as running again; thinking without an answer is dropped, because the model starts it again.

        Calls without a result are ended: they are not made again.
        """
        sql = (
            "UPDATE messages SET status = 'streaming', error = NULL,"
            " thinking = CASE text WHEN '' THEN '' ELSE thinking END WHERE id = ?"
        )
        self._db.execute(sql, (message_id,))
        stored = self.message(message_id)
        if stored is not None and (parts := settled(stored.parts)) != stored.parts:
            self._db.execute("UPDATE messages SET parts = ? WHERE id = ?", (parts_to_json(parts), message_id))

    def mark_stopped(self, message_id: int) -> None:
        """A reply that was not requested in the end: restored from the Trash, it is not running."""
        self._db.execute("UPDATE messages SET status = 'stopped' WHERE id = ? AND status = 'streaming'", (message_id,))

    def save_texts(self, replies: Iterable[ReplyText]) -> None:
        with self._db.transaction(durable=False):
            for reply in replies:
                self._save_text(reply)

    def set_end(
        self,
        reply: ReplyText,
        status: ReplyStatus,
        stats: RequestStats,
        error: EngineError | None,
        drafting: str | None,
    ) -> None:
        """Store a reply's end with its whole text, in the caller's transaction."""
        self._save_text(reply)
        self._db.execute(
            "UPDATE messages SET status = ?, stats = ?, error = ?, drafting = ? WHERE id = ?",
            (status, stats_to_json(stats), error_to_json(error) if error else None, drafting, reply.message_id),
        )

    def delete(self, message: StoredMessage, *, following: bool) -> float:
        """Delete a message, alone or with all `following`, and show the rest; returns the mark."""
        with self._db.transaction():
            other = self.sibling(message, -1) or self.sibling(message, 1)
            if not following and self.count_below(message) > 0:
                return self.delete_one(message.id)
            mark = self.delete_below(message.id)
            self._chats.set_leaf(message.chat_id, self.latest_leaf(other) if other else message.parent_id)
        return mark

    def delete_below(self, message_id: int) -> float:
        """Delete a message and all that follow; returns the mark that restores them."""
        mark = new_mark(self._db)
        sql = _BELOW + "UPDATE messages SET deleted_at = ? WHERE id IN below AND deleted_at IS NULL"
        self._db.execute(sql, (message_id, mark))
        return mark

    def delete_one(self, message_id: int) -> float:
        """Delete one message; its followers follow the one before it, until the mark restores it."""
        mark = new_mark(self._db)
        self._db.execute("UPDATE messages SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL", (mark, message_id))
        return mark

    def _add(
        self,
        chat_id: int,
        parent_id: int | None,
        role: MessageRole,
        text: str,
        status: ReplyStatus,
        names: tuple[str, str] = ("", ""),  # of the models that write it
        parts: Parts = (),
    ) -> int:
        main_name, draft_name = names
        values = {
            "role": role.value,
            "text": text,
            "status": status.value,
            "main_name": main_name,
            "draft_name": draft_name,
            "parts": parts_to_json(parts),
            "created_at": time.time(),
        }
        message_id = insert_message(self._db, chat_id, parent_id, values)
        self._chats.touch(chat_id, message_id)
        return message_id

    def _move(self, chat_id: int, parent_id: int | None, message_id: int) -> None:
        """The followers of one message now follow another, deleted ones too: they may be restored."""
        sql = "UPDATE messages SET parent_id = ? WHERE chat_id = ? AND parent_id IS ? AND id != ?"
        self._db.execute(sql, (message_id, chat_id, parent_id, message_id))

    def _place(self, chat_id: int, parent_id: int | None) -> int | None:
        """The row after which a new version of a follower belongs: after the last one there.

        That may be one that was deleted alone; after the message before it, the restored one would become a version.
        """
        others = self._tree(chat_id).versions.get(parent_id)
        row = self._db.row("SELECT parent_id FROM messages WHERE id = ?", (others[-1],)) if others else None
        return parent_id if row is None else row["parent_id"]

    def _save_text(self, reply: ReplyText) -> None:
        sql = (
            "UPDATE messages SET text = ?, thinking = ?, thinking_s = ?, reads_from = nullif(ifnull(?, reads_from), 0)"
            " WHERE id = ?"
        )
        values = (reply.text, reply.thinking, reply.thinking_s, reply.reads_from, reply.message_id)
        self._db.execute(sql, values)
        if reply.parts is not None:
            sql = "UPDATE messages SET parts = ? WHERE id = ?"
            self._db.execute(sql, (parts_to_json(reply.parts), reply.message_id))

    def message(self, message_id: int) -> StoredMessage | None:
        """The message; None if it is missing or deleted."""
        row = self._db.row("SELECT chat_id, deleted_at FROM messages WHERE id = ?", (message_id,))
        if row is None or row["deleted_at"] is not None:
            return None
        (stored,) = self._rows([message_id]) or (None,)
        return _stored(message_id, stored, self._tree_at(row["chat_id"], message_id))

    def has_document(self, chat_id: int, name: str) -> bool:
        """Whether a message of the chat, in the Trash or not, has the document of that name."""
        sql = f"SELECT parts FROM messages WHERE chat_id = ? AND parts LIKE '%{AttachmentKind.SEARCHED}%'"
        found = (attachments_from_json(row["parts"]) for row in self._db.rows(sql, (chat_id,)))
        return any((each.kind, each.name) == (AttachmentKind.SEARCHED, name) for files in found for each in files)

    def branch(self, leaf_id: int | None) -> list[StoredMessage]:
        """Messages from the first one to `leaf_id`."""
        row = self._db.row("SELECT chat_id FROM messages WHERE id = ?", (leaf_id,))
        return [] if row is None else self._branch(leaf_id, self._tree(row["chat_id"]))

    def shown_branch(self, chat_id: int) -> list[StoredMessage]:
        tree = self._tree(chat_id)
        end = tree.end_shown(self._chats.leaf(chat_id))
        return self._branch(end, tree)

    def is_long(self, chat_id: int) -> bool:
        """Whether the chat is too long to read while a window waits: then it is read in segments."""
        return is_long(self._db, chat_id)

    def shown_end(self, chat_id: int) -> int | None:
        """The last message of the branch on the screen."""
        leaf = self._chats.leaf(chat_id)
        tree = None if leaf is None else self._tree_at(chat_id, leaf)
        if tree is not None and leaf in tree.parents and leaf not in tree.versions:
            return leaf
        return self._tree(chat_id).end_shown(leaf)

    def up_to(self, end_id: int, count: int) -> list[StoredMessage]:
        """The message and up to `count` before it."""
        row = self._db.row("SELECT chat_id FROM messages WHERE id = ?", (end_id,))
        if row is None:
            return []
        tree = self._tree_at(row["chat_id"], end_id, count)
        return self._read(tree.path(end_id)[-count:], tree)

    def read_for(self, reply_id: int, context_tokens: int) -> ReadMessages:
        """The messages that the prompt of a reply may have: as for the nearest reply before it, and what follows.

        All of the branch, if that one was made in a smaller context.
        """
        row = self._db.row("SELECT chat_id FROM messages WHERE id = ?", (reply_id,))
        if row is None:
            return ReadMessages()
        count = self._count_read(row["chat_id"], reply_id, context_tokens)
        if count is None:
            return ReadMessages(rest=self.branch(reply_id))
        rest = self.up_to(reply_id, count)
        return ReadMessages(self._pinned_before(rest[0]), rest) if rest else ReadMessages()

    def _count_read(self, chat_id: int, reply_id: int, context_tokens: int) -> int | None:
        """How many messages up to a reply its prompt may have, the reply included; None: all."""
        first: int | None = None
        passed: set[int] = set()
        count: int = 0
        number: int | None = reply_id
        while number is not None and number not in passed:
            row = self._db.row(_READ, (number, chat_id))
            if row is None:
                return None
            passed.add(number)
            count += int(row["kept"])
            if first is None and row["kept"] and ((row["is_reply"] and number != reply_id) or row["reads_from"]):
                first = self._beginning(chat_id, row["reads_from"])
                stats = stats_from_json(row["stats"])
                smaller = stats is not None and 0 < stats.context_limit_tokens < context_tokens
                if smaller or first is None:
                    return None
            if number == first:
                return count
            number = row["parent_id"]
        return None

    def _beginning(self, chat_id: int, first: object) -> int | None:
        """The message that a reply was read from; where it was deleted, or is the model's now, the user's before it."""
        passed: set[int] = set()
        while isinstance(first, int) and first not in passed:
            passed.add(first)
            row = self._db.row(_READ, (first, chat_id))
            if row is None or (row["kept"] and not row["is_reply"]):
                return None if row is None else first
            first = row["parent_id"]
        return None

    def _pinned_before(self, first: StoredMessage) -> list[StoredMessage]:
        """The exchanges with a pinned message before this one in its branch."""
        pinned = {row["id"] for row in self._db.rows(_PINNED, (first.chat_id,))}
        if not pinned:
            return []
        tree = self._tree(first.chat_id)
        before = tree.path(first.id)[:-1]
        users = {row["id"] for row in self._db.rows(_OF_USER, (first.chat_id,))}
        starts = [at for at, number in enumerate(before) if at == 0 or number in users]
        exchanges = [before[start:end] for start, end in pairwise([*starts, len(before)])]
        return self._read([number for each in exchanges if pinned.intersection(each) for number in each], tree)

    def left_out(self, chat_id: int) -> list[StoredMessage]:
        """What the latest reply of the shown branch was read without, from the latest summary there on.

        Then the message from which on it was read. []: all was read.
        """
        end = self.shown_end(chat_id)
        tree = self._tree(chat_id)
        path = [] if end is None else tree.path(end)
        read = {row["id"]: row["reads_from"] for row in self._db.rows(_REPLIES, (chat_id,))}
        first = next((read[number] for number in reversed(path) if number in read), None)
        return self.since_summary(chat_id, first) if first in path else []

    def since_summary(self, chat_id: int, first_id: int) -> list[StoredMessage]:
        """The messages of its branch up to this one, from the latest summary before it on."""
        tree = self._tree(chat_id)
        path = tree.path(first_id)
        sql = "SELECT id FROM messages WHERE chat_id = ? AND role = 'system'"
        summaries = {row["id"] for row in self._db.rows(sql, (chat_id,))}
        start = next((at for at in range(len(path) - 2, -1, -1) if path[at] in summaries), 0)
        return self._read(path[start:], tree)

    def put_summary(self, first_id: int, text: str, messages: int) -> int | None:
        """Insert a summary before the message from which on replies were read: they are read from the summary on.

        None: none are by now, as where another version has come for that message.
        """
        first = self.message(first_id)
        sql = "SELECT 1 FROM messages WHERE chat_id = ? AND reads_from = ? AND deleted_at IS NULL"
        if first is None or self._db.row(sql, (first.chat_id, first_id)) is None:
            return None
        with self._db.transaction():
            parts = (Summary(messages),)
            number = self.insert(first.chat_id, first.parent_id, MessageRole.SYSTEM, text, parts)
            sql = "UPDATE messages SET reads_from = ? WHERE chat_id = ? AND reads_from = ?"
            self._db.execute(sql, (number, first.chat_id, first_id))
        return number

    def newest(self, chat_id: int, count: int) -> list[StoredMessage]:
        """The last messages of the branch on the screen."""
        end = self.shown_end(chat_id)
        return [] if end is None else self.up_to(end, count)

    def before(self, message_id: int, count: int) -> list[StoredMessage]:
        return self.up_to(message_id, count + 1)[:-1]

    def latest_leaf(self, message_id: int) -> int:
        """The end of the branch below a message: its newest descendant, or itself."""
        row = self._db.row("SELECT chat_id FROM messages WHERE id = ?", (message_id,))
        return message_id if row is None else self._tree(row["chat_id"]).end_below(message_id)

    def other_end(self, message_id: int) -> int | None:
        """As `latest_leaf`; None if the message is in the branch on the screen."""
        row = self._db.row("SELECT chat_id FROM messages WHERE id = ?", (message_id,))
        if row is None:
            return None
        tree = self._tree(row["chat_id"])
        end = tree.end_shown(self._chats.leaf(row["chat_id"]))
        return None if end is not None and message_id in tree.path(end) else tree.end_below(message_id)

    def count_below(self, message: StoredMessage) -> int:
        """Number of messages after it, in all branches."""
        if self.is_long(message.chat_id):
            row = self._db.row(f"{_BELOW} {_COUNT_BELOW}", (message.id, message.chat_id))
            return row["kept"] - 1 if row is not None else 0
        return len(self._tree(message.chat_id).below(message.id)) - 1

    def sibling(self, message: StoredMessage, step: int) -> int | None:
        """The version `step` places away, if any."""
        versions = self._tree_at(message.chat_id, message.id).versions.get(message.parent_id, ())
        if message.id not in versions:
            return None
        at = versions.index(message.id) + step
        return versions[at] if 0 <= at < len(versions) else None

    def _tree(self, chat_id: int) -> Tree:
        return read_tree(self._db, chat_id)

    def _tree_at(self, chat_id: int, end_id: int, count: int = 1) -> Tree:
        """The part of a long chat's tree that `count` messages up to one need."""
        if self.is_long(chat_id):
            with suppress(sqlite3.DatabaseError):  # a damaged row: the index may still have it
                return read_up_to(self._db, chat_id, end_id, count)
        return self._tree(chat_id)

    def _branch(self, leaf_id: int | None, tree: Tree) -> list[StoredMessage]:
        return [] if leaf_id is None else self._read(tree.path(leaf_id), tree)

    def _read(self, path: Sequence[int], tree: Tree) -> list[StoredMessage]:
        rows = {row["id"]: row for at in range(0, len(path), _PAGE) for row in self._rows(path[at : at + _PAGE])}
        messages = [_stored(number, rows.get(number), tree) for number in path]
        read = {each.reads_from: each.chat_id for each in messages if each.reads_from}
        unknown = read.keys() - {each.id for each in messages if each.role is not MessageRole.ASSISTANT}
        firsts = {first: self._beginning(read[first], first) for first in unknown}
        return [
            replace(each, reads_from=firsts[each.reads_from]) if each.reads_from in firsts else each
            for each in messages
        ]

    def _rows(self, numbers: Sequence[int]) -> list[sqlite3.Row]:
        """The readable rows: a damaged one does not affect its neighbours."""
        try:
            return self._db.rows(f"SELECT * FROM messages WHERE id IN ({','.join(map(str, numbers))})")
        except sqlite3.DatabaseError:
            return [row for number in numbers for row in self._rows([number])] if len(numbers) > 1 else []


def _stored(message_id: int, row: sqlite3.Row | None, tree: Tree) -> StoredMessage:
    sibling, siblings = tree.place(message_id)
    role = None if row is None else _ROLES.get(row["role"])
    if row is None or role is None:
        return _unreadable(message_id, row, sibling, siblings)
    return StoredMessage(
        id=message_id,
        chat_id=row["chat_id"],
        parent_id=tree.parents.get(message_id, row["parent_id"]),
        role=role,
        text=as_text(row["text"]),
        thinking=as_text(row["thinking"]),
        thinking_s=as_time(row["thinking_s"]),
        status=ReplyStatus.stored(row["status"]),
        main_name=as_name(row["main_name"]),
        draft_name=as_name(row["draft_name"]),
        stats=stats_from_json(row["stats"]),
        error=error_from_json(row["error"]),
        parts=parts_from_json(row["parts"]),
        drafting=as_text(row["drafting"]),
        sibling=sibling,
        siblings=siblings,
        reads_from=row["reads_from"] if isinstance(row["reads_from"], int) else None,
        pinned=row["pinned"] == 1,
    )


def _unreadable(message_id: int, row: sqlite3.Row | None, sibling: int, siblings: int) -> StoredMessage:
    """The message for a damaged row, with its text if only the role is lost."""
    return StoredMessage(
        id=message_id,
        chat_id=row["chat_id"] if row is not None else 0,
        parent_id=row["parent_id"] if row is not None else None,
        role=MessageRole.ASSISTANT,
        text=as_text(row["text"]) if row is not None else "",
        status=ReplyStatus.UNREADABLE,
        sibling=sibling,
        siblings=siblings,
    )


class EditStore(Store):
    def of_chat(self, chat_id: int) -> dict[int, Edit]:
        """Edits by message. An unknown kind counts as an edit of the message itself."""
        sql = "SELECT edits.* FROM edits JOIN messages ON id = message_id WHERE chat_id = ? AND deleted_at IS NULL"
        rows = self._db.rows(sql, (chat_id,))
        return {
            row["message_id"]: Edit(
                row["message_id"],
                _kind(row["kind"]),
                _role(row["role"]),
                as_text(row["text"]),
                None if row["attachments"] is None else attachments_from_json(row["attachments"]),
            )
            for row in rows
        }

    def put(self, edit: Edit) -> None:
        """Store the text; attachments, which may be megabytes, are stored when they change."""
        sql = (
            "INSERT INTO edits (message_id, kind, role, text) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (message_id) DO UPDATE SET kind = excluded.kind, role = excluded.role, text = excluded.text"
        )
        text = storable(edit.text)  # a field may have half a character
        self._db.execute(sql, (edit.message_id, edit.kind.value, edit.role.value, text))

    def put_with_attachments(self, edit: Edit) -> None:
        self.put(edit)
        attached = None if edit.attachments is None else parts_to_json(edit.attachments) or "[]"
        self._db.execute("UPDATE edits SET attachments = ? WHERE message_id = ?", (attached, edit.message_id))

    def drop(self, message_id: int) -> None:
        self._db.execute("DELETE FROM edits WHERE message_id = ?", (message_id,))


def _kind(value: object) -> EditKind:
    return EditKind(value) if isinstance(value, str) and value in list(EditKind) else EditKind.EDIT


def _role(value: object) -> MessageRole:
    return MessageRole.ASSISTANT if value == MessageRole.ASSISTANT else MessageRole.USER
