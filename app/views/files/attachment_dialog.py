"""A window with the text of an attachment, to read and search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent, QTextBlock, QTextCursor
from PySide6.QtWidgets import QTextEdit, QWidget

from app.markup.folding import occurrences_of_any
from app.markup.lines import units
from app.markup.long_lines import LINE_SEPARATOR, goes_on
from app.system.file_manager import can_open, open_file
from app.theme import Theme
from app.view_models.attached import row_of
from app.view_models.transcript import Attachment, AttachmentKind
from app.views.widgets.attachment_chip import AttachmentChip
from app.views.widgets.long_text import LongText
from app.views.widgets.painting import found_format
from app.views.widgets.reading_dialog import ReadingDialog
from app.words.formats import count, fill

_MOST = 1000  # are lit


@dataclass(frozen=True, slots=True)
class Place:
    """What the text is of: a file ("": none), a page of it, or all of it with a line (0: none)."""

    path: str = ""
    page: int = 0
    line: int = 0


class FoundInAttachment(QObject):
    """Search results in the text, or a line: highlights them while it is laid out, and scrolls to the first."""

    def __init__(self, theme: Theme, text: LongText, words: Sequence[str], line: int) -> None:
        super().__init__(text)
        self._theme = theme
        self._text = text
        self._words = tuple(words)
        self._line = line - 1
        self._passed = 0  # lines before the block that is read next
        self._read = 0  # blocks
        self._found: list[QTextCursor] = []
        self._current = 0
        theme.changed.connect(self._light)

    def read_on(self, *, is_whole: bool) -> None:
        """Search appended text; the last line only once the text is complete."""
        if not self._words and self._line < 0:
            return
        before = len(self._found)
        block = self._text.document().findBlockByNumber(self._read)
        while block.isValid() and (is_whole or block.next().isValid()) and len(self._found) < _MOST:
            self._found += [_cursor_over(block, *span) for span in self._spans(block)]
            self._read = self._read + 1
            block = block.next()
        if len(self._found) > before:
            if not before and not self._text.verticalScrollBar().value():  # the user has not scrolled meanwhile
                self._show_current()
            self._light()

    def _spans(self, block: QTextBlock) -> Sequence[tuple[int, int]]:
        if self._line < 0:
            return occurrences_of_any(block.text(), self._words)
        self._passed += bool(block.blockNumber()) and not goes_on(block)
        lines = block.text().split(LINE_SEPARATOR)
        at = self._line - self._passed
        self._passed += len(lines) - 1
        if goes_on(block) or not 0 <= at < len(lines):
            return ()
        start = sum(len(each) + 1 for each in lines[:at])
        return ((start, start + len(lines[at])),)

    def step(self, direction: int) -> None:
        """Go to the next result (1), the previous (-1) or the current one; wraps around."""
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
        result.cursor = cursor
        result.format = found_format(self._theme, current)
        return result


def _cursor_over(block: QTextBlock, first: int, last: int) -> QTextCursor:
    """`first` and `last` count characters, Qt's places words of 16 bits."""
    text = block.text()
    cursor = QTextCursor(block)
    start = block.position() + units(text[:first])
    cursor.setPosition(start)
    cursor.setPosition(start + units(text[first:last]), QTextCursor.MoveMode.KeepAnchor)
    return cursor


class AttachmentDialog(ReadingDialog):
    put_back_requested = Signal()
    remove_requested = Signal()

    def __init__(
        self,
        theme: Theme,
        attachment: Attachment,
        parent: QWidget,
        *,
        can_put_back: bool = False,
        can_remove: bool = False,
        words: Sequence[str] = (),
        place: Place | None = None,
    ) -> None:
        """`words`, or the line of `place`, are highlighted, and the first is scrolled to."""
        super().__init__(theme, parent)
        self._attachment = attachment
        self._place = place or Place()
        self._found = FoundInAttachment(theme, self.text, words, self._place.line)
        self.put_back = self.add_button()
        self.remove = self.add_button()
        self.put_back.setVisible(can_put_back)
        self.remove.setVisible(can_remove)
        self.open_button = self.add_button()
        self.open_button.setVisible(bool(self._place.path))
        self.open_button.clicked.connect(lambda: open_file(self._place.path))
        for button, requested in ((self.put_back, self.put_back_requested), (self.remove, self.remove_requested)):
            button.clicked.connect(requested)
            button.clicked.connect(self.accept)
        for key, direction in (
            (QKeySequence.StandardKey.FindNext, 1),
            (QKeySequence.StandardKey.FindPrevious, -1),
        ):
            QShortcut(key, self).activated.connect(lambda direction=direction: self._found.step(direction))
        self._retranslate()
        self.show_text(attachment.text)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._found.step(0)  # to the middle of a page whose height is known only now

    def read_on(self, *, is_whole: bool) -> None:
        self._found.read_on(is_whole=is_whole)

    def _retranslate(self) -> None:
        row = row_of(self._attachment, tokens=self._attachment.tokens or None)
        chip = AttachmentChip(self._theme, row, self, removable=False)
        title = chip.title()
        detail = chip.detail()
        chip.deleteLater()
        chip.hide()
        if self._attachment.kind is AttachmentKind.NOTE:
            detail = self.tr("Not included in the import.")
        elif self._place.page:
            detail = fill(self.tr("Page %1"), count(self._place.page))
        elif self._place.line:
            detail = fill(self.tr("Line %1"), count(self._place.line))
        self.name(title, detail)
        opens = can_open(self._place.path)
        self.open_button.setText(self.tr("Open the File") if opens else self.tr("Show in Folder"))
        self.put_back.setText(self.tr("Insert into Message"))
        self.remove.setText(self.tr("Remove from Message"))
