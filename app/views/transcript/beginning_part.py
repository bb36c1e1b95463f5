"""The line at the message from which on the model reads a long chat; a click says what is left out."""

from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QWidget

from app.theme import FOOTER_PX
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part, PartWidget
from app.views.widgets.buttons import PaintedButton

_HEIGHT_PX = 28
_BELOW_PX = 8
_BESIDE_PX = 12
_LEAST_LINE_PX = 16


@dataclass(frozen=True, slots=True)
class BeginningLine:
    begins: bool
    summary: bool  # the message is one of those before it


class BeginningPart(PartWidget, PaintedButton):
    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(context.theme, parent)
        self._message_id = 0
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(lambda: context.beginning_asked.emit(self._message_id, self))

    def show_part(self, part: Part, _width_px: int) -> int:
        assert isinstance(part.content, BeginningLine)
        self._message_id = part.message_id
        line = part.content
        words = self.tr("The model reads from here on")
        if line.summary:
            words = self.tr("The model reads this summary, and what follows")
        if not line.begins:
            words = self.tr("Summary of earlier messages")
        self.setEnabled(line.begins)
        self.setText(words)
        self.setAccessibleName(words)
        self.setAccessibleDescription(self.tr("Show what is left out") if line.begins else "")
        self.update()
        return self.theme.px(_HEIGHT_PX + _BELOW_PX)

    def meaning(self) -> str:
        return f"{self._message_id} begins"

    def sizeHint(self) -> QSize:
        return QSize(self.theme.px(200), self.theme.px(_HEIGHT_PX))

    def paint_content(self, painter: QPainter) -> None:
        theme = self.theme
        font = theme.ui_font(FOOTER_PX)
        metrics = QFontMetrics(font)
        beside = theme.px(_BESIDE_PX)
        room = self.width() - 2 * (beside + theme.px(_LEAST_LINE_PX))
        words = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        words_px = metrics.horizontalAdvance(words)
        left = (self.width() - words_px) // 2
        row = self.rect().adjusted(0, 0, 0, -theme.px(_BELOW_PX))
        middle = row.center().y()
        painter.setPen(theme.palette.hairline)
        painter.drawLine(beside, middle, left - beside, middle)
        painter.drawLine(left + words_px + beside, middle, self.width() - beside, middle)
        painter.setFont(font)
        painter.setPen(theme.palette.text if self.underMouse() else theme.palette.secondary)
        painter.drawText(row, Qt.AlignmentFlag.AlignCenter, words)
