"""What a chat keeps beside its messages: its own options, and where its reader was. JSON, which may be damaged.

Not here: what the options mean (controllers/chat_options.py).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from app.storage.codec import as_json_object
from app.storage.database import Connection


class ChatStates:
    def __init__(self, database: Connection) -> None:
        self._db = database

    def options(self, chat_id: int) -> dict[str, Any]:
        """Whatever is stored, also names that nobody knows; empty where it cannot be read."""
        row = self._db.row("SELECT options FROM chats WHERE id = ?", (chat_id,))
        return {} if row is None else as_json_object(row["options"]) or {}

    def put_options(self, chat_id: int, changes: Mapping[str, Any], dropped: Iterable[str] = ()) -> None:
        """Changes these, drops others, and keeps the rest, known or not."""
        kept = self.options(chat_id) | dict(changes)
        for name in dropped:
            kept.pop(name, None)
        text = json.dumps(kept, ensure_ascii=False) if kept else None
        self._db.execute("UPDATE chats SET options = ? WHERE id = ?", (text, chat_id))

    def replace_preset(self, preset_id: str, values: Mapping[str, Any]) -> None:
        """For a preset that goes: what it said becomes the own options of the chats that used it."""
        with self._db.transaction():
            stored = json.dumps(preset_id, ensure_ascii=False)
            for row in self._db.rows("SELECT id FROM chats WHERE options LIKE ?", (f"%{stored}%",)):
                options = self.options(row["id"])
                if options.get("preset") == preset_id:
                    self.put_options(row["id"], dict(values) | options, ["preset"])

    def has_open_title(self, chat_id: int) -> bool:
        """Nobody has chosen its title yet, neither the person nor a model."""
        row = self._db.row("SELECT renamed FROM chats WHERE id = ? AND deleted_at IS NULL", (chat_id,))
        return row is not None and row["renamed"] == 0

    def set_title(self, chat_id: int, title: str) -> None:
        """By a model; a title that the person has chosen meanwhile stays."""
        self._db.execute("UPDATE chats SET title = ?, renamed = 2 WHERE id = ? AND renamed = 0", (title, chat_id))

    def place(self, chat_id: int) -> tuple[int, float] | None:
        """A message, and how far into it its reader was. None: at the end of the chat."""
        row = self._db.row("SELECT place FROM chats WHERE id = ?", (chat_id,))
        stored = (as_json_object(row["place"]) if row is not None else None) or {}
        message, offset = stored.get("message"), stored.get("offset")
        if type(message) is not int or type(offset) is not float or not math.isfinite(offset):
            return None
        return message, offset

    def put_place(self, chat_id: int, place: tuple[int, float] | None) -> None:
        text = None if place is None else json.dumps({"message": place[0], "offset": float(place[1])})
        self._db.execute("UPDATE chats SET place = ? WHERE id = ?", (text, chat_id))
