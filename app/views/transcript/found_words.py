"""What a search in the chat found in one text, as it is painted: each tinted, the current one filled and underlined."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QAbstractTextDocumentLayout, QTextCursor, QTextDocument

from app.theme import Theme
from app.views.transcript.selection import Stretch
from app.views.widgets.found_format import found_format

Selection = QAbstractTextDocumentLayout.Selection


class FoundWords:
    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._shown: tuple[tuple[Stretch, ...], int | None] = ((), None)
        self._cursors: list[QTextCursor] = []

    @property
    def words(self) -> list[str]:
        """What is lit."""
        return [cursor.selectedText() for cursor in self._cursors]

    @property
    def current(self) -> str | None:
        number = self._shown[1]
        return None if number is None or number >= len(self._cursors) else self._cursors[number].selectedText()

    def show(self, document: QTextDocument, stretches: Sequence[Stretch], current: int | None) -> bool:
        """Returns whether anything has changed."""
        shown = tuple(stretches), current
        if shown == self._shown:
            return False
        self._shown = shown
        self._cursors = [_cursor_over(document, stretch) for stretch in stretches]
        return True

    def clear(self) -> None:
        """The document was written anew."""
        self._shown, self._cursors = ((), None), []

    def selections(self) -> list[Selection]:
        return [self._selection(cursor, number == self._shown[1]) for number, cursor in enumerate(self._cursors)]

    def _selection(self, cursor: QTextCursor, current: bool) -> Selection:
        result = Selection()
        result.cursor, result.format = cursor, found_format(self._theme, current)
        return result


def _cursor_over(document: QTextDocument, stretch: Stretch) -> QTextCursor:
    cursor = QTextCursor(document)
    end = document.characterCount() - 1
    cursor.setPosition(min(stretch[0], end))
    last = end if stretch[1] is None else min(stretch[1], end)
    cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
    return cursor
