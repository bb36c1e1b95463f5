"""The Trash: deleted chats and messages stay for 30 days, can be restored, and are then deleted from the copies too."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Iterable, Sequence

from app.storage.codec import as_json_object, as_text, as_title
from app.storage.database import Connection, Store, later_than_all
from app.storage.records import Deletion, Purged
from app.storage.tree import PASS_OVER, read_tree

KEPT_S = 30 * 86_400
_LISTED = 10
_WORDS_CHARS = 200
_TABLES = ("chats", "messages")
_CHATS = "SELECT id FROM chats WHERE deleted_at"
_MESSAGES = "SELECT id FROM messages WHERE deleted_at"
_WHOLE_CHATS = (
    "SELECT deleted_at AS mark, id AS chat_id, title, 1 AS whole,"
    " (SELECT count(*) FROM messages WHERE chat_id = chats.id AND messages.deleted_at IS NULL) AS messages,"
    f" (SELECT substr(text, 1, {_WORDS_CHARS}) FROM messages WHERE chat_id = chats.id"
    " AND messages.deleted_at IS NULL AND text != '' ORDER BY id DESC LIMIT 1) AS words"
    " FROM chats WHERE deleted_at IS NOT NULL"
)
_WEEK_S = 7 * 86_400


def new_mark(database: Connection) -> float:
    """The time of a deletion as its mark, unique and the latest even if the clock stops or goes back."""
    return later_than_all(database, "deleted_at", *(f"{table} WHERE true" for table in _TABLES))


class Trash(Store):
    def put_chats(self, chats: Iterable[int]) -> float:
        """Move chats to the Trash; returns the mark that restores them."""
        mark = new_mark(self._db)
        sql = "UPDATE chats SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL"
        self._db.connection.executemany(sql, [(mark, number) for number in chats])
        return mark

    def restore(self, mark: float, end_id: int | None = None) -> None:
        """Restore what was deleted together; restored messages are shown in their chat, to `end_id` or the newest."""
        end = "ifnull(max(iif(id = ?, id, NULL)), max(id)) AS id"
        sql = f"SELECT chat_id, {end} FROM messages WHERE deleted_at = ? GROUP BY chat_id"
        with self._db.transaction():
            self._db.execute("UPDATE chats SET deleted_at = NULL WHERE deleted_at = ?", (mark,))
            restored = self._db.rows(sql, (end_id, mark))
            self._db.execute("UPDATE messages SET deleted_at = NULL WHERE deleted_at = ?", (mark,))
            for row in restored:
                self._show_again(row["chat_id"], row["id"])

    def _show_again(self, chat_id: int, message_id: int) -> None:
        """Show a branch with the message; the present one if it has it."""
        chat = self._db.row("SELECT leaf_id FROM chats WHERE id = ?", (chat_id,))
        leaf = None if chat is None else chat["leaf_id"]
        if leaf is None or message_id not in read_tree(self._db, chat_id).path(leaf):
            self._db.execute("UPDATE chats SET leaf_id = ? WHERE id = ?", (message_id, chat_id))

    def restore_chat(self, chat_id: int) -> None:
        """Restore one of several chats that were deleted together."""
        self._db.execute("UPDATE chats SET deleted_at = NULL WHERE id = ?", (chat_id,))

    def latest(self, limit: int = _LISTED) -> list[Deletion]:
        """The last few deletions, the newest first."""
        chats = f"{_WHOLE_CHATS} ORDER BY deleted_at DESC LIMIT ?"
        messages = (
            "SELECT messages.deleted_at AS mark, chat_id, title, 0 AS whole, count(*) AS messages,"
            f" substr(text, 1, {_WORDS_CHARS}) AS words, min(messages.id) FROM messages"
            " JOIN chats ON chats.id = chat_id AND chats.deleted_at IS NULL"
            " WHERE messages.deleted_at IS NOT NULL GROUP BY mark ORDER BY mark DESC LIMIT ?"
        )
        found = [_deletion(row) for sql in (chats, messages) for row in self._db.rows(sql, (limit,))]
        return sorted(found, key=lambda deletion: deletion.mark, reverse=True)[:limit]

    def marks(self) -> set[float]:
        """Marks of all that can be restored."""
        sql = " UNION ".join(f"SELECT deleted_at FROM {table} WHERE deleted_at IS NOT NULL" for table in _TABLES)
        return {row[0] for row in self._db.rows(sql) if type(row[0]) is float}

    def purge(self) -> Purged:
        """At a start: delete for good what has been in the Trash for 30 days."""
        with self._db.transaction():
            chats: list[int] = []
            messages: list[int] = []
            for mark in Ages(self._db, "deleted").overdue(self.marks(), KEPT_S):
                chats += self._ids(f"{_CHATS} = ?", mark)
                messages += self._ids(f"{_MESSAGES} = ?", mark)
            return self._forget(chats, messages)

    def forget(self, deletions: Iterable[Deletion]) -> Purged:
        """Delete these for good at once."""
        chats: list[int] = []
        messages: list[int] = []
        with self._db.transaction():
            for each in deletions:
                if each.whole_chat:
                    chats += self._ids(f"{_CHATS} IS NOT NULL AND id = ?", each.chat_id)
                else:
                    messages += self._ids(f"{_MESSAGES} = ?", each.mark)
            return self._forget(chats, messages)

    def empty(self) -> Purged:
        with self._db.transaction():
            return self._forget(self._ids(f"{_CHATS} > ?", 0), self._ids(f"{_MESSAGES} > ?", 0))

    def _forget(self, chats: Sequence[int], messages: Sequence[int]) -> Purged:
        """Followers of a deleted message follow the one before it."""
        purged = Purged(tuple(chats), tuple(messages))
        forget = self._db.connection.executemany
        for table, column in (("unsent", "chat_id"), ("consents", "chat_id"), ("chats", "id")):
            forget(f"DELETE FROM {table} WHERE {column} = ?", [(number,) for number in chats])
        for number in messages:
            self._db.execute(PASS_OVER, (number,) * 3)
            self._db.execute("DELETE FROM messages WHERE id = ?", (number,))
        if purged:
            self._db.execute("DELETE FROM edits WHERE message_id NOT IN (SELECT id FROM messages)")
            self._note(purged)
        return purged

    def _note(self, purged: Purged) -> None:
        """Note the ids until the copies do not have them any more."""
        known = self.traces
        noted = json.dumps({"chats": known.chats + purged.chats, "messages": known.messages + purged.messages})
        self._db.execute("INSERT OR REPLACE INTO notes VALUES ('purged', ?)", (noted,))

    @property
    def traces(self) -> Purged:
        """Ids deleted for good that copies may still have."""
        row = self._db.row("SELECT value FROM notes WHERE name = 'purged'")
        noted = (None if row is None else as_json_object(row["value"])) or {}
        return Purged(_numbers(noted.get("chats")), _numbers(noted.get("messages")))

    @property
    def leaves_traces(self) -> bool:
        """Whether copies may have deleted rows, also those that an earlier version did not note."""
        return self._db.row("SELECT 1 FROM notes WHERE name = 'purged'") is not None

    def forget_traces(self) -> None:
        self._db.execute("DELETE FROM notes WHERE name = 'purged'")

    def _ids(self, sql: str, value: float) -> list[int]:
        return [row[0] for row in self._db.rows(sql, (value,))]


def _deletion(row: sqlite3.Row) -> Deletion:
    return Deletion(
        mark=row["mark"],
        chat_id=row["chat_id"],
        title=as_title(row["title"]),
        whole_chat=bool(row["whole"]),
        messages=row["messages"],
        words=as_text(row["words"]),
    )


def _numbers(stored: object) -> tuple[int, ...]:
    return tuple(each for each in stored if type(each) is int) if isinstance(stored, list) else ()


class Ages:
    """How long things have been kept, as seen by the starts of the app, so that a wrong clock deletes nothing too
    early.

    Between two starts at most a week counts, in either direction, and a week is added to each limit: a start with a
    clock years ahead deletes nothing too early, and the next one with a right clock takes it back. Stored in a note of
    the database.
    """

    def __init__(self, database: Connection, note: str) -> None:
        self._db = database
        self._note = note

    def overdue(self, things: Iterable[float], kept_s: float) -> list[float]:
        """At a start: those of `things`, each named by its beginning, that are older than `kept_s`."""
        now = time.time()
        noted = self._noted()
        gone_by = max(-_WEEK_S, min(_WEEK_S, now - noted.get("now", now)))
        counted = noted.get("counted", 0.0) + gone_by
        begun = {thing: noted.get(str(thing), counted - max(0.0, min(gone_by, now - thing))) for thing in things}
        values = {"now": now, "counted": counted} | {str(thing): moment for thing, moment in begun.items()}
        self._db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (self._note, json.dumps(values)))
        return [thing for thing, moment in begun.items() if counted - moment >= kept_s + _WEEK_S]

    def _noted(self) -> dict[str, float]:
        """The stored times; damaged ones are left out, and start again."""
        row = self._db.row("SELECT value FROM notes WHERE name = ?", (self._note,))
        noted = (None if row is None else as_json_object(row["value"])) or {}
        return {name: value for name, value in noted.items() if type(value) is float and math.isfinite(value)}
