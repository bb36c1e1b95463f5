"""Unused keys of the window: letters go to the composer, page keys to the messages; also input methods there."""

from __future__ import annotations

import sys

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QInputMethodQueryEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractScrollArea, QAbstractSlider, QApplication, QWidget

from app.views.widgets.held_keys import modifiers_of
from app.views.widgets.message_edit import MessageEdit

_TYPING = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.GroupSwitchModifier
_TYPING_ON_MAC = _TYPING | Qt.KeyboardModifier.AltModifier  # Option writes letters there
_PLACES = (Qt.InputMethodQuery.ImCursorRectangle, Qt.InputMethodQuery.ImAnchorRectangle)
_PAGES = {
    Qt.Key.Key_PageUp: QAbstractSlider.SliderAction.SliderPageStepSub,
    Qt.Key.Key_PageDown: QAbstractSlider.SliderAction.SliderPageStepAdd,
}


class TypeAnywhere(QObject):
    """Unused keys of `window`; and input methods in widgets given to `watch`."""

    took_over = Signal()  # the composer has the focus now

    def __init__(self, window: QWidget, edit: MessageEdit) -> None:
        super().__init__(window)
        self._edit = edit
        self._messages: QAbstractScrollArea | None = None
        window.installEventFilter(self)

    def watch(self, widget: QAbstractScrollArea) -> None:
        """Let an input method compose in `widget` into the composer, which gets the focus at the end.

        Moving the focus earlier would end the composition at its first letter. Page keys scroll the widget.
        """
        self._messages = widget
        widget.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return watched is self.parent() and (self._scroll(event) or self._type(event))
        if isinstance(event, QInputMethodEvent) and self._edit.isVisible():
            self._compose(event)
            return True
        if isinstance(event, QInputMethodQueryEvent) and isinstance(watched, QWidget):
            self._answer(event, watched)
            return True
        return False

    def _scroll(self, event: QKeyEvent) -> bool:
        """By a page, wherever the focus is."""
        area = self._messages
        plain = not modifiers_of(event)
        if event.key() not in _PAGES or not plain or area is None or not area.isVisible():
            return False
        area.verticalScrollBar().triggerAction(_PAGES[Qt.Key(event.key())])
        return True

    def _type(self, event: QKeyEvent) -> bool:
        """Whether the key changes the text: no message begins with a space, and an empty one has nothing to delete."""
        text = event.text()
        changes = (text.isprintable() and bool(text)) or event.key() == Qt.Key.Key_Backspace
        begins = text.isprintable() and bool(text.strip())
        changes = begins or (changes and not self._edit.document().isEmpty())
        typing = _TYPING_ON_MAC if sys.platform == "darwin" else _TYPING
        if modifiers_of(event) & ~typing or not changes or not self._edit.isVisible():
            return False
        self._take_over()
        QApplication.sendEvent(self._edit, event)
        return True

    def _take_over(self) -> None:
        self._edit.setFocus(Qt.FocusReason.OtherFocusReason)
        self.took_over.emit()

    def _compose(self, event: QInputMethodEvent) -> None:
        QApplication.sendEvent(self._edit, event)
        if event.commitString() and not event.preeditString():
            self._take_over()

    def _answer(self, event: QInputMethodQueryEvent, watched: QWidget) -> None:
        """Where the cursor is, in the coordinates of the widget that was asked."""
        QApplication.sendEvent(self._edit, event)
        moved = self._edit.mapTo(self._edit.window(), QPoint()) - watched.mapTo(watched.window(), QPoint())
        for place in _PLACES:
            value = event.value(place) if event.queries() & place else None
            if isinstance(value, QRect | QRectF):
                event.setValue(place, value.translated(moved))
