"""What a chat keeps beside its messages: its own options, and where its reader was. JSON, which may be damaged.

Not here: what the options mean (controllers/chat_options.py).
"""

from __future__ import annotations

import json
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
            for row in self._db.rows("SELECT id FROM chats WHERE options LIKE ?", (f'%"{preset_id}"%',)):
                options = self.options(row["id"])
                if options.get("preset") == preset_id:
                    self.put_options(row["id"], dict(values) | options, ["preset"])

    def place(self, chat_id: int) -> tuple[int, int] | None:
        """The message at the upper edge of the window, and how many pixels of it were above that edge."""
        row = self._db.row("SELECT place FROM chats WHERE id = ?", (chat_id,))
        stored = as_json_object(row["place"]) if row is not None else None
        place = (stored or {}).get("message"), (stored or {}).get("offset")
        return place if all(type(each) is int for each in place) else None  # type: ignore[return-value]

    def put_place(self, chat_id: int, place: tuple[int, int] | None) -> None:
        """None: at its end."""
        text = None if place is None else json.dumps({"message": place[0], "offset": place[1]})
        self._db.execute("UPDATE chats SET place = ? WHERE id = ?", (text, chat_id))
