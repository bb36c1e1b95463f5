"""Settings → Server: what a program's file will say, before it is written."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from app.theme import CODE_PX, Theme
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.long_text import LongText
from app.views.widgets.scrolling import ThinScrollBars
from app.words.formats import fill

_WIDTH_PX = 620
_MOST_LINES = 16  # in sight at once
_MARGIN_PX = 8
_STRENGTH = 36  # of the ground of lines that come or go, of 255


class ClientFileDialog(Dialog):
    """`accepted`: it may be written. `path`: as the user knows it."""

    def __init__(self, theme: Theme, parent: QWidget, path: str, lines: list[str], is_new: bool) -> None:
        super().__init__(theme, parent, lambda: self._words(path, is_new), width_px=_WIDTH_PX)
        self.lines = LongText(self)
        self.content.addWidget(self.lines)
        self._arrange_lines(lines)
        theme.changed.connect(self._restyle)
        self._restyle()

    def _words(self, path: str, is_new: bool) -> DialogText:
        if is_new:
            sentence = self.tr("The file does not exist yet. It will have these lines:")
        else:
            sentence = self.tr("Only these lines change. A copy of the present file is kept beside it.")
        return DialogText(fill(self.tr("Write to %1?"), path), sentence, "", self.tr("Write"), self.tr("Cancel"))

    def _arrange_lines(self, lines: list[str]) -> None:
        self.lines.setAccessibleName(self.tr("Changes"))
        self.lines.setReadOnly(True)
        self.lines.setFrameShape(QFrame.Shape.NoFrame)
        self.lines.setTabChangesFocus(True)
        self.lines.setUndoRedoEnabled(False)
        self.lines.document().setDocumentMargin(_MARGIN_PX)
        self.lines.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.lines.setLineWrapMode(LongText.LineWrapMode.NoWrap)
        ThinScrollBars(self.lines, self.theme)
        self.lines.set_text("\n".join(lines))
        self.lines.moveCursor(QTextCursor.MoveOperation.Start)

    def _restyle(self) -> None:
        colors = self.theme.palette
        inner = QPalette(self.lines.palette())
        inner.setColor(QPalette.ColorRole.Base, colors.window)
        inner.setColor(QPalette.ColorRole.Text, colors.text)
        self.lines.setPalette(inner)
        self.lines.setFont(self.theme.mono_font(CODE_PX))
        shown = min(self.lines.blockCount(), _MOST_LINES) + 1
        self.lines.setFixedHeight(shown * self.lines.fontMetrics().lineSpacing() + 2 * _MARGIN_PX)
        self.lines.setExtraSelections(self._grounds())
        self._fit()

    def _grounds(self) -> list[QTextEdit.ExtraSelection]:
        grounds = {"+": self.theme.palette.gain, "-": self.theme.palette.fault}
        marked = []
        block = self.lines.document().begin()
        while block.isValid():
            if (ground := grounds.get(block.text()[:1])) is not None:
                color = ground.toRgb()
                color.setAlpha(_STRENGTH)
                look = QTextCharFormat()
                look.setBackground(color)
                look.setProperty(QTextFormat.Property.FullWidthSelection, True)
                selection = QTextEdit.ExtraSelection()
                selection.format, selection.cursor = look, QTextCursor(block)
                marked.append(selection)
            block = block.next()
        return marked
