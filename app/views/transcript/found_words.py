"""Painting of search results in a text: each tinted, the current one filled and underlined."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QRectF
from PySide6.QtGui import QAbstractTextDocumentLayout, QPainter, QTextCursor, QTextDocument

from app.markup.lines import line_rects
from app.theme import Theme
from app.views.transcript.selection import TextRange
from app.views.widgets.painting import found_format

Selection = QAbstractTextDocumentLayout.Selection
# Qt repaints a line for each selection on it. MEASURED: 1,000 selections in one text, 1.6 s.
_MANY = 100


class FoundWords:
    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._shown: tuple[tuple[TextRange, ...], int | None] = ((), None)
        self._cursors: list[QTextCursor] = []

    @property
    def words(self) -> list[str]:
        """The highlighted ranges."""
        return [cursor.selectedText() for cursor in self._cursors]

    @property
    def current(self) -> str | None:
        number = self._shown[1]
        return None if number is None or number >= len(self._cursors) else self._cursors[number].selectedText()

    def show(self, document: QTextDocument, ranges: Sequence[TextRange], current: int | None) -> bool:
        """Returns whether anything has changed."""
        shown = tuple(ranges), current
        if shown == self._shown:
            return False
        self._shown = shown
        self._cursors = [_cursor_over(document, text_range) for text_range in ranges]
        return True

    def clear(self) -> None:
        """The document was written again."""
        self._shown = ((), None)
        self._cursors = []

    def selections(self) -> list[Selection]:
        """Selections for Qt to paint: all, or the current one if there are many."""
        current = self._shown[1]
        many = len(self._cursors) > _MANY
        return [
            self._selection(cursor, number == current)
            for number, cursor in enumerate(self._cursors)
            if number == current or not many
        ]

    def paint_grounds(self, painter: QPainter, clip: QRectF) -> None:
        """Paint the rest below the text."""
        for cursor in self._cursors if len(self._cursors) > _MANY else ():
            for rect in line_rects(cursor.document(), cursor.selectionStart(), cursor.selectionEnd()):
                if rect.intersects(clip):
                    top = math.floor(rect.top())
                    rect.setRect(rect.left(), top, rect.width(), math.ceil(rect.bottom()) - top)
                    painter.fillRect(rect, self._theme.palette.found)

    def _selection(self, cursor: QTextCursor, current: bool) -> Selection:
        result = Selection()
        result.cursor = cursor
        result.format = found_format(self._theme, current)
        return result


def _cursor_over(document: QTextDocument, text_range: TextRange) -> QTextCursor:
    cursor = QTextCursor(document)
    end = document.characterCount() - 1
    cursor.setPosition(min(text_range[0], end))
    last = end if text_range[1] is None else min(text_range[1], end)
    cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
    return cursor
