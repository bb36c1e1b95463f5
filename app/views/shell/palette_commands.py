"""What the command palette offers: entries of the menus, chats, models, and places in the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.settings import Settings
from app.views.shell.menu import MenuBar
from app.views.shell.palette import Command
from app.views.shell.shortcuts import plain_words, shortcut_text
from app.views.shell.trash_menu import SHOW_ALL
from app.words.formats import fill
from app.words.languages import LANGUAGES

if TYPE_CHECKING:
    from app.views.settings.window import SettingsWindow

_MOST_CHATS = 500


class PaletteCommands(QObject):
    def __init__(self, menu: MenuBar, preferences: Settings) -> None:
        super().__init__(menu)
        self._menu = menu
        self._preferences = preferences
        self._chats: ChatController | None = None
        self._models: ModelController | None = None
        self.settings: Callable[[], SettingsWindow] | None = None
        self._window: SettingsWindow | None = None

    def bind(self, chats: ChatController, models: ModelController) -> None:
        self._chats, self._models = chats, models

    def read_settings(self) -> bool:
        """Makes the settings window (a quarter of a second of work) for its places; whether there are new ones."""
        if self.settings is None or self._window is not None:
            return False
        self._window = self.settings()
        return True

    def all(self) -> list[Command]:
        """Entries first, then chats, models and settings; all in the language of now."""
        return [
            *self._entries(),
            *self._of_chats(),
            *self._of_models(),
            *self._of_settings(),
            *self._of_looks(),
            *self._of_languages(),
        ]

    def _entries(self) -> Iterator[Command]:
        names = {action: name for name, action in self._menu.actions.items()}
        # WORKAROUND: `action.menu()` hands its menu to Python, which deletes it.
        passed = {each.menuAction() for each in self._menu.menus.values()} | {self._menu.palette}
        for menu in self._menu.menus.values():
            menu.aboutToShow.emit()  # it decides what it can do when it opens
            for action in menu.actions():
                if action.isEnabled() and not action.isSeparator() and action not in passed:
                    entry = self._entry(menu, action, names.get(action, ""))
                    yield self._of_trash(entry) if action.objectName() == SHOW_ALL else entry
            menu.aboutToHide.emit()

    def _entry(self, menu: QMenu, action: QAction, name: str) -> Command:
        key = f"menu:{name or action.objectName() or action.text()}"
        return Command(key, plain_words(action), action.trigger, "", menu.title(), shortcut_text(action))

    def _of_trash(self, entry: Command) -> Command:
        """Inside its menu the entry need not say of what it shows all."""
        return replace(entry, text=entry.detail, detail=self._menu.menus["chat"].title())

    def _of_chats(self) -> Iterator[Command]:
        if self._chats is None:
            return
        for chat in self._chats.asides.latest(_MOST_CHATS):
            act = partial(self._chats.open_chat, chat.id)
            yield Command(f"chat:{chat.id}", chat.title, act, "message-square", self.tr("Chat"))

    def _of_models(self) -> Iterator[Command]:
        if self._models is None:
            return
        for entry in self._models.models:
            usually_drafts = entry.drafter is not None or bool(entry.drafts_for)  # apart in the picker too
            if entry.error is None and not usually_drafts and not entry.is_main:
                act = partial(self._models.choose_main, entry.folder)
                yield Command(
                    f"model:{entry.folder}", fill(self.tr("Use %1"), entry.name), act, "box", self.tr("Model")
                )

    def _of_settings(self) -> Iterator[Command]:
        if self._window is None:
            return
        window = self._window
        for place in window.places():
            where = fill(self.tr("Settings: %1"), place.page_title)
            key = f"settings:{place.page}:{place.number}"
            yield Command(key, place.name, partial(window.go_to, place), "settings", where, words=place.explanation)

    def _of_looks(self) -> Iterator[Command]:
        looks = {
            "light": QCoreApplication.translate("AppearancePage", "Light"),
            "dark": QCoreApplication.translate("AppearancePage", "Dark"),
            "auto": QCoreApplication.translate("AppearancePage", "Auto"),
        }
        where, words = (
            QCoreApplication.translate("AppearancePage", each)
            for each in ("Appearance", "The theme: light, dark, or the same as the system.")
        )
        for look, name in looks.items():
            act = partial(setattr, self._preferences, "appearance", look)
            yield Command(f"appearance:{look}", name, act, "settings", where, words=words)

    def _of_languages(self) -> Iterator[Command]:
        """Each by its own name: the way back for who reads none of what the window says."""
        for code, name in LANGUAGES.items():
            act = partial(setattr, self._preferences, "language", code)
            yield Command(f"language:{code}", name, act, "settings", self.tr("Language"))
