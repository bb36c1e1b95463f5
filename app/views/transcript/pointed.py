"""Showing the pointer that selects what happens over a text, or over the transcript between the texts.

An event filter would be asked about every event, painting included; these are asked about the mouse alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

if TYPE_CHECKING:
    _Area = QAbstractScrollArea
else:
    _Area = object


class Pointer(Protocol):
    def takes(self, widget: QWidget, event: QMouseEvent) -> bool:
        """Acts on what happened over the widget; returns whether it means nothing else."""


class Pointed(_Area):
    """Comes before the Qt class of a scroll area, whose viewport the events are of."""

    pointer: Pointer | None = None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self._is_taken(event):
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self._is_taken(event):
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not self._is_taken(event):
            super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if not self._is_taken(event):
            super().mouseDoubleClickEvent(event)

    def _is_taken(self, event: QMouseEvent) -> bool:
        return self.pointer is not None and self.pointer.takes(self.viewport(), event)
