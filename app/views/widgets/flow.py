"""A row of widgets that goes on in the next line where it is too narrow."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

_GAP_PX = 8


class Flow(QLayout):
    """Each widget as wide as it likes to be. A hidden one takes no room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802 - Qt's name
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        places = self._places(width)
        return max((place.bottom() + 1 for _, place in places), default=0)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:  # noqa: N802
        sizes = [item.sizeHint() for item in self._items if not item.isEmpty()]
        widest = max((size.width() for size in sizes), default=0)
        return QSize(widest, max((size.height() for size in sizes), default=0))

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802
        super().setGeometry(rect)
        for item, place in self._places(rect.width()):
            item.setGeometry(place.translated(rect.topLeft()))

    def _places(self, width: int) -> list[tuple[QLayoutItem, QRect]]:
        places: list[tuple[QLayoutItem, QRect]] = []
        at, line_height = QPoint(0, 0), 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            if at.x() and at.x() + size.width() > width:
                at, line_height = QPoint(0, at.y() + line_height + _GAP_PX), 0
            places.append((item, QRect(at, size)))
            at, line_height = QPoint(at.x() + size.width() + _GAP_PX, at.y()), max(line_height, size.height())
        return places
