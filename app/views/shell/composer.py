"""The message field: grows with its text, sends on Return, stops a running reply. `UnsentWords` is what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.controllers.changes import KEEP_DELAY_MS
from app.controllers.chat import ChatController
from app.theme import COLUMN_PX, FOOTER_PX, RADIUS_BUBBLE, Theme
from app.view_models.attached import AttachedModel, AttachedRow
from app.view_models.installed_list import ModelOffer
from app.view_models.transcript import ReplyStatus
from app.view_models.typed import after_message, as_message
from app.views.shell.chat_tools import ChatToolsButton
from app.views.shell.effort_button import EffortButton
from app.views.shell.project_line import ProjectLine
from app.views.widgets.arrange import arrange
from app.views.widgets.attachment_row import AttachmentRow
from app.views.widgets.buttons import STOP, Emphasis, IconButton, PillButton, RoundButton
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.message_edit import LONG_PASTE, MessageEdit
from app.views.widgets.painting import paint_surface
from app.views.widgets.tooltips import set_tooltip, show_hint
from app.views.widgets.translated import Translated
from app.words.formats import count, fill, percent, sentences, size, spoken
from app.words.hub import install_text
from app.words.model_names import human_name, question_hint
from app.words.options import no_form_words

_GROWS_TO = 0.4  # of the window's height
_WORDS_NEED_PX = 180  # beside the buttons
_BESIDE_BUTTONS_PX = 12  # between text and buttons
_ABOVE_BUTTONS_PX = 4
_LEAST_LINES = 3  # above them
_LEAST_SHARE = 1 / 16  # smallest visible arc
SPEAKS_UP_AT = 0.8
_Shown = tuple[str, tuple[str, str], ModelOffer | None, str, bool]


class UnsentWords(QObject):
    """The unsent text of each chat, saved to disk, and sent when a reply is complete if queued.

    The field shows that of the open chat. A sent message stays in it until it is on disk.
    """

    changed = Signal(int, str)  # chat, text to save
    settled = Signal(str)  # text in the field, a moment after the last key or in another chat
    waiting_changed = Signal(object)  # chats, other than the open one, in whose field text waits
    queue_changed = Signal()
    due = Signal()  # send the field's text
    due_elsewhere = Signal(int, str, object)  # send in a chat that is not open: text and attachments
    took_over = Signal(int)  # the message of this chat

    def __init__(self, field: MessageEdit, parent: QObject) -> None:
        super().__init__(parent)
        self._field = field
        self._chat_id = 0  # none yet
        self._texts: dict[int, str] = {}  # by chat, of those that are not open
        self._on_their_way: set[int] = set()  # chats whose message is being stored
        self._queued: dict[int, list[AttachedRow]] = {}  # chats whose field is sent when their reply is complete
        self._after_stop: set[int] = set()  # of these, chats whose reply was being stopped already
        self._sent = ""  # what the field had when its message was sent
        self._keep = QTimer(self, singleShot=True, interval=KEEP_DELAY_MS)
        self._keep.timeout.connect(self.keep)
        for typed in (field.textChanged, field.composition_changed):
            typed.connect(self._keep.start)
            typed.connect(lambda: self.leave_queue(self._chat_id))

    @property
    def is_queued(self) -> bool:
        return self._chat_id in self._queued

    @property
    def is_on_its_way(self) -> bool:
        return self._chat_id in self._on_their_way

    def open_chat(self, chat_id: int) -> None:
        """Keeps the text of the previous chat and restores that of this one."""
        if chat_id == self._chat_id:
            return
        self._field.commit()
        self.keep()
        self._texts[self._chat_id] = self._field.text()
        self._chat_id = chat_id
        queued = self._queued.get(chat_id)
        self._field.begin_with(self._texts.pop(chat_id, ""))
        if queued is not None:
            self._queued[chat_id] = queued
        self.queue_changed.emit()
        self._keep.stop()
        self.settled.emit(self._field.text())
        self._say_waiting()

    def restore(self, texts: Mapping[int, str], open_id: int) -> None:
        """Restore text of an earlier run, before what was typed since; what was typed here belongs to the open chat."""
        self._chat_id = open_id
        for chat_id, text in texts.items():
            if chat_id == self._chat_id:
                self._field.commit()
                self._field.begin_with(_joined(text, self._field.text()))
            else:
                self._texts[chat_id] = _joined(text, self._texts.get(chat_id, ""))
        self._say_waiting()

    def keep(self) -> None:
        """Save the text in the field, composition included."""
        self._keep.stop()
        text = self._field.text_with_composed()
        if not (self.is_on_its_way and text == self._sent):  # what stores the message takes it from there
            self.changed.emit(self._chat_id, text)
        self.settled.emit(text)

    def send(self) -> None:
        self.keep()
        self._sent = self._field.text_with_composed()
        self._on_their_way.add(self._chat_id)

    def confirm(self, chat_id: int, text: str) -> None:
        """The message is on disk: remove it from the field; later text stays."""
        self._on_their_way.discard(chat_id)
        if chat_id == self._chat_id:
            self._field.commit()
            self._drop_sent(text)
            # The input method may still hold text of the message that was just sent.
            QGuiApplication.inputMethod().reset()
        elif text and (typed := after_message(text, self._texts.get(chat_id, ""))) is not None:
            self._texts[chat_id] = typed
            self.changed.emit(chat_id, self._texts[chat_id])  # all was kept once more when the chat was left
            self._say_waiting()

    def release(self, chat_id: int | None = None) -> None:
        """The message was not stored: it stays in the field and can be sent again."""
        self._on_their_way.discard(self._chat_id if chat_id is None else chat_id)

    def take_over(self, chat_id: int) -> None:
        """Take the message of a deleted chat; if the field has other text, the message stays there."""
        self._on_their_way.discard(chat_id)
        if not self._field.text_with_composed():
            self._field.begin_with(self._texts.pop(chat_id, ""))
            self.changed.emit(chat_id, "")
            self.took_over.emit(chat_id)
            self._say_waiting()

    def _say_waiting(self) -> None:
        self.waiting_changed.emit({chat_id for chat_id, text in self._texts.items() if text.strip()})

    def _drop_sent(self, text: str) -> None:
        typed = after_message(text, self._field.text())
        if typed:
            self._field.begin_with(typed)
        elif typed is not None:
            self._field.clear()
            self.keep()

    def queue(self, rows: list[AttachedRow], *, after_stop: bool) -> None:
        """`after_stop`: the reply is being stopped already, and the message is sent all the same."""
        self.keep()
        self._after_stop.discard(self._chat_id)
        if after_stop:
            self._after_stop.add(self._chat_id)
        self._queued[self._chat_id] = rows
        self.queue_changed.emit()

    def leave_queue(self, chat_id: int) -> None:
        """A message that is changed is not sent automatically."""
        self._queued.pop(chat_id, None)
        self.queue_changed.emit()

    def end_reply(self, chat_id: int, status: ReplyStatus, *, at_end: bool) -> None:
        """Send the queued message if this reply is complete and `at_end` of its chat; else it stays in the field."""
        if (rows := self._queued.pop(chat_id, None)) is None:
            return
        self.queue_changed.emit()
        stopped = status is ReplyStatus.STOPPED and chat_id in self._after_stop
        if not at_end or not (stopped or status in (ReplyStatus.DONE, ReplyStatus.LENGTH)):
            return
        if chat_id == self._chat_id:
            self.due.emit()
        elif chat_id not in self._on_their_way:
            self._on_their_way.add(chat_id)
            self.due_elsewhere.emit(chat_id, as_message(self._texts.get(chat_id, "")), rows)


def _joined(earlier: str, later: str) -> str:
    return "\n".join(part for part in (earlier, later) if part)


@dataclass(slots=True)
class _Tokens:
    """Context tokens of the chat with the typed text and attachments."""

    used: int = 0  # by the chat, as its last reply reported
    limit: int = 0  # of its last reply; 0: none has reported one
    attached: int = 0
    model_limit: int = 0
    typed: int = 0
    shared: int = 0  # of what all chats of the project begin with

    def excess(self, text: str) -> int:
        """Tokens by which the message alone exceeds the context."""
        limit = self.limit or self.model_limit
        if not limit or self.attached + self.typed <= limit:
            return 0
        typed = min(self.typed, len(text.encode("utf-8", "replace")))  # it may be of a longer text
        return max(0, self.attached + typed - limit)

    def show(self, ring: ContextRing) -> None:
        used = (self.used or self.shared) + self.attached + self.typed
        # Hidden in a new chat with a short text.
        shows = self.attached or self.shared or used >= SPEAKS_UP_AT * self.model_limit
        ring.set_usage(used, self.limit or (self.model_limit if shows else 0), self.shared)


class ContextRing(Translated, QWidget):
    accessible_role = QAccessible.Role.ProgressBar

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.used_tokens = 0
        self._shared_tokens = 0
        self._limit_tokens = 0
        self._model_tokens = self._memory_tokens = 0  # 0: not known
        self._not_read = 0
        self._leaves_out = False
        theme.changed.connect(self.updateGeometry)
        self._retranslate()

    @property
    def share(self) -> float:
        return min(1.0, self.used_tokens / self.effective_tokens) if self._limit_tokens else 0.0

    @property
    def effective_tokens(self) -> int:
        """Tokens that a chat may have: the set limit, or what fits into memory."""
        return min(self._limit_tokens, self._memory_tokens or self._limit_tokens)

    @property
    def _beyond(self) -> int:
        """Tokens of the model's context beyond that."""
        return max(0, self.used_tokens - self._limit_tokens) if self._limit_tokens else 0

    def accessible_value(self) -> str:
        return percent(self.share)

    def set_usage(self, used_tokens: int, limit_tokens: int, shared_tokens: int = 0) -> None:
        """`shared_tokens`: those of `used_tokens` that all chats of the project begin with."""
        usage = used_tokens, limit_tokens, shared_tokens
        if usage == (self.used_tokens, self._limit_tokens, self._shared_tokens):
            return
        before = self._shown()
        self.used_tokens = used_tokens
        self._limit_tokens = limit_tokens
        self._shared_tokens = shared_tokens
        if self._shown() != before:
            self._retranslate()
        set_tooltip(self, "\n".join(self._lines()))

    def _shown(self) -> tuple[int, int]:
        """What can be seen of the figures, which change with every few words of a reply."""
        return round(self.share * 360) + self._beyond if self.used_tokens else -1, self._limit_tokens

    def set_not_read(self, messages: int, *, leaves_out: bool) -> None:
        """How many earlier messages are left out, and whether more of them will be."""
        if (messages, leaves_out) != (self._not_read, self._leaves_out):
            self._not_read = messages
            self._leaves_out = leaves_out
            self._retranslate()

    def set_room(self, model_tokens: int, memory_tokens: int) -> None:
        """What the main model holds, and what there is room for in memory, about."""
        if (model_tokens, memory_tokens) != (self._model_tokens, self._memory_tokens):
            self._model_tokens = model_tokens
            self._memory_tokens = memory_tokens
            self._retranslate()

    def _retranslate(self) -> None:
        self.setVisible(self._limit_tokens > 0 and self.used_tokens > 0)
        words = self._lines()
        set_tooltip(self, "\n".join(words))
        self.setAccessibleName(spoken(*words))
        self.updateGeometry()
        self.update()

    def _lines(self) -> list[str]:
        sentence = self.tr("Context: %1 of %2 tokens")
        return [fill(sentence, count(self.used_tokens), count(self.effective_tokens)), *self._reasons()]

    def _reasons(self) -> list[str]:
        """What is shared, and why it is less than the model holds."""
        reasons = [] if not self._not_read else [self.tr("%Ln earlier message(s) not read", "", self._not_read)]
        if self._leaves_out and self._speaks_up():
            reasons.append(self.tr("When it is full, the oldest messages are left out"))
        if self._shared_tokens:
            shared = self.tr("%1 of them are the project's, read once for all its chats")
            reasons.append(fill(shared, count(self._shared_tokens)))
        if self._limit_tokens < self._model_tokens:
            asked = self.tr("Limited to %1 tokens (model: %2)")
            reasons.append(fill(asked, count(self._limit_tokens), count(self._model_tokens)))
        if self.effective_tokens < self._limit_tokens:
            room = self.tr("Memory holds about %1 tokens (model: %2)")
            reasons.append(fill(room, count(self._memory_tokens), count(self._model_tokens)))
        return reasons

    def _speaks_up(self) -> bool:
        return self.share >= SPEAKS_UP_AT

    def _words(self) -> str:
        """A message that does not fit is reported before it is sent."""
        if self._beyond and not self._leaves_out:
            return self.tr("%Ln token(s) too many", "", self._beyond)
        return fill(self.tr("%1 full", "the context"), percent(self.share))

    def _face(self) -> QFont:
        return self._theme.ui_font(FOOTER_PX, tabular=True)

    def sizeHint(self) -> QSize:
        side = self._theme.px(18)
        if not self._speaks_up():
            return QSize(side, self._theme.px(32))
        words = QFontMetrics(self._face()).horizontalAdvance(self._words())
        return QSize(side + self._theme.px(8) + words, self._theme.px(32))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        colors = self._theme.palette
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            side = self._theme.px(16)
            ring = QRectF(self.width() - side - 1, (self.height() - side) / 2, side, side)
            painter.setPen(QPen(colors.hairline, 2))
            painter.drawEllipse(ring)
            color = colors.cost if self._speaks_up() else colors.secondary
            painter.setPen(QPen(color, 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawArc(ring, 90 * 16, -round(max(self.share, _LEAST_SHARE) * 360 * 16))
            if self._speaks_up():
                painter.setFont(self._face())
                painter.drawText(self.rect(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self._words())


class Composer(Translated, QWidget):
    """The card with the text, the context meter and the round button.

    Nothing can be sent before `bind`: text typed until then stays in the field.
    """

    send_requested = Signal(str)
    stop_requested = Signal()
    excess_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chats: ChatController | None = None
        self._generating = False
        self.unable_to_keep_form = ""  # the model's name, where the chat wants a form that it cannot keep to
        self._main = ""  # as the settings name it
        self._needs_other = False
        self._tokens = _Tokens()
        self.excess = 0  # tokens that the message is too long by
        self.edit = MessageEdit(theme, self)
        self.edit.leaves_drops = True
        self.unsent = UnsentWords(self.edit, self)
        self.ring = ContextRing(theme, self)
        self.project = ProjectLine(theme, self)
        self.attached = AttachmentRow(theme, self)
        self.queue_note = TextLabel(theme, TextStyle.FINE, self)
        self.queue_note.hide()
        self.unseen_note = UnseenNote(theme, self)
        self.effort = EffortButton(theme, self)
        self.tools_button = ChatToolsButton(theme, self)
        self.attach_button = IconButton(theme, "paperclip", parent=self)
        self.button = RoundButton(theme, "arrow-up", self)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.IBeamCursor)
        for child in (self.button, self.effort, self.tools_button, self.attach_button, self.attached, self.project):
            child.setCursor(Qt.CursorShape.ArrowCursor)
        self.attach_button.setEnabled(False)
        self._arrange()
        self._connect()
        self._restyle()
        self._retranslate()

    def _connect(self) -> None:
        self.send_requested.connect(self._send)
        self.edit.submitted.connect(self._submit)
        self.edit.escaped.connect(self._stop)
        self.edit.height_wanted.connect(self._fit)
        self.edit.height_wanted.connect(self._show_button)
        self.edit.textChanged.connect(self._show_button)
        self.unsent.queue_changed.connect(self._show_queue)
        self.unsent.due.connect(self._submit)
        self.unsent.due_elsewhere.connect(self._send_queued)
        self.button.clicked.connect(self._on_button)
        self.attached.left.connect(self.take_focus)
        self.project.shown_or_hidden.connect(self._fit)
        self._theme.changed.connect(self._restyle)

    def bind(self, chats: ChatController) -> None:
        self._chats = chats
        self.stop_requested.connect(chats.stop)
        chats.current_chat_changed.connect(self._open_chat)
        chats.generating_changed.connect(self.set_generating)
        chats.replies.ended.connect(self._on_reply_ended)
        chats.context_changed.connect(self.set_context)
        chats.asking.still_storing.connect(self._say_still_storing)
        chats.transcript.beginning_changed.connect(self._show_not_read)
        chats.options.changed.connect(self._show_not_read)
        self._show_not_read()
        self._keep_unsent(chats)

    def _show_not_read(self) -> None:
        assert self._chats is not None
        leaves_out = self._chats.options.generation(self._chats.chat_id).values["long_chats"] != "ask"
        self.ring.set_not_read(self._chats.transcript.not_read, leaves_out=leaves_out)

    def _keep_unsent(self, chats: ChatController) -> None:
        """Save unsent text from here on; restores that of an earlier run."""
        self.unsent.changed.connect(chats.keeping.keep_unsent)
        self.unsent.waiting_changed.connect(chats.conversations.set_unsent)
        chats.asking.message_sent.connect(self.unsent.confirm)
        chats.asking.message_refused.connect(self.unsent.release)
        chats.asking.message_homeless.connect(self.unsent.take_over)
        self.unsent.restore(chats.keeping.unsent(), chats.chat_id)

    def _arrange(self) -> None:
        """The field is as wide as the card, with its scroll bar at the card's edge. One line ends left of the buttons,
        several are above them.
        """
        self._foot = QWidget(self)
        self._foot.installEventFilter(self)
        buttons = (self.ring, self.effort, self.tools_button, self.attach_button, self.button)
        arrange(QHBoxLayout(self._foot), *buttons, spacing=8, margins=(0, 0, 0, 0))
        both = self._both = QGridLayout()
        both.setHorizontalSpacing(0)
        both.setColumnStretch(0, 1)
        both.addWidget(self.edit, 0, 0, 1, 2, Qt.AlignmentFlag.AlignVCenter)
        both.addWidget(self._foot, 0, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom)  # beside the bar
        project = (self.project, 0, Qt.AlignmentFlag.AlignLeft)
        rows = (project, self.attached, both, self.queue_note, self.unseen_note)
        self._column = arrange(QVBoxLayout(self), *rows, spacing=4)

    def show_for(self, main: str) -> None:
        """`main`: as the settings name it."""
        if main != self._main:
            self._main = main
            self._retranslate()

    def text(self) -> str:
        return self.edit.text()

    def attached_rows(self) -> list[AttachedRow]:
        """What goes with the message."""
        return list(self.attached.rows)

    def text_with_pasted(self) -> str:
        """The text with attached pasted texts, which exist nowhere else, unlike files."""
        pasted = [row.attachment.text for row in self.attached_rows() if row.attachment is not None and not row.name]
        return "\n\n".join([*pasted, *([self.text()] if self.text() else [])])

    @property
    def is_empty(self) -> bool:
        return not self.edit.is_composing and self.edit.document().isEmpty()

    def set_text(self, text: str) -> None:
        self.edit.begin_with(text)

    def quote(self, text: str) -> None:
        """Put a text, as a quotation, below what is written; what is typed next follows it."""
        if len(text) > LONG_PASTE and self.edit.can_attach:
            self.edit.long_text_given.emit(text)
        elif text:
            self.edit.commit()
            above = "\n" if self.text().strip() else ""
            quoted = "\n".join(f"> {line}".rstrip() for line in text.splitlines())
            self.edit.moveCursor(QTextCursor.MoveOperation.End)
            self.edit.insert_text(f"{above}{quoted}\n\n")
        self.take_focus()

    def send(self, text: str) -> None:
        """Send a text as if it had been typed."""
        self.set_text(text)
        self._submit()

    def ask(self, question: str) -> None:
        """Send a prepared question; it stays in the field if it cannot be sent."""
        if self.is_empty:
            self.send(question)
        elif self.attached.is_reading:
            self._say(self.tr("Still reading an attachment."))
        else:
            self._send(question)

    def _send(self, text: str) -> None:
        if self._chats is None or not self._chats.send(text, self.attached_rows()):
            self.unsent.release()

    def _send_queued(self, chat_id: int, text: str, attached: list[AttachedRow]) -> None:
        if self._chats is None or not self._chats.send(text, attached, chat_id):
            self.unsent.release(chat_id)

    def _open_chat(self, chat_id: int) -> None:
        self.unsent.open_chat(chat_id)
        self.set_generating(self._chats is not None and self._chats.generating)

    def _on_reply_ended(self, chat_id: int, message_id: int, status: ReplyStatus) -> None:
        at_end = self._chats is not None and self._chats.shown_end(chat_id) == message_id
        self.unsent.end_reply(chat_id, status, at_end=at_end)

    def bind_attachments(self, model: AttachedModel) -> None:
        """From now on files and long texts can be attached."""
        self.edit.can_attach = True
        self.attach_button.setEnabled(True)
        self.attached.bind(model)
        model.changed.connect(self._on_attached)
        self._on_attached()

    def set_sees(self, sees: bool, needs_other: bool = False) -> None:
        """`sees`: the chosen model sees pictures; `needs_other`: what was sent in the chat is for another one."""
        before = (self.attached.unseen, self._needs_other)
        self._needs_other = needs_other
        self.attached.set_sees(sees)
        if (self.attached.unseen, needs_other) != before:
            self._on_attached()

    def _on_attached(self) -> None:
        self.unseen_note.setVisible(bool(self.attached.unseen) or self._needs_other)
        self._show_button()
        self._fit()

    @property
    def used_tokens(self) -> int:
        """By the chat so far."""
        return self._tokens.used

    def set_context(self, used_tokens: int, limit_tokens: int) -> None:
        self._tokens.used = used_tokens
        self._tokens.limit = limit_tokens
        self._show_tokens()

    def show_attached_tokens(self, tokens: int, limit_tokens: int) -> None:
        """What is attached counts before it is sent; `limit_tokens` where no reply has reported one yet."""
        self._tokens.attached = tokens
        self._tokens.model_limit = limit_tokens
        self._show_tokens()

    def show_shared_tokens(self, tokens: int) -> None:
        """So does what all chats of the project begin with."""
        self._tokens.shared = tokens
        self._show_tokens()

    def show_typed_tokens(self, tokens: int) -> None:
        """So does what is typed."""
        self._tokens.typed = tokens
        self._show_tokens()

    def _show_tokens(self) -> None:
        self._tokens.show(self.ring)
        self._show_button()

    def eventFilter(self, _foot: QObject, event: QEvent) -> bool:
        """Another number of buttons leaves other room."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return False

    def _leave_room(self, most_px: float) -> int:
        """For the buttons: below several lines, unless hardly any would be seen above, else beside. Returns the room
        below, which is a part of `most_px`.

        It may be called while the layout places the field, which must not change then.
        """
        foot = self._foot.sizeHint()
        beside_px = foot.width() + self._theme.px(_BESIDE_BUTTONS_PX) + self._both.columnMinimumWidth(1)
        below_px = foot.height() + _ABOVE_BUTTONS_PX
        has_room = most_px - below_px >= _LEAST_LINES * self.edit.fontMetrics().lineSpacing()
        if has_room and self.edit.needs_lines(self.edit.width() - beside_px):
            self.edit.set_room(self._padding(), below_px)
            return below_px
        self.edit.set_room(beside_px, 0)
        return 0

    def take_focus(self) -> None:
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_queue(self) -> None:
        if self.queue_note.isHidden() == self.unsent.is_queued:
            self.queue_note.setVisible(self.unsent.is_queued)
            self._fit()

    def set_generating(self, generating: bool) -> None:
        self._generating = generating
        self._show_button()

    def _retranslate(self) -> None:
        self.edit.set_hint(question_hint(self._main))
        self.edit.setAccessibleName(self.tr("Message"))
        self.attach_button.set_name(self.tr("Attach files"))
        self.queue_note.setText(self.tr("Sends after this reply. Type to edit."))
        self._show_button()

    def _submit(self) -> None:
        text = as_message(self.text())
        if self._generating and self._chats is not None and self._can_submit(text):
            stopping = self._chats.replies.is_stopping(self._chats.chat_id)
            self.unsent.queue(self.attached_rows(), after_stop=stopping)
        elif self.attached.is_reading:
            self._say(self.tr("Still reading an attachment."))
        elif self.attached.unseen:
            self._say(self.unseen_note.sentence())
        elif self.unable_to_keep_form:
            self._say(no_form_words(self.unable_to_keep_form))
        elif excess := self._tokens.excess(self.text()):
            self._say(self.tr("%Ln token(s) too many.", "", excess))
        elif self._can_submit(text) and self.unsent.is_on_its_way:
            self._say_still_storing()
        elif self._can_submit(text) and not self._generating:
            self.unsent.send()
            self.send_requested.emit(text)

    def _say_still_storing(self) -> None:
        self._say(self.tr("Still saving your last message."))

    def _say(self, words: str) -> None:
        """Show why nothing is sent."""
        show_hint(self.button, words)

    def _can_submit(self, text: str) -> bool:
        """Whether there is text or an attachment, and none is still being read."""
        return not self.attached.is_reading and bool(text or self.attached.rows)

    def _on_button(self) -> None:
        if self._generating:
            self._stop()
        else:
            self.edit.commit()
            self._submit()
        self.take_focus()

    def _stop(self) -> None:
        if self._generating:
            self.stop_requested.emit()

    def _show_button(self) -> None:
        self.button.set_icon(STOP if self._generating else "arrow-up")
        self.button.set_name(self.tr("Stop") if self._generating else self.tr("Send"))
        excess = self.excess
        self.excess = self._tokens.excess(self.text())
        if excess != self.excess:
            self.excess_changed.emit()
        can_submit = self._can_submit("" if self.is_empty else "x") and not self.excess
        can_submit = can_submit and not self.attached.unseen
        self.button.setEnabled(self._generating or can_submit)

    def _fit(self) -> None:
        line_px = self.edit.fontMetrics().lineSpacing()
        beside = (self.project, self.attached, self.queue_note, self.unseen_note)  # they count as well
        others = sum(
            max(each.minimumHeight(), each.minimumSizeHint().height()) for each in beside if not each.isHidden()
        )
        least = line_px * (1 if others else 2)
        most = max(least, self.window().height() * _GROWS_TO - self._padding() * 2 - others)
        below_px = self._leave_room(most)
        self.edit.setFixedHeight(self.edit.fitting_height(most - below_px) + below_px)
        # At once, not when the card's own layout comes round: otherwise the first frame clips the new line.
        self._column.activate()
        self.updateGeometry()

    def _padding(self) -> int:
        return self._theme.px(10)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.take_focus()
        super().mousePressEvent(event)

    def _restyle(self) -> None:
        self.setMaximumWidth(self._theme.px(COLUMN_PX))
        self.edit.restyle()
        edge = self._padding()
        self._column.setContentsMargins(self._theme.px(18), edge, 0, edge)
        self._both.setColumnMinimumWidth(1, max(edge, self.edit.verticalScrollBar().sizeHint().width()))
        for part in (self.queue_note, self.unseen_note):
            part.setContentsMargins(0, 0, edge, 0)
        self._fit()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(COLUMN_PX), super().sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_surface(self, self._theme.palette, RADIUS_BUBBLE)


class UnseenNote(Translated, QWidget):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: _Shown = ("", ("", ""), None, "", False)
        self.words = TextLabel(theme, TextStyle.FINE, self)
        self.use_button = PillButton(theme, Emphasis.PLAIN, parent=self)
        self.install_button = PillButton(theme, Emphasis.PLAIN, parent=self)
        self.find_button = PillButton(theme, Emphasis.QUIET, parent=self)
        self._buttons = QWidget(self)
        buttons = self.use_button, self.install_button, self.find_button
        arrange(QHBoxLayout(self._buttons), *buttons, margins=(0, 0, 0, 0))
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        arrange(self._row, (self.words, 1), self._buttons, margins=(0, 4, 0, 0))
        self._retranslate()
        self.hide()

    def set_models(
        self,
        chosen: str,
        installed: tuple[str, str],
        offer: ModelOffer | None = None,
        coming: str = "",
        *,
        only_sees: bool = False,
    ) -> None:
        """`installed`: name and folder of a model that sees; `offer`: one to install, with the state `coming`.
        `only_sees`: `chosen` only describes pictures.
        """
        if (shown := (chosen, installed, offer, coming, only_sees)) != self._shown:
            self._shown = shown
            self._retranslate()

    def sentence(self) -> str:
        chosen, _installed, offer, _coming, only_sees = self._shown
        if only_sees:
            return fill(self.tr("%1 only answers about pictures."), human_name(chosen))
        words = fill(self.tr("%1 cannot see pictures."), human_name(chosen))
        if offer is None:
            return words
        return sentences(words, fill(self.tr("%1 can, about %2."), human_name(offer.name), size(offer.download_bytes)))

    def minimumSizeHint(self) -> QSize:
        """The width that the narrow layout needs, with the buttons below the words."""
        return QSize(self._buttons.minimumSizeHint().width(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_buttons()

    def _place_buttons(self) -> None:
        beside = self.width() >= self._theme.px(_WORDS_NEED_PX) + self._buttons.sizeHint().width()
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        self._row.setAlignment(self._buttons, Qt.AlignmentFlag.AlignVCenter if beside else Qt.AlignmentFlag.AlignLeft)
        self.setMinimumHeight(self._row.heightForWidth(self.width()))  # the composer asks no height for a width

    @property
    def installed_folder(self) -> str:
        """Of the model that its first button chooses."""
        return self._shown[1][1]

    @property
    def offer(self) -> ModelOffer | None:
        """The model that its second button installs."""
        return self._shown[2]

    def _retranslate(self) -> None:
        _chosen, (name, folder), offer, coming, only_sees = self._shown
        self.words.setText(self.sentence())
        self.use_button.setText(fill(self.tr("Use %1"), human_name(name)))
        self.use_button.setVisible(bool(folder))
        self.install_button.setText(coming or install_text())
        self.install_button.setEnabled(not coming)
        self.install_button.setVisible(offer is not None)
        if offer is not None:
            self.install_button.setAccessibleName(coming or fill(self.tr("Install %1"), human_name(offer.name)))
            set_tooltip(self.install_button, offer.repository)
        self.find_button.setText(self.tr("Find one that can"))
        self.find_button.setVisible(not folder and not only_sees)
        self._place_buttons()
