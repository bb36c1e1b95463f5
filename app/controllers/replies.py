"""Running replies: appends their text, saves it every 400 ms, and stores how they ended.

Any number may run, in any chats; the transcript shows those of the open chat. `chat` decides what to request.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, QTimer, Signal

from app.bridge import EngineBridge
from app.controllers.messages import transcript_row
from app.storage import MessageStore, ReplyStatus, ReplyText, StoredMessage
from app.view_models.request_table import RequestRow, RequestTableModel
from app.view_models.transcript import TranscriptMessage, TranscriptModel
from engine import (
    ChatEngine,
    EngineError,
    Event,
    Failed,
    Finished,
    FinishReason,
    PromptProgress,
    Request,
    RequestId,
    RequestStats,
    SpanKind,
    TextDelta,
)

# A crash loses at most this much text. The footer's numbers change at the same pace, so that they can be read.
SAVE_INTERVAL_MS = 400

# The other reasons have the same text in both enums.
_STATUS_OF = {FinishReason.STOP: ReplyStatus.DONE, FinishReason.CANCELLED: ReplyStatus.STOPPED}


@dataclass(slots=True)
class LiveReply:
    request: RequestId
    chat_id: int
    message_id: int
    text: str
    thinking: str = ""
    thinking_s: float = 0.0
    status: ReplyStatus = ReplyStatus.QUEUED
    progress: float | None = None
    stats: RequestStats = field(default_factory=RequestStats)
    unsaved: bool = False

    def saved_form(self) -> ReplyText:
        return ReplyText(self.message_id, self.text, self.thinking, self.thinking_s)

    def grow(self, delta: TextDelta) -> None:
        if delta.kind is SpanKind.THINKING:
            self.thinking += delta.text
            self.thinking_s = delta.stats.decode_s  # measured by the engine
        else:
            self.text += delta.text
        self.status, self.progress = ReplyStatus.STREAMING, None
        self.stats, self.unsaved = delta.stats, True


class Replies(QObject):
    changed = Signal()  # a reply began or ended
    stats_changed = Signal(int, object)  # chat, RequestStats

    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        store: MessageStore,
        transcript: TranscriptModel,
        table: RequestTableModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._bridge = bridge
        self._store = store
        self._transcript = transcript
        self._table = table
        self._live: dict[int, LiveReply] = {}
        self._timer = QTimer(self, interval=SAVE_INTERVAL_MS)
        self._timer.timeout.connect(self.save)
        bridge.event_arrived.connect(self._on_event)

    def start(self, reply: StoredMessage, request: Request, title: str, pair: str) -> None:
        """Submits the request for a reply whose row is already stored."""
        number = self._engine.submit(request, self._bridge.post)
        self._live[number] = LiveReply(number, reply.chat_id, reply.id, reply.text, reply.thinking, reply.thinking_s)
        self._table.put(RequestRow(number, title, pair))
        self._timer.start()
        self.changed.emit()

    def stop(self, chat_id: int) -> None:
        for reply in self._live.values():
            if reply.chat_id == chat_id:
                self._engine.cancel(reply.request)

    def chats(self) -> set[int]:
        return {reply.chat_id for reply in self._live.values()}

    def row(self, stored: StoredMessage) -> TranscriptMessage:
        """The transcript's row of a message; for a running reply with the text that is not saved yet."""
        row = transcript_row(stored)
        live = next((reply for reply in self._live.values() if reply.message_id == stored.id), None)
        if live is None:
            return row
        return replace(
            row,
            text=live.text,
            thinking=live.thinking,
            thinking_s=live.thinking_s,
            status=live.status,
            progress=live.progress,
            stats=live.stats,
        )

    def save(self) -> None:
        """Saves the text that arrived since the last save, and updates the statistics shown with it."""
        fresh = [reply for reply in self._live.values() if reply.unsaved]
        if fresh:
            self._store.save_texts(reply.saved_form() for reply in fresh)
        for reply in fresh:
            reply.unsaved = False
            self._show_numbers(reply)

    def close(self) -> None:
        """Cancels all running replies and stores their text so far as interrupted."""
        for reply in list(self._live.values()):
            self._engine.cancel(reply.request)
            self._end(reply, ReplyStatus.INTERRUPTED, reply.stats)

    def _on_event(self, event: Event) -> None:
        reply = self._live.get(getattr(event, "request", 0))
        if reply is None:
            return
        match event:
            case PromptProgress():
                self._on_progress(reply, event)
            case TextDelta():
                self._on_text(reply, event)
            case Finished(reason=reason, stats=stats):
                self._end(reply, _STATUS_OF.get(reason) or ReplyStatus(reason), stats)
            case Failed(error=error, stats=stats):
                self._end(reply, ReplyStatus.FAILED, stats, error)

    def _on_progress(self, reply: LiveReply, event: PromptProgress) -> None:
        if reply.status is ReplyStatus.QUEUED:
            reply.status = ReplyStatus.READING
        reply.progress = event.done_tokens / event.total_tokens if event.total_tokens else None
        self._change_row(reply, status=reply.status, progress=reply.progress)
        self._put_in_table(reply)

    def _on_text(self, reply: LiveReply, delta: TextDelta) -> None:
        began = reply.status is not ReplyStatus.STREAMING
        reply.grow(delta)
        if self._transcript.row_of(reply.message_id) is not None:
            self._transcript.append_text(reply.message_id, delta.text, delta.kind is SpanKind.THINKING)
        if began:
            self._change_row(reply, status=reply.status, progress=None)
            self._put_in_table(reply)

    def _end(
        self, reply: LiveReply, status: ReplyStatus, stats: RequestStats, error: EngineError | None = None
    ) -> None:
        del self._live[reply.request]
        reply.status, reply.stats, reply.progress = status, stats, None
        try:
            self._store.finish_reply(reply.saved_form(), status, stats, error)
        finally:  # also when storing fails, for instance on a full disk
            self._show_end(reply, error)

    def _show_end(self, reply: LiveReply, error: EngineError | None) -> None:
        self._show_numbers(reply, status=reply.status, progress=None, error=error)
        if not self._live:
            self._timer.stop()
        self.changed.emit()

    def _show_numbers(self, reply: LiveReply, **fields: object) -> None:
        self._change_row(reply, stats=reply.stats, thinking_s=reply.thinking_s, **fields)
        self._put_in_table(reply)
        self.stats_changed.emit(reply.chat_id, reply.stats)

    def _change_row(self, reply: LiveReply, **fields: object) -> None:
        if self._transcript.row_of(reply.message_id) is not None:
            self._transcript.change(reply.message_id, **fields)

    def _put_in_table(self, reply: LiveReply) -> None:
        known = self._table.row(reply.request)
        if known is not None:
            self._table.put(replace(known, status=reply.status, stats=reply.stats))
