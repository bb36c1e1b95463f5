"""What Hunch does beside its window, connected: Quick Ask, the icon beside the clock, notifications."""

from __future__ import annotations

import sys

from PySide6.QtCore import QObject, Qt, QTimer, SignalInstance
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QSystemTrayIcon

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.settings import Settings
from app.theme import Theme
from app.views.shell.notifications import Notifications
from app.views.shell.quick_ask import QuickAsk
from app.views.shell.tray import Tray
from app.views.shell.window_parts import WindowParts
from app.views.widgets.side_window import bring_to_front


class Outside(QObject):
    def __init__(
        self, parts: WindowParts, theme: Theme, settings: Settings, chats: ChatController, models: ModelController
    ) -> None:
        super().__init__(parts.window)
        self._window, self._parts = parts.window, parts
        self._theme = theme
        self._settings = settings
        self._chats = chats
        self._quick_ask: QuickAsk | None = None
        self.tray = Tray(chats.asides, models, self)
        self.notifications = Notifications(settings, chats.asides, self.tray.icon, parts.window)
        self._connect()
        self._show_tray()

    def _connect(self) -> None:
        tray, parts = self.tray, self._parts
        tray.window_wanted.connect(self._show_window)
        tray.quick_ask_wanted.connect(self.open_quick_ask)
        tray.new_chat_wanted.connect(self._new_chat)
        parts.menu.quick_ask.triggered.connect(self.open_quick_ask)
        parts.window.closing.connect(self._keep_unsent)
        parts.window.closed.connect(self._end)
        self.notifications.chat_wanted.connect(self._open_chat)
        self._chats.reply_ended.connect(self.notifications.tell)
        if sys.platform == "darwin":
            QGuiApplication.instance().applicationStateChanged.connect(self._on_activated)
        self._settings.changed.connect(self._show_tray)

    @property
    def quick_ask(self) -> QuickAsk:
        """Made when it is first asked for."""
        if self._quick_ask is None:
            self._quick_ask = QuickAsk(self._theme, self._chats.asides)
            self._show_send_key()
            self._settings.changed.connect(self._show_send_key)
            self._quick_ask.chat_wanted.connect(self._open_chat)
            self._quick_ask.unsent_changed.connect(self._chats.asides.keep_unsent)
            given = self._parts.composer.edit
            self._quick_ask.files_given.connect(lambda paths: self._go_on_with(given.files_given, paths))
            self._quick_ask.long_text_given.connect(lambda text: self._go_on_with(given.long_text_given, text))
            self._quick_ask.image_given.connect(lambda: self._go_on_with(given.image_given))
            self._chats.problem_raised.connect(self._show_window_for_problem)
        return self._quick_ask

    def unsent(self) -> str:
        return self._quick_ask.edit.text_with_composed() if self._quick_ask is not None else ""

    def _keep_unsent(self) -> None:
        if self._quick_ask is not None:
            self._quick_ask.keep_unsent()

    def _show_send_key(self) -> None:
        self.quick_ask.edit.sends_with_control = self._settings.send_key == "control_return"

    def _show_window(self) -> None:
        bring_to_front(self._window)

    def open_quick_ask(self) -> None:
        self.quick_ask.come_to_front()

    def _show_window_for_problem(self) -> None:
        """What is refused is told in the main window; whoever asked elsewhere is led there."""
        if self.quick_ask.isActiveWindow():
            self._show_window()

    def _open_chat(self, chat_id: int) -> None:
        self._show_window()
        if chat_id:
            self._chats.open_chat(chat_id)

    def _new_chat(self) -> None:
        self._show_window()
        self._parts.menu.new_chat.trigger()

    def _go_on_with(self, given: SignalInstance, *what: object) -> None:
        """In a new chat of the main window, which attaches it to the words that were typed."""
        words = self.quick_ask.take_words()
        self._new_chat()
        if words:
            self._parts.composer.edit.insert_text(words)
        given.emit(*what)

    def _on_activated(self, state: Qt.ApplicationState) -> None:
        """A click in the Dock opens a window that was closed; what is opened by the same event is no longer closed."""
        if state == Qt.ApplicationState.ApplicationActive:
            QTimer.singleShot(0, self, self._show_if_none_is)

    def _show_if_none_is(self) -> None:
        if not any(window.isVisible() for window in QGuiApplication.topLevelWindows()):
            self._show_window()

    def _show_tray(self) -> None:
        self.tray.icon.setVisible(self._settings.tray_icon and QSystemTrayIcon.isSystemTrayAvailable())

    def _end(self) -> None:
        self.tray.icon.hide()
        if self._quick_ask is not None:
            self._quick_ask.close()
