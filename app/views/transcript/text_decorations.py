"""Painting that QTextDocument cannot do: tints behind inline code, bars beside quotes, horizontal rules."""

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QTextBlock, QTextDocument, QTextFragment

from app.markup.document import CODE, QUOTE_DEPTH, QUOTE_STEP_PX, RULE
from app.markup.document_style import DocumentStyle
from app.markup.lines import stretches
from app.theme import Palette

_CODE_RADIUS = 4
_CODE_MARGIN_PX = 2
_BAR_PX = 3


def paint_decorations(painter: QPainter, document: QTextDocument, style: DocumentStyle, colors: Palette) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    block = document.begin()
    while block.isValid():
        place = document.documentLayout().blockBoundingRect(block)
        _paint_bars(painter, block, place, style, colors.hairline)
        for rect in _code_rects(block, place.topLeft(), style):
            painter.setBrush(colors.hover)
            painter.drawRoundedRect(rect, _CODE_RADIUS, _CODE_RADIUS)
        block = block.next()


def _paint_bars(painter: QPainter, block: QTextBlock, place: QRectF, style: DocumentStyle, color: QColor) -> None:
    form = block.blockFormat()
    if form.property(RULE):
        painter.fillRect(QRectF(0, math.floor(place.top()), place.right(), 1), color)
    for depth in range(int(form.property(QUOTE_DEPTH) or 0)):
        # The bar goes on through the space between two paragraphs of the same quote.
        above = block.previous()
        joined = above.isValid() and int(above.blockFormat().property(QUOTE_DEPTH) or 0) > depth
        top = place.top() - (form.topMargin() if joined else 0)
        x = depth * QUOTE_STEP_PX * style.scale
        if block.textDirection() == Qt.LayoutDirection.RightToLeft:
            x = block.document().textWidth() - x - _BAR_PX
        painter.fillRect(QRectF(x, top, _BAR_PX, place.bottom() - top), color)


def _code_rects(block: QTextBlock, corner: QPointF, style: DocumentStyle) -> list[QRectF]:
    metrics = QFontMetricsF(style.mono)
    result: list[QRectF] = []
    fragments = block.begin()
    while not fragments.atEnd():
        fragment = fragments.fragment()
        if fragment.isValid() and fragment.charFormat().property(CODE):
            result.extend(_fragment_rects(block, fragment, corner, metrics))
        fragments += 1
    return result


def _fragment_rects(
    block: QTextBlock, fragment: QTextFragment, corner: QPointF, metrics: QFontMetricsF
) -> list[QRectF]:
    """One rectangle for each line that the fragment stands on."""
    start = fragment.position() - block.position()
    result: list[QRectF] = []
    for line, left, right in stretches(block, start, start + fragment.length()):
        top = corner.y() + line.y() + line.ascent() - metrics.ascent() - 1
        rect = QRectF(corner.x() + left, top, right - left, metrics.height() + 2)
        result.append(rect.adjusted(-_CODE_MARGIN_PX, 0, _CODE_MARGIN_PX, 0))
    return result
