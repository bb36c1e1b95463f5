"""The find bar over the transcript: query, number of the result, arrows."""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QSizePolicy, QWidget

from app.controllers.chat import ChatController
from app.theme import Theme
from app.view_models.conversation_rows import Match
from app.views.chats.chat_list import ChatList
from app.views.shell.menu import MenuBar
from app.views.shell.menu_editing import selected_in_field
from app.views.transcript import TranscriptView
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import IconButton
from app.views.widgets.held_keys import modifiers_of
from app.views.widgets.labels import TextLabel, TextStyle, describe, say
from app.views.widgets.painting import paint_surface
from app.views.widgets.roles import announce
from app.views.widgets.search_field import SearchField
from app.views.widgets.translated import Translated
from app.words.formats import count, fill

_WIDTH_PX = 380
_SIDE_PX = 12
_MARKER = re.compile(r"^(?:[•☐☑]|\d+[.)]) +")


class FindBar(Translated, QWidget):
    """Stays at the upper right of the transcript, which leaves room for it. Menu entries and results of a search over
    all chats open it.
    """

    def __init__(
        self, theme: Theme, over: TranscriptView, chats: ChatController, listed: ChatList, menu: MenuBar
    ) -> None:
        super().__init__(over)
        self._theme = theme
        self._over = over
        self._finder = over.finder
        self._chats = chats
        self._chat_id = chats.chat_id
        self.field = SearchField(theme, self, clears=False)
        self.count = TextLabel(theme, TextStyle.FINE, self)
        self.previous = IconButton(theme, "arrow-up", 26, self)
        self.next = IconButton(theme, "arrow-down", 26, self)
        self.close_button = IconButton(theme, "x", 26, self)
        self._arrange()
        self._connect()
        menu.find.triggered.connect(self.search)
        menu.find_next.triggered.connect(lambda: self.step(1))
        menu.find_previous.triggered.connect(lambda: self.step(-1))
        menu.use_selection.triggered.connect(self.use_selection)
        listed.match_opened.connect(self.open_match)
        chats.current_chat_changed.connect(self._on_chat)
        self._retranslate()
        self.hide()

    def _arrange(self) -> None:
        self.count.setWordWrap(False)
        self.count.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        others = (self.count, self.previous, self.next, self.close_button)
        arrange(QHBoxLayout(self), (self.field, 1), *others, spacing=4, margins=(6, 5, 6, 5))

    def _connect(self) -> None:
        self.field.words_changed.connect(self._finder.find)
        self.field.left.connect(self.leave)
        self.field.down_pressed.connect(lambda: self.step(1))
        for button, step in ((self.previous, -1), (self.next, 1)):
            button.clicked.connect(lambda _checked=False, step=step: self._step_and_type(step))
        self._finder.changed.connect(self._on_found)
        self._finder.stepped.connect(self._announce_count)
        self.close_button.clicked.connect(self.leave)
        self.field.installEventFilter(self)
        self._over.resized.connect(self.place)
        self._theme.changed.connect(self.place)

    def _step_and_type(self, step: int) -> None:
        """Step, and keep the focus in the field."""
        self.step(step)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def open(self, words: str | None = None) -> None:
        """Open with `words` in the field, or empty."""
        if words is not None and words != self.field.text():
            self.field.blockSignals(True)
            self.field.setText(words)
            self.field.blockSignals(False)
        self.show()
        self.raise_()
        self.place()
        if words is None:
            self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.field.selectAll()

    def leave(self) -> None:
        """Return the focus to the transcript, unless it is elsewhere already."""
        if not self.isHidden():  # also where a new chat hides what it is over
            focused = QApplication.focusWidget()
            had_focus = focused is not None and self.isAncestorOf(focused)
            self.hide()
            self._over.setViewportMargins(0, 0, 0, 0)
            self._finder.close()
            if had_focus:
                self._over.setFocus()

    def search(self) -> None:
        """Does nothing if there is nothing to search."""
        if self._chats.transcript.messages:
            self.open()
            self._finder.find(self.field.words())

    def use_selection(self) -> None:
        """Search for the first selected line, of the focused field or else of the chat, there without a bullet."""
        selected = selected_in_field() or _MARKER.sub("", self._over.copier.selected_text().lstrip())
        words = next((line.strip() for line in selected.splitlines() if line.strip()), "")
        if words and self._chats.transcript.messages:
            self.open(words)
            self._finder.find(words)

    def open_match(self, chat_id: int, match: Match) -> None:
        """Open a chat at a search result.

        Text that is not displayed, such as an address, leads to its message. A result in an attachment marks its chip,
        without the bar.
        """
        if not self._chats.open_at(chat_id, match.message_id):
            return
        self._chat_id = chat_id
        self._over.show_message(match.message_id)
        if match.attachment is not None:
            self.leave()
            self._finder.show_attachment(match.message_id, match.attachment, match.words)
        else:
            self.open(" ".join(match.words))
            self._finder.find(self.field.words(), match.message_id, match.words)

    def step(self, direction: int) -> None:
        if self.isVisible():
            self._finder.step(direction)
        else:
            self.search()

    def _on_chat(self) -> None:
        """Another chat ends the search."""
        chat_id = self._chats.chat_id
        if chat_id != self._chat_id:
            self.leave()
            self._finder.close()  # also of what no bar is open for
        self._chat_id = chat_id

    def _on_found(self) -> None:
        self._show_count()
        for button in (self.previous, self.next):
            button.setEnabled(self._finder.count > 0)

    def _announce_count(self) -> None:
        """To screen readers."""
        announce(self, self.count.text())

    def _show_count(self) -> None:
        total = self._finder.count
        reading = self._finder.is_reading
        text = ""
        if total:
            text = fill(self.tr("%1 of %2"), count(self._finder.number), count(total) + ("…" if reading else ""))
        elif self.field.words().strip() and not reading:
            text = self.tr("Not found")
            if self.isVisible() and text != self.count.text():
                announce(self, text)
        say(self.count, text)

    def place(self) -> None:
        width = min(self._theme.px(_WIDTH_PX), self._over.width() - 2 * _SIDE_PX)
        bar = self._over.verticalScrollBar().sizeHint().width()
        height = self.sizeHint().height()
        self.setGeometry(self._over.width() - width - _SIDE_PX - bar, _SIDE_PX // 2, width, height)
        if self.isVisible() and self._over.viewportMargins().top() != height + _SIDE_PX:
            self._over.setViewportMargins(0, height + _SIDE_PX, 0, 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._on_key(event)
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        if self.field.is_composing:
            return False
        if event.key() == Qt.Key.Key_Up:
            self.step(-1)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.step(-1 if modifiers_of(event) & Qt.KeyboardModifier.ShiftModifier else 1)
        else:
            return False
        return True

    def _retranslate(self) -> None:
        self.setAccessibleName(self.tr("Find in chat"))
        describe(self.field, self.tr("Find in chat"))
        self.previous.set_name(self.tr("Previous match"))
        self.next.set_name(self.tr("Next match"))
        self.close_button.set_name(self.tr("Close"))
        self._show_count()

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_surface(self, self._theme.palette)
