"""The user's consents to tools, of one chat or of every chat, each for a tool as it was described then."""

from __future__ import annotations

import time
from dataclasses import dataclass

from app.storage.codec import as_text
from app.storage.database import Store

EVERY_CHAT = 0


@dataclass(frozen=True, slots=True)
class Consent:
    server: str  # its id; "": built in
    tool: str
    subject: str  # what it is limited to, such as the host of an address; "": nothing
    digest: str  # of the tool
    seen: str  # how the tool was described


class ConsentStore(Store):
    def of_chat(self, chat_id: int) -> list[Consent]:
        """`EVERY_CHAT`: those that hold in every chat."""
        rows = self._db.rows("SELECT * FROM consents WHERE chat_id = ?", (chat_id,))
        names = ("server", "tool", "subject", "digest", "seen")
        return [Consent(**{name: as_text(row[name]) for name in names}) for row in rows]

    def put(self, chat_id: int, consent: Consent) -> None:
        sql = "INSERT OR REPLACE INTO consents VALUES (?, ?, ?, ?, ?, ?, ?)"
        values = (consent.server, consent.tool, consent.subject, consent.digest, consent.seen)
        self._db.execute(sql, (chat_id, *values, time.time()))

    def end(self, server: str, tool: str | None = None, chat_id: int | None = None) -> None:
        """`tool` None: of all of the server's; `chat_id` None: everywhere."""
        sql = "DELETE FROM consents WHERE server = ? AND (? IS NULL OR tool = ?) AND (? IS NULL OR chat_id = ?)"
        self._db.execute(sql, (server, tool, tool, chat_id, chat_id))
