"""A layout that sets widgets side by side and goes on in the next line, so that no language and no size is cut off."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    def __init__(self, spacing_px: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing_px)

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
        return QSize(0, max((item.sizeHint().height() for item in self._items), default=0))

    def _lay(self, area: QRect, *, move: bool) -> int:
        """How high it becomes."""
        x, y, line_px = area.x(), area.y(), 0
        for item in self._items:
            hint = item.sizeHint()
            size = QSize(min(hint.width(), area.width()), hint.height())
            if x + size.width() > area.right() + 1 and x > area.x():
                x, y, line_px = area.x(), y + line_px + self.spacing(), 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), size))
            x, line_px = x + size.width() + self.spacing(), max(line_px, size.height())
        return y + line_px - area.y()
