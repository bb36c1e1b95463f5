"""Display formulas: drawn when they come into sight, centred, made smaller when they are too wide."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QWidget

from app.markup.blocks import Block
from app.markup.formula import FormulaKey, FormulaState, image
from app.theme import REPLY_PX
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part

_DISPLAY_FACTOR = 1.2


class FormulaPart(QWidget):
    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._tex = ""
        self._image: QImage | None = None
        self._state = FormulaState.PENDING
        self.pending: set[FormulaKey] = set()

    def show_part(self, part: Part, width_px: int) -> int:
        assert isinstance(part.content, Block)
        self._tex = part.content.text
        self.setAccessibleName(f"{part.name}: {self._tex}")
        self.setAccessibleDescription(self._tex)
        if part.content.closed:
            self._ask()
        else:
            self._state, self._image, self.pending = FormulaState.FAILED, None, set()
        self.update()
        return self._height(width_px)

    def _ask(self) -> None:
        theme = self._context.theme
        key = FormulaKey(self._tex, REPLY_PX * _DISPLAY_FACTOR * theme.scale, theme.palette.text.name(), display=True)
        self._state = self._context.formulas.state(key)
        drawing = self._context.formulas.drawing(key)
        self.pending = {key} if self._state is FormulaState.PENDING else set()
        font, color = theme.reply_font(), theme.palette.text
        self._image = image(drawing, font, color, self.devicePixelRatioF()) if drawing else None

    def _height(self, width_px: int) -> int:
        line = self._context.document_style().line_px
        if self._image is not None:
            size = self._image.deviceIndependentSize()
            return round(size.height() * min(1.0, width_px / size.width())) + self._context.theme.px(8)
        if self._state is FormulaState.PENDING:
            return round(line * (1.6 + self._tex.count("\\\\")))
        return round(line * (1 + self._tex.count("\n")))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if self._image is not None:
            size = self._image.deviceIndependentSize()
            size *= min(1.0, self.width() / size.width())
            corner = QPointF((self.width() - size.width()) / 2, (self.height() - size.height()) / 2)
            painter.drawImage(QRectF(corner, size), self._image)
        elif self._state is FormulaState.FAILED:
            painter.setFont(self._context.theme.mono_font())
            painter.setPen(self._context.theme.palette.secondary)
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap, self._tex)
        painter.end()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Copy as TeX")).triggered.connect(lambda: QGuiApplication.clipboard().setText(self._tex))
        menu.popup(event.globalPos())
