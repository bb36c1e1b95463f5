"""Quick Ask: a small field above all windows, with the answer below it and a button to open the chat.

Each question is a chat of its own. Closing the window ends no reply, and unsent text stays, also over a restart.
"""

from __future__ import annotations

from textwrap import dedent

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QGuiApplication,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QShowEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.changes import KEEP_DELAY_MS
from app.controllers.quick_ask import QuickQuestions
from app.theme import RADIUS_BUBBLE, Theme
from app.view_models.transcript import TranscriptModel
from app.view_models.typed import as_message
from app.views.link_dialog import ask_to_open
from app.views.shell.type_anywhere import TypeAnywhere
from app.views.transcript import TranscriptView
from app.views.transcript.message_footer import COPY_CSV, COPY_PLAIN, SHOW_JSON
from app.views.transcript.status_parts import ANSWER_NOW
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import STOP, Emphasis, IconButton, PillButton, RoundButton
from app.views.widgets.drop_target import DropTarget, TakesDrops
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.message_edit import MessageEdit
from app.views.widgets.painting import paint_card
from app.views.widgets.translated import Translated
from app.words.model_names import question_hint

_WIDTH_PX = 620
_ANSWER_HEIGHT_PX = 320
_MOST_LINES = 5
_FROM_TOP = 0.22  # of the screen's height
_HERE = (COPY_PLAIN, COPY_CSV, SHOW_JSON)  # acts of a message that its transcript does


class QuickAsk(TakesDrops, Translated, QWidget):
    chat_wanted = Signal(int)  # the chat, in the main window
    quoted = Signal(int, str)  # the chat, and words for the next message there

    def __init__(self, theme: Theme, quick_questions: QuickQuestions) -> None:
        kinds = Qt.WindowType
        # Customized: else Qt lets macOS make it full screen, and it does not come over a window that is.
        super().__init__(None, kinds.FramelessWindowHint | kinds.WindowStaysOnTopHint | kinds.CustomizeWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self._theme = theme
        self._asides = quick_questions
        self.model = TranscriptModel(self)
        self._chat_id = 0
        self._asking = False  # a question is on its way to the disk
        self._asked = ""  # the latest one
        self._main = ""  # as the settings name it
        self._keep = QTimer(self, singleShot=True, interval=KEEP_DELAY_MS)
        self.edit = MessageEdit(theme, self)
        self.edit.leaves_drops = True
        self.button = RoundButton(theme, "arrow-up", self)
        self.close_button = IconButton(theme, "x", 32, self)  # as high as the one beside it
        self.answer = TranscriptView(theme, self.model, self)
        self.note = TextLabel(theme, TextStyle.FINE, self)
        self.open_button = PillButton(theme, Emphasis.PLAIN, "external-link", self)
        self._arrange()
        self._connect()
        self._restyle()
        self._retranslate()
        self.edit.set_text(quick_questions.unsent())
        self._keep.stop()

    def _arrange(self) -> None:
        edit = (self.edit, 1, Qt.AlignmentFlag.AlignVCenter)
        buttons = ((button, 0, Qt.AlignmentFlag.AlignTop) for button in (self.button, self.close_button))
        line = arrange(QHBoxLayout(), edit, *buttons, spacing=10)
        foot = arrange(QHBoxLayout(), (self.note, 1), self.open_button)
        self._column = arrange(QVBoxLayout(self), line, (self.answer, 1), foot, spacing=10)

    def _connect(self) -> None:
        self.edit.submitted.connect(self._submit)
        self.edit.escaped.connect(self.close)
        self.edit.height_wanted.connect(self._fit)
        self.edit.textChanged.connect(self._show_state)
        self.edit.textChanged.connect(self._keep.start)
        self.edit.composition_changed.connect(self._keep.start)
        self._keep.timeout.connect(self.keep_unsent)
        self.edit.can_attach = True
        target = DropTarget(self._theme, self)
        target.files_dropped.connect(self.edit.files_given)
        target.image_dropped.connect(self.edit.image_given)
        self.button.clicked.connect(self._on_button)
        self.close_button.clicked.connect(self.close)
        TypeAnywhere(self, self.edit).watch(self.answer)
        self.open_button.clicked.connect(lambda: self._go_on(self._chat_id))
        asked = self.answer.context
        asked.link_requested.connect(lambda link: ask_to_open(link, self._theme, self))
        in_chat = asked.regenerate_requested, asked.edit_requested, asked.delete_requested, asked.continue_requested
        shown = asked.sibling_requested, asked.notice_action_requested, asked.attachment_requested
        for more in (*in_chat, *shown, asked.consent_answered, asked.picture_requested):
            more.connect(lambda *_: self._go_on(self._chat_id))
        asked.act_requested.connect(self._act)
        self.answer.quote_requested.connect(self._quote)
        for signal in (self.model.message_inserted, self.model.message_changed, self.model.was_reset):
            signal.connect(self._show_state)
        self._theme.changed.connect(self._restyle)

    def keep_unsent(self) -> None:
        """Save unsent text, composition included."""
        self._keep.stop()
        text = self.edit.text_with_composed()
        if not self._is_asked(text):  # what stores the question takes it from there
            self._asides.keep_unsent(text)

    def _is_asked(self, text: str) -> bool:
        return self._asking and as_message(text) == self._asked

    def take_words(self) -> str:
        """Return the typed text and clear the field, to continue elsewhere."""
        self.edit.commit()
        words = "" if self._is_asked(self.edit.text()) else self.edit.text()
        self.edit.set_text("")
        self.keep_unsent()
        self.close()
        return words

    @property
    def writing(self) -> bool:
        return any(message.under_way for message in self.model.messages)

    def _submit(self) -> None:
        text = as_message(self.edit.text())
        if not text or self._asking:
            return
        self.keep_unsent()
        self._asked = text
        self._asking = self._asides.ask(text, self.model, lambda chat_id: self._on_asked(text, chat_id))
        self._show_state()

    def _on_asked(self, text: str, chat_id: int) -> None:
        """Clear the field once the question is on disk; otherwise the text stays."""
        self._asking = False
        if chat_id:
            self._chat_id = chat_id
            self._look()
            if as_message(self.edit.text()) == text:
                self.edit.set_text("")
                self.keep_unsent()
        elif self.edit.document().isEmpty():  # the field was cleared for what goes on in a chat
            self.edit.set_text(text)
        self._show_state()

    def _on_button(self) -> None:
        if self.writing:
            self._asides.stop(self._chat_id)
        else:
            self.edit.commit()
            self._submit()
        self.edit.setFocus()

    def _act(self, message_id: int, act: str) -> None:
        if act == ANSWER_NOW:
            self._asides.answer_now(message_id)
        elif act not in _HERE:
            self._go_on(self._chat_id)

    def _quote(self) -> None:
        chat_id = self._chat_id
        words = dedent(self.answer.copier.selected_text()).strip()
        self.close()
        self.quoted.emit(chat_id, words)

    def _go_on(self, chat_id: int) -> None:
        self.close()
        self.chat_wanted.emit(chat_id)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._look()

    def _look(self) -> None:
        self._asides.look_at(self._chat_id if self.isVisible() else 0)

    def come_to_front(self) -> None:
        """Show it; if it is in front, its key closes it."""
        if self.isActiveWindow() and self.isVisible():
            self.close()
            return
        if not self.isVisible():
            self._fit()
            self._place()
        self.show()
        self.raise_()
        self.activateWindow()
        self.edit.setFocus(Qt.FocusReason.ActiveWindowFocusReason)
        self.edit.selectAll()

    def _place(self) -> None:
        room = (QGuiApplication.screenAt(self.cursor().pos()) or self.screen()).availableGeometry()
        left = room.left() + (room.width() - self.width()) // 2
        self.move(QPoint(left, room.top() + round(room.height() * _FROM_TOP)))

    def _show_state(self) -> None:
        writing = self.writing
        has_answer = bool(self.model.messages)
        self.button.set_icon(STOP if writing else "arrow-up")
        self.button.set_name(self.tr("Stop") if writing else self.tr("Send"))
        self.button.setEnabled(writing or not self.edit.document().isEmpty())
        for widget in (self.answer, self.note, self.open_button):
            widget.setVisible(has_answer)
        self._fit()

    def _fit(self) -> None:
        line = self.edit.fontMetrics().lineSpacing()
        lines = self.edit.text_height(line * _MOST_LINES)
        bar = (
            Qt.ScrollBarPolicy.ScrollBarAsNeeded
            if lines >= line * _MOST_LINES
            else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        self.edit.setVerticalScrollBarPolicy(bar)
        self.edit.setFixedHeight(round(max(line, lines)))
        room = self.screen().availableGeometry()
        width = min(self._theme.px(_WIDTH_PX), room.width() - 40)
        self.setFixedWidth(width)
        self.answer.setFixedHeight(min(self._theme.px(_ANSWER_HEIGHT_PX), room.height() // 2))
        self._column.activate()
        self.setFixedHeight(self._column.totalMinimumSize().height())
        self.update()

    def _restyle(self) -> None:
        side = self._theme.px(14)
        self._column.setContentsMargins(self._theme.px(18), side, side, side)  # words as in the composer
        self.edit.restyle()
        palette = self.edit.palette()
        palette.setColor(QPalette.ColorRole.Base, self._theme.palette.window)  # as the answer's ground
        self.edit.setPalette(palette)
        self._show_state()

    def _retranslate(self) -> None:
        self.setWindowTitle(self.tr("Quick Ask"))
        self.setAccessibleName(self.tr("Quick Ask"))
        self.edit.set_hint(question_hint(self._main))
        self.edit.setAccessibleName(self.tr("Question"))
        self.answer.setAccessibleName(self.tr("Reply"))
        self.close_button.set_name(self.tr("Close"))
        self.note.setText(self.tr("Saved as a chat."))
        self.open_button.setText(self.tr("Open in Hunch"))
        self._show_state()

    def show_for(self, main: str) -> None:
        """`main`: as the settings name it."""
        if main != self._main:
            self._main = main
            self._retranslate()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Drag the window by its background, since it has no title bar."""
        handle = self.windowHandle()
        if event.button() == Qt.MouseButton.LeftButton and handle is not None:
            handle.startSystemMove()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Clear a finished answer; unsent text and running replies stay."""
        self.edit.commit()
        self.keep_unsent()
        if not self.writing and not self._asking:
            self.model.set_messages([])
            self._chat_id = 0
        super().closeEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            colors = self._theme.palette
            paint_card(painter, self.rect(), RADIUS_BUBBLE, colors.window, colors.hairline)
