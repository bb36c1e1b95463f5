"""A double click as a screen tells it: the second press comes as one to whatever is under the pointer by then."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from tests.helpers.stillness import still

_LEFT, _NO_KEY = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def double_click(widget: QWidget, between: Callable[[], object] = still) -> None:
    """In the middle of it; `between` the clicks the app goes on."""
    window = widget.window()
    at = widget.mapTo(window, widget.rect().center())
    QTest.mouseClick(widget, _LEFT)
    between()
    under = window.childAt(at) or window
    place: QPoint = under.mapFrom(window, at)
    QTest.mouseDClick(under, _LEFT, _NO_KEY, place)
    QTest.mouseRelease(under, _LEFT, _NO_KEY, place)
    still()
