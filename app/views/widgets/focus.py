"""Focus: mixin for rings after keyboard focus, restoring the focus, and tab order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget
from shiboken6 import isValid

from app.views.widgets.mixins import BeforeArea, BeforeWidget

_BY_KEY = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
# A menu or another window that has the focus for a while: how it came here stays as it was.
_FOR_A_WHILE = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)
_SAME_LINE_PX = 6  # between the middles of what is beside one another


class FocusRing(BeforeWidget):
    """Comes before the Qt class of a widget that paints its own ring: on what was reached by key, not by a click."""

    _by_key = False

    @property
    def reason(self) -> Qt.FocusReason:
        """How it got the focus, for widgets that take the focus and give it back."""
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


class PaintsFocus(BeforeArea):
    """Comes before the Qt class of an area whose viewport shows whether it has the focus."""

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()


class OwnFindKey(BeforeWidget):
    """Comes before the Qt class of a widget in which the find key is not the chat's: it calls `begin_search`."""

    def begin_search(self) -> None:
        raise NotImplementedError

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and _is_find(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _is_find(event):
            self.begin_search()
        else:
            super().keyPressEvent(event)


def _is_find(event: QEvent) -> bool:
    return isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Find)


class FocusBefore:
    """Remembers the focused widget. If it was deleted or hidden meanwhile, `otherwise` gets the focus."""

    def __init__(self, otherwise: Callable[[], None]) -> None:
        self._otherwise = otherwise
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
        widget = self._widget
        self._widget = None
        if widget is not None and isValid(widget) and widget.isVisible():
            widget.setFocus(Qt.FocusReason.OtherFocusReason)
        elif widget is not None:
            self._otherwise()


def put_in_tab_order(before: QWidget, page: QWidget) -> None:
    """Set the tab order from `before` through the visible widgets, line by line; by default it is their creation."""
    chain([before, *in_reading_order(page)])


def chain(widgets: Sequence[QWidget]) -> None:
    """Tab goes from each to the next."""
    for one, other in pairwise(widgets):
        QWidget.setTabOrder(one, other)


def in_reading_order(page: QWidget) -> list[QWidget]:
    """All that takes Tab; of a button or field that is higher than its line, the middle counts.

    What scrolls comes whole where its area begins, wherever it is scrolled to.
    """
    shown = [each for each in page.findChildren(QWidget) if _takes_tab(each) and each.isVisibleTo(page)]
    lines: list[list[_Place]] = []
    for place in sorted((_place(each, page) for each in shown), key=lambda each: (each.top, each.y, each.x)):
        first = lines[-1][0] if lines else None
        if first is None or place.area is not first.area or place.y - first.y > _SAME_LINE_PX:
            lines.append([])
        lines[-1].append(place)
    return [place.widget for line in lines for place in sorted(line, key=lambda each: each.x)]


def row_in_focus(rows: Sequence[QWidget]) -> int | None:
    """The place of the row that has the focus, before it is replaced."""
    focused = QApplication.focusWidget()
    return next((at for at, row in enumerate(rows) if focused is not None and row.isAncestorOf(focused)), None)


def focus_row(rows: Sequence[QWidget], at: int | None, otherwise: QWidget | None = None) -> None:
    """What took the place of the row that had the focus gets it, or the last; Qt would go to the window's beginning.

    `otherwise`: gets it where no row is left.
    """
    if at is None:
        return
    stops = [] if otherwise is None else [otherwise]
    if rows:
        row = rows[min(at, len(rows) - 1)]
        row.show()  # a layout shows what was added to it later, and it takes no focus until then
        stops = in_reading_order(row)
    for first in stops[:1]:
        first.setFocus(Qt.FocusReason.TabFocusReason)


class _Place(NamedTuple):
    top: int  # of the area that it scrolls with, or `y`
    y: int
    x: int
    area: QWidget | None
    widget: QWidget


def _place(widget: QWidget, page: QWidget) -> _Place:
    middle = widget.mapTo(page, QPoint(widget.width() // 2, widget.height() // 2))
    area = None
    parent = widget.parentWidget()
    while parent is not None and parent is not page:
        area = parent if isinstance(parent, QAbstractScrollArea) else area
        parent = parent.parentWidget()
    top = middle.y() if area is None else area.mapTo(page, QPoint()).y()
    return _Place(top, middle.y(), middle.x(), area, widget)


def _takes_tab(widget: QWidget) -> bool:
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.focusProxy() is None
