"""The message field: grows with its text, sends on Return, and stops a running reply.

Unsent text is kept per chat. What is sent stays in the field until it is on disk. Not here: what becomes of it then.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QGuiApplication,
    QMouseEvent,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from app.controllers.messages import storable
from app.theme import COLUMN_PX, RADIUS_BUBBLE, Theme
from app.view_models.attached import AttachedModel, AttachedRow
from app.view_models.transcript import ReplyStatus
from app.views.widgets.attachment_row import AttachmentRow
from app.views.widgets.buttons import STOP, IconButton, RoundButton
from app.views.widgets.context_ring import SPEAKS_UP_AT, ContextRing
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.message_edit import MessageEdit
from app.views.widgets.painting import paint_surface
from app.views.widgets.translated import Translated
from app.words.formats import count, fill

_GROWS_TO = 0.4  # of the window's height
_KEEP_DELAY_MS = 400  # after the last key, what is typed is kept on disk


class Composer(Translated, QWidget):
    """The card with the text, the context meter and the round button."""

    send_requested = Signal(str)
    queued_send_requested = Signal(int, str, object)  # chat that is not open, text and rows that waited for its reply
    stop_requested = Signal()
    unsent_changed = Signal(int, str)  # chat, what waits there
    words_settled = Signal(str)  # what is in the field, a moment after the last key or in another chat
    attach_requested = Signal()
    resized = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._generating = False
        self._only_about_hunch = False
        self._chat_id = 0
        self._unsent: dict[int, str] = {}
        self._waits: set[int] = set()  # the chats of what was sent and is on its way to the disk
        self._queued: dict[int, list[AttachedRow]] = {}  # chats whose field is sent when their reply is complete
        self._keep = QTimer(self, singleShot=True, interval=_KEEP_DELAY_MS)
        self.edit = MessageEdit(theme, self)
        self.edit.leaves_drops = True
        self.ring = ContextRing(theme, self)
        self.attached = AttachmentRow(theme, self)
        self.queue_note = TextLabel(theme, TextStyle.FINE, self)
        self.queue_note.hide()
        self.attach_button = IconButton(theme, "paperclip", parent=self)
        self._attachments: AttachedModel | None = None
        self._context = self._attached_tokens = (0, 0)
        self._typed_tokens = 0
        self.button = RoundButton(theme, "arrow-up", self)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.IBeamCursor)
        for child in (self.button, self.attach_button, self.attached):
            child.setCursor(Qt.CursorShape.ArrowCursor)
        self.attach_button.setEnabled(False)
        self._arrange()
        self._connect()
        self._restyle()
        self._retranslate()

    def _connect(self) -> None:
        self.edit.submitted.connect(self._submit)
        self.edit.escaped.connect(self._on_escape)
        self.edit.height_wanted.connect(self._fit)
        self.edit.height_wanted.connect(self._show_button)
        self.edit.textChanged.connect(self._show_button)
        for changed in (self.edit.textChanged, self.edit.composition_changed):
            changed.connect(self._keep.start)
            changed.connect(lambda: self.leave_queue(self._chat_id))
        self._keep.timeout.connect(self.keep_unsent)
        self.button.clicked.connect(self._on_button)
        self.attach_button.clicked.connect(self.attach_requested)
        self.attached.left.connect(self.take_focus)
        self._theme.changed.connect(self._restyle)

    def _arrange(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(10)
        buttons.addWidget(self.ring)
        buttons.addWidget(self.attach_button)
        buttons.addWidget(self.button)
        foot = QVBoxLayout()
        foot.addStretch()
        foot.addLayout(buttons)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.edit, 1, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(foot)
        self._column = QVBoxLayout(self)
        self._column.setSpacing(4)
        self._column.addWidget(self.attached)
        self._column.addLayout(row)
        self._column.addWidget(self.queue_note)

    def show_for(self, starter: bool) -> None:
        """The starter pair knows only Hunch."""
        self._only_about_hunch = starter
        self._retranslate()

    def text(self) -> str:
        return self.edit.text()

    def attached_rows(self) -> list[AttachedRow]:
        """What goes with the message."""
        return [] if self._attachments is None else list(self._attachments.rows)

    def text_with_pasted(self) -> str:
        """With the pasted texts that are attached: files are on the disk anyway, these are nowhere else."""
        pasted = [row.attachment.text for row in self.attached_rows() if row.attachment is not None and not row.name]
        return "\n\n".join([*pasted, *([self.text()] if self.text() else [])])

    @property
    def is_empty(self) -> bool:
        return not self.edit.is_composing and self.edit.document().isEmpty()

    def set_text(self, text: str) -> None:
        self.edit.set_text(text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)

    def send(self, text: str) -> None:
        """As if somebody had typed it."""
        self.set_text(text)
        self._submit()

    def bind_attachments(self, model: AttachedModel) -> None:
        """From now on files and long texts can be attached."""
        self._attachments = model
        self.edit.can_attach = True
        self.attach_button.setEnabled(True)
        self.attached.bind(model)
        model.changed.connect(self._on_attached)
        self._on_attached()

    def _on_attached(self) -> None:
        self._show_button()
        self._fit()

    def show_attached_tokens(self, tokens: int, limit_tokens: int) -> None:
        """What is attached counts before it is sent; `limit_tokens` where no reply has told one yet."""
        self._attached_tokens = tokens, limit_tokens
        self.set_context(*self._context)
        self._show_button()

    def show_typed_tokens(self, tokens: int) -> None:
        """So does what is typed."""
        self._typed_tokens = tokens
        self.set_context(*self._context)
        self._show_button()

    def take_focus(self) -> None:
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def open_chat(self, chat_id: int) -> None:
        """Keeps the unsent text of the previous chat and restores that of this one."""
        if chat_id == self._chat_id:
            return
        self.edit.commit()
        self.keep_unsent()
        self._unsent[self._chat_id] = self.text()
        self._chat_id, queued = chat_id, self._queued.get(chat_id)
        self.set_text(self._unsent.pop(chat_id, ""))
        if queued is not None:
            self._queued[chat_id] = queued
        self._show_queue()
        self._keep.stop()
        self.words_settled.emit(self.text())

    def go_on_in(self, chat_id: int) -> None:
        """The open chat has a number now: what was typed since its first message was sent stays with it."""
        left, self._chat_id = self._chat_id, chat_id
        self.unsent_changed.emit(left, "")
        self.keep_unsent()

    def set_unsent(self, texts: Mapping[int, str]) -> None:
        """What waited when the app was closed; what was typed since then comes after it."""
        for chat_id, text in texts.items():
            if chat_id == self._chat_id:
                self.edit.commit()
                self.set_text(_joined(text, self.text()))
            else:
                self._unsent[chat_id] = _joined(text, self._unsent.get(chat_id, ""))

    def keep_unsent(self) -> None:
        """Has what waits here kept on disk, with what is being composed."""
        self._keep.stop()
        self.unsent_changed.emit(self._chat_id, self.edit.text_with_composed())
        self.words_settled.emit(self.edit.text_with_composed())

    def confirm_sent(self, chat_id: int, text: str) -> None:
        """This is on disk, so it leaves the field; what was typed since then stays."""
        self._waits.discard(chat_id)
        self.edit.commit()
        if chat_id == self._chat_id:
            self._drop_sent(text)
        elif storable(self._unsent.get(chat_id, "")) == text:
            self._unsent.pop(chat_id, None)
            self.unsent_changed.emit(chat_id, "")  # it was kept once more when the chat was left
        # The input method may still hold text of the message that was just sent.
        QGuiApplication.inputMethod().reset()

    def release_sent(self, chat_id: int | None = None) -> None:
        """What was sent in that chat, or in the open one, is not on disk: it stays, and can be sent again."""
        self._waits.discard(self._chat_id if chat_id is None else chat_id)

    def take_over(self, chat_id: int) -> None:
        """What was sent in a chat that is gone comes here; where something waits already, it stays with that chat."""
        self._waits.discard(chat_id)
        if self.is_empty and (text := self._unsent.pop(chat_id, "")):
            self.unsent_changed.emit(chat_id, "")
            self.set_text(text)

    def _drop_sent(self, text: str) -> None:
        now = self.text().lstrip()
        if storable(now) == text:
            self.edit.clear()
            self.keep_unsent()
        elif text and storable(now).startswith(text):
            self.set_text(now[len(text) :].lstrip())

    # Waiting for a reply

    def leave_queue(self, chat_id: int) -> None:
        """What is being changed, or has other attachments now, is not sent by itself."""
        self._queued.pop(chat_id, None)
        self._show_queue()

    def _show_queue(self) -> None:
        if self.queue_note.isHidden() == (self._chat_id in self._queued):
            self.queue_note.setVisible(self._chat_id in self._queued)
            self._fit()

    def end_reply(self, chat_id: int, status: ReplyStatus, *, at_end: bool) -> None:
        """What waits is sent where this reply is complete and `at_end` of its chat; else it stays in the field."""
        if (rows := self._queued.pop(chat_id, None)) is None:
            return
        self._show_queue()
        if not at_end or status not in (ReplyStatus.DONE, ReplyStatus.LENGTH):
            return
        if chat_id == self._chat_id:
            self._submit()
        elif chat_id not in self._waits:
            self._waits.add(chat_id)
            self.queued_send_requested.emit(chat_id, self._unsent.get(chat_id, "").strip(), rows)

    def set_generating(self, generating: bool) -> None:
        self._generating = generating
        self._show_button()

    def set_context(self, used_tokens: int, limit_tokens: int) -> None:
        self._context = used_tokens, limit_tokens
        attached, model_tokens = self._attached_tokens
        used = used_tokens + attached + self._typed_tokens
        # In a new chat a few words are nothing to tell: the meter would only push them aside.
        tells = attached or used >= SPEAKS_UP_AT * model_tokens
        self.ring.set_usage(used, limit_tokens or (model_tokens if tells else 0))

    def _retranslate(self) -> None:
        self.edit.set_hint(self.tr("Ask about Hunch") if self._only_about_hunch else self.tr("Ask anything"))
        self.edit.setAccessibleName(self.tr("Message"))
        self.attach_button.set_name(self.tr("Attach files"))
        self.queue_note.setText(self.tr("Sends after this reply. Type to edit."))
        self._show_button()

    def _submit(self) -> None:
        text = self.text().strip()
        if self._generating and self._can_submit(text):
            self._queued[self._chat_id] = self.attached_rows()
            self._show_queue()
        elif self._attachments is not None and self._attachments.is_reading:
            self._say(self.tr("Still reading an attachment."))
        elif excess := self._excess_tokens:
            self._say(fill(self.tr("%1 tokens too long. Shorten your message."), count(excess)))
        elif self._can_submit(text) and self._chat_id in self._waits:
            self._say(self.tr("Still saving your last message."))
        elif self._can_submit(text) and not self._generating:
            self._waits.add(self._chat_id)
            self.send_requested.emit(text)

    @property
    def _excess_tokens(self) -> int:
        """What the message alone is too long by, whatever the chat has before it."""
        attached, model_tokens = self._attached_tokens
        limit_tokens = self._context[1] or model_tokens
        if not limit_tokens or attached + self._typed_tokens <= limit_tokens:
            return 0
        typed = min(self._typed_tokens, len(self.text().encode("utf-8", "replace")))  # it may be of a longer text
        return max(0, attached + typed - limit_tokens)

    def _say(self, words: str) -> None:
        """Why nothing is sent."""
        QToolTip.showText(self.button.mapToGlobal(self.button.rect().center()), words, self.button)

    def _can_submit(self, text: str) -> bool:
        """Attachments can go alone; while one is read, the message waits for it."""
        if self._attachments is None:
            return bool(text)
        return not self._attachments.is_reading and bool(text or self._attachments.rows)

    def _on_button(self) -> None:
        if self._generating:
            self.stop_requested.emit()
        else:
            self.edit.commit()
            self._submit()
        self.take_focus()

    def _on_escape(self) -> None:
        if self._generating:
            self.stop_requested.emit()

    def _show_button(self) -> None:
        self.button.set_icon(STOP if self._generating else "arrow-up")
        self.button.set_name(self.tr("Stop") if self._generating else self.tr("Send"))
        can_submit = self._can_submit("" if self.is_empty else "x") and not self._excess_tokens
        self.button.setEnabled(self._generating or can_submit)

    def _fit(self) -> None:
        most = max(self._line_height() * 2, self.window().height() * _GROWS_TO - self._padding() * 2)
        wanted = max(self._line_height(), self.edit.text_height(most))
        scrolls = wanted > most
        bar = Qt.ScrollBarPolicy.ScrollBarAsNeeded if scrolls else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.edit.setVerticalScrollBarPolicy(bar)
        self.edit.setFixedHeight(round(min(wanted, most)))
        # At once, not when the card's own layout comes round: otherwise the first frame clips the new line.
        self._column.activate()
        self.updateGeometry()

    def _line_height(self) -> float:
        return self.edit.fontMetrics().lineSpacing()

    def _padding(self) -> int:
        return self._theme.px(10)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        self.resized.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.take_focus()
        super().mousePressEvent(event)

    def _restyle(self) -> None:
        self.setMaximumWidth(self._theme.px(COLUMN_PX))
        self.edit.restyle()
        self._column.setContentsMargins(self._theme.px(18), self._padding(), self._padding(), self._padding())
        self._fit()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(COLUMN_PX), super().sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_surface(self, self._theme.palette, RADIUS_BUBBLE)


def _joined(earlier: str, later: str) -> str:
    return "\n".join(part for part in (earlier, later) if part)
