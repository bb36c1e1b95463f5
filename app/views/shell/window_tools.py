"""Connects palette, shortcut sheet, menu button, and the enabled state of entries."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.settings import Settings
from app.system.qt_application import is_quitting
from app.theme import SCALE_MAX, SCALE_MIN, SCALES, Theme
from app.views.shell.menu import MenuButton
from app.views.shell.menu_editing import EditEntries
from app.views.shell.palette import CommandPalette, PaletteCommands
from app.views.shell.shell_window import ShellWindow
from app.views.shell.shortcuts import show_shortcuts
from app.views.shell.type_anywhere import TypeAnywhere
from app.views.widgets.dialog import Dialog
from app.views.widgets.roles import install_roles
from app.views.widgets.scrolling import EdgeFade
from app.views.widgets.side_window import bring_to_front

if TYPE_CHECKING:
    from app.views.settings.window import SettingsWindow
    from app.views.shell.desktop import Desktop
    from app.views.transcript import TranscriptView

# These act only once the chats are open.
_NEED_CHATS = (
    "new_chat",
    "quick_ask",
    "attach",
    "next_chat",
    "previous_chat",
    "pair",
    "search",
    "import_chats",
    "prompts",
)


class WindowTools(QObject):
    def __init__(self, window: ShellWindow, theme: Theme, settings: Settings) -> None:
        super().__init__(window)
        install_roles()
        self._window = window
        self._theme = theme
        self._settings = settings
        self._chats: ChatController | None = None
        self._transcript: TranscriptView | None = None
        self.desktop: Desktop  # from `bind` on
        self._sheet: Dialog | None = None  # of the shortcuts
        self.edits = EditEntries(window.menu, window.composer.edit)
        self._typing = TypeAnywhere(window, window.composer.edit)
        self.commands = PaletteCommands(window.menu, settings)
        self.palette = CommandPalette(theme, settings, window, self.commands.all, window.composer.take_focus)
        self.palette.more_requested.connect(lambda: QTimer.singleShot(0, self, self._offer_settings))
        EdgeFade(window.composer.edit, theme)
        self.menu_button: MenuButton | None = None
        if sys.platform != "darwin":
            self.menu_button = MenuButton(theme, window.menu, window)
            window.header.add_button(self.menu_button)
        self._connect()
        self._judge()

    def _connect(self) -> None:
        menu = self._window.menu
        menu.palette.triggered.connect(self.palette.open_palette)
        menu.shortcuts.triggered.connect(self._show_shortcuts)
        menu.larger.triggered.connect(lambda: self._scale_text(1))
        menu.smaller.triggered.connect(lambda: self._scale_text(-1))
        menu.usual_size.triggered.connect(lambda: self._settings.reset("text_scale"))
        menu.close_window.triggered.connect(lambda: self._front().close())
        menu.minimize.triggered.connect(lambda: self._front().showMinimized())
        menu.full_screen.triggered.connect(lambda: self._toggle(Qt.WindowState.WindowFullScreen))
        menu.zoom.triggered.connect(lambda: self._toggle(Qt.WindowState.WindowMaximized))
        menu.chat_window.triggered.connect(lambda: bring_to_front(self._window))
        if "all_to_front" in menu.actions:
            menu.all_to_front.triggered.connect(self._bring_all_to_front)
        menu.next_chat.triggered.connect(lambda: self._step_chat(1))
        menu.previous_chat.triggered.connect(lambda: self._step_chat(-1))
        self._settings.changed.connect(self._judge)

    def bind(
        self,
        chats: ChatController,
        models: ModelController,
        transcript: TranscriptView,
        settings_window: Callable[[], SettingsWindow],
    ) -> None:
        # Their parts need Markdown and formulas, which load after the first frame.
        from app.views.shell.desktop import Desktop
        from app.views.shell.message_actions import MessageMenuFiller

        self._chats = chats
        self._transcript = transcript
        self.edits.bind(chats.deletions)
        self.commands.bind(chats, models, settings_window)
        self._typing.watch(transcript)
        highlights = transcript.message_keys.highlights
        self._typing.took_over.connect(lambda: highlights.focus(None))
        MessageMenuFiller(self._window.menu.menus["message"], transcript, chats.transcript, self._focused)
        self.desktop = Desktop(self._window, self._theme, self._settings, chats, models)
        shown = chats.transcript
        rows = (shown.was_reset, shown.message_inserted, shown.messages_removed)
        for signal in (chats.generating_changed, chats.current_chat_changed, *rows):
            signal.connect(self._judge)
        self._judge()
        models.models_changed.connect(self.palette.refresh)
        if self.palette.isVisible():  # opened before there were chats
            self.palette.refresh()
            self.palette.more_requested.emit()

    @property
    def stays_without_window(self) -> bool:
        """Closing the window only hides it, because the tray icon can open it again."""
        if self._chats is None or is_quitting():
            return False
        return self._settings.tray_icon and self.desktop.tray.icon.isVisible()

    def _judge(self) -> None:
        """Enable entries that can act; Rename, Duplicate and Delete depend on the open chat."""
        menu = self._window.menu
        scale = self._settings.text_scale
        for name in _NEED_CHATS:
            menu.actions[name].setEnabled(self._chats is not None)
        menu.quote.setEnabled(menu.quote.isEnabled() and self._chats is not None)
        menu.stop.setEnabled(self._chats is not None and self._chats.generating)
        for name in ("rename", "pin", "duplicate", "delete"):
            menu.actions[name].setEnabled(self._chats is not None and not self._chats.is_new)
        for name in ("find", "find_next", "find_previous", "use_selection"):
            menu.actions[name].setEnabled(self._chats is not None and bool(self._chats.transcript.messages))
        menu.larger.setEnabled(scale < SCALE_MAX)
        menu.smaller.setEnabled(scale > SCALE_MIN)
        menu.usual_size.setEnabled(scale != Settings.options()["text_scale"].default)
        self._show_send_key()

    def _show_shortcuts(self) -> None:
        """Over the window that is active; once."""
        if self._sheet is None or not isValid(self._sheet) or not self._sheet.isVisible():
            self._sheet = show_shortcuts(self._theme, self._window.menu, self._front())

    def _offer_settings(self) -> None:
        """After the palette has been painted, unless it was closed meanwhile, perhaps with the app."""
        if self.palette.isVisible() and self.commands.read_settings():
            self.palette.refresh()

    def _show_send_key(self) -> None:
        with_control = self._settings.send_key == "control_return"
        self._window.composer.edit.sends_with_control = with_control
        if self._transcript is not None:
            self._transcript.editing.sends_with_control = with_control

    def _scale_text(self, step: int) -> None:
        """To the next larger (1) or smaller (-1) size of those that the settings offer."""
        scale = self._settings.text_scale
        further = [each for each in SCALES[::step] if (each - scale) * step > 0]
        self._settings.text_scale = further[0] if further else scale

    def _front(self) -> QWidget:
        """The active window, on which entries of the app-wide menu bar act."""
        return QApplication.activeWindow() or self._window

    def _toggle(self, state: Qt.WindowState) -> None:
        front = self._front()
        if front.minimumSize() != front.maximumSize():  # Quick Ask has one size
            front.setWindowState(front.windowState() ^ state)

    def _bring_all_to_front(self) -> None:
        front = self._front()
        for each in QApplication.topLevelWidgets():
            if each.isVisible() and each.windowType() in (Qt.WindowType.Window, Qt.WindowType.Dialog):
                each.raise_()
        front.raise_()

    def _focused(self) -> QWidget | None:
        """The focused widget, or the one before the palette opened."""
        return self.palette.focus_before.widget if self.palette.isVisible() else QApplication.focusWidget()

    def _step_chat(self, step: int) -> None:
        """Open the next or previous chat in the sidebar; from a new chat, the first or last."""
        if self._chats is None:
            return
        # Each once: a search may have found several messages of a chat.
        listed = list(dict.fromkeys(row.chat_id for row in self._chats.conversations.rows if row.chat_id))
        if not listed:
            return
        if self._chats.chat_id in listed:
            place = min(max(listed.index(self._chats.chat_id) + step, 0), len(listed) - 1)
        else:
            place = 0 if step > 0 else len(listed) - 1
        self._chats.open_chat(listed[place])
        self._window.sidebar.chats.scrollTo(self._chats.conversations.index_of(listed[place]))
