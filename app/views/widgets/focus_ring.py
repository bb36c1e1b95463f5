"""Where a ring shows the focus: on what was reached by key, not on what was clicked."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent

from app.views.widgets.mixins import BeforeWidget

_BY_KEY = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
# A menu or another window that has the focus for a while: how it came here stays as it was.
_FOR_A_WHILE = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)


class FocusRing(BeforeWidget):
    """Comes before the Qt class of a widget that paints its own ring."""

    _by_key = False

    @property
    def reason(self) -> Qt.FocusReason:
        """How it was reached, for who takes its focus and gives it back."""
        return Qt.FocusReason.ShortcutFocusReason if self._by_key else Qt.FocusReason.OtherFocusReason

    @property
    def has_ring(self) -> bool:
        return self._by_key and self.hasFocus()

    def focusInEvent(self, event: QFocusEvent) -> None:
        if event.reason() not in _FOR_A_WHILE:
            self._by_key = event.reason() in _BY_KEY
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        if event.reason() not in _FOR_A_WHILE:
            self._by_key = False
        super().focusOutEvent(event)
