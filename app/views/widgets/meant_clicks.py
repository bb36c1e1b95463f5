"""Clicks that do what the user meant: one that comes too late, or the second of a double click, does nothing else.

A click is for what the button did when it was pressed, and the second one of a double click for what the first one was
for. Where the button does something else by then, as Stop where Start was, or another button is in its place, as after
the first of two rows is removed, it does nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QHideEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractButton

if TYPE_CHECKING:
    _Button = QAbstractButton
else:
    _Button = object


class MeantClicks(_Button):
    """Comes before the Qt class of a button. A press by keyboard or by a screen reader is always meant."""

    takes_every_click = False  # of one that goes on with the same thing, such as from version to version
    _pressed_as: str | None = None

    def meaning(self) -> str:
        """What a click does now; the words of some buttons change while that does not."""
        return ""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed_as = self.meaning()
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.takes_every_click or self._pressed_as == self.meaning():
            super().mouseDoubleClickEvent(event)  # a press
        else:
            event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        is_meant = self._pressed_as == self.meaning()
        if not is_meant:
            self.setDown(False)
        super().mouseReleaseEvent(event)
        if not is_meant:
            event.accept()

    def hideEvent(self, event: QHideEvent) -> None:
        """What it is shown for next may be something else of the same name."""
        self._pressed_as = None
        super().hideEvent(event)
