"""A scroll area that shows in its viewport that it has the focus, after it was reached by key.

Here: when the ring shows. Not here: painting it (`backdrop.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractScrollArea

from app.views.widgets.focus_ring import FocusRing

if TYPE_CHECKING:
    _Area = QAbstractScrollArea
else:
    _Area = object


class Ringed(FocusRing, _Area):
    """Comes before the Qt class of the area. A click in it takes the ring away."""

    def entered_from_behind(self) -> None:
        """Tab with Shift has led here."""

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()
        if event.reason() == Qt.FocusReason.BacktabFocusReason:
            self.entered_from_behind()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._by_key = False
        self.viewport().update()
        super().mousePressEvent(event)
