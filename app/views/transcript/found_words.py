"""Painting of search results in a text: each tinted, the current one filled and underlined."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QAbstractTextDocumentLayout, QPainter, QTextCursor, QTextDocument

from app.markup.lines import line_rects
from app.theme import Theme
from app.views.widgets.painting import found_format

Range = tuple[int, int]
Selection = QAbstractTextDocumentLayout.Selection
# Qt repaints a line for each selection on it. MEASURED: 1,000 selections in one text, 1.6 s.
_MANY = 100


class FoundWords:
    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._document: QTextDocument | None = None
        self._ranges: tuple[Range, ...] = ()
        self._current: int | None = None

    def show(self, document: QTextDocument, ranges: Sequence[Range], current: int | None) -> bool:
        """`ranges` are in order. Returns whether anything has changed."""
        shown = (tuple(ranges), current)
        if shown == (self._ranges, self._current):
            return False
        self._document = document
        self._ranges, self._current = shown
        return True

    def clear(self) -> None:
        """The document was written again."""
        self._document = None
        self._ranges = ()
        self._current = None

    def selections(self) -> list[Selection]:
        """Selections for Qt to paint: all, or the current one if there are many."""
        current = self._current_range()
        painted = self._ranges if len(self._ranges) <= _MANY else current
        return [self._selection(text_range, text_range in current) for text_range in painted]

    def paint_grounds(self, painter: QPainter, clip: QRectF) -> None:
        """Paint the rest below the text."""
        if self._document is None or len(self._ranges) <= _MANY:
            return
        for start, end in _joined(self.ranges_within(clip)):
            for rect in line_rects(self._document, start, end):
                if rect.intersects(clip):
                    top = math.floor(rect.top())
                    rect.setRect(rect.left(), top, rect.width(), math.ceil(rect.bottom()) - top)
                    painter.fillRect(rect, self._theme.palette.found)

    def ranges_within(self, clip: QRectF) -> Iterator[Range]:
        """Those on the lines that are painted, about."""
        first = self._line_at(clip.topLeft())[0]
        last = self._line_at(clip.bottomRight())[1]
        for text_range in self._ranges[bisect_left(self._ranges, first, key=lambda each: each[1]) :]:
            if text_range[0] > last:
                return
            yield text_range

    def _line_at(self, point: QPointF) -> Range:
        """Where the line there begins and ends."""
        assert self._document is not None
        place = self._document.documentLayout().hitTest(point, Qt.HitTestAccuracy.FuzzyHit)
        block = self._document.findBlock(place)
        line = block.layout().lineForTextPosition(place - block.position())
        start = block.position() + (line.textStart() if line.isValid() else 0)
        return start, start + (line.textLength() if line.isValid() else block.length())

    def _current_range(self) -> tuple[Range, ...]:
        """None or one."""
        number = self._current
        return () if number is None or number >= len(self._ranges) else (self._ranges[number],)

    def _cursor(self, text_range: Range) -> QTextCursor:
        assert self._document is not None
        cursor = QTextCursor(self._document)
        end = self._document.characterCount() - 1
        cursor.setPosition(min(text_range[0], end))
        cursor.setPosition(min(text_range[1], end), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _selection(self, text_range: Range, is_current: bool) -> Selection:
        result = Selection()
        result.cursor = self._cursor(text_range)
        result.format = found_format(self._theme, is_current)
        return result


def _joined(ranges: Iterator[Range]) -> Iterator[Range]:
    """Those that touch, as one."""
    start = end = -1
    for first, last in ranges:
        if first > end:
            if end >= 0:
                yield start, end
            start = first
        end = max(end, last)
    if end >= 0:
        yield start, end
