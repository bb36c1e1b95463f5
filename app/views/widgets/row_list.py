"""Lists whose rows a delegate paints: no frame, thin scroll bars, rows as wide as the list."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyle, QWidget

from app.theme import Theme
from app.views.widgets.focus import FocusRing
from app.views.widgets.held_keys import presses
from app.views.widgets.mixins import BeforeList
from app.views.widgets.scrolling import RestingBar, ThinScrollBars

Index = QModelIndex | QPersistentModelIndex


def set_up_row_list(view: QListView, theme: Theme) -> None:
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setAttribute(Qt.WidgetAttribute.WA_MacShowFocusRect, False)
    view.viewport().setAutoFillBackground(False)
    view.setMouseTracking(True)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    theme.changed.connect(view.scheduleDelayedItemsLayout)
    ThinScrollBars(view, theme)
    RestingBar(view.verticalScrollBar())


class RowRing(FocusRing, BeforeList):
    """Comes before the Qt class of a list: a ring shows once the keyboard is used in it, until a click."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._by_key = True
        self.viewport().update()
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._by_key = False
        self.viewport().update()
        super().mousePressEvent(event)


class ChoiceList(RowRing, QListView):
    """A row is chosen by a click, Return or Space; `value_of` says what that chooses.

    A click counts where button down and button up meet the same value, also if the rows were made again in between.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._pressed: str | None = None
        set_up_row_list(self, theme)
        self.setResizeMode(QListView.ResizeMode.Adjust)

    def value_of(self, index: Index) -> str | None:
        """None where the row cannot be chosen."""
        raise NotImplementedError

    def rings(self, state: QStyle.StateFlag) -> bool:
        """Whether the ring is on the row with this state."""
        return self.has_ring and bool(state & QStyle.StateFlag.State_HasFocus)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = self._value_at(event)
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        pressed = self._pressed
        self._pressed = None
        if pressed is not None and self._value_at(event) == pressed:
            self.chosen.emit(pressed)

    def _value_at(self, event: QMouseEvent) -> str | None:
        """None for other buttons than the left one."""
        is_left = event.button() == Qt.MouseButton.LeftButton
        return self.value_of(self.indexAt(event.position().toPoint())) if is_left else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not presses(event, lambda: self.choose(self.currentIndex()), and_space=True):
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()

    def doItemsLayout(self) -> None:
        """Lays out again where that has brought or taken a scroll bar: Qt does not always report the new width."""
        width = self.viewport().width()
        super().doItemsLayout()
        if self.viewport().width() != width:
            self.scheduleDelayedItemsLayout()

    def choose(self, index: QModelIndex) -> None:
        value = self.value_of(index)
        if value is not None:
            self.chosen.emit(value)
