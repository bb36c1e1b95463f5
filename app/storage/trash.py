"""What was deleted: it stays for 30 days, can be brought back until then, and then leaves the daily copies too."""

from __future__ import annotations

import time

from app.storage.codec import as_text
from app.storage.database import Connection
from app.storage.records import Deletion, Purged
from app.storage.tree import PASS_OVER

KEPT_S = 30 * 86_400
_LISTED = 10


class Trash:
    def __init__(self, database: Connection) -> None:
        self._db = database

    def put_chat(self, chat_id: int) -> float:
        """Returns the mark that brings it back."""
        mark = time.time()
        self._db.execute("UPDATE chats SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL", (mark, chat_id))
        return mark

    def restore(self, mark: float) -> None:
        """A chat, or messages, that were deleted together; their chat shows them again."""
        with self._db.transaction():
            self._db.execute("UPDATE chats SET deleted_at = NULL WHERE deleted_at = ?", (mark,))
            newest = "SELECT chat_id, max(id) AS leaf_id FROM messages WHERE deleted_at = ? GROUP BY chat_id"
            for row in self._db.rows(newest, (mark,)):
                self._db.execute("UPDATE chats SET leaf_id = ? WHERE id = ?", (row["leaf_id"], row["chat_id"]))
            self._db.execute("UPDATE messages SET deleted_at = NULL WHERE deleted_at = ?", (mark,))

    def latest(self) -> list[Deletion]:
        """The last few deletions, the newest first."""
        chats = (
            "SELECT deleted_at AS mark, id AS chat_id, title, 1 AS whole FROM chats"
            " WHERE deleted_at IS NOT NULL ORDER BY deleted_at DESC LIMIT ?"
        )
        messages = (
            "SELECT messages.deleted_at AS mark, chat_id, title, 0 AS whole FROM messages"
            " JOIN chats ON chats.id = chat_id AND chats.deleted_at IS NULL"
            " WHERE messages.deleted_at IS NOT NULL GROUP BY mark ORDER BY mark DESC LIMIT ?"
        )
        found = [
            Deletion(row["mark"], row["chat_id"], as_text(row["title"]), bool(row["whole"]))
            for sql in (chats, messages)
            for row in self._db.rows(sql, (_LISTED,))
        ]
        return sorted(found, key=lambda deletion: deletion.mark, reverse=True)[:_LISTED]

    def purge(self) -> Purged:
        """Forgets for good what was deleted more than 30 days ago."""
        limit = time.time() - KEPT_S
        with self._db.transaction():
            purged = Purged(self._older("chats", limit), self._older("messages", limit))
            if purged.chats:
                gone = "SELECT id FROM chats WHERE deleted_at < ?"
                self._db.execute(f"DELETE FROM unsent WHERE chat_id IN ({gone})", (limit,))
                self._db.execute("DELETE FROM chats WHERE deleted_at < ?", (limit,))
            if purged.messages:
                for number in purged.messages:
                    self._db.execute(PASS_OVER, (number,))
                self._db.execute("DELETE FROM messages WHERE deleted_at < ?", (limit,))
            if purged:
                self._db.execute("DELETE FROM edits WHERE message_id NOT IN (SELECT id FROM messages)")
        return purged

    def _older(self, table: str, limit: float) -> tuple[int, ...]:
        return tuple(row["id"] for row in self._db.rows(f"SELECT id FROM {table} WHERE deleted_at < ?", (limit,)))
