"""The messages whose icons are shown: under the pointer, and the one in focus."""

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.views.transcript.message_column import MessageColumn
from app.views.transcript.sight import Sight


class Highlights(QObject):
    changed = Signal()

    def __init__(self, column: MessageColumn, sight: Sight, viewport: QWidget) -> None:
        super().__init__(viewport)
        self.focused: int | None = None  # rows
        self._hovered: int | None = None
        self._before: tuple[int | None, int | None] = (None, None)  # what was focused and hovered when rows went
        self._column = column
        self._sight = sight
        self._viewport = viewport

    def follow_pointer(self) -> None:
        """It may have left the messages, but not for a menu: what that was opened at stays until it closes."""
        menu = QApplication.activePopupWidget()
        if isinstance(menu, QMenu) and menu.isVisible():
            menu.aboutToHide.connect(self.follow_pointer, Qt.ConnectionType.QueuedConnection)
            return
        pointed = QApplication.widgetAt(QCursor.pos())
        inside = pointed is not None and (pointed is self._viewport or self._viewport.isAncestorOf(pointed))
        y_px = self._viewport.mapFromGlobal(QCursor.pos()).y() + self._sight.top_px()
        self.hover(self._column.row_at(y_px) if inside else None)

    def hover(self, row: int | None) -> None:
        self._before = (self._before[0], None)
        if row != self._hovered:
            before, self._hovered = self._hovered, row
            self._show(before, row)

    def focus(self, row: int | None) -> None:
        self._before = (None, self._before[1])
        if row != self.focused:
            before, self.focused = self.focused, row
            self._show(before, row)

    def focused_message(self) -> int | None:
        return None if self.focused is None else self._column.items[self.focused].message.id

    def forget(self) -> None:
        """The rows mean other messages now."""
        self._before = (self.focused, self._hovered)
        self.focused = self._hovered = None

    def shift(self, count: int) -> None:
        """So many messages have come before all others."""
        self._before = _shifted(self._before[0], count), _shifted(self._before[1], count)
        self.focused, self._hovered = _shifted(self.focused, count), _shifted(self._hovered, count)

    def go_on(self, first: int, count: int) -> None:
        """Messages went: the focus stays on its own, or is on the one that stands in its place now."""
        focused, rows = self._before[0], len(self._column.items)
        if focused is not None and self.focused is None and rows:
            gone = min(count, focused - first) if focused >= first else 0
            self.focus(min(focused - gone, rows - 1))

    def restore(self, row: int) -> None:
        """A message has come: it takes the place of one that went from there, as another version does."""
        focused, hovered = self._before
        if row == focused and row < len(self._column.items):
            self.focus(row)
        if row == hovered and row < len(self._column.items):
            self.hover(row)

    def _show(self, *rows: int | None) -> None:
        for row in rows:
            if row is not None and row < len(self._column.items):
                item = self._column.items[row]
                item.highlighted = row in (self._hovered, self.focused)
                if item.is_read:
                    item.sync(self._sight.column_px())
        self.changed.emit()


def _shifted(row: int | None, count: int) -> int | None:
    return None if row is None else row + count
