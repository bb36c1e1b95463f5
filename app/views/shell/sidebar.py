"""The sidebar: new chat, search, the chat list, and the buttons for models and settings.

It emits requests; the controller acts on them.
"""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.theme import Theme
from app.view_models.conversation_list import ConversationListModel
from app.views.shell.chat_list import ChatList
from app.views.widgets.buttons import Emphasis, IconButton, PillButton
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.search_field import SearchField
from app.views.widgets.translated import Translated

WIDTH = 248
_SEARCH_DELAY_MS = 150


class Sidebar(Translated, QWidget):
    new_chat_requested = Signal()
    search_changed = Signal(str)
    models_requested = Signal()
    settings_requested = Signal()
    hide_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.chats = ChatList(theme, self)
        self.search = SearchField(theme, self)
        self.hide_button = IconButton(theme, "panel-left", parent=self)
        self.new_button = PillButton(theme, Emphasis.QUIET, "pencil", self)
        self.nothing = TextLabel(theme, TextStyle.SECONDARY, self)
        self.models_button = PillButton(theme, Emphasis.QUIET, "box", self)
        self.settings_button = IconButton(theme, "settings", parent=self)
        self._delay = QTimer(self, singleShot=True, interval=_SEARCH_DELAY_MS)
        self._is_searching = False  # what is listed is not the answer yet
        self._opens_first = False  # of what is being searched for
        self._arrange()
        self._connect()
        self._restyle()
        self._retranslate()

    def _arrange(self) -> None:
        for button in (self.new_button, self.models_button):
            button.left_aligned = True
        top = QHBoxLayout()
        top.addWidget(self.new_button, 1)
        top.addWidget(self.hide_button)
        foot = QHBoxLayout()
        foot.addWidget(self.models_button, 1)
        foot.addWidget(self.settings_button)
        self.nothing.setVisible(False)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(10, 9, 10, 10)
        self._column.setSpacing(8)
        self._column.addLayout(top)
        self._column.addWidget(self.search)
        self._column.addWidget(self.nothing)
        self._column.addWidget(self.chats, 1)
        self._column.addLayout(foot)

    def _connect(self) -> None:
        self.new_button.clicked.connect(self.new_chat_requested)
        self.hide_button.clicked.connect(self.hide_requested)
        self.models_button.clicked.connect(self.models_requested)
        self.settings_button.clicked.connect(self.settings_requested)
        self.search.words_changed.connect(self._on_words)
        self.search.left.connect(self.leave_search)
        self.search.down_pressed.connect(self.chats.take_focus)
        self.chats.left_upwards.connect(self.search.setFocus)
        self.chats.search_left.connect(self.leave_search)
        self.chats.search_left.connect(self.search.setFocus)
        self._delay.timeout.connect(self._search_now)
        self.search.returnPressed.connect(self._open_first)
        self._theme.changed.connect(self._restyle)

    def set_model(self, model: ConversationListModel) -> None:
        self.chats.set_chats(model)
        for signal in (model.rowsInserted, model.rowsRemoved, model.modelReset):
            signal.connect(self._show_nothing)
        model.refreshed.connect(self._on_found)
        self._show_nothing()

    def _on_words(self) -> None:
        self._opens_first = False
        self._delay.start()

    def _search_now(self) -> None:
        self._delay.stop()
        self._is_searching = bool(self.search.words().strip())
        self.search_changed.emit(self.search.words())
        self._show_nothing()

    def _open_first(self) -> None:
        """Return opens the first of what is found, now or as soon as it is."""
        if self._delay.isActive():
            self._search_now()
        self._opens_first = bool(self.search.words().strip())
        if not self._is_searching:
            self._on_found()

    def _on_found(self) -> None:
        self._is_searching = False
        if self._opens_first:
            self._opens_first = False
            self.chats.open_first()

    def stop_search(self) -> None:
        """The chats are about to be closed."""
        self._delay.stop()

    def leave_search(self) -> None:
        self.search.clear()
        self._search_now()

    def _show_nothing(self) -> None:
        model = self.chats.model()
        found = model is not None and model.rowCount() > 0
        self.nothing.setVisible(not found and bool(self.search.words()))

    def _retranslate(self) -> None:
        self.new_button.setText(self.tr("New chat"))
        self.hide_button.set_name(self.tr("Hide sidebar"))
        self.search.setPlaceholderText(self.tr("Search"))
        self.search.setAccessibleName(self.tr("Search chats"))
        self.nothing.setText(self.tr("No chat found."))
        self.models_button.setText(self.tr("Models"))
        self.settings_button.set_name(self.tr("Settings"))
        self.chats.setAccessibleName(self.tr("Chats"))
        self.chats.viewport().update()

    def _restyle(self) -> None:
        # The sidebar grows by 60 % of what the text grows.
        self.setFixedWidth(round(WIDTH * (1 + (self._theme.scale - 1) * 0.6)))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.palette.sidebar)
        painter.end()
