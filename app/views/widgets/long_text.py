"""A plain-text field for lines of any length: base of editable and read-only fields."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen, QTextCursor, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app.markup import long_lines
from app.theme import CODE_PX, RADIUS_ROW, Theme
from app.views.widgets.clipboard import safe_mime_data
from app.views.widgets.focus import PaintsFocus
from app.views.widgets.scrolling import ThinScrollBars


class LongText(QPlainTextEdit):
    """Very long lines are kept in several blocks; `text` is what was typed, pasted, set or appended."""

    def text(self) -> str:
        if not long_lines.has_cuts(self.document()):
            raw = self.document().toRawText()  # `toPlainText` has no no-break spaces
            return raw.replace("\u2029", "\n").replace(long_lines.LINE_SEPARATOR, "\n")
        return long_lines.text_between(self.document(), 0, self.document().characterCount() - 1)

    def set_text(self, text: str) -> None:
        self.setPlainText("")
        long_lines.forget_cuts(self.document())
        self._insert(text)
        self.document().clearUndoRedoStacks()

    def append(self, text: str) -> None:
        """At the end; the cursor and the view stay where they are."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        long_lines.insert(cursor, text)

    def _insert(self, text: str) -> None:
        long_lines.insert(self.textCursor(), text)
        self.ensureCursorVisible()

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasText():
            self._insert(source.text())

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: N802  Qt's name
        cursor = self.textCursor()
        text = long_lines.text_between(self.document(), cursor.selectionStart(), cursor.selectionEnd())
        # Qt makes HTML of what it is asked for, seconds of work for megabytes: of another field's one character.
        other = QPlainTextEdit("x")
        other.selectAll()
        return safe_mime_data(other.createMimeDataFromSelection(), text, self)


class ShownText(LongText):
    """To read and to copy from, in the font of code."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUndoRedoEnabled(False)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        ThinScrollBars(self, theme)
        theme.follow(self._restyle)

    def _restyle(self) -> None:
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Base, self._theme.palette.surface)
        palette.setColor(QPalette.ColorRole.Text, self._theme.palette.text)
        self.setPalette(palette)
        self.setFont(self._theme.mono_font(CODE_PX))


class FramedText(PaintsFocus, ShownText):
    """In a frame, whose edge shows the focus."""

    MARGIN_PX = 8

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.document().setDocumentMargin(self.MARGIN_PX)
        self.setTabChangesFocus(True)

    def _restyle(self) -> None:
        super()._restyle()
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Base, Qt.GlobalColor.transparent)
        self.setPalette(palette)

    def paintEvent(self, event: QPaintEvent) -> None:
        colors = self._theme.palette
        with QPainter(self.viewport()) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setBrush(colors.window)
            painter.setPen(QPen(colors.ink if self.hasFocus() else colors.hairline, 1))
            area = QRectF(self.viewport().rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            painter.drawRoundedRect(area, RADIUS_ROW, RADIUS_ROW)
        super().paintEvent(event)
