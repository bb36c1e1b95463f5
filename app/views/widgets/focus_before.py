"""Giving the focus back to what had it, when something that opened over it closes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid


class FocusBefore:
    """Remembers the widget that had the focus. Where that was deleted or hidden meanwhile, `otherwise` takes it."""

    def __init__(self, otherwise: Callable[[], None]) -> None:
        self.otherwise = otherwise
        self._widget: QWidget | None = None

    def remember(self) -> None:
        self._widget = QApplication.focusWidget()

    @property
    def widget(self) -> QWidget | None:
        """None where nothing is remembered, or it was deleted."""
        return self._widget if self._widget is not None and isValid(self._widget) else None

    def forget(self) -> None:
        """The focus stays where the user has put it."""
        self._widget = None

    def give_back(self) -> None:
        widget, self._widget = self._widget, None
        if widget is not None and isValid(widget) and widget.isVisible():
            widget.setFocus(Qt.FocusReason.OtherFocusReason)
        elif widget is not None:
            self.otherwise()
