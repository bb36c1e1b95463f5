"""What is typed and not saved yet: edits, one for each message, and unsent text, one for each chat.

An edit is a message that is being changed, or written beside another.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.storage.codec import as_text
from app.storage.database import LARGEST_NUMBER, Connection
from app.storage.parts import Attachment, AttachmentKind, Attachments, attachments_from_json, parts_to_json
from engine import MessageRole

NEW_CHAT = 0  # the one that has no message
LONGEST = 1_000_000  # characters of a text that a field gets at a start
QUICK_ASK = LARGEST_NUMBER  # in place of a chat's: one that a rescue keeps, and that no chat will have


class EditKind(StrEnum):
    EDIT = "edit"  # the message itself
    BEFORE = "before"  # a new one before it
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Edit:
    """`role`: whose words they are to be. `attachments`: None where those of the message were not changed."""

    message_id: int
    kind: EditKind
    role: MessageRole
    text: str
    attachments: Attachments | None = None


class EditStore:
    def __init__(self, database: Connection) -> None:
        self._db = database

    def of_chat(self, chat_id: int) -> dict[int, Edit]:
        """By message. What another version or a damaged disk wrote is taken as an edit of the message itself."""
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

    def put(self, *edits: Edit) -> None:
        """Without what is attached, which may be megabytes and changes less often."""
        sql = (
            "INSERT INTO edits (message_id, kind, role, text) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (message_id) DO UPDATE SET kind = excluded.kind, role = excluded.role, text = excluded.text"
        )
        for edit in edits:
            text = edit.text.encode("utf-8", "replace").decode("utf-8")  # half a character, as a field may have
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


class UnsentStore:
    """Unsent text and attachments. Text changes with every key, and attachments may be megabytes: each is stored by
    itself.
    """

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
        self._put(chat_id, "attachments", parts_to_json(attachments))

    def add(self, text: str) -> None:
        """After what waits in the new chat."""
        self.put(NEW_CHAT, "\n\n".join(filter(None, (self.all().get(NEW_CHAT, ""), text))))

    def attach_long(self) -> None:
        """What no field can show at once waits as an attachment, as a long text that is pasted; none of it is lost."""
        sql = "SELECT chat_id, text FROM unsent WHERE length(text) > ?"
        for number, text in [(row["chat_id"], as_text(row["text"])) for row in self._db.rows(sql, (LONGEST,))]:
            chat_id = NEW_CHAT if number == QUICK_ASK else number  # Quick Ask has no attachments
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
