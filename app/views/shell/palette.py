"""The command palette: finds every command and place by a few letters.

A card over the top of the window. The field keeps the focus and controls the list: text of an input method is searched
as it is composed, and Return goes to the input method first. Recently used commands come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale, QObject, Qt, Signal
from PySide6.QtGui import QAccessible, QAction, QKeyEvent
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.settings import Settings
from app.theme import Theme
from app.view_models.matching import distance
from app.views.chats.trash_window import SHOW_ALL
from app.views.shell.menu import MenuBar
from app.views.shell.shortcuts import plain_words, shortcut_text
from app.views.widgets.arrange import arrange
from app.views.widgets.labels import TextLabel, TextStyle, describe
from app.views.widgets.page_list import PageEntry, PageList
from app.views.widgets.panel import Panel
from app.views.widgets.roles import announce
from app.views.widgets.search_field import SearchField
from app.views.widgets.translated import Translated
from app.words.formats import fill
from app.words.languages import LANGUAGES
from app.words.model_names import human_name

if TYPE_CHECKING:
    from app.views.settings.window import SettingsWindow


_WIDTH_PX = 560
_MOST_HEIGHT_PX = 420
_TOP_PX = 56
_SLACK_PX = 4
_MOST_SHOWN = 60
_MOST_RECENT = 12
_PAGE_ROWS = 8
_MOST_CHATS = 500
_ICONS = {
    # of entries
    "new_chat": "pencil",
    "new_folder": "folder-plus",
    "quick_ask": "zap",
    "attach": "paperclip",
    "export_chat": "external-link",
    "export_all": "external-link",
    "import_chats": "download",
    "close_window": "x",
    "settings": "settings",
    "quit": "x",
    "copy": "copy",
    "sidebar": "panel-left",
    "write": "corner-down-left",
    "quote": "corner-down-left",
    "prompts": "plus",
    "stop": "square",
    "pair": "box",
    "pin": "pin",
    "activity": "activity",
    "models": "box",
    "next_chat": "arrow-down",
    "previous_chat": "arrow-up",
    "delete": "trash-2",
    "show_log": "file-text",
    "copy_diagnostics": "copy",
    "server_switch": "globe",
    "server_settings": "globe",
    # of all others in a menu
    "edit": "pencil",
    "find": "search",
    "view": "panel-right",
    "chat": "message-square",
    "message": "message-square",
    "move": "folder",
    "deleted": "trash-2",
    "window": "square",
    "help": "info",
}


@dataclass(frozen=True, slots=True)
class PaletteCommand:
    """`key` is the same in every run and language."""

    key: str
    text: str
    act: Callable[[], object]
    icon_name: str = ""
    detail: str = ""  # where it is, or what it belongs to
    words: str = ""  # further words to find it by
    shortcut: str = ""


class CommandPalette(Translated, Panel):
    """A panel that opens from no button, but from its key."""

    accessible_role = QAccessible.Role.Dialog
    more_requested = Signal()

    def __init__(
        self,
        theme: Theme,
        settings: Settings,
        window: QWidget,
        commands: Callable[[], Sequence[PaletteCommand]],
        otherwise: Callable[[], None],
    ) -> None:
        """`commands` is called each time that it opens; `otherwise`: gets the focus if the former widget cannot."""
        super().__init__(theme, window, _WIDTH_PX, otherwise)
        self._settings = settings
        self._commands = commands
        self._all: Sequence[PaletteCommand] = ()
        self._shown: list[PaletteCommand] = []
        self.field = PaletteField(theme, self)
        self.list = PageList(theme, self)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.shows_ring = False
        self.nothing = TextLabel(theme, TextStyle.SECONDARY, self)
        arrange(QVBoxLayout(self), self.field, self.nothing, (self.list, 1), spacing=8, margins=(10, 10, 10, 10))
        self._connect()
        self._retranslate()

    def _connect(self) -> None:
        self.field.words_changed.connect(self._fill)
        self.field.words_changed.connect(self._announce)
        self.field.left.connect(self.leave)
        self.field.stepped.connect(self.list.step)
        self.field.stepped.connect(self._announce)
        self.field.returnPressed.connect(self._run_current)
        self.list.itemClicked.connect(lambda _item: self._run_current())

    @property
    def first(self) -> QWidget:
        return self.field

    def open_palette(self) -> None:
        """Open it; if it is open, close it, as users expect of its key."""
        if self.isVisible():
            self.leave()
            return
        self._within.raise_()
        self._within.activateWindow()
        self._all = self._commands()
        self.more_requested.emit()
        self.field.clear()
        self._fill()
        self.open_from(self._within)
        self._announce()

    def put_after_button(self) -> None:
        """Tab stays in the field."""

    def refresh(self) -> None:
        """Update the entries; the current row stays."""
        if self.isVisible():
            row = self.list.currentRow()
            reached = self._shown[row].key if row > 0 else ""
            self._all = self._commands()
            self._fill()
            for at, command in enumerate(self._shown):
                if command.key == reached:
                    self.list.setCurrentRow(at)

    def _fill(self) -> None:
        self._shown = self._found(self.field.text_with_composed())[:_MOST_SHOWN]
        self.list.set_entries(
            [PageEntry(each.text, each.icon_name, aside=each.shortcut or each.detail) for each in self._shown]
        )
        self.list.setCurrentRow(0 if self._shown else -1)
        self.list.scrollToTop()
        self.nothing.setVisible(not self._shown)
        self.list.setVisible(bool(self._shown))  # empty, it would still have a least height
        self._place_at(self._within)

    def _announce(self) -> None:
        """What Return would do: the field keeps the focus."""
        if self.isVisible():
            announce(self.field, self.list.current_words if self._shown else self.nothing.text())

    def _found(self, query: str) -> list[PaletteCommand]:
        recent = {key: place for place, key in enumerate(self._settings.recent_commands)}
        ranked = []
        for place, command in enumerate(self._all):
            far = distance(query, command.text, command.detail, command.words)
            if far is not None:
                ranked.append((far if query.strip() else 0, recent.get(command.key, _MOST_RECENT), place, command))
        return [command for *_, command in sorted(ranked, key=lambda each: each[:3])]

    def _run_current(self) -> None:
        row = self.list.currentRow()
        if not 0 <= row < len(self._shown):
            return
        command = self._shown[row]
        others = [key for key in self._settings.recent_commands if key != command.key]
        self._settings.recent_commands = (command.key, *others)[:_MOST_RECENT]
        self.leave()
        command.act()

    def _retranslate(self) -> None:
        self.setAccessibleName(self.tr("Command palette"))
        describe(self.field, self.tr("Search commands, chats, models and settings"), self.tr("Command"))
        self.list.setAccessibleName(self.tr("Commands"))
        self.nothing.setText(self.tr("No results."))

    def _place_at(self, window: QWidget) -> None:
        width = min(self._theme.px(_WIDTH_PX), window.width() - 32)
        foot = 20 + self.field.height() + 8
        rows = self.list.content_height() if self._shown else self.nothing.sizeHint().height()
        most = min(self._theme.px(_MOST_HEIGHT_PX), window.height() - _TOP_PX - 16) - foot - _SLACK_PX
        if self._shown and rows > most:  # none is cut at the foot
            rows = most - most % self.list.sizeHintForRow(0)
        self.setGeometry((window.width() - width) // 2, _TOP_PX, width, foot + rows + _SLACK_PX)
        self.update()


class PaletteField(SearchField):
    """Arrow and page keys step in the list below it. Return and Escape belong to the input method while it composes."""

    stepped = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _PAGE_ROWS, Qt.Key.Key_PageUp: -_PAGE_ROWS}
        if key in steps:
            self.stepped.emit(steps[key])
        elif key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            event.accept()  # there is nowhere else to go
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, _next: bool) -> bool:
        return False


class PaletteCommands(QObject):
    def __init__(self, menu: MenuBar, preferences: Settings) -> None:
        super().__init__(menu)
        self._menu = menu
        self._preferences = preferences
        self._chats: ChatController | None = None
        self._models: ModelController | None = None
        self._settings_window: Callable[[], SettingsWindow] | None = None
        self._window: SettingsWindow | None = None

    def bind(
        self, chats: ChatController, models: ModelController, settings_window: Callable[[], SettingsWindow]
    ) -> None:
        self._chats = chats
        self._models = models
        self._settings_window = settings_window

    def read_settings(self) -> bool:
        """Create the settings window (a quarter of a second) for its places; returns whether there are new ones."""
        if self._settings_window is None or self._window is not None:
            return False
        self._window = self._settings_window()
        return True

    def all(self) -> list[PaletteCommand]:
        """Menu entries first, then chats, models and settings, in the present language."""
        return [
            *self._entries(),
            *self._of_chats(),
            *self._of_models(),
            *self._of_settings(),
            *self._of_looks(),
            *self._of_languages(),
        ]

    def _entries(self) -> Iterator[PaletteCommand]:
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

    def _entry(self, menu: QMenu, action: QAction, name: str) -> PaletteCommand:
        key = f"menu:{name or action.objectName() or action.text()}"
        of_menu = next((each for each, its_menu in self._menu.menus.items() if its_menu is menu), "")
        icon_name = _ICONS.get(name or action.objectName()) or _ICONS.get(of_menu, "file-text")
        keys = shortcut_text(action)
        return PaletteCommand(
            key, plain_words(action), action.trigger, icon_name, menu.title(), words=keys, shortcut=keys
        )

    def _of_trash(self, entry: PaletteCommand) -> PaletteCommand:
        """Inside its menu the entry need not say of what it shows all."""
        return replace(entry, text=entry.detail, detail=self._menu.menus["chat"].title())

    def _of_chats(self) -> Iterator[PaletteCommand]:
        if self._chats is None:
            return
        for chat in self._chats.quick_questions.latest(_MOST_CHATS):
            act = partial(self._open_chat, chat.id)
            yield PaletteCommand(f"chat:{chat.id}", chat.title, act, "message-square", self.tr("Chat"))

    def _open_chat(self, chat_id: int) -> None:
        """To write in, wherever the focus was."""
        assert self._chats is not None
        self._chats.open_chat(chat_id)
        self._menu.write.trigger()

    def _of_models(self) -> Iterator[PaletteCommand]:
        if self._models is None:
            return
        for entry in self._models.models:
            usually_drafts = entry.drafter is not None or bool(entry.drafts_for)  # apart in the picker too
            if entry.error is None and not usually_drafts and not entry.is_main:
                act = partial(self._models.choose_main, entry.folder)
                use = fill(self.tr("Use %1"), human_name(entry.name))
                found_by = f"{entry.name} {entry.repository}"
                yield PaletteCommand(f"model:{entry.folder}", use, act, "box", self.tr("Model"), words=found_by)

    def _of_settings(self) -> Iterator[PaletteCommand]:
        if self._window is None:
            return
        window = self._window
        for place in window.places():
            where = fill(self.tr("Settings: %1"), place.page_title)
            key = f"settings:{place.page}:{place.number}"
            yield PaletteCommand(
                key, place.name, partial(window.go_to, place), "settings", where, words=place.explanation
            )

    def _of_looks(self) -> Iterator[PaletteCommand]:
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
            yield PaletteCommand(f"appearance:{look}", name, act, "settings", where, words=words)

    def _of_languages(self) -> Iterator[PaletteCommand]:
        """Languages in their own names, for users who cannot read the present one."""
        for code, name in LANGUAGES.items():
            act = partial(setattr, self._preferences, "language", code)
            english = QLocale.languageToString(QLocale(code).language())
            here = QCoreApplication.translate("Totals", english)
            yield PaletteCommand(
                f"language:{code}", name, act, "settings", self.tr("Language"), words=f"{english} {here}"
            )
