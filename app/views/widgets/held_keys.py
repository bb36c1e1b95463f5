"""Held keys: a repeat never presses anything.

Otherwise it would press what the first press brought up: a dialog's button, a menu's first entry, or Send in the
focused field.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QInputEvent, QKeyEvent
from PySide6.QtWidgets import QMenu, QStyleOptionMenuItem, QWidget

from app.theme import Theme

RETURN_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
REMOVE_KEYS = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
PAGE_KEYS = (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_PRESS_KEYS = (*RETURN_KEYS, Qt.Key.Key_Space, Qt.Key.Key_Select)
MENU_KEY = "Meta+Return" if sys.platform == "darwin" else "Shift+F10"  # Qt's Meta is a Mac's Control


def modifiers_of(event: QInputEvent) -> Qt.KeyboardModifier:
    """Those that are held. A Mac's arrow keys have KeypadModifier, too."""
    return event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier


def is_held(event: QKeyEvent) -> bool:
    """Whether it is a repeat of a pressing key."""
    return event.isAutoRepeat() and event.key() in _PRESS_KEYS


def is_held_return(event: QKeyEvent) -> bool:
    """Whether it is a repeat of Return, in a field where Space is a character."""
    return event.isAutoRepeat() and event.key() in RETURN_KEYS


def presses(event: QKeyEvent, act: Callable[[], object], *, and_space: bool = False) -> bool:
    """Whether it was a key that presses; its first press acts. `and_space`: where Qt does not press by Space itself."""
    if is_held(event):
        event.accept()
    elif event.key() in RETURN_KEYS or (and_space and event.key() == Qt.Key.Key_Space):
        act()
    else:
        return False
    return True


class Menu(QMenu):
    """Every menu of the app is one; with a theme, in its font."""

    def __init__(self, parent: QWidget | None = None, theme: Theme | None = None) -> None:
        super().__init__(parent)
        if theme is not None:
            self.setFont(theme.ui_font())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if is_held(event):
            event.accept()
        else:
            super().keyPressEvent(event)

    def initStyleOption(self, option: QStyleOptionMenuItem, action: QAction) -> None:
        """WORKAROUND: Qt's own style paints a column for icons that grows with the text, and measures one that does
        not; large words are cut then."""
        super().initStyleOption(option, action)
        if self.style().name() == "fusion":
            option.maxIconWidth = max(option.maxIconWidth, option.fontMetrics.height())


def popup_menu(parent: QWidget, theme: Theme) -> Menu:
    """One that is made to be opened once."""
    menu = Menu(parent, theme)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu


def asks_for_menu(event: QKeyEvent) -> bool:
    """Either key does on any system. A menu key comes as an event of its own."""
    modifiers = modifiers_of(event)
    kinds = Qt.KeyboardModifier
    by_return = event.key() in RETURN_KEYS and modifiers == kinds.MetaModifier
    return by_return or (event.key() == Qt.Key.Key_F10 and modifiers == kinds.ShiftModifier)


def deletes_all(event: QKeyEvent) -> bool:
    """Whether it is the key of Delete Chat."""
    return event.key() == Qt.Key.Key_Backspace and modifiers_of(event) == Qt.KeyboardModifier.ControlModifier
