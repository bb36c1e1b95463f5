"""Widgets side by side that go on in the next line, so that no language and no size is cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

_GAP_PX = 8


T = TypeVar("T")


def in_lines(items: Iterable[T], px_of: Callable[[T], int], width_px: int, gap_px: int) -> list[list[T]]:
    """As many side by side as there is room for."""
    lines: list[list[T]] = []
    used_px = 0
    for item in items:
        if not lines or used_px + px_of(item) > width_px:
            lines.append([])
            used_px = 0
        lines[-1].append(item)
        used_px += px_of(item) + gap_px
    return lines


def put_in_lines(widgets: Iterable[QWidget], at: QPoint, width_px: int, gap_px: int, line_gap_px: int) -> int:
    """Where nothing else lays them out. Returns where they end."""
    x = at.x()
    y = bottom = at.y()
    for widget in widgets:
        size = widget.sizeHint()
        if x > at.x() and x + size.width() > at.x() + width_px:
            x = at.x()
            y = bottom + line_gap_px
        widget.setGeometry(x, y, min(size.width(), width_px), size.height())
        x += size.width() + gap_px
        bottom = y + size.height()
    return bottom


class Flow(QLayout):
    """Each widget as wide as it likes to be. A hidden one takes no room."""

    def __init__(self, parent: QWidget | None = None, *widgets: QWidget) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(_GAP_PX)
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802 - Qt's name
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802 - Qt's name
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._lay(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, area: QRect) -> None:  # noqa: N802 - Qt's name
        super().setGeometry(area)
        self._lay(area, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:  # noqa: N802 - Qt's name
        """Whatever is wider than the layout gets the layout's width."""
        return QSize(0, max((item.sizeHint().height() for item in self._items if not item.isEmpty()), default=0))

    def _lay(self, area: QRect, *, move: bool) -> int:
        """How high it becomes. What is lower than its line is in the middle of it."""
        y = area.y()
        for line in self._lines(area.width()):
            line_px = max(size.height() for _, size in line)
            x = area.x()
            for item, size in line:
                if move:
                    item.setGeometry(QRect(QPoint(x, y + (line_px - size.height()) // 2), size))
                x += size.width() + self.spacing()
            y += line_px + self.spacing()
        return max(0, y - self.spacing() - area.y())

    def _lines(self, width_px: int) -> list[list[tuple[QLayoutItem, QSize]]]:
        shown = ((item, item.sizeHint()) for item in self._items if not item.isEmpty())
        sized = ((item, QSize(min(hint.width(), width_px), hint.height())) for item, hint in shown)
        return in_lines(sized, lambda each: each[1].width(), width_px, self.spacing())
