"""The menu entries of the server for other programs, and the banner where it cannot start."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.controllers.server import ServerController
from app.views.shell.shell_window import ShellWindow
from app.views.widgets.banner import BannerText
from app.words.server import failure_words, is_port_problem


class ServerMenu(QObject):
    def __init__(self, window: ShellWindow, server: ServerController, show_settings: Callable[[], object]) -> None:
        super().__init__(window)
        self._banner = window.banner
        self._server = server
        self._show_settings = show_settings
        self._problem = self._failure  # one object, by which the banner knows what to withdraw
        menu = window.menu.menus["file"]
        self.settings = window.menu.add("file")
        self.switch = window.menu.add("file")
        for action, name in ((self.switch, "server_switch"), (self.settings, "server_settings")):
            action.setObjectName(name)
            menu.insertAction(window.menu.settings, action)
        self.switch.triggered.connect(lambda: server.set_on(not server.is_on))
        self.settings.triggered.connect(show_settings)
        server.changed.connect(self._on_changed)
        server.failed.connect(self._on_failed)
        window.language_changed.connect(self._retranslate)
        self._retranslate()

    def _on_changed(self) -> None:
        self._retranslate()
        if not self._server.has_failed:
            self._banner.withdraw(self._problem)

    def _on_failed(self) -> None:
        self._banner.show_warning(self._problem, self._act, behind=True)

    def _act(self) -> None:
        if is_port_problem(self._server.state):
            self._server.try_another_port()
        else:
            self._show_settings()

    def _failure(self) -> BannerText:
        state = self._server.state
        button = self.tr("Use another port") if is_port_problem(state) else self.tr("Server Settings…")
        return BannerText(failure_words(state, self._server.port), self.tr("The server is not running"), button=button)

    def _retranslate(self) -> None:
        self.switch.setText(self.tr("Turn Server Off") if self._server.is_on else self.tr("Turn Server On"))
        self.settings.setText(self.tr("Server Settings…"))
