"""What is beside the sidebar: the header, a page (a chat, an empty one or the models), and what is at its foot.

Here: which of them are shown, their title, and where the banner lies over them. Not here: what is in any of them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.settings import Settings
from app.theme import Theme
from app.views.shell.empty_chat import EmptyChat
from app.views.shell.shell_window import ShellWindow
from app.views.widgets.focus import in_reading_order
from app.views.widgets.plain_words import set_window_title
from app.views.widgets.scrolling import bar_room_px

if TYPE_CHECKING:
    from app.views.models.view import ModelsView
    from app.views.transcript import TranscriptView

_SIDE_PX = 24


class ModelsPage(QObject):
    """The Models view: made when it is first asked for, shown in place of the chat until a chat is wanted."""

    changed = Signal()  # whether it is shown

    def __init__(self, window: ShellWindow, theme: Theme, settings: Settings) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._settings = settings
        self._downloads = window.sidebar.downloads
        self._models: ModelController | None = None
        self.is_shown = False
        self.changed.connect(window.banner.leave_place)
        window.sidebar.models_button.clicked.connect(self.toggle)
        self._downloads.clicked.connect(lambda: self.show("yours"))
        menu = window.menu
        menu.models.triggered.connect(self.toggle)
        for act in (menu.write, menu.attach, menu.find, menu.find_next, menu.find_previous, menu.use_selection):
            act.triggered.connect(self.leave)

    def bind(self, chats: ChatController, models: ModelController) -> None:
        self._models = models
        chats.chat_wanted.connect(self.leave)
        models.chat_wanted.connect(self.leave)
        models.downloads.changed.connect(lambda: self._downloads.show_entries(models.downloads.entries))

    @cached_property
    def view(self) -> ModelsView:
        from app.views.models.view import ModelsView

        assert self._models is not None
        view = ModelsView(self._theme, self._settings, self._models, self._window)
        view.yours.installed.machines_requested.connect(lambda: self._window.settings_requested.emit("machines"))
        return view

    def show(self, tab: str = "") -> None:
        """Nothing before the models are there, as while the database is still being opened."""
        if self._models is None:
            return
        if tab:
            self.view.show_tab(tab)
        self._set_shown(True)
        self.view.take_focus()

    def find(self) -> None:
        """Shows those that can be installed."""
        self.show("find")

    def toggle(self) -> None:
        if self.is_shown:
            self.leave()
        else:
            self.show()

    def leave(self) -> None:
        self._set_shown(False)

    def escape(self) -> bool:
        """Whether there was something to go back from: a model's page, or the view itself."""
        if self.is_shown and not self.view.go_back():
            self.leave()
            return True
        return self.is_shown

    def _set_shown(self, shown: bool) -> None:
        if shown != self.is_shown:
            self.is_shown = shown
            self.changed.emit()


class MainColumn(QObject):
    """Before `bind` the page is an empty chat; a chat with messages is shown from `set_transcript` on."""

    def __init__(self, window: ShellWindow, theme: Theme, empty_chat: EmptyChat, models: ModelsPage) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._empty_chat = empty_chat
        self._models = models
        self._chats: ChatController | None = None
        self._transcript: TranscriptView | None = None
        self._stack = QStackedLayout()
        self._foot = QHBoxLayout()
        self.layout = self._arranged()
        window.banner.appeared.connect(self._place_banner)
        window.resized.connect(self._place_banner)
        window.composer.installEventFilter(self)
        models.changed.connect(self.show)

    def _arranged(self) -> QVBoxLayout:
        self._stack.addWidget(self._empty_chat)
        self._fit_foot()
        self._foot.addStretch(1)
        self._foot.addWidget(self._window.composer, 1000)
        self._foot.addStretch(1)
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addWidget(self._window.header)
        column.addLayout(self._stack, 1)
        column.addLayout(self._foot)
        return column

    def bind(self, chats: ChatController) -> None:
        self._chats = chats
        chats.current_chat_changed.connect(self.show)

    def set_transcript(self, view: TranscriptView, chats: ChatController) -> None:
        self._transcript = view
        view.setMinimumHeight(1)  # it scrolls; the composer, with all that is in it, does not
        self._stack.addWidget(view)
        view.verticalScrollBar().valueChanged.connect(lambda value: self._window.header.set_line(value > 0))
        rows = chats.transcript
        for signal in (rows.was_reset, rows.message_inserted, rows.messages_removed):
            signal.connect(self._show_page)

    def show(self) -> None:
        """The open chat, or the models in its place."""
        window = self._window
        models = self._models.is_shown
        chat_id = 0
        title = ""
        if models:
            title = self.tr("Models")
        elif self._chats is not None:
            chat_id = self._chats.chat_id
            title = self._chats.title
        window.header.set_title(title)
        window.header.set_of_chat(not models)
        set_window_title(window, title or "Hunch")
        window.sidebar.chats.set_open_chat(chat_id)
        window.sidebar.show_models_open(models)
        self._show_page()
        window.place_changed.emit()
        self._show_foot()

    def _show_page(self) -> None:
        empty = self._chats is None or not self._chats.transcript.messages
        page: QWidget = self._empty_chat if empty or self._transcript is None else self._transcript
        if self._models.is_shown:
            page = self._models.view
            if self._stack.indexOf(page) < 0:
                self._stack.addWidget(page)
                page.installEventFilter(self)
        self._stack.setCurrentWidget(page)
        page.stackUnder(self._window.banner)  # Qt raises it
        at_top = self._transcript is None or not self._transcript.verticalScrollBar().value()
        self._window.header.set_line(page is self._transcript and not at_top)

    def _show_foot(self) -> None:
        """The composer; nothing below the models."""
        window = self._window
        models = self._models.is_shown
        focused = window.focusWidget() or window
        is_left = window.composer.isHidden() and not window.sidebar.isAncestorOf(focused)
        window.composer.setVisible(not models)
        self._fit_foot()
        if is_left and not models:
            window.composer.take_focus()

    def _fit_foot(self) -> None:
        """A permanent scroll bar shifts the column of messages, and the composer is below it from the start."""
        right = _SIDE_PX + bar_room_px(self._theme, self._window)
        self._foot.setContentsMargins(*((0, 0, 0, 0) if self._models.is_shown else (_SIDE_PX, 4, right, 18)))

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """The banner goes with what it lies over, also where that only moves, as beside the inspector."""
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
            self._place_banner()
        return False

    def _place_banner(self) -> None:
        banner = self._window.banner
        composer = self._window.composer
        if not banner.isVisibleTo(self._window):
            return
        if self._models.is_shown:
            side = self._theme.px(_SIDE_PX)
            view = self._models.view.geometry()
            banner.place(view.left() + side, view.bottom() - side, view.width() - 2 * side)
            return
        at = composer.mapTo(self._window, composer.rect().topLeft())
        banner.place(at.x(), at.y() - 10, composer.width())

    def tab_stops(self) -> list[QWidget]:
        """All that takes Tab: header, page, foot."""
        view = self._transcript
        header = self._window.header
        composer = self._window.composer
        top = in_reading_order(header) if header.isVisible() else []
        foot = in_reading_order(composer) if composer.isVisible() else []
        if self._models.is_shown:
            return [*top, *self._models.view.tab_stops()]
        if view is not None and view.isVisible():
            page = [view, *view.visible_parts.tab_stops()]
        else:
            page = in_reading_order(self._empty_chat)
        return [*top, *page, *foot]
