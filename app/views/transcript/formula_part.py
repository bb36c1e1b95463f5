"""Display formulas: drawn when visible, centred, scaled down if too wide; source text if they cannot be drawn."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QAccessible, QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.markup import long_lines
from app.markup.block import Block
from app.markup.formula import FormulaKey, FormulaState, Look
from app.theme import REPLY_PX
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part, PartWidget, Selectable
from app.views.transcript.selection import TextRange
from app.views.transcript.text_parts import ReadOnlyText
from app.words.formats import labelled

_DISPLAY_FACTOR = 1.2


class FormulaPart(PartWidget, Selectable, QWidget):
    accessible_role = QAccessible.Role.StaticText

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self.tex = ""
        self._name = ""  # of its message
        self._image: QImage | None = None
        self._lit = False
        self._part: Part | None = None
        self._is_text = False  # it shows its source
        self._found: bool | None = None  # result in its source: the current one (True), another, or none
        self.pending: set[FormulaKey] = set()
        self._source = ReadOnlyText(context, self)

    def show_name(self, name: str) -> None:
        self._name = name
        self.setAccessibleName(labelled(name, self.tex))

    def show_part(self, part: Part, width_px: int) -> int:
        assert isinstance(part.content, Block)
        goes_on = part is self._part and self._is_text and part.content.text.startswith(self.tex)
        self._part = part
        self.tex = part.content.text
        self.show_name(self._name)
        self._image = None
        self.pending = set()
        state = self._ask() if part.content.closed else FormulaState.FAILED
        # A formula that was streamed as source stays so until it is drawn.
        self._is_text = state is FormulaState.FAILED or (goes_on and state is FormulaState.PENDING)
        self._source.setVisible(self._is_text)
        if self._is_text:
            self._lit = False
            self._found = None
        self.update()
        return self._height(width_px)

    def _ask(self) -> FormulaState:
        theme = self._context.theme
        key = FormulaKey(self.tex, REPLY_PX * _DISPLAY_FACTOR * theme.scale, theme.palette.text.name(), display=True)
        state = self._context.formulas.state(key)
        if state is FormulaState.PENDING:
            self.pending.add(key)
        look = Look(theme.reply_font().toString(), self.devicePixelRatioF())
        self._image = self._context.formulas.image(key, look)
        return state

    def _height(self, width_px: int) -> int:
        if self._image is not None:
            size = self._image.deviceIndependentSize()
            return round(size.height() * min(1.0, width_px / size.width())) + self._context.theme.px(8)
        if not self._is_text:
            return round(self._context.document_style().line_px * (1.6 + self.tex.count("\\\\")))
        self._write_source()
        height = self._source.height_at(width_px)
        self._source.setGeometry(0, 0, width_px, height)
        return height

    def _write_source(self) -> None:
        style = self._context.document_style()
        self._source.clear()
        self._source.set_document_font(style.mono)
        self._source.setTextColor(style.secondary)
        long_lines.insert(self._source.textCursor(), self.tex)
        self._source.forget_light()
        self._source.go_to_start()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._image is None:
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            size = self._image.deviceIndependentSize()
            size *= min(1.0, self.width() / size.width())
            place = QRectF(QPointF((self.width() - size.width()) / 2, (self.height() - size.height()) / 2), size)
            if self._found is not None:
                painter.fillRect(place, self._context.theme.palette.found)
            if self._found:
                painter.setPen(QPen(self._context.theme.palette.cost, 2))
                painter.drawRect(place)
            if self._lit:
                painter.fillRect(place, self._context.selection_color())
            painter.drawImage(place, self._image)

    # Selection, where it is drawn

    @property
    def text(self) -> Selectable:
        return self._source if self._is_text else self

    def light(self, text_range: TextRange | None) -> None:
        self._lit = text_range is not None
        self.update()

    def light_found(self, ranges: Sequence[tuple[int, int]], current: int | None) -> None:
        found = None if not ranges else current is not None
        if found != self._found:
            self._found = found
            self.update()
