"""Painting that QTextDocument cannot do: tints behind inline code, bars beside quotes, horizontal rules."""

import math
from bisect import bisect_left, bisect_right

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QTextBlock, QTextDocument

from app.markup.document import CODE, QUOTE_BAR_PX, QUOTE_BARS, RULE
from app.markup.document_style import DocumentStyle
from app.markup.lines import stretches
from app.theme import Palette

_CODE_RADIUS = 4
_CODE_MARGIN_PX = 2


def paint_decorations(
    painter: QPainter, document: QTextDocument, clip: QRectF, style: DocumentStyle, colors: Palette
) -> None:
    """Of what has to be painted only: a document may have thousands of them."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    block = document.begin()
    while block.isValid():
        place = _rect(block)
        _paint_bars(painter, block, place, colors.hairline)
        for rect in _code_rects(block, place.topLeft(), clip, style):
            painter.setBrush(colors.hover)
            painter.drawRoundedRect(rect, _CODE_RADIUS, _CODE_RADIUS)
        block = block.next()


def _paint_bars(painter: QPainter, block: QTextBlock, place: QRectF, color: QColor) -> None:
    form = block.blockFormat()
    if form.property(RULE):
        painter.fillRect(QRectF(0, math.floor(place.top()), place.right(), 1), color)
    bars, above = _bars(block), block.previous()
    bars_above = _bars(above)
    last = not block.next().isValid()  # its bars reach the edge of the part, which is a whole pixel
    bottom = math.ceil(block.document().size().height()) if last else math.floor(place.bottom())
    for start in bars:
        # The bar goes on through the space between two paragraphs of the same quote: the margin, and what the font
        # has above its letters, which is in the rectangle of neither.
        top = math.floor(_rect(above).bottom() if start in bars_above else place.top())
        from_right = block.textDirection() == Qt.LayoutDirection.RightToLeft
        x = round(block.document().textWidth() - start - QUOTE_BAR_PX if from_right else start)
        painter.fillRect(x, top, QUOTE_BAR_PX, bottom - top, color)


def _rect(block: QTextBlock) -> QRectF:
    return block.document().documentLayout().blockBoundingRect(block)


def _bars(block: QTextBlock) -> list[float]:
    return block.blockFormat().property(QUOTE_BARS) or [] if block.isValid() else []


def _code_rects(block: QTextBlock, corner: QPointF, clip: QRectF, style: DocumentStyle) -> list[QRectF]:
    first, last = _chars_within(block, clip.translated(-corner))
    metrics = QFontMetricsF(style.mono)
    result: list[QRectF] = []
    fragments = block.begin()
    while not fragments.atEnd():
        fragment = fragments.fragment()
        start = fragment.position() - block.position()
        if start >= last:
            break
        if start + fragment.length() > first and fragment.charFormat().property(CODE):
            result.extend(_fragment_rects(block, start, start + fragment.length(), corner, metrics))
        fragments += 1
    return result


def _chars_within(block: QTextBlock, stretch: QRectF) -> tuple[int, int]:
    """The first and the last character on the lines that this reaches into, the ones above and below included."""
    layout = block.layout()
    tops = range(layout.lineCount())
    first = max(0, bisect_left(tops, stretch.top(), key=lambda number: layout.lineAt(number).y()) - 2)
    last = bisect_right(tops, stretch.bottom(), key=lambda number: layout.lineAt(number).y()) + 1
    end = layout.lineAt(last).textStart() if last < len(tops) else block.length()
    return (layout.lineAt(first).textStart() if tops else 0), end


def _fragment_rects(block: QTextBlock, start: int, end: int, corner: QPointF, metrics: QFontMetricsF) -> list[QRectF]:
    """One rectangle for each line that the fragment stands on."""
    result: list[QRectF] = []
    for line, left, right in stretches(block, start, end):
        top = corner.y() + line.y() + line.ascent() - metrics.ascent() - 1
        rect = QRectF(corner.x() + left, top, right - left, metrics.height() + 2)
        result.append(rect.adjusted(-_CODE_MARGIN_PX, 0, _CODE_MARGIN_PX, 0))
    return result
