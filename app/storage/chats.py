"""Chats: making, listing, renaming, copying; their options, reading positions and unsent text.

Their messages are in `messages`, deleting is in `trash`.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from app.storage.codec import as_json_object, as_text
from app.storage.columns import COLUMNS, insert_message
from app.storage.database import LARGEST_NUMBER, Store, later_than_all
from app.storage.folders import FolderStore
from app.storage.parts import Attachment, AttachmentKind, Attachments, attachments_from_json, parts_to_json
from app.storage.records import ChatSummary, Listing
from app.storage.searching import ALL, IN_ORDER, Searching, summary_of
from app.storage.tree import read_tree

NEW_CHAT = 0  # in files of earlier runs, a chat without a message
LONGEST = 1_000_000  # longest unsent text, in characters, that a field is given at a start
QUICK_ASK = LARGEST_NUMBER  # id of Quick Ask's unsent text: kept by a rescue, and never a chat's

# The columns that a copied chat shares with its original; of where it was imported from only that it was.
_COPY_REST = """
UPDATE chats SET (folder_id, renamed, options) = (SELECT folder_id, renamed, iif(json_valid(options),
iif(json_type(options, '$.imported') IS NULL, options,
json_set(json_remove(options, '$.imported'), '$.foreign', json('true'))), options)
FROM chats AS original WHERE original.id = ?) WHERE id = ?
"""

# Folders that chats name and that do not exist. The cost grows only with the number of folders.
_LOST_FOLDERS = """
WITH RECURSIVE named (id) AS (
    SELECT min(folder_id) FROM chats WHERE deleted_at IS NULL AND folder_id > -9e18
    UNION ALL
    SELECT (SELECT min(folder_id) FROM chats WHERE deleted_at IS NULL AND folder_id > named.id) FROM named
    WHERE named.id IS NOT NULL
)
SELECT id FROM named WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM folders)
"""


class ChatStore(Store):
    def create(self, title: str, folder_id: int | None = None, number: int | None = None) -> int:
        """In a folder, if it is still there. `number`: one that was taken for it."""
        sql = (
            "INSERT INTO chats (id, title, created_at, updated_at, folder_id)"
            " VALUES (?, ?, ?, ?, (SELECT id FROM folders WHERE id = ?))"
        )
        number = number or next(self._db.chat_numbers)
        return self._db.execute(sql, (number, title, time.time(), self._latest(), folder_id))

    def first_free(self) -> int:
        """The first of the numbers that no chat ever had."""
        sql = (
            "SELECT max(seq) FROM (SELECT seq FROM sqlite_sequence WHERE name = 'chats'"
            " UNION SELECT chat_id FROM unsent WHERE chat_id < ?)"
        )
        return int(self._db.rows(sql, (QUICK_ASK,))[0][0] or 0) + 1

    def summary(self, chat_id: int) -> ChatSummary | None:
        row = self._db.row("SELECT * FROM chats WHERE id = ? AND deleted_at IS NULL", (chat_id,))
        return None if row is None else summary_of(row)

    def ids(self) -> list[int]:
        """Ids of all chats outside the Trash."""
        return [row["id"] for row in self._db.rows("SELECT id FROM chats WHERE deleted_at IS NULL")]

    def find(self, query: str = "", limit: int = ALL) -> list[ChatSummary]:
        """Chats in the list's order: pinned, then latest. With a query: those that match all its words."""
        if query.split():
            return Searching(self._db).find(query, limit)
        sql = f"SELECT * FROM chats WHERE deleted_at IS NULL {IN_ORDER} LIMIT ?"
        return [summary_of(row) for row in self._db.rows(sql, (limit,))]

    def listing(self, limit: int) -> Listing:
        """For the sidebar: the chats that are in no folder, and those of each folder that is open."""
        folders = FolderStore(self._db).all()
        lost = self._db.rows(_LOST_FOLDERS)
        loose = [chat for place in (None, *(row["id"] for row in lost)) for chat in self._listed(place, limit + 1)]
        if lost:
            loose.sort(key=lambda chat: (chat.pinned, chat.updated_at, chat.id), reverse=True)
        lists = [loose[: limit + 1], *(self._listed(each.id, limit + 1) for each in folders if each.opened)]
        chats = [chat for found in lists for chat in found[:limit]]
        return Listing(chats, folders, more=any(len(found) > limit for found in lists))

    def _listed(self, folder_id: int | None, limit: int) -> list[ChatSummary]:
        sql = f"SELECT * FROM chats WHERE deleted_at IS NULL AND folder_id IS ? {IN_ORDER} LIMIT ?"
        return [summary_of(row) for row in self._db.rows(sql, (folder_id, limit))]

    def rename(self, chat_id: int, title: str) -> None:
        self._db.execute("UPDATE chats SET title = ?, renamed = 1 WHERE id = ?", (title, chat_id))

    def set_title_from_text(self, chat_id: int, title: str) -> None:
        """Sets the title unless the user has chosen one."""
        self._db.execute("UPDATE chats SET title = ?, renamed = 0 WHERE id = ? AND renamed != 1", (title, chat_id))

    def pin(self, chat_id: int, pinned: bool) -> None:
        self._db.execute("UPDATE chats SET pinned = ? WHERE id = ?", (int(pinned), chat_id))

    def touch(self, chat_id: int, leaf_id: int | None) -> None:
        """Make it the latest chat, with `leaf_id` as the end of its branch."""
        sql = "UPDATE chats SET updated_at = ?, leaf_id = ? WHERE id = ?"
        self._db.execute(sql, (self._latest(), leaf_id, chat_id))

    def _latest(self) -> float:
        return later_than_all(self._db, "updated_at", "chats WHERE deleted_at IS NULL AND pinned IN (0, 1)")

    def set_leaf(self, chat_id: int, leaf_id: int | None) -> None:
        self._db.execute("UPDATE chats SET leaf_id = ? WHERE id = ?", (leaf_id, chat_id))

    def leaf(self, chat_id: int) -> int | None:
        row = self._db.row("SELECT leaf_id FROM chats WHERE id = ?", (chat_id,))
        return None if row is None else row["leaf_id"]

    def set_unseen(self, chat_id: int, unseen: bool) -> None:
        """Set whether a reply in it ended unseen."""
        self._db.execute("UPDATE chats SET unseen = ? WHERE id = ? AND deleted_at IS NULL", (int(unseen), chat_id))

    def unseen(self) -> int:
        """Number of chats with an unseen reply."""
        return len(self._db.rows("SELECT 1 FROM chats WHERE unseen = 1 AND deleted_at IS NULL"))

    def duplicate(self, chat_id: int, titles: Iterator[str], end_id: int | None = None) -> int:
        """Copy a chat with its folder and options, under the first free title; returns its id.

        With its branches, or only the messages that lead to `end_id`, and it.
        """
        with self._db.transaction():
            copy_id = self.create(next(title for title in titles if not self._is_taken(title)))
            self._db.execute(_COPY_REST, (chat_id, copy_id))
            new_ids: dict[int | None, int | None] = {None: None}
            read: dict[int, int | None] = {}
            tree = read_tree(self._db, chat_id)
            taken = tree.parents.keys() if end_id is None else set(tree.path(end_id))
            sql = "SELECT * FROM messages WHERE chat_id = ? AND deleted_at IS NULL ORDER BY id"
            for row in self._db.rows(sql, (chat_id,)):
                if row["id"] in taken:
                    values = {name: row[name] for name in COLUMNS}
                    new_ids[row["id"]] = insert_message(self._db, copy_id, None, values)
                    read[row["id"]] = row["reads_from"]
            for number in taken:
                named = new_ids.get(tree.parents[number]), new_ids.get(read[number]), new_ids[number]
                self._db.execute("UPDATE messages SET (parent_id, reads_from) = (?, ?) WHERE id = ?", named)
            self.set_leaf(copy_id, new_ids.get(self.leaf(chat_id) if end_id is None else end_id))
            self._db.execute(
                "UPDATE messages SET status = 'interrupted' WHERE chat_id = ? AND status = 'streaming'", (copy_id,)
            )
        return copy_id

    def _is_taken(self, title: str) -> bool:
        return self._db.row("SELECT 1 FROM chats WHERE title = ? AND deleted_at IS NULL", (title,)) is not None


class ChatStates(Store):
    """Options and reading places are JSON, perhaps damaged. What options mean is in controllers/chat_options.py."""

    def options(self, chat_id: int) -> dict[str, Any]:
        """The stored options, known or not; {} if they are damaged."""
        row = self._db.row("SELECT options FROM chats WHERE id = ?", (chat_id,))
        return {} if row is None else as_json_object(row["options"]) or {}

    def put_options(self, chat_id: int, changes: Mapping[str, Any], dropped: Iterable[str] = ()) -> None:
        """Change these, drop others, and keep the rest, known or not."""
        kept = self.options(chat_id) | dict(changes)
        for name in dropped:
            kept.pop(name, None)
        text = json.dumps(kept, ensure_ascii=False) if kept else None
        self._db.execute("UPDATE chats SET options = ? WHERE id = ?", (text, chat_id))

    def replace_preset(self, preset_id: str, values: Mapping[str, Any]) -> None:
        """Before a preset is deleted: chats that use it get its options as their own."""
        with self._db.transaction():
            stored = json.dumps(preset_id, ensure_ascii=False)
            for row in self._db.rows("SELECT id FROM chats WHERE options LIKE ?", (f"%{stored}%",)):
                options = self.options(row["id"])
                if options.get("preset") == preset_id:
                    self.put_options(row["id"], dict(values) | options, ["preset"])

    def has_open_title(self, chat_id: int) -> bool:
        """Whether neither the user nor a model has chosen its title yet."""
        row = self._db.row("SELECT renamed FROM chats WHERE id = ? AND deleted_at IS NULL", (chat_id,))
        return row is not None and row["renamed"] == 0

    def set_title(self, chat_id: int, title: str) -> None:
        """Set a model's title, unless the user has chosen one."""
        self._db.execute("UPDATE chats SET title = ?, renamed = 2 WHERE id = ? AND renamed = 0", (title, chat_id))

    def place(self, chat_id: int) -> tuple[int, float] | None:
        """The reader's position: a message, and how far into it. None: the end of the chat."""
        row = self._db.row("SELECT place FROM chats WHERE id = ?", (chat_id,))
        stored = (as_json_object(row["place"]) if row is not None else None) or {}
        message = stored.get("message")
        offset = stored.get("offset")
        if type(message) is not int or type(offset) is not float or not math.isfinite(offset):
            return None
        return message, offset

    def put_place(self, chat_id: int, place: tuple[int, float] | None) -> None:
        text = None if place is None else json.dumps({"message": place[0], "offset": float(place[1])})
        self._db.execute("UPDATE chats SET place = ? WHERE id = ?", (text, chat_id))


class UnsentStore(Store):
    """Unsent text and attachments, in separate columns: text changes with every key, attachments may be megabytes."""

    def all(self) -> dict[int, str]:
        rows = self._db.rows("SELECT chat_id, text FROM unsent WHERE text != '' AND chat_id != ?", (QUICK_ASK,))
        return {row["chat_id"]: as_text(row["text"]) for row in rows}

    def in_quick_ask(self) -> str:
        row = self._db.row("SELECT text FROM unsent WHERE chat_id = ?", (QUICK_ASK,))
        return "" if row is None else as_text(row["text"])

    def attachments(self) -> dict[int, Attachments]:
        rows = self._db.rows("SELECT chat_id, attachments FROM unsent WHERE attachments IS NOT NULL")
        return {row["chat_id"]: attachments_from_json(row["attachments"]) for row in rows}

    def put(self, chat_id: int, text: str) -> None:
        self._put(chat_id, "text", text)

    def put_attachments(self, chat_id: int, attachments: Attachments) -> None:
        self._put(chat_id, "attachments", parts_to_json(attachments))

    def of_new_chats(self) -> list[int]:
        """Chats without a message where something waits to be sent, oldest first."""
        sql = (
            "SELECT chat_id FROM unsent WHERE chat_id > ? AND chat_id < ? AND (text != '' OR attachments IS NOT NULL)"
            " AND chat_id NOT IN (SELECT id FROM chats) ORDER BY chat_id"
        )
        return [row["chat_id"] for row in self._db.rows(sql, (NEW_CHAT, QUICK_ASK))]

    def can_wait_in(self, chat_id: int, new_chats: Container[int]) -> bool:
        """Whether there is that chat, also in the Trash, or will be: what was deleted for good must not come back."""
        is_there = self._db.row("SELECT 1 FROM chats WHERE id = ?", (chat_id,)) is not None
        return is_there or chat_id == QUICK_ASK or chat_id in new_chats

    def give_to_new_chat(self, numbers: Iterator[int]) -> None:
        """What NEW_CHAT has goes to the latest new chat, after what is there, or to another."""
        text = self.all().get(NEW_CHAT, "")
        attached = self.attachments().get(NEW_CHAT, ())
        if text or attached:
            chat_id = max(self.of_new_chats(), default=0) or next(numbers)
            self.put(chat_id, "\n\n".join(filter(None, (self.all().get(chat_id), text))))
            self.put_attachments(chat_id, (*self.attachments().get(chat_id, ()), *attached))
            self.put(NEW_CHAT, "")
            self.put_attachments(NEW_CHAT, ())

    def add(self, text: str) -> None:
        self.put(NEW_CHAT, "\n\n".join(filter(None, (self.all().get(NEW_CHAT, ""), text))))

    def attach_long(self) -> None:
        """Text that is too long for a field becomes an attachment, as if it had been pasted."""
        sql = "SELECT chat_id, text FROM unsent WHERE length(text) > ?"
        for number, text in [(row["chat_id"], as_text(row["text"])) for row in self._db.rows(sql, (LONGEST,))]:
            chat_id = NEW_CHAT if number == QUICK_ASK else number  # Quick Ask has no attachments
            long = Attachment("", AttachmentKind.PASTED, text, len(text.encode("utf-8", "replace")))
            self.put_attachments(chat_id, (*self.attachments().get(chat_id, ()), long))
            self.put(number, "")

    def drop_sent(self, chat_id: int, text: str, attachments: Attachments) -> None:
        """What was typed or attached since then, or instead of it, stays."""
        row = self._db.row("SELECT text, attachments FROM unsent WHERE chat_id = ?", (chat_id,))
        if row is not None:
            kept = as_text(row["text"]).strip()
            self.put(chat_id, "" if text.startswith(kept) else kept.removeprefix(text).lstrip())
            attached = attachments_from_json(row["attachments"])
            sent = {each.content for each in attachments}
            self.put_attachments(chat_id, tuple(each for each in attached if each.content not in sent))

    def _put(self, chat_id: int, column: str, value: str | None) -> None:
        if value:
            sql = "INSERT INTO unsent (chat_id, text) VALUES (?, '') ON CONFLICT (chat_id) DO NOTHING"
            self._db.execute(sql, (chat_id,))
        self._db.execute(f"UPDATE unsent SET {column} = ? WHERE chat_id = ?", (value, chat_id))
        empty = "DELETE FROM unsent WHERE chat_id = ? AND text = '' AND attachments IS NULL"
        self._db.execute(empty, (chat_id,))
