"""What an input method, the clipboard and a drag send to a field."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.views.widgets.long_text import LongText


def compose(field: QWidget, preedit: str, commit: str = "") -> None:
    event = QInputMethodEvent(preedit, [])
    event.setCommitString(commit)
    QApplication.sendEvent(field, event)


def text_data(text: str) -> QMimeData:
    data = QMimeData()
    data.setText(text)
    return data


def paste(field: LongText, text: str) -> None:
    field.insertFromMimeData(text_data(text))


def drag_over(widget: QWidget, data: QMimeData, place: QPoint) -> bool:
    """Whether it is accepted there."""
    enter = QDragEnterEvent(
        place, Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(widget, enter)
    return enter.isAccepted()


def drop(widget: QWidget, data: QMimeData, place: QPoint) -> None:
    drag_over(widget, data, place)
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(widget, QDropEvent(QPointF(place), Qt.DropAction.CopyAction, data, left, none))
