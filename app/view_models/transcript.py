"""The open chat as rows with change signals. Rows hold codes and numbers; the view puts them into words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.settings import STARTER_NAME
from app.storage import Attachment, AttachmentKind, Attachments, EditKind, ReplyStatus, StoredMessage
from app.storage.parts import settled
from app.system.energy import Slowdown
from app.view_models.drafted_text import DraftedText
from app.view_models.tools import ConsentView, StepView, steps_of
from engine import EngineError, MessageRole, RequestStats

# Views import these from here: they know neither the storage nor the engine.
__all__ = [
    "Attachment",
    "AttachmentKind",
    "Attachments",
    "EditKind",
    "EngineError",
    "ReplyStatus",
    "RequestStats",
]

_CUT_SHORT = (
    ReplyStatus.INTERRUPTED,
    ReplyStatus.MODEL_CHANGED,
    ReplyStatus.LENGTH,
    ReplyStatus.CONTEXT,
    ReplyStatus.MEMORY,
)
_STARTER_REFUSALS = (  # Sentences of the starter model's refusals; older chats have other wordings.
    *("Models → Find", "모델 → 찾기", "モデル → 探す", "模型 → 查找"),
    *("Settings → Models", "설정 → 모델", "設定 → モデル", "设置 → 模型"),
)
_NOT_ON_DISK = (ReplyStatus.UNSAVED, ReplyStatus.UNREADABLE)
_UNFINISHED = (ReplyStatus.STOPPED, ReplyStatus.MODEL_CHANGED, ReplyStatus.INTERRUPTED, ReplyStatus.FAILED)


@dataclass(frozen=True, slots=True)
class EditView:
    """A field in place of a message, or beside it, and what is typed there."""

    kind: EditKind
    from_user: bool  # whose words they are to be
    text: str


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
    edit: EditView | None = None
    waits_for: int = 0  # replies before it in the line
    slowdown: Slowdown = Slowdown.NONE  # on the machine while it was written, in this run
    attachments: Attachments = ()
    steps: tuple[StepView, ...] = ()  # of a reply that called tools: what came before its last thinking and text
    consent: ConsentView | None = None  # that it waits for
    raw: bool = False  # JSON is shown as it is, not as a table or a tree
    reads_from: int | None = None  # of a reply: the first message that the model read for it; None: the branch's first
    pinned: bool = False  # it stays in the prompt of a long chat
    summary: bool = False  # of messages before it, which the model no longer reads
    begins: bool = False  # the model reads the chat from here on, not from its beginning

    @property
    def empty(self) -> bool:
        """Nothing of it has been written yet."""
        return not (self.text or self.thinking or self.steps)

    @property
    def written(self) -> str:
        """The words of all its steps, without thinking and calls."""
        return "\n\n".join(filter(None, (*(step.text for step in self.steps), self.text)))

    @property
    def under_way(self) -> bool:
        return self.status.under_way

    @property
    def finished(self) -> bool:
        """It came to an end of its own, or to a limit."""
        return not self.under_way and self.status not in _UNFINISHED

    @property
    def has_notice(self) -> bool:
        """There is a notice at its end: why it failed, was interrupted or cut short."""
        if self.status is ReplyStatus.FAILED:
            return self.error is not None
        return self.needs_larger_model or self.status in (*_CUT_SHORT, *_NOT_ON_DISK)

    @property
    def needs_larger_model(self) -> bool:
        """The starter model answers, in sentences that it was trained on, that it knows only Hunch."""
        of_starter = self.status is ReplyStatus.DONE and self.model == STARTER_NAME and not self.from_user
        return of_starter and any(words in self.text for words in _STARTER_REFUSALS)

    @property
    def can_continue(self) -> bool:
        """It was cut short, or has text of the user."""
        broke_off = self.status in (*_UNFINISHED, ReplyStatus.LENGTH) or (self.finished and self.stats is None)
        return not (self.from_user or self.summary) and broke_off and bool(self.text.strip() or self.steps)


def transcript_row(stored: StoredMessage) -> TranscriptMessage:
    steps, files = steps_of(settled(stored.parts))
    return TranscriptMessage(
        id=stored.id,
        from_user=stored.role is MessageRole.USER,
        text=stored.text,
        thinking=stored.thinking,
        thinking_s=stored.thinking_s,
        status=stored.status,
        stats=stored.stats,
        error=stored.error,
        drafted=DraftedText(stored.drafting) if stored.drafting else None,
        model=stored.main_name,
        sibling=stored.sibling,
        siblings=stored.siblings,
        attachments=files,
        steps=steps,
        reads_from=stored.reads_from,
        pinned=stored.pinned,
        summary=stored.is_summary,
    )


class TranscriptModel(QObject):
    """Signals carry rows; methods that speak of one message take its id."""

    was_reset = Signal()
    message_inserted = Signal(int)
    messages_prepended = Signal(int)  # number of rows that came before all others
    text_appended = Signal(int)  # answer or thinking grew; nothing else changed
    message_changed = Signal(int)
    messages_removed = Signal(int, int)  # first row, number of rows
    beginning_changed = Signal()  # from where on the model reads, or what comes before that

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.messages: list[TranscriptMessage] = []
        self.has_earlier = False  # of a long chat: more messages are to come before these
        self._marked: int | None = None  # the message that `begins`
        self._rows: dict[int, int] = {}  # indices before later prepended rows
        self._prepended = 0

    def row_of(self, message_id: int) -> int | None:
        row = self._rows.get(message_id)
        return None if row is None else row + self._prepended

    def message(self, message_id: int) -> TranscriptMessage | None:
        row = self.row_of(message_id)
        return None if row is None else self.messages[row]

    def set_messages(self, messages: Iterable[TranscriptMessage]) -> None:
        self.messages = list(messages)
        self.has_earlier = False
        self._number_rows()
        self.was_reset.emit()
        self._mark_beginning()

    def show_branch(self, messages: Iterable[TranscriptMessage]) -> None:
        """Show another state of the same chat: only differing rows are inserted, removed and changed."""
        new = list(messages)
        old_ids = [each.id for each in self.messages]
        new_ids = [each.id for each in new]
        if not _same(old_ids, new_ids) and not _same(old_ids[::-1], new_ids[::-1]):
            self.set_messages(new)
        else:
            self._replace_rows(0, len(self.messages), new)
            self._mark_beginning()

    def show_end(self, messages: Iterable[TranscriptMessage]) -> None:
        """Show the end of a long chat: rows before the first of these stay."""
        new = list(messages)
        row = self.row_of(new[0].id) if new else None
        if row is None:
            self.set_messages(new)
        else:
            self._replace_rows(row, len(self.messages), new)
            self._mark_beginning()

    def show_before(self, message_id: int, messages: Iterable[TranscriptMessage]) -> None:
        """Show the messages before one; none: it is the first message."""
        new = list(messages)
        end = self._row(message_id)
        row = self.row_of(new[0].id) if new else 0
        if row is not None:
            self._replace_rows(row, end, new)
            self._mark_beginning()
            return
        self._remove(0, end)
        self.messages[:0] = new
        self._prepended += len(new)
        self._rows.update((message.id, row - self._prepended) for row, message in enumerate(new))
        self.messages_prepended.emit(len(new))
        self._mark_beginning()

    def _mark_beginning(self) -> None:
        """Mark the message from which on the model has read for the latest reply, if not the first one."""
        replies = (each for each in reversed(self.messages) if not (each.from_user or each.summary))
        read = (each.reads_from for each in replies if each.reads_from is not None or not each.under_way)
        first = next(read, None)
        row = None if first is None else self.row_of(first)
        marked = first if row else None
        for each in [self._marked, marked]:
            if each is not None and self.row_of(each) is not None:
                self.change(each, begins=each == marked)
        if marked is not None or self._marked is not None:
            self._marked = marked
            self.beginning_changed.emit()

    def _replace_rows(self, start: int, end: int, new: Sequence[TranscriptMessage]) -> None:
        old_ids = [each.id for each in self.messages[start:end]]
        new_ids = [each.id for each in new]
        first = _same(old_ids, new_ids)
        last = _same(old_ids[first:][::-1], new_ids[first:][::-1])
        self._remove(start + first, end - last)
        for at in range(first, len(new) - last):
            self._insert(start + at, new[at])
        for message in new:
            self._update(message)

    def _update(self, message: TranscriptMessage) -> None:
        row = self._row(message.id)
        if self.messages[row] != message:
            self.messages[row] = message
            self.message_changed.emit(row)

    def append(self, message: TranscriptMessage) -> None:
        self._insert(len(self.messages), message)
        self._mark_beginning()

    def _insert(self, row: int, message: TranscriptMessage) -> None:
        self.messages.insert(row, message)
        self._number_rows(row)
        self.message_inserted.emit(row)

    def note_edit(self, message_id: int, edit: EditView) -> None:
        """The text in an edit field changed; the field shows it already."""
        row = self.row_of(message_id)
        if row is not None:
            self.messages[row].edit = edit

    def note_pin(self, message_id: int, pinned: bool) -> None:
        if self.row_of(message_id) is not None:
            self.change(message_id, pinned=pinned)

    @property
    def not_read(self) -> int:
        """How many messages are left out of the latest reply's prompt."""
        return 0 if self._marked is None else self.left_out(self._marked)[0]

    def left_out(self, first_id: int) -> tuple[int, list[TranscriptMessage]]:
        """How many messages before this one the model does not read, and the pinned ones there, which it does."""
        before = self.messages[: self.row_of(first_id)]
        exchanges: list[list[TranscriptMessage]] = []
        for message in before:
            if message.from_user or not exchanges:
                exchanges.append([])
            exchanges[-1].append(message)
        unpinned = (each for each in exchanges if not any(message.pinned for message in each))
        out = sum(not message.summary for each in unpinned for message in each)
        return out, [message for message in before if message.pinned]

    def append_text(self, message_id: int, text: str, thinking: bool = False) -> None:
        row = self._row(message_id)
        message = self.messages[row]
        if thinking:
            message.thinking += text
        else:
            message.text += text
        self.text_appended.emit(row)

    def change(self, message_id: int, **fields: Any) -> None:
        """Sets `fields` of one message; emits `message_changed` only if one of them differs."""
        row = self._row(message_id)
        changed = replace(self.messages[row], **fields)
        if changed != self.messages[row]:
            self.messages[row] = changed
            self.message_changed.emit(row)
        if not fields.keys().isdisjoint(("reads_from", "status")):
            self._mark_beginning()

    def _remove(self, row: int, end: int) -> None:
        if end > row:
            del self.messages[row:end]
            self._number_rows()
            self.messages_removed.emit(row, end - row)

    def _number_rows(self, first: int = 0) -> None:
        """Those before `first` have theirs."""
        if not first:
            self._rows = {}
            self._prepended = 0
        start = first - self._prepended
        self._rows.update((message.id, row) for row, message in enumerate(self.messages[first:], start))

    def _row(self, message_id: int) -> int:
        return self._rows[message_id] + self._prepended


def _same(one: Sequence[int], other: Sequence[int]) -> int:
    """Length of the common beginning."""
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )
