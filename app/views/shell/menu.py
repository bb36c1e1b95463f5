"""The menu bar: one for the whole app, without a parent, so that it stays when a window closes.

Each entry is an action with a signal; what it does is decided where it is connected.
"""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QMenuBar, QPlainTextEdit, QTextEdit, QWidget

_Key = QKeySequence.StandardKey


class MenuBar(QObject):
    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.bar = QMenuBar(None)
        self.bar.setNativeMenuBar(True)
        self._menus: dict[str, QMenu] = {}
        self._fill_app()
        self._fill_edit()
        self._fill_view()
        self._fill_chat()
        self._fill_window()
        self.retranslate()
        window.destroyed.connect(self.bar.deleteLater)

    def _menu(self, name: str) -> QMenu:
        self._menus[name] = self.bar.addMenu("")
        return self._menus[name]

    def add(self, menu: str, shortcut: str | None = None) -> QAction:
        """One more entry, for a part of the window that names it itself."""
        return self._action(self._menus[menu], shortcut)

    def _action(
        self,
        menu: QMenu,
        shortcut: QKeySequence | QKeySequence.StandardKey | str | None = None,
        role: QAction.MenuRole = QAction.MenuRole.NoRole,
    ) -> QAction:
        action = QAction(self)
        action.setMenuRole(role)
        if shortcut is not None:
            action.setShortcut(QKeySequence(shortcut))
        menu.addAction(action)
        # Where the bar is not the system's, its shortcuts only work through the window.
        self._window.addAction(action)
        return action

    def _fill_app(self) -> None:
        menu = self._menu("file")
        self.new_chat = self._action(menu, _Key.New)
        menu.addSeparator()
        self.attach = self._action(menu, "Ctrl+Shift+A")
        self.import_chats = self._action(menu)
        self.export_chat = self._action(menu, "Ctrl+Shift+E")
        self.export_all = self._action(menu)
        menu.addSeparator()
        self.close_window = self._action(menu, _Key.Close)
        self.settings = self._action(menu, "Ctrl+,", QAction.MenuRole.PreferencesRole)
        self.about = self._action(menu, None, QAction.MenuRole.AboutRole)
        self.quit = self._action(menu, _Key.Quit, QAction.MenuRole.QuitRole)

    def _fill_edit(self) -> None:
        menu = self._menu("edit")
        self.edits = {
            name: self._action(menu, key)
            for name, key in (
                ("undo", _Key.Undo),
                ("redo", _Key.Redo),
                ("cut", _Key.Cut),
                ("copy", _Key.Copy),
                ("paste", _Key.Paste),
                ("selectAll", _Key.SelectAll),
            )
        }
        for name, action in self.edits.items():
            if name == "undo":  # may mean a deletion; the window decides
                continue
            action.triggered.connect(lambda _checked=False, name=name: _call_on_focused(name))
        menu.addSeparator()
        self.search = self._action(menu, _Key.Find)

    def _fill_view(self) -> None:
        menu = self._menu("view")
        self.sidebar = self._action(menu, "Ctrl+\\")
        self.write = self._action(menu, "Ctrl+L")
        menu.addSeparator()
        self.bigger = self._action(menu, _Key.ZoomIn)
        self.smaller = self._action(menu, _Key.ZoomOut)
        self.usual_size = self._action(menu, "Ctrl+0")

    def _fill_chat(self) -> None:
        menu = self._menu("chat")
        self.stop = self._action(menu, "Ctrl+.")
        self.pair = self._action(menu, "Ctrl+Shift+M")
        menu.addSeparator()
        self.rename = self._action(menu)
        self.duplicate = self._action(menu)
        self.delete = self._action(menu)
        self.deleted = menu.addMenu("")

    def _fill_window(self) -> None:
        window_menu = self._menu("window")
        self.minimize = self._action(window_menu, "Ctrl+M")
        self.zoom = self._action(window_menu)
        help_menu = self._menu("help")
        self.show_log = self._action(help_menu)

    def retranslate(self) -> None:
        for name, title in {
            "file": self.tr("File"),
            "edit": self.tr("Edit"),
            "view": self.tr("View"),
            "chat": self.tr("Chat"),
            "window": self.tr("Window"),
            "help": self.tr("Help"),
        }.items():
            self._menus[name].setTitle(title)
        for name, text in {
            "undo": self.tr("Undo"),
            "redo": self.tr("Redo"),
            "cut": self.tr("Cut"),
            "copy": self.tr("Copy"),
            "paste": self.tr("Paste"),
            "selectAll": self.tr("Select All"),
        }.items():
            self.edits[name].setText(text)
        self._name_actions()

    def _name_actions(self) -> None:
        for action, text in (
            (self.new_chat, self.tr("New Chat")),
            (self.attach, self.tr("Attach…")),
            (self.import_chats, self.tr("Import…")),
            (self.export_chat, self.tr("Export…")),
            (self.export_all, self.tr("Export All…")),
            (self.close_window, self.tr("Close Window")),
            (self.settings, self.tr("Settings…")),
            (self.about, self.tr("About Hunch")),
            (self.quit, self.tr("Quit Hunch")),
            (self.search, self.tr("Search Chats")),
            (self.sidebar, self.tr("Show or Hide Sidebar")),
            (self.write, self.tr("Write a Message")),
            (self.bigger, self.tr("Larger Text")),
            (self.smaller, self.tr("Smaller Text")),
            (self.usual_size, self.tr("Usual Text Size")),
            (self.stop, self.tr("Stop Reply")),
            (self.pair, self.tr("Choose Models…")),
            (self.rename, self.tr("Rename Chat…")),
            (self.duplicate, self.tr("Duplicate Chat")),
            (self.delete, self.tr("Delete Chat")),
            (self.deleted.menuAction(), self.tr("Recently Deleted")),
            (self.minimize, self.tr("Minimize")),
            (self.zoom, self.tr("Zoom")),
            (self.show_log, self.tr("Show Log")),
        ):
            action.setText(text)


def _call_on_focused(slot: str) -> None:
    """Calls a slot such as `copy` of the focused widget, if it has one."""
    act = getattr(QApplication.focusWidget(), slot, None)
    if act is not None:
        act()


def undo_in_focused_field() -> bool:
    """Takes back what was typed last in the focused field; False when there is nothing."""
    field = QApplication.focusWidget()
    if isinstance(field, QLineEdit) and field.isUndoAvailable():
        field.undo()
        return True
    if isinstance(field, QPlainTextEdit | QTextEdit) and field.document().isUndoAvailable():
        field.undo()
        return True
    return False
