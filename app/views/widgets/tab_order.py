"""Tab through a page as it is read: Qt goes through widgets as they were made, many of them when they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QWidget

_SAME_LINE_PX = 6  # between the middles of what is beside one another


def put_in_tab_order(before: QWidget, page: QWidget) -> None:
    """Tab goes on from `before` through what the page shows: line by line, from the left."""
    chain([before, *in_reading_order(page)])


def chain(widgets: Sequence[QWidget]) -> None:
    """Tab goes from each to the next."""
    for one, other in pairwise(widgets):
        QWidget.setTabOrder(one, other)


def in_reading_order(page: QWidget) -> list[QWidget]:
    """All that takes Tab; of a button or field that is higher than its line, the middle counts."""
    shown = [each for each in page.findChildren(QWidget) if _takes_tab(each) and each.isVisibleTo(page)]
    lines: list[list[tuple[int, QWidget]]] = []
    line_y = 0
    for y, x, widget in sorted(((*_middle(each, page), each) for each in shown), key=lambda found: found[:2]):
        if not lines or y - line_y > _SAME_LINE_PX:
            lines.append([])
            line_y = y
        lines[-1].append((x, widget))
    return [widget for line in lines for _, widget in sorted(line, key=lambda found: found[0])]


def _middle(widget: QWidget, page: QWidget) -> tuple[int, int]:
    place = widget.mapTo(page, QPoint(widget.width() // 2, widget.height() // 2))
    return place.y(), place.x()


def _takes_tab(widget: QWidget) -> bool:
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.focusProxy() is None
