"""The button that opens the menus where the system has no menu bar of its own. F10 opens it too."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.views.shell.menu import MenuBar
from app.views.widgets.buttons import IconButton
from app.views.widgets.held_keys import Menu
from app.views.widgets.translated import Translated


class MenuButton(Translated, IconButton):
    def __init__(self, theme: Theme, menu: MenuBar, window: QWidget) -> None:
        super().__init__(theme, "more-horizontal", parent=window)
        self._menu = Menu(self)
        self._menu.addActions(menu.bar.actions())
        self.clicked.connect(self.open_menu)
        QShortcut(QKeySequence("F10"), window, self.open_menu, context=Qt.ShortcutContext.WindowShortcut)
        self._retranslate()

    def open_menu(self) -> None:
        self._menu.setFont(self.theme.ui_font())
        self._menu.popup(self.mapToGlobal(QPoint(self.width() - self._menu.sizeHint().width(), self.height() + 2)))

    def _retranslate(self) -> None:
        self.set_name(self.tr("Menu"))
