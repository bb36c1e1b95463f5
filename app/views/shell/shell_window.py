"""The main window for its parts: its signals, and the parts that others may use, which it creates.

`main_window` connects them.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QWindow
from PySide6.QtWidgets import QWidget

from app.controllers.chat_lists import Visibility
from app.theme import Theme
from app.views.shell.composer import Composer
from app.views.shell.header import Header
from app.views.shell.menu import MenuBar
from app.views.shell.sidebar import Sidebar
from app.views.widgets.banner import Banner
from app.views.widgets.drop_target import TakesDrops


class ShellWindow(TakesDrops, QWidget):
    settings_requested = Signal(str)  # page; "models" is this window's own
    place_changed = Signal()  # from the chat to the models, or back
    draft_search_requested = Signal()
    closing = Signal()  # unsaved text is to be saved
    closed = Signal()
    resized = Signal()
    language_changed = Signal()
    project_files_dropped = Signal(list)  # paths, while a project is shown

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.shows_project = False  # in place of the chat
        self.sidebar = Sidebar(theme, self)
        self.header = Header(theme, self)
        self.composer = Composer(theme, self)
        self.banner = Banner(theme, self)
        self.menu = MenuBar(self)

    def set_sidebar_visible(self, visible: bool) -> None:
        self.sidebar.setVisible(visible)
        self.header.set_sidebar_visible(visible)
        self.menu.sidebar.setChecked(visible)

    def sight(self) -> Visibility:
        """What is visible: the window may be closed, minimized or show the models."""
        has_chat = self.isVisible() and not self.isMinimized() and self.header.of_chat
        return Visibility(not is_away(), has_chat)


def is_away() -> bool:
    """Whether no window of the app is active, nor a panel of the system's over one."""
    if QGuiApplication.applicationState() is Qt.ApplicationState.ApplicationActive:
        seen = (each for each in QGuiApplication.topLevelWindows() if each.isVisible())
        return all(each.visibility() == QWindow.Visibility.Minimized for each in seen)
    return QGuiApplication.focusWindow() is None
