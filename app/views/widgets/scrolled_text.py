"""A scroll area for what one reads, with a ring where the keyboard is."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from app.theme import Theme
from app.views.widgets.focus_ring import FocusRing
from app.views.widgets.painting import paint_row_ground


class ScrolledText(FocusRing, QScrollArea):
    """Arrow keys scroll it where it has the focus."""

    accessible_role = QAccessible.Role.Document

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.has_ring:
            painter = QPainter(self.viewport())
            paint_row_ground(painter, self.viewport().rect(), self._theme.palette, filled=False, ring=True)
            painter.end()
