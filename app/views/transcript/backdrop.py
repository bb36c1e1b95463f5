"""Painting below the parts: the focus ring of a message or the whole transcript, and lines beside parts."""

from collections.abc import Iterable, Iterator

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter, QPalette, QPen
from PySide6.QtWidgets import QWidget

from app.markup.block import QUOTE, Block, BlockKind
from app.markup.document import QUOTE_BAR_PX, steps_in_px
from app.theme import RADIUS_CARD, Palette, Theme
from app.views.transcript.parts import Part

_AROUND_PX = 8
_LINE_PX = 2


def set_ground(viewport: QWidget, colors: Palette) -> None:
    palette = QPalette(viewport.palette())
    palette.setColor(viewport.backgroundRole(), colors.window)
    viewport.setPalette(palette)


def paint_ring(painter: QPainter, message: QRect, colors: Palette) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colors.ink, 2))
    around = QRectF(message.adjusted(-_AROUND_PX, -_AROUND_PX, _AROUND_PX, 0))
    painter.drawRoundedRect(around, RADIUS_CARD, RADIUS_CARD)


def paint_edge_ring(painter: QPainter, viewport: QRect, colors: Palette) -> None:
    """A ring around the transcript, when no message has the focus."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colors.ink, 2))
    painter.drawRoundedRect(QRectF(viewport).adjusted(2, 2, -2, -2), RADIUS_CARD, RADIUS_CARD)


class SideLines:
    """Lines beside opened thinking, one for each step of a message, and beside quotes outside of text parts.

    They cover no part, so moving parts repaints nothing else. Beside a quote's text its lines are painted with it
    (`text_parts.py`).
    """

    def __init__(self, viewport: QWidget) -> None:
        self._viewport = viewport
        self._bars: list[QRect] = []

    def place(self, shown: Iterable[tuple[Part, QRect]], x: int, theme: Theme) -> None:
        """`x`: of the line beside thinking."""
        spans: dict[tuple[int, int], tuple[int, int]] = {}  # by message and step
        bars: list[QRect] = []
        for part, place in shown:
            if part.secondary and part.address is not None:
                step = (part.message_id, part.address[0])
                top, bottom = spans.get(step, (place.top() - part.gap_px, place.bottom()))
                spans[step] = min(top, place.top() - part.gap_px), max(bottom, place.bottom())
            if isinstance(part.content, Block) and QUOTE in part.content.inside:
                bars.extend(_quote_lines(part.content, part.gap_px, place, theme))
        bars.extend(QRect(x, top, _LINE_PX, bottom + 1 - top) for top, bottom in spans.values())
        # Repaint unchanged lines as well: scrolling has moved the pixels.
        for bar in (*self._bars, *bars):
            self._viewport.update(bar)
        self._bars = bars

    def __bool__(self) -> bool:
        return bool(self._bars)

    def paint(self, painter: QPainter, colors: Palette) -> None:
        for bar in self._bars:
            painter.fillRect(bar, colors.hairline)


def _quote_lines(block: Block, gap_px: int, place: QRect, theme: Theme) -> Iterator[QRect]:
    """Lines through the gap above a part within the same quote, and beside parts other than text."""
    starts = steps_in_px(block.inside, theme.reply_font(), theme.scale)
    is_text = block.kind is BlockKind.TEXT
    left = place.left() - (0 if is_text else round(starts[-1]))
    for number, kind in enumerate(block.inside):
        top = place.top() - (gap_px if number < block.shared else 0)
        height = (0 if is_text else place.height()) + place.top() - top
        if kind == QUOTE and height:
            yield QRect(left + round(starts[number]), top, QUOTE_BAR_PX, height)
