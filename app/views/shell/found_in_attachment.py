"""What a search has found in the text of an attachment, while it is laid out: lit, and the first brought into sight."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QTextBlock, QTextCursor
from PySide6.QtWidgets import QTextEdit

from app.markup.folding import occurrences_of_any
from app.theme import Theme
from app.views.widgets.found_format import found_format
from app.views.widgets.long_text import LongText

_MOST = 1000  # are lit


class FoundInAttachment(QObject):
    def __init__(self, theme: Theme, text: LongText, words: Sequence[str]) -> None:
        super().__init__(text)
        self._theme = theme
        self._text = text
        self._words = tuple(words)
        self._read = 0  # blocks
        self._found: list[QTextCursor] = []
        self._current = 0
        theme.changed.connect(self._light)

    def read_on(self, *, is_whole: bool) -> None:
        """What was appended since; the last line only when nothing comes behind it."""
        if not self._words:
            return
        before = len(self._found)
        block = self._text.document().findBlockByNumber(self._read)
        while block.isValid() and (is_whole or block.next().isValid()) and len(self._found) < _MOST:
            self._found += [_cursor_over(block, *span) for span in occurrences_of_any(block.text(), self._words)]
            self._read, block = self._read + 1, block.next()
        if len(self._found) > before:
            if not before and not self._text.verticalScrollBar().value():  # nobody reads elsewhere meanwhile
                self._show_current()
            self._light()

    def step(self, direction: int) -> None:
        """To the next one (1), the one before (-1) or the current one; behind the last comes the first."""
        if self._found:
            self._current = (self._current + direction) % len(self._found)
            self._show_current()
            self._light()

    def _show_current(self) -> None:
        cursor = QTextCursor(self._found[self._current])
        cursor.setPosition(cursor.selectionStart())
        self._text.setTextCursor(cursor)
        self._text.centerCursor()

    def _light(self) -> None:
        self._text.setExtraSelections(
            [self._lit(cursor, number == self._current) for number, cursor in enumerate(self._found)]
        )

    def _lit(self, cursor: QTextCursor, current: bool) -> QTextEdit.ExtraSelection:
        result = QTextEdit.ExtraSelection()
        result.cursor, result.format = cursor, found_format(self._theme, current)
        return result


def _cursor_over(block: QTextBlock, first: int, last: int) -> QTextCursor:
    """`first` and `last` count characters, Qt's places words of 16 bits."""
    text, cursor = block.text(), QTextCursor(block)
    start = block.position() + _words_of_16_bits(text[:first])
    cursor.setPosition(start)
    cursor.setPosition(start + _words_of_16_bits(text[first:last]), QTextCursor.MoveMode.KeepAnchor)
    return cursor


def _words_of_16_bits(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
