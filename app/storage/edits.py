"""Messages that are being edited, or written beside others, and are not saved yet: one for each message."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.storage.attachments import Attachments, attachments_from_json, attachments_to_json
from app.storage.codec import as_text
from app.storage.database import Connection
from engine import MessageRole


class EditKind(StrEnum):
    EDIT = "edit"  # the message itself
    BEFORE = "before"  # a new one before it
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Edit:
    """`role`: whose words they are to be. `attachments`: None where nobody has changed those of the message."""

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
        attached = None if edit.attachments is None else attachments_to_json(edit.attachments) or "[]"
        self._db.execute("UPDATE edits SET attachments = ? WHERE message_id = ?", (attached, edit.message_id))

    def drop(self, message_id: int) -> None:
        self._db.execute("DELETE FROM edits WHERE message_id = ?", (message_id,))


def _kind(value: object) -> EditKind:
    return EditKind(value) if isinstance(value, str) and value in list(EditKind) else EditKind.EDIT


def _role(value: object) -> MessageRole:
    return MessageRole.ASSISTANT if value == MessageRole.ASSISTANT else MessageRole.USER
