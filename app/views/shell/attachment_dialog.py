"""A window that shows the text of an attachment, to read and to search. Nothing in it opens or runs anything."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QPalette, QShortcut, QShowEvent, QTextBlock, QTextCursor, QTextOption
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QTextEdit, QVBoxLayout, QWidget

from app.markup.folding import occurrences_of_any
from app.theme import CODE_PX, Theme
from app.view_models.transcript import Attachment, AttachmentKind
from app.views.widgets.attachment_chip import AttachmentChip, content_of
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.found_format import found_format
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.long_text import LongText
from app.views.widgets.plain_words import set_window_title
from app.views.widgets.scrolling import ThinScrollBars
from app.views.widgets.translated import Translated

_STEP_CHARACTERS = 100_000  # laid out at one go


# What a search has found in the text of an attachment, while it is laid out: lit, and the first brought into sight.


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
        """What was appended since; the last line only when nothing comes after it."""
        if not self._words:
            return
        before = len(self._found)
        block = self._text.document().findBlockByNumber(self._read)
        while block.isValid() and (is_whole or block.next().isValid()) and len(self._found) < _MOST:
            self._found += [_cursor_over(block, *span) for span in occurrences_of_any(block.text(), self._words)]
            self._read, block = self._read + 1, block.next()
        if len(self._found) > before:
            if not before and not self._text.verticalScrollBar().value():  # the user has not scrolled meanwhile
                self._show_current()
            self._light()

    def step(self, direction: int) -> None:
        """To the next one (1), the one before (-1) or the current one; after the last comes the first."""
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


class AttachmentDialog(Translated, QDialog):
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
    ) -> None:
        """`words` are lit in it, and the first of them is in sight."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._theme = theme
        self._attachment = attachment
        self._shown = 0  # characters of the text
        self.facts = TextLabel(theme, TextStyle.SECONDARY, self)
        self.text = LongText(self)
        self._found = FoundInAttachment(theme, self.text, words)
        self.put_back = PillButton(theme, Emphasis.PLAIN, parent=self)
        self.put_back.setVisible(can_put_back)
        self.remove = PillButton(theme, Emphasis.PLAIN, parent=self)
        self.remove.setVisible(can_remove)
        self.close_button = PillButton(theme, Emphasis.PRIMARY, parent=self)
        self._more = QTimer(self, interval=0)
        self._more.timeout.connect(self._show_more)
        self._arrange()
        self.put_back.clicked.connect(self._put_back)
        self.remove.clicked.connect(self._remove)
        self.close_button.clicked.connect(self.accept)
        for key, direction in (
            (QKeySequence.StandardKey.FindNext, 1),
            (QKeySequence.StandardKey.FindPrevious, -1),
        ):
            QShortcut(key, self).activated.connect(lambda direction=direction: self._found.step(direction))
        theme.changed.connect(self._restyle)
        self._restyle()
        self._retranslate()
        self._show_more()
        self._more.start()

    def _arrange(self) -> None:
        self.resize(self._theme.px(720), self._theme.px(560))
        self.text.setReadOnly(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setUndoRedoEnabled(False)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        ThinScrollBars(self.text, self._theme)
        buttons = QHBoxLayout()
        buttons.addWidget(self.put_back)
        buttons.addWidget(self.remove)
        buttons.addStretch(1)
        buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 14, 18, 14)
        column.setSpacing(10)
        column.addWidget(self.facts)
        column.addWidget(self.text, 1)
        column.addLayout(buttons)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._found.step(0)  # to the middle of a page whose height is known only now

    def _show_more(self) -> None:
        """A long text comes in steps, so that nothing freezes; the first is there at once."""
        text = self._attachment.text
        end = min(len(text), self._shown + _STEP_CHARACTERS)
        self.text.append(text[self._shown : end])
        self._shown = end
        if end == len(text):
            self._more.stop()
        self._found.read_on(is_whole=end == len(text))

    def _put_back(self) -> None:
        self.put_back_requested.emit()
        self.accept()

    def _remove(self) -> None:
        self.remove_requested.emit()
        self.accept()

    def _retranslate(self) -> None:
        chip = AttachmentChip(self._theme, content_of(self._attachment), self, removable=False)
        title, detail = chip.title(), chip.detail()
        chip.deleteLater()
        chip.hide()
        set_window_title(self, title)
        missing = self._attachment.kind is AttachmentKind.NOTE
        self.facts.setText(self.tr("The import did not include this file.") if missing else detail)
        self.text.setAccessibleName(title)
        self.put_back.setText(self.tr("Insert into Message"))
        self.remove.setText(self.tr("Remove from Message"))
        self.close_button.setText(self.tr("Close"))

    def _restyle(self) -> None:
        colors = self._theme.palette
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Window, colors.window)
        self.setPalette(palette)
        inner = QPalette(self.text.palette())
        inner.setColor(QPalette.ColorRole.Base, colors.surface)
        inner.setColor(QPalette.ColorRole.Text, colors.text)
        self.text.setPalette(inner)
        self.text.setFont(self._theme.mono_font(CODE_PX))
