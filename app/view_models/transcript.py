"""The open chat as rows with change signals. Rows hold codes and numbers; the view puts them into words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.storage import Attachment, AttachmentKind, Attachments, ReplyStatus
from app.view_models.drafted_text import DraftedText
from engine import EngineError, RequestStats

# Views import these from here: they know neither the storage nor the engine.
__all__ = [
    "Attachment",
    "AttachmentKind",
    "Attachments",
    "EngineError",
    "ReplyStatus",
    "RequestStats",
    "TranscriptMessage",
    "TranscriptModel",
]


_CUT_SHORT = (
    ReplyStatus.INTERRUPTED,
    ReplyStatus.MODEL_CHANGED,
    ReplyStatus.LENGTH,
    ReplyStatus.CONTEXT,
    ReplyStatus.MEMORY,
)
_NOT_ON_DISK = (ReplyStatus.UNSAVED, ReplyStatus.UNREADABLE)
_UNFINISHED = (ReplyStatus.STOPPED, ReplyStatus.MODEL_CHANGED, ReplyStatus.INTERRUPTED, ReplyStatus.FAILED)


@dataclass(slots=True)
class TranscriptMessage:
    id: int
    from_user: bool
    text: str
    thinking: str = ""
    thinking_s: float = 0.0
    status: ReplyStatus = ReplyStatus.DONE
    stats: RequestStats | None = None
    error: EngineError | None = None
    drafted: DraftedText | None = None  # which of its text was drafted
    progress: float | None = None  # 0..1 while the prompt is read
    model: str = ""  # who wrote it
    sibling: int = 1  # which of the `siblings` versions this is, from 1
    siblings: int = 1
    attachments: Attachments = ()

    @property
    def empty(self) -> bool:
        """Nothing of it has been written yet."""
        return not (self.text or self.thinking)

    @property
    def under_way(self) -> bool:
        return self.status.under_way

    @property
    def finished(self) -> bool:
        """It came to an end of its own, or to a limit."""
        return not self.under_way and self.status not in _UNFINISHED

    @property
    def has_notice(self) -> bool:
        """Something stands at its end: why it failed, was interrupted or cut short."""
        if self.status is ReplyStatus.FAILED:
            return self.error is not None
        return self.status in (*_CUT_SHORT, *_NOT_ON_DISK)

    @property
    def can_continue(self) -> bool:
        return not self.from_user and self.status in _UNFINISHED and not self.empty


class TranscriptModel(QObject):
    """Signals carry rows; methods that speak of one message take its id."""

    was_reset = Signal()
    message_inserted = Signal(int)
    text_appended = Signal(int)  # answer or thinking grew; nothing else changed
    message_changed = Signal(int)
    messages_removed = Signal(int, int)  # first row, number of rows

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.messages: list[TranscriptMessage] = []
        self._rows: dict[int, int] = {}

    def row_of(self, message_id: int) -> int | None:
        return self._rows.get(message_id)

    def message(self, message_id: int) -> TranscriptMessage | None:
        row = self.row_of(message_id)
        return None if row is None else self.messages[row]

    def set_messages(self, messages: Iterable[TranscriptMessage]) -> None:
        self.messages = list(messages)
        self._number_rows()
        self.was_reset.emit()

    def append(self, message: TranscriptMessage) -> None:
        self.messages.append(message)
        self._rows[message.id] = len(self.messages) - 1
        self.message_inserted.emit(len(self.messages) - 1)

    def append_text(self, message_id: int, text: str, thinking: bool = False) -> None:
        row = self._rows[message_id]
        message = self.messages[row]
        if thinking:
            message.thinking += text
        else:
            message.text += text
        self.text_appended.emit(row)

    def change(self, message_id: int, **fields: Any) -> None:
        """Sets `fields` of one message; emits `message_changed` only if one of them differs."""
        row = self._rows[message_id]
        changed = replace(self.messages[row], **fields)
        if changed != self.messages[row]:
            self.messages[row] = changed
            self.message_changed.emit(row)

    def remove_from(self, row: int) -> None:
        removed = len(self.messages) - row
        if removed > 0:
            del self.messages[row:]
            self._number_rows()
            self.messages_removed.emit(row, removed)

    def _number_rows(self) -> None:
        self._rows = {message.id: row for row, message in enumerate(self.messages)}
