"""The menu bar, as a table: one line for each menu and each entry, in the order in which they are shown.

An entry is an action with a signal (`bar.new_chat.triggered`); what it does is decided where it is connected. The bar
is one for the whole app, without a parent, so that on the Mac it stays when a window closes. Elsewhere its menus open
from a button (`MenuButton`). Shortcuts sheet and command palette are made from the same actions. Menus without
entries here are filled by others.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QObject, QPoint, Qt
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from app.theme import Theme
from app.views.widgets import held_keys
from app.views.widgets.buttons import IconButton
from app.views.widgets.translated import Translated

_Key = QKeySequence.StandardKey
_Role = QAction.MenuRole
IS_MAC = sys.platform == "darwin"


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """`inside` names the menu that it is an entry of; "" is the bar."""

    name: str
    words: object  # a str, which Qt's marker calls an object
    inside: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """An action in `menu`, reached as `bar.NAME`. Without a name it is a line between others."""

    menu: str
    name: str = ""
    words: object = ""
    key: QKeySequence.StandardKey | str | None = None
    role: QAction.MenuRole = _Role.NoRole  # entries with one move to the app's own menu on the Mac
    repeats: bool = False  # while its key is held
    mac_key: str = ""  # that Macs have for it; the other one works there too
    mac_only: bool = False
    other_key: str = ""  # works too, and is not shown
    checkable: bool = False


# Qt's on a Mac: it finds the entries that also act in the system's panels by their words, and names Settings itself.
_OF_QT = (
    QT_TRANSLATE_NOOP("QCocoaMenuItem", "Cut"),
    QT_TRANSLATE_NOOP("QCocoaMenuItem", "Copy"),
    QT_TRANSLATE_NOOP("QCocoaMenuItem", "Paste"),
    QT_TRANSLATE_NOOP("QCocoaMenuItem", "Select All"),
    QT_TRANSLATE_NOOP("MAC_APPLICATION_MENU", "Preferences..."),
)
_Found = _Role.TextHeuristicRole

_BAR: tuple[MenuEntry | Entry, ...] = (
    MenuEntry("file", QT_TRANSLATE_NOOP("MenuBar", "File")),
    Entry("file", "new_chat", QT_TRANSLATE_NOOP("MenuBar", "New Chat"), _Key.New),
    Entry("file", "new_folder", QT_TRANSLATE_NOOP("MenuBar", "New Folder"), "Ctrl+Shift+N"),
    Entry("file", "quick_ask", QT_TRANSLATE_NOOP("MenuBar", "Quick Ask…"), "Ctrl+Shift+Space"),
    Entry("file"),
    Entry("file", "attach", QT_TRANSLATE_NOOP("MenuBar", "Attach…"), "Ctrl+Shift+A"),
    Entry("file", "import_chats", QT_TRANSLATE_NOOP("MenuBar", "Import…")),
    Entry("file", "export_chat", QT_TRANSLATE_NOOP("MenuBar", "Export…"), "Ctrl+Shift+E"),
    Entry("file", "export_all", QT_TRANSLATE_NOOP("MenuBar", "Export All…")),
    Entry("file"),
    Entry("file", "close_window", QT_TRANSLATE_NOOP("MenuBar", "Close Window"), "Ctrl+W"),
    Entry("file"),
    Entry("file", "settings", QT_TRANSLATE_NOOP("MenuBar", "Settings…"), "Ctrl+,", _Role.PreferencesRole),
    Entry("file", "quit", QT_TRANSLATE_NOOP("MenuBar", "Quit Hunch"), "Ctrl+Q", _Role.QuitRole),
    MenuEntry("edit", QT_TRANSLATE_NOOP("MenuBar", "Edit")),
    Entry("edit", "undo", QT_TRANSLATE_NOOP("MenuBar", "Undo"), _Key.Undo, repeats=True),
    Entry("edit", "redo", QT_TRANSLATE_NOOP("MenuBar", "Redo"), _Key.Redo, repeats=True),
    Entry("edit"),
    Entry("edit", "cut", QT_TRANSLATE_NOOP("MenuBar", "Cut"), _Key.Cut, _Found),
    Entry("edit", "copy", QT_TRANSLATE_NOOP("MenuBar", "Copy"), _Key.Copy, _Found),
    Entry("edit", "paste", QT_TRANSLATE_NOOP("MenuBar", "Paste"), _Key.Paste, _Found, repeats=True),
    Entry("edit", "paste_plain", QT_TRANSLATE_NOOP("MenuBar", "Paste and Match Style"), "Ctrl+Alt+Shift+V"),
    Entry("edit", "select_all", QT_TRANSLATE_NOOP("MenuBar", "Select All"), _Key.SelectAll, _Found),
    Entry("edit"),
    MenuEntry("find", QT_TRANSLATE_NOOP("MenuBar", "Find"), inside="edit"),
    Entry("find", "find", QT_TRANSLATE_NOOP("MenuBar", "Find in Chat…"), _Key.Find),
    Entry("find", "find_next", QT_TRANSLATE_NOOP("MenuBar", "Find Next"), "Ctrl+G", repeats=True),
    Entry("find", "find_previous", QT_TRANSLATE_NOOP("MenuBar", "Find Previous"), "Ctrl+Shift+G", repeats=True),
    Entry("find", "use_selection", QT_TRANSLATE_NOOP("MenuBar", "Use Selection for Find"), "Ctrl+E"),
    Entry("find"),
    Entry("find", "search", QT_TRANSLATE_NOOP("MenuBar", "Search Chats"), "Ctrl+Shift+F"),
    MenuEntry("view", QT_TRANSLATE_NOOP("MenuBar", "View")),
    Entry("view", "palette", QT_TRANSLATE_NOOP("MenuBar", "Command Palette…"), "Ctrl+K"),
    Entry("view", "models", QT_TRANSLATE_NOOP("MenuBar", "Models"), "Ctrl+Shift+M"),
    Entry("view"),
    Entry("view", "sidebar", QT_TRANSLATE_NOOP("MenuBar", "Sidebar"), "Ctrl+\\", mac_key="Ctrl+Meta+S", checkable=True),
    Entry("view"),
    Entry("view", "larger", QT_TRANSLATE_NOOP("MenuBar", "Larger Text"), _Key.ZoomIn, repeats=True, other_key="Ctrl+="),
    Entry("view", "smaller", QT_TRANSLATE_NOOP("MenuBar", "Smaller Text"), _Key.ZoomOut, repeats=True),
    Entry("view", "usual_size", QT_TRANSLATE_NOOP("MenuBar", "Actual Size"), "Ctrl+0"),
    Entry("view"),
    Entry("view", "full_screen", QT_TRANSLATE_NOOP("MenuBar", "Full Screen"), _Key.FullScreen, checkable=True),
    MenuEntry("chat", QT_TRANSLATE_NOOP("MenuBar", "Chat")),
    Entry("chat", "write", QT_TRANSLATE_NOOP("MenuBar", "Write Message"), "Ctrl+Shift+L"),
    Entry("chat", "quote", QT_TRANSLATE_NOOP("MenuBar", "Quote Selection"), "Ctrl+Shift+J"),
    Entry("chat", "prompts", QT_TRANSLATE_NOOP("MenuBar", "New Prompt…")),
    Entry("chat", "stop", QT_TRANSLATE_NOOP("MenuBar", "Stop Reply"), "Ctrl+."),
    Entry("chat", "pair", QT_TRANSLATE_NOOP("MenuBar", "Choose Models…"), "Ctrl+L"),
    Entry("chat"),
    Entry("chat", "next_chat", QT_TRANSLATE_NOOP("MenuBar", "Next Chat"), "Ctrl+Alt+Down", repeats=True),
    Entry("chat", "previous_chat", QT_TRANSLATE_NOOP("MenuBar", "Previous Chat"), "Ctrl+Alt+Up", repeats=True),
    Entry("chat"),
    Entry("chat", "rename", QT_TRANSLATE_NOOP("MenuBar", "Rename Chat…")),
    Entry("chat", "pin", QT_TRANSLATE_NOOP("MenuBar", "Pin or Unpin Chat")),
    Entry("chat", "duplicate", QT_TRANSLATE_NOOP("MenuBar", "Duplicate Chat")),
    MenuEntry("move", QT_TRANSLATE_NOOP("MenuBar", "Move Chat to"), inside="chat"),
    Entry("chat", "delete", QT_TRANSLATE_NOOP("MenuBar", "Delete Chat"), "Ctrl+Backspace"),
    MenuEntry("deleted", QT_TRANSLATE_NOOP("MenuBar", "Recently Deleted"), inside="chat"),
    Entry("chat"),
    MenuEntry("message", QT_TRANSLATE_NOOP("MenuBar", "Message")),
    MenuEntry("window", QT_TRANSLATE_NOOP("MenuBar", "Window")),
    Entry("window", "minimize", QT_TRANSLATE_NOOP("MenuBar", "Minimize"), "Ctrl+M"),
    Entry("window", "zoom", QT_TRANSLATE_NOOP("MenuBar", "Zoom")),
    Entry("window"),
    Entry("window", "chat_window", QT_TRANSLATE_NOOP("MenuBar", "Show Chat Window"), "Ctrl+1"),
    Entry("window", "activity", QT_TRANSLATE_NOOP("MenuBar", "Activity"), "Ctrl+Alt+A"),
    Entry("window", "all_to_front", QT_TRANSLATE_NOOP("MenuBar", "Bring All to Front"), mac_only=True),
    MenuEntry("help", QT_TRANSLATE_NOOP("MenuBar", "Help")),
    Entry("help", "help", QT_TRANSLATE_NOOP("MenuBar", "Hunch Help"), _Key.HelpContents),
    Entry("help", "shortcuts", QT_TRANSLATE_NOOP("MenuBar", "Keyboard Shortcuts"), "Ctrl+/"),
    Entry("help", "show_log", QT_TRANSLATE_NOOP("MenuBar", "Show Log")),
    Entry("help", "copy_diagnostics", QT_TRANSLATE_NOOP("MenuBar", "Copy Diagnostics")),
    Entry("help", "about", QT_TRANSLATE_NOOP("MenuBar", "About Hunch"), None, _Role.AboutRole),
)


class MenuBar(QObject):
    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.bar = QMenuBar(None)
        self.bar.setNativeMenuBar(True)
        self.menus: dict[str, QMenu] = {}
        self.actions: dict[str, QAction] = {}
        self._shown = [each for each in _BAR if IS_MAC or isinstance(each, MenuEntry) or not each.mac_only]
        for each in self._shown:
            self._add(each)
        self.deleted = self.menus["deleted"]
        self.move = self.menus["move"]
        self.retranslate()
        window.destroyed.connect(self.bar.deleteLater)

    def __getattr__(self, name: str) -> QAction:
        try:
            action: QAction = self.__dict__["actions"][name]
        except KeyError:
            raise AttributeError(name) from None
        return action

    def _add(self, each: MenuEntry | Entry) -> None:
        if isinstance(each, MenuEntry):
            place = self.menus[each.inside] if each.inside else self.bar
            self.menus[each.name] = held_keys.Menu(place)
            place.addMenu(self.menus[each.name])
        elif each.name:
            self.actions[each.name] = self._action(each)
        else:
            self.menus[each.menu].addSeparator()

    def add(self, menu: str, shortcut: str | None = None, *, repeats: bool = False, checkable: bool = False) -> QAction:
        """One more entry, for a part of the window that names it itself, as its state has it."""
        return self._action(Entry(menu, key=shortcut, repeats=repeats, checkable=checkable))

    def _action(self, entry: Entry) -> QAction:
        action = QAction(self)
        action.setMenuRole(entry.role)
        action.setAutoRepeat(entry.repeats)
        action.setCheckable(entry.checkable)
        keys = [entry.mac_key] if IS_MAC and entry.mac_key else []
        action.setShortcuts(
            [QKeySequence(key) for key in (*keys, entry.key, entry.other_key or None) if key is not None]
        )
        # Where the bar is not the system's, its shortcuts work through the main window, from any of ours.
        action.setShortcutContext(Qt.ShortcutContext.ApplicationShortcut)
        self.menus[entry.menu].addAction(action)
        self._window.addAction(action)
        return action

    def retranslate(self) -> None:
        for each in self._shown:
            words = QCoreApplication.translate("MenuBar", str(each.words))
            if isinstance(each, MenuEntry):
                self.menus[each.name].setTitle(words)
            elif each.name:
                self.actions[each.name].setText(words)


class MenuButton(Translated, IconButton):
    """Opens the menus where the system has no menu bar of its own. So does F10."""

    def __init__(self, theme: Theme, menu: MenuBar, window: QWidget) -> None:
        super().__init__(theme, "more-horizontal", parent=window)
        self.menu = held_keys.Menu(self)
        self.menu.addActions(menu.bar.actions())
        self.clicked.connect(self.open_menu)
        QShortcut(QKeySequence("F10"), window, self.open_menu, context=Qt.ShortcutContext.WindowShortcut)
        self._retranslate()

    def open_menu(self) -> None:
        self.menu.setFont(self.theme.ui_font())
        self.menu.popup(self.mapToGlobal(QPoint(self.width() - self.menu.sizeHint().width(), self.height() + 2)))

    def _retranslate(self) -> None:
        self.set_name(self.tr("Menu"))
