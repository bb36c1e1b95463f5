"""Following the interface's language while the app runs."""

from __future__ import annotations

from PySide6.QtCore import QEvent

from app.views.widgets.mixins import BeforeWidget


class Translated(BeforeWidget):
    """Comes before the Qt class of a widget. The widget sets all its words in `_retranslate` and calls it once itself;
    it is called again whenever the language changes.
    """

    def _retranslate(self) -> None:
        raise NotImplementedError

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)
