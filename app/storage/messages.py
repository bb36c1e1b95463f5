"""Messages as a tree of versions, and the branch of it that a chat shows."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable

from app.storage.chats import ChatStore
from app.storage.codec import error_from_json, error_to_json, stats_from_json, stats_to_json
from app.storage.database import Database
from app.storage.records import ReplyStatus, ReplyText, StoredMessage
from engine import EngineError, MessageRole, RequestStats

# From a leaf up to the first message; versions are counted among those with the same parent.
_BRANCH = """
WITH RECURSIVE branch (id, depth) AS (
    SELECT ?, 0
    UNION ALL
    SELECT messages.parent_id, depth + 1 FROM messages JOIN branch ON messages.id = branch.id
    WHERE messages.parent_id IS NOT NULL
)
SELECT messages.* FROM branch JOIN messages ON messages.id = branch.id ORDER BY depth DESC
"""

_BELOW = """
WITH RECURSIVE below (id) AS (
    SELECT ?
    UNION ALL
    SELECT messages.id FROM messages JOIN below ON messages.parent_id = below.id
)
"""

_SIBLINGS = "SELECT id FROM messages WHERE chat_id = ? AND parent_id IS ? AND deleted_at IS NULL ORDER BY id"


class MessageStore:
    def __init__(self, database: Database, chats: ChatStore) -> None:
        self._db = database
        self._chats = chats

    def add_user(self, chat_id: int, parent_id: int | None, text: str) -> int:
        return self._add(chat_id, parent_id, MessageRole.USER, text, ReplyStatus.DONE, "", "")

    def begin_reply(self, chat_id: int, parent_id: int, main_name: str, draft_name: str) -> int:
        return self._add(chat_id, parent_id, MessageRole.ASSISTANT, "", ReplyStatus.STREAMING, main_name, draft_name)

    def add_edited_reply(self, original: StoredMessage, text: str) -> int:
        """A version of a reply that the person wrote."""
        role, done = MessageRole.ASSISTANT, ReplyStatus.DONE
        return self._add(original.chat_id, original.parent_id, role, text, done, original.main_name, "")

    def resume_reply(self, message_id: int) -> None:
        """Marks a reply as running again; thinking without an answer is dropped, because the model starts it anew."""
        sql = (
            "UPDATE messages SET status = 'streaming', error = NULL,"
            " thinking = CASE text WHEN '' THEN '' ELSE thinking END WHERE id = ?"
        )
        self._db.execute(sql, (message_id,))

    def save_texts(self, replies: Iterable[ReplyText]) -> None:
        """Saves the text so far of running replies, in one transaction."""
        with self._db.transaction(durable=False):
            for reply in replies:
                self._save_text(reply)

    def finish_reply(
        self,
        reply: ReplyText,
        status: ReplyStatus,
        stats: RequestStats,
        error: EngineError | None,
    ) -> None:
        with self._db.transaction():
            self._save_text(reply)
            self._db.execute(
                "UPDATE messages SET status = ?, stats = ?, error = ? WHERE id = ?",
                (status, stats_to_json(stats), error_to_json(error) if error else None, reply.message_id),
            )

    def message(self, message_id: int) -> StoredMessage | None:
        row = self._db.row("SELECT * FROM messages WHERE id = ? AND deleted_at IS NULL", (message_id,))
        return None if row is None else self._stored(row)

    def branch(self, leaf_id: int | None) -> list[StoredMessage]:
        """From the first message to `leaf_id`."""
        return [] if leaf_id is None else [self._stored(row) for row in self._db.rows(_BRANCH, (leaf_id,))]

    def latest_leaf(self, message_id: int) -> int:
        """The end of the branch that goes on from a message: the newest one below it, or itself."""
        sql = _BELOW + "SELECT max(below.id) FROM below JOIN messages USING (id) WHERE deleted_at IS NULL"
        row = self._db.row(sql, (message_id,))
        return message_id if row is None or row[0] is None else int(row[0])

    def sibling(self, message: StoredMessage, step: int) -> int | None:
        """The version `step` places away, if there is one."""
        versions = self._siblings(message.chat_id, message.parent_id)
        at = versions.index(message.id) + step
        return versions[at] if 0 <= at < len(versions) else None

    def delete_below(self, message_id: int) -> float:
        """Deletes a message and what follows it; the returned mark brings exactly these back."""
        mark = time.time()
        sql = _BELOW + "UPDATE messages SET deleted_at = ? WHERE id IN below AND deleted_at IS NULL"
        self._db.execute(sql, (message_id, mark))
        return mark

    def restore(self, mark: float) -> None:
        self._db.execute("UPDATE messages SET deleted_at = NULL WHERE deleted_at = ?", (mark,))

    def _add(
        self,
        chat_id: int,
        parent_id: int | None,
        role: MessageRole,
        text: str,
        status: ReplyStatus,
        main_name: str,
        draft_name: str,
    ) -> int:
        sql = (
            "INSERT INTO messages (chat_id, parent_id, role, text, status, main_name, draft_name, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        )
        values = (chat_id, parent_id, role, text, status, main_name, draft_name, time.time())
        message_id = self._db.execute(sql, values)
        self._chats.touch(chat_id, message_id)
        return message_id

    def _save_text(self, reply: ReplyText) -> None:
        sql = "UPDATE messages SET text = ?, thinking = ?, thinking_s = ? WHERE id = ?"
        self._db.execute(sql, (reply.text, reply.thinking, reply.thinking_s, reply.message_id))

    def _siblings(self, chat_id: int, parent_id: int | None) -> list[int]:
        return [row["id"] for row in self._db.rows(_SIBLINGS, (chat_id, parent_id))]

    def _stored(self, row: sqlite3.Row) -> StoredMessage:
        versions = self._siblings(row["chat_id"], row["parent_id"])
        return StoredMessage(
            id=row["id"],
            chat_id=row["chat_id"],
            parent_id=row["parent_id"],
            role=MessageRole(row["role"]),
            text=row["text"],
            thinking=row["thinking"],
            thinking_s=row["thinking_s"],
            status=ReplyStatus(row["status"]),
            main_name=row["main_name"],
            draft_name=row["draft_name"],
            stats=stats_from_json(row["stats"]) if row["stats"] else None,
            error=error_from_json(row["error"]) if row["error"] else None,
            sibling=versions.index(row["id"]) + 1 if row["id"] in versions else 1,
            siblings=max(len(versions), 1),
        )
