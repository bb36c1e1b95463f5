"""Arrow keys carry KeypadModifier, as a Mac sends them: `pytest -p tests.as_mac.keys tests/ui`."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

_ARROWS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down)


def pytest_configure() -> None:
    for name in ("keyClick", "keyPress", "keyRelease"):
        setattr(QTest, name, staticmethod(_with_keypad(getattr(QTest, name))))


def _with_keypad(send: Any) -> Any:
    def sends(
        widget: QWidget, key: Any, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier, delay: int = -1
    ) -> None:
        if key in _ARROWS:
            modifier |= Qt.KeyboardModifier.KeypadModifier
        send(widget, key, modifier, delay)

    return sends
