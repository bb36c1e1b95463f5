"""The open chat as rows with change signals. What a row looks like is the view's; what it says is the controller's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.view_models.reply_stats import FooterLine
from app.words.notices import Notice


class MessageStatus(StrEnum):
    DONE = "done"
    WAITING = "waiting"  # queued, or the model reads the prompt (`progress`)
    STREAMING = "streaming"
    STOPPED = "stopped"  # by the person; can be continued
    INTERRUPTED = "interrupted"  # the app ended while it was written; can be continued
    FAILED = "failed"  # `notice` says why


@dataclass(slots=True)
class TranscriptMessage:
    id: int
    from_user: bool
    text: str
    thinking: str = ""
    thinking_s: float = 0.0
    status: MessageStatus = MessageStatus.DONE
    footer: FooterLine | None = None
    notice: Notice | None = None
    progress: float | None = None  # 0..1 while the prompt is read
    model: str = ""  # who wrote it
    sibling: int = 1  # which of the `siblings` versions this is, from 1
    siblings: int = 1

    @property
    def can_continue(self) -> bool:
        unfinished = (MessageStatus.STOPPED, MessageStatus.INTERRUPTED, MessageStatus.FAILED)
        return not self.from_user and self.status in unfinished and bool(self.text or self.thinking)


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
        """Sets `fields` of one message; says nothing when they are what they were."""
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
