"""The key that opens the menu of what has the focus. Keyboards of Macs have none of their own."""

from __future__ import annotations

import sys

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from app.views.widgets.held_keys import RETURN_KEYS

MENU_KEY = "Meta+Return" if sys.platform == "darwin" else "Shift+F10"  # Qt's Meta is a Mac's Control


def asks_for_menu(event: QKeyEvent) -> bool:
    """Either key does on any system. A menu key comes as an event of its own."""
    modifiers, kinds = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier, Qt.KeyboardModifier
    by_return = event.key() in RETURN_KEYS and modifiers == kinds.MetaModifier
    return by_return or (event.key() == Qt.Key.Key_F10 and modifiers == kinds.ShiftModifier)
