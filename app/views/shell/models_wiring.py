"""The Models view in the window: made when it is first asked for, shown in place of the chat until a chat is wanted."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.settings import Settings
from app.theme import Theme
from app.views.shell.window_parts import WindowParts

if TYPE_CHECKING:
    from app.views.models.view import ModelsView


class ModelsWiring(QObject):
    changed = Signal()  # whether it is shown

    def __init__(self, parts: WindowParts, theme: Theme, settings: Settings) -> None:
        super().__init__(parts.window)
        self._window, self._theme, self._settings = parts.window, theme, settings
        self._downloads = parts.sidebar.downloads
        self._models: ModelController | None = None
        self.is_shown = False
        self.changed.connect(parts.banner.leave_place)
        parts.sidebar.models_requested.connect(self.toggle)
        self._downloads.clicked.connect(lambda: self.show("yours"))
        menu = parts.menu
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
