"""Running replies: shows their text, stores it every 400 ms, and stores how they ended.

Any number may run, in any chats; the transcript shows those of the open chat. `asking` requests them. One that calls
tools is several requests, its steps; between two of them `exchange` has it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, QTimer, Signal

from app.bridge import EngineBridge
from app.storage import NotStored, ReplyStatus, ReplyText, Storage, StoredMessage, Stores
from app.storage.parts import Call, CallStage, Content, Parts, all_parts, settled
from app.system.energy import Slowdown
from app.system.worker import RETRY_INTERVAL_MS, ignore
from app.view_models.drafted_text import DraftedText
from app.view_models.request_table import RequestRow, RequestTableModel
from app.view_models.tools import ConsentView, has_calls, steps_of
from app.view_models.transcript import TranscriptMessage, TranscriptModel, transcript_row
from engine import (
    ChatEngine,
    EngineError,
    Event,
    Failed,
    Finished,
    FinishReason,
    PromptProgress,
    PromptTruncated,
    Request,
    RequestId,
    RequestStats,
    SpanKind,
    Speculation,
    TextDelta,
    ToolCall,
    ToolCalled,
)

SAVE_INTERVAL_MS = 400  # a crash loses about this much text
FIGURES_INTERVAL_MS = 100  # of the table
FOOTER_EVERY = 10  # of these intervals: the footer changes once a second, so that it can be read

# The other reasons have the same text in both enums.
_STATUS_OF = {FinishReason.STOP: ReplyStatus.DONE, FinishReason.CANCELLED: ReplyStatus.STOPPED}


def status_after(reason: FinishReason) -> ReplyStatus:
    return _STATUS_OF.get(reason) or ReplyStatus(reason)


@dataclass(slots=True)
class LiveReply:
    chat_id: int
    message_id: int
    text: str
    thinking: str = ""
    thinking_s: float = 0.0
    request: RequestId | None = None  # until it is submitted
    row: RequestId | None = None  # its first one, which names its row of the table
    speculation: Speculation = field(default_factory=Speculation)
    status: ReplyStatus = ReplyStatus.QUEUED
    error: EngineError | None = None
    progress: float | None = None
    waits_for: int = 0  # replies before it in the queue
    stats: RequestStats = field(default_factory=RequestStats)
    drafted: DraftedText = field(default_factory=DraftedText)
    thought_s: float = 0.0  # thinking before this request
    began_at: tuple[int, int] = (0, 0)  # characters of answer and thinking before this request
    unsaved: bool = False
    saved: ReplyText | None = None  # the latest attempt to store
    stored: ReplyText | None = None  # the latest on disk; set by the thread that writes
    shown: RequestStats | None = None  # figures in the table
    looks: int = 0  # timer ticks since its start
    parts: Parts = ()  # of earlier steps; `text` and `thinking` are the present one's
    calls: list[ToolCall] = field(default_factory=list)  # of the present step, in order
    earlier: RequestStats = field(default_factory=RequestStats)  # of the steps before it
    consent: ConsentView | None = None
    reads_from: int | None = None  # the first message that the model reads for it; None: the branch's first
    sources: tuple[int, ...] = ()  # the stored message of each of the request's
    model: str = ""  # that it was asked of, or that writes it

    def saved_form(self) -> ReplyText:
        return ReplyText(self.message_id, self.text, self.thinking, self.thinking_s, reads_from=self.reads_from or 0)

    def end_step(self) -> None:
        """Its thinking, text and calls become parts."""
        calls = (Call(each.id, each.name, each.arguments, stage=CallStage.ASKED) for each in self.calls)
        self.parts = (*all_parts(Content(self.text, self.thinking, self.thinking_s, self.parts)), *calls)
        self.calls = []
        self.text = ""
        self.thinking = ""
        self.thinking_s = 0.0
        self.thought_s = 0.0
        self.began_at = 0, 0
        self.drafted = DraftedText()
        self.earlier = self.stats
        self.progress = None
        self.unsaved = False

    def grow(self, delta: TextDelta) -> None:
        thinking = delta.kind is SpanKind.THINKING
        if thinking:
            self.thinking += delta.text
            self.thinking_s = self.thought_s + delta.stats.decode_s  # measured by the engine, for this request
        else:
            self.text += delta.text
        self.drafted.add(delta.marks, self.began_at[thinking], thinking=thinking)
        self.progress = None
        if self.status is not ReplyStatus.STOPPING:
            self.status = ReplyStatus.STREAMING
        self.stats = self.earlier.plus(delta.stats)
        self.unsaved = True


@dataclass(eq=False, slots=True)
class ReplyEnd:
    """How a reply ended, until that is on disk."""

    reply: LiveReply
    text: ReplyText
    requested: bool  # False: stopped before it was requested
    refused: bool = False  # at least once
    on_disk: bool = False  # set by the storage's thread

    def store(self, stores: Stores) -> None:
        """Store once: a later try must not end a reply that was continued."""
        if self.on_disk:
            return
        reply = self.reply
        if self.requested:
            stores.end_reply(self.text, reply.status, reply.stats, reply.error, reply.drafted.to_json())
        else:
            stores.messages.mark_stopped(reply.message_id)
        self.on_disk = True


class ReplyEnds(QObject):
    """Ends of replies that are not on disk yet; a refused one is tried again every two seconds."""

    refused_first = Signal(int, object)  # message, NotStored
    accepted_late = Signal(int, object)  # message, ReplyStatus; refused before
    stored = Signal(int, object)  # chat, ReplyStatus

    def __init__(self, storage: Storage, parent: QObject) -> None:
        super().__init__(parent)
        self._storage = storage
        self._pending: dict[int, ReplyEnd] = {}  # by message
        self._retry = QTimer(self, interval=RETRY_INTERVAL_MS, singleShot=True)
        self._retry.timeout.connect(self.try_again)

    @property
    def has_refused(self) -> bool:
        return any(end.refused for end in self._pending.values())

    def get(self, message_id: int) -> ReplyEnd | None:
        return self._pending.get(message_id)

    def put(self, end: ReplyEnd) -> None:
        self._pending[end.reply.message_id] = end
        self._store(end)

    def try_again(self) -> None:
        for end in list(self._pending.values()):
            if end.refused:
                self._store(end)

    def close(self) -> None:
        """Try each once more, since a disk may fail once."""
        self._retry.stop()
        for end in list(self._pending.values()):
            self._store(end)

    def left(self) -> list[ReplyText]:
        """Ends that are not on disk, by the thread that writes."""
        return [end.text for end in self._pending.values() if not end.on_disk]

    def storing(self, message_id: int) -> Callable[[Stores], object]:
        """The pending end of a reply, for a change that builds on it."""
        end = self._pending.get(message_id)
        return (lambda _stores: None) if end is None else end.store

    def is_stored(self, message_id: int) -> None:
        """Such a change stored the end; drop it."""
        if (end := self._pending.get(message_id)) is not None:
            self._on_stored(end)

    def _store(self, end: ReplyEnd) -> None:
        self._storage.write(
            end.store, lambda _done: self._on_stored(end), lambda problem: self._on_refused(end, problem)
        )

    def _on_stored(self, end: ReplyEnd) -> None:
        message_id = end.reply.message_id
        if self._pending.get(message_id) is not end:
            return
        del self._pending[message_id]
        if end.refused:
            self.accepted_late.emit(message_id, end.reply.status)
        self._storage.settle()
        self.stored.emit(end.reply.chat_id, end.reply.status)

    def _on_refused(self, end: ReplyEnd, problem: NotStored) -> None:
        message_id = end.reply.message_id
        if self._pending.get(message_id) is not end:
            return
        if not end.refused:
            end.refused = True
            self.refused_first.emit(message_id, problem)
        self._retry.start()


class RunningReplies(QObject):
    changed = Signal()  # a reply began or ended
    stats_changed = Signal(int, object)  # chat, RequestStats
    not_stored = Signal(object)  # NotStored; the first time that an end is refused
    stored = Signal(int, object)  # an end is on disk: its chat, ReplyStatus
    slowdown_changed = Signal()  # `slowdown` has changed
    begun = Signal(int)  # message: the model begins to read for it, after it was requested
    called = Signal(int)  # message: a step ended with calls, which are the last of its `parts`
    ended = Signal(int, int, object)  # chat, message, ReplyStatus; not at the end of the app

    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        storage: Storage,
        transcript: TranscriptModel,
        table: RequestTableModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._bridge = bridge
        self._storage = storage
        self.transcripts = [transcript]  # transcripts that show running replies
        self._table = table
        self.live: dict[int, LiveReply] = {}  # by message
        self._saving = False
        self.slowdown = Slowdown.NONE
        self.ends = ReplyEnds(storage, self)
        self.ends.stored.connect(self.stored)
        self.ends.refused_first.connect(self._on_end_refused)
        self.ends.accepted_late.connect(lambda message_id, status: self._change(message_id, status=status))
        self.save_timer = QTimer(self, interval=SAVE_INTERVAL_MS)
        self.save_timer.timeout.connect(self.save)
        self.save_timer.timeout.connect(self._show_line)
        self.figures_timer = QTimer(self, interval=FIGURES_INTERVAL_MS)
        self.figures_timer.timeout.connect(self._show_new_figures)
        bridge.text_arrived.connect(self._on_event)
        bridge.event_arrived.connect(self._on_event)

    @property
    def has_unstored(self) -> bool:
        """Whether text of a reply is not on disk: refused, or being stored."""
        return bool(self.ends.left()) or any(reply.stored is not reply.saved for reply in self.live.values())

    def begin(self, reply: StoredMessage) -> None:
        """Its row is stored; it is requested next, unless it is stopped first."""
        self.live[reply.id] = _live(reply)
        self.changed.emit()

    def awaits_request(self, message_id: int) -> bool:
        return message_id in self.live and self.live[message_id].request is None

    def read_from(self, message_id: int, first: int | None, sources: tuple[int, ...] = ()) -> None:
        """The model reads for it from this message on; `sources`: the stored message of each of its request's."""
        reply = self.live[message_id]
        reply.reads_from = first
        reply.sources = sources or reply.sources
        reply.unsaved = True
        self._change(message_id, reads_from=first)

    def name_writer(self, message_id: int, main_name: str, draft_name: str, pair: str) -> None:
        """The models that write it, unless it has something of others already; `pair`: these, for the table."""
        reply = self.live[message_id]
        if main_name == reply.model or reply.parts or any(reply.began_at):
            return
        reply.model = main_name
        self._storage.write(
            lambda stores: stores.messages.name_writer(message_id, main_name, draft_name), ignore, ignore
        )
        self._change(message_id, model=main_name)
        known = None if reply.row is None else self._table.row(reply.row)
        if known is not None:
            self._table.put(replace(known, pair=pair))

    def submit(self, message_id: int, request: Request, title: str, pair: str) -> None:
        """Request it; `title` and `pair` are for the table."""
        reply = self.live[message_id]
        reply.request = self._engine.submit(request, self._bridge.post)
        reply.speculation = request.speculation
        reply.status = ReplyStatus.QUEUED
        reply.stats = reply.earlier
        if reply.row is None:
            reply.row = reply.request
            row = RequestRow(reply.row, title, pair, chat_id=reply.chat_id, message_id=message_id, at_s=time.time())
            self._table.put(row)
        self.save_timer.start()
        self.figures_timer.start()

    def stop(self, chat_id: int, only: Callable[[int], bool] = lambda _message_id: True) -> None:
        """Stop the replies of a chat, or `only` these."""
        for reply in list(self.live.values()):
            if reply.chat_id != chat_id or not only(reply.message_id):
                continue
            if reply.request is None:
                self._end(reply, ReplyStatus.STOPPED)
                self.ended.emit(chat_id, reply.message_id, ReplyStatus.STOPPED)
                continue
            self._engine.cancel(reply.request)
            reply.status = ReplyStatus.STOPPING
            self._change(reply.message_id, status=reply.status)
            self._put_in_table(reply, reply.status)

    def is_stopping(self, chat_id: int) -> bool:
        """Whether all that is written there was stopped by the user."""
        return all(each.status is ReplyStatus.STOPPING for each in self.live.values() if each.chat_id == chat_id)

    def answer_now(self, message_id: int) -> None:
        """End its thinking."""
        reply = self.live.get(message_id)
        if reply is not None and reply.request is not None:
            self._engine.answer_now(reply.request)

    def speculate(self, wanted: Callable[[int], Speculation]) -> None:
        """Use each chat's drafting options from the next round on."""
        for reply in self.live.values():
            speculation = wanted(reply.chat_id)
            if reply.request is not None and speculation != reply.speculation:
                reply.speculation = speculation
                self._engine.set_speculation(reply.request, speculation)

    def set_slowdown(self, slowdown: Slowdown) -> None:
        """Set what slows replies down; running ones show it."""
        if slowdown is not self.slowdown:
            self.slowdown = slowdown
            for reply in self.live.values():
                self._change(reply.message_id, slowdown=slowdown)
            self.slowdown_changed.emit()

    def chats(self) -> set[int]:
        """Chats with a running or requested reply."""
        return {reply.chat_id for reply in self.live.values()}

    def row(self, stored: StoredMessage) -> TranscriptMessage:
        """The transcript's row of a message; of a reply with what is not on the disk yet."""
        row = transcript_row(stored)
        end = self.ends.get(stored.id)
        live = self.live.get(stored.id) if end is None else end.reply
        if live is None:
            return row
        return replace(
            row,
            text=live.text,
            thinking=live.thinking,
            thinking_s=live.thinking_s,
            steps=steps_of(live.parts)[0],
            consent=live.consent,
            status=ReplyStatus.UNSAVED if end is not None and end.refused else live.status,
            error=live.error,
            progress=live.progress,
            waits_for=live.waits_for,
            slowdown=self.slowdown,
            stats=live.stats,
            drafted=live.drafted,
            model=live.model,
            reads_from=live.reads_from,
        )

    def stats_of(self, message_id: int) -> RequestStats | None:
        """Figures of a running reply up to now; those in rows are up to a second old."""
        reply = self.live.get(message_id)
        return None if reply is None else reply.stats

    def save(self, *, at_once: bool = False) -> None:
        """Store new text. A slow disk gets one save at a time, unless `at_once`."""
        fresh = [reply for reply in self.live.values() if reply.unsaved]
        if not fresh or (self._saving and not at_once):
            return
        texts = [reply.saved_form() for reply in fresh]
        for reply, text in zip(fresh, texts, strict=True):
            reply.unsaved = False
            reply.saved = text

        def answered(refused: bool) -> None:
            """A refused save is retried with the next; the end of the reply reports it."""
            self._saving = False
            for reply in fresh:
                reply.unsaved |= refused

        def store(stores: Stores) -> None:
            stores.messages.save_texts(texts)
            for reply, text in zip(fresh, texts, strict=True):
                reply.stored = text

        self._saving = True
        self._storage.write(store, lambda _: answered(False), lambda _: answered(True))

    def close(self) -> None:
        """Cancel all replies and store them as interrupted."""
        for reply in list(self.live.values()):
            if reply.request is not None:
                self._engine.cancel(reply.request)
            if reply.request is not None or has_calls(reply.parts):
                self._end(reply, ReplyStatus.INTERRUPTED)
        self.ends.close()

    def _on_event(self, event: Event) -> None:
        number = getattr(event, "request", 0)
        reply = next((each for each in self.live.values() if each.request == number), None)
        if reply is None:
            return
        match event:
            case PromptTruncated(first=first):
                self.read_from(reply.message_id, reply.sources[first])
            case PromptProgress():
                self._on_progress(reply, event)
            case TextDelta():
                self._on_text(reply, event)
            case ToolCalled(call=call):
                reply.calls.append(call)
            case Finished(reason=reason, stats=stats):
                reply.stats = reply.earlier.plus(stats)
                if reply.calls and reason is FinishReason.STOP and reply.status is not ReplyStatus.STOPPING:
                    self._end_step(reply)
                else:
                    self._end(reply, status_after(reason))
            case Failed(error=error, stats=stats):
                reply.stats = reply.earlier.plus(stats)
                self._end(reply, ReplyStatus.FAILED, error)
        if reply.message_id not in self.live:
            self.ended.emit(reply.chat_id, reply.message_id, reply.status)

    def _on_progress(self, reply: LiveReply, event: PromptProgress) -> None:
        if reply.status is ReplyStatus.QUEUED:
            self.begun.emit(reply.message_id)
            reply.status = ReplyStatus.READING
        reply.progress = event.done_tokens / event.total_tokens if event.total_tokens else None
        self._change(reply.message_id, status=reply.status, progress=reply.progress)
        self._put_in_table(reply, reply.status)

    def _show_line(self) -> None:
        """Show places in the queue; by the timer, since most last only a step."""
        state = self._engine.state()
        for reply in self.live.values():
            if reply.status is ReplyStatus.QUEUED and reply.request in state.queued:
                reply.waits_for = state.foreground.index(reply.request)
                self._change(reply.message_id, waits_for=reply.waits_for)

    def _on_text(self, reply: LiveReply, delta: TextDelta) -> None:
        began = reply.status is not ReplyStatus.STREAMING
        if reply.status is ReplyStatus.QUEUED:
            self.begun.emit(reply.message_id)
        reply.grow(delta)
        for transcript in self._showing(reply.message_id):
            transcript.append_text(reply.message_id, delta.text, delta.kind is SpanKind.THINKING)
        if began:
            self._show_figures(reply, status=reply.status, progress=None)

    def _end_step(self, reply: LiveReply) -> None:
        reply.end_step()
        reply.request = None
        self.called.emit(reply.message_id)

    def show_steps(
        self, message_id: int, parts: Parts, status: ReplyStatus, consent: ConsentView | None = None
    ) -> None:
        """A reply between two requests has other parts or another status."""
        reply = self.live[message_id]
        reply.parts = parts
        reply.status = status
        reply.consent = consent
        self._change(message_id, status=status, consent=consent, stats=reply.stats, **_shown(reply))
        self._put_in_table(reply, status)

    def end(self, message_id: int, status: ReplyStatus, error: EngineError | None = None) -> None:
        """End a reply that is between two requests."""
        reply = self.live[message_id]
        self._end(reply, status, error)
        self.ended.emit(reply.chat_id, message_id, status)

    def _end(self, reply: LiveReply, status: ReplyStatus, error: EngineError | None = None) -> None:
        del self.live[reply.message_id]
        if reply.calls:
            reply.end_step()
        reply.status = status
        reply.error = error
        reply.progress = None
        reply.consent = None
        requested = reply.request is not None or has_calls(reply.parts)
        text = reply.saved_form()
        fields: dict[str, object] = {"status": status, "consent": None}
        if has_calls(reply.parts):
            sent = CallStage.STOPPED if status is ReplyStatus.STOPPED else CallStage.UNKNOWN
            reply.parts = settled(reply.parts, sent)
            text = replace(text, parts=reply.parts)
            fields |= _shown(reply)
        self.ends.put(ReplyEnd(reply, text, requested))
        if requested:
            self._show_figures(reply, **fields, progress=None, error=error)
        else:
            self._change(reply.message_id, status=status)
        if not self.live:
            self.save_timer.stop()
            self.figures_timer.stop()
        self.changed.emit()

    def _on_end_refused(self, message_id: int, problem: NotStored) -> None:
        self._change(message_id, status=ReplyStatus.UNSAVED)
        self.not_stored.emit(problem)

    def _show_new_figures(self) -> None:
        for reply in self.live.values():
            if reply.status is not ReplyStatus.STREAMING:
                continue
            reply.looks += 1
            if reply.looks % FOOTER_EVERY == 0:
                self._show_figures(reply)
            elif reply.stats is not reply.shown:
                self._show_in_table(reply)

    def _show_figures(self, reply: LiveReply, **fields: object) -> None:
        usual = {"stats": reply.stats, "thinking_s": reply.thinking_s, "slowdown": self.slowdown}
        self._change(reply.message_id, **(usual | fields))
        self._show_in_table(reply)

    def _show_in_table(self, reply: LiveReply) -> None:
        reply.shown = reply.stats
        self._put_in_table(reply, reply.status)
        self.stats_changed.emit(reply.chat_id, reply.stats)

    def _change(self, message_id: int, **fields: object) -> None:
        for transcript in self._showing(message_id):
            transcript.change(message_id, **fields)

    def _showing(self, message_id: int) -> list[TranscriptModel]:
        return [each for each in self.transcripts if each.row_of(message_id) is not None]

    def _put_in_table(self, reply: LiveReply, status: ReplyStatus) -> None:
        known = None if reply.row is None else self._table.row(reply.row)
        if known is not None:
            self._table.put(replace(known, status=status, stats=reply.stats))


def _shown(reply: LiveReply) -> dict[str, object]:
    steps = steps_of(reply.parts)[0]
    names = ("text", "thinking", "thinking_s", "drafted")
    return {"steps": steps} | {name: getattr(reply, name) for name in names}


def _live(reply: StoredMessage) -> LiveReply:
    """The stored text of a reply that is continued."""
    live = LiveReply(reply.chat_id, reply.id, reply.text, reply.thinking, reply.thinking_s)
    live.parts = settled(reply.parts)
    live.reads_from = reply.reads_from
    live.model = reply.main_name
    live.stats = reply.stats or RequestStats()
    live.thought_s = reply.thinking_s
    live.began_at = len(reply.text), len(reply.thinking)
    live.drafted = DraftedText(reply.drafting)
    for thinking, end in enumerate(live.began_at):
        live.drafted.drop_behind(end, thinking=bool(thinking))
    return live
