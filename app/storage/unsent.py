"""What was typed or attached and not sent yet, for each chat; chat 0 is the one that has no message.

What waits in Quick Ask belongs to no chat, and has the number `QUICK_ASK`.
"""

from __future__ import annotations

from app.storage.attachments import Attachment, AttachmentKind, Attachments, attachments_from_json, attachments_to_json
from app.storage.codec import as_text
from app.storage.database import Connection
from app.storage.salvage import LARGEST_NUMBER

NEW_CHAT = 0
LONGEST = 1_000_000  # characters of a text that a field gets at a start
QUICK_ASK = LARGEST_NUMBER  # one that a rescue keeps, and that no chat will have


class UnsentStore:
    """Text changes with every key, and attachments may be megabytes: each is stored by itself."""

    def __init__(self, database: Connection) -> None:
        self._db = database

    def all(self) -> dict[int, str]:
        """Texts by chat."""
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
        self._put(chat_id, "attachments", attachments_to_json(attachments))

    def add(self, text: str) -> None:
        """Behind what waits in the new chat."""
        self.put(NEW_CHAT, "\n\n".join(filter(None, (self.all().get(NEW_CHAT, ""), text))))

    def attach_long(self) -> None:
        """What no field can show at once waits as an attachment, as a long text that is pasted; none of it is lost."""
        sql = "SELECT chat_id, text FROM unsent WHERE length(text) > ?"
        for number, text in [(row["chat_id"], as_text(row["text"])) for row in self._db.rows(sql, (LONGEST,))]:
            chat_id = NEW_CHAT if number == QUICK_ASK else number  # which takes none
            long = Attachment("", AttachmentKind.PASTED, text, len(text.encode("utf-8", "replace")))
            self.put_attachments(chat_id, (*self.attachments().get(chat_id, ()), long))
            self.put(number, "")

    def forget(self, chat_id: int) -> None:
        self._db.execute("DELETE FROM unsent WHERE chat_id = ?", (chat_id,))

    def _put(self, chat_id: int, column: str, value: str | None) -> None:
        if value:
            sql = "INSERT INTO unsent (chat_id, text) VALUES (?, '') ON CONFLICT (chat_id) DO NOTHING"
            self._db.execute(sql, (chat_id,))
        self._db.execute(f"UPDATE unsent SET {column} = ? WHERE chat_id = ?", (value, chat_id))
        empty = "DELETE FROM unsent WHERE chat_id = ? AND text = '' AND attachments IS NULL"
        self._db.execute(empty, (chat_id,))
