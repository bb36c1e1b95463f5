"""The messages whose icons are shown: under the pointer, and the one in focus."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.views.transcript.message_column import MessageColumn


class Highlights(QObject):
    changed = Signal()

    def __init__(self, column: MessageColumn, width_px: Callable[[], int]) -> None:
        super().__init__()
        self.focused: int | None = None  # rows
        self._hovered: int | None = None
        self._before: tuple[int | None, int | None] = (None, None)  # what was focused and hovered when rows went
        self._column = column
        self._width_px = width_px

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

    def forget(self) -> None:
        """The rows mean other messages now."""
        self._before = (self.focused, self._hovered)
        self.focused = self._hovered = None

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
                    item.sync(self._width_px())
        self.changed.emit()
