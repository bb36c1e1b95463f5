"""Fields that keep an input method's composition: leaving or hiding one commits it.

`Composing` comes before the field's own class, so that it gets events first.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QGuiApplication, QHideEvent, QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QApplication

from app.views.widgets.held_keys import RETURN_KEYS
from app.views.widgets.mixins import BeforeWidget


class Composing(BeforeWidget):
    composed = ""  # what an input method has not committed yet

    @property
    def is_composing(self) -> bool:
        return bool(self.composed)

    def ends_composition(self, event: QKeyEvent) -> bool:
        """Whether a key is the input method's, though the system hands it on: it sends, closes and breaks nothing."""
        return self.is_composing and event.key() in (*RETURN_KEYS, Qt.Key.Key_Escape)

    def commit(self) -> None:
        """Ends a composition as if it had been confirmed, also where the input method does not answer."""
        if self.composed:
            QGuiApplication.inputMethod().commit()
        if self.composed:
            event = QInputMethodEvent()
            event.setCommitString(self.composed)
            QApplication.sendEvent(self, event)
            QGuiApplication.inputMethod().reset()  # or it would commit the same later

    def drop_composed(self) -> None:
        if self.composed:
            QGuiApplication.inputMethod().reset()
        if self.composed:
            QApplication.sendEvent(self, QInputMethodEvent())

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self.composed = event.preeditString()
        super().inputMethodEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.commit()
        super().focusOutEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self.commit()
        super().hideEvent(event)
