"""What Hunch does beside its window, connected: Quick Ask, the icon beside the clock, notifications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QSystemTrayIcon

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.settings import Settings
from app.theme import Theme
from app.views.shell.notifications import Notifications
from app.views.shell.quick_ask import QuickAsk
from app.views.shell.tray import Tray

if TYPE_CHECKING:
    from app.views.shell.main_window import MainWindow


class Outside(QObject):
    def __init__(
        self, window: MainWindow, theme: Theme, settings: Settings, chats: ChatController, models: ModelController
    ) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._settings = settings
        self._chats = chats
        self._quick_ask: QuickAsk | None = None
        self.tray = Tray(chats.asides, models, self)
        self.notifications = Notifications(settings, chats.asides, self.tray.icon, window)
        self._connect()
        self._show_tray()

    def _connect(self) -> None:
        tray, window = self.tray, self._window
        tray.window_wanted.connect(window.comfort.show_window)
        tray.quick_ask_wanted.connect(self.open_quick_ask)
        tray.new_chat_wanted.connect(self._new_chat)
        tray.quit_wanted.connect(window.close)
        window.menu.quick_ask.triggered.connect(self.open_quick_ask)
        window.closing.connect(self._keep_unsent)
        window.closed.connect(self._end)
        self.notifications.chat_wanted.connect(self._open_chat)
        self._chats.reply_ended.connect(self.notifications.tell)
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
            self._chats.problem_raised.connect(self._show_window_for_problem)
        return self._quick_ask

    def unsent(self) -> str:
        return self._quick_ask.edit.text_with_composed() if self._quick_ask is not None else ""

    def _keep_unsent(self) -> None:
        if self._quick_ask is not None:
            self._quick_ask.keep_unsent()

    def _show_send_key(self) -> None:
        self.quick_ask.edit.sends_with_control = self._settings.send_key == "control_return"

    def open_quick_ask(self) -> None:
        self.quick_ask.come_to_front()

    def _show_window_for_problem(self) -> None:
        """What is refused is told in the main window; whoever asked elsewhere is led there."""
        if self.quick_ask.isActiveWindow():
            self._window.comfort.show_window()

    def _open_chat(self, chat_id: int) -> None:
        self._window.comfort.show_window()
        if chat_id:
            self._chats.open_chat(chat_id)

    def _new_chat(self) -> None:
        self._window.comfort.show_window()
        self._window.menu.new_chat.trigger()

    def _show_tray(self) -> None:
        self.tray.icon.setVisible(self._settings.tray_icon and QSystemTrayIcon.isSystemTrayAvailable())

    def _end(self) -> None:
        self.tray.icon.hide()
        if self._quick_ask is not None:
            self._quick_ask.close()
