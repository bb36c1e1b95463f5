"""What was typed and not sent yet, for each chat; chat 0 is the one that has no message."""

from __future__ import annotations

from app.storage.codec import as_text
from app.storage.database import Connection


class UnsentStore:
    def __init__(self, database: Connection) -> None:
        self._db = database

    def all(self) -> dict[int, str]:
        return {row["chat_id"]: as_text(row["text"]) for row in self._db.rows("SELECT chat_id, text FROM unsent")}

    def put(self, chat_id: int, text: str) -> None:
        if text:
            sql = (
                "INSERT INTO unsent (chat_id, text) VALUES (?, ?)"
                " ON CONFLICT (chat_id) DO UPDATE SET text = excluded.text"
            )
            self._db.execute(sql, (chat_id, text))
        else:
            self._db.execute("DELETE FROM unsent WHERE chat_id = ?", (chat_id,))
