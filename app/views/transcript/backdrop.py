"""Painting below the parts: the ring around the focused message or all of them, and the lines beside parts."""

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
    """Around all messages: the focus is on none of them."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colors.ink, 2))
    painter.drawRoundedRect(QRectF(viewport).adjusted(2, 2, -2, -2), RADIUS_CARD, RADIUS_CARD)


class SideLines:
    """The line beside opened thinking, one for each message, and those of quotes beside cards and between parts.

    They are where no part is, so nothing but itself has them painted again when parts move. Beside a quote's words
    its lines are painted with these (`text_parts.py`).
    """

    def __init__(self, viewport: QWidget) -> None:
        self._viewport = viewport
        self._bars: list[QRect] = []

    def place(self, shown: Iterable[tuple[Part, QRect]], x: int, theme: Theme) -> None:
        """`x` is where the line beside thinking is."""
        spans: dict[int, tuple[int, int]] = {}
        bars: list[QRect] = []
        for part, place in shown:
            if part.secondary:
                top, bottom = spans.get(part.message_id, (place.top() - part.gap_px, place.bottom()))
                spans[part.message_id] = min(top, place.top() - part.gap_px), max(bottom, place.bottom())
            if isinstance(part.content, Block) and QUOTE in part.content.inside:
                bars.extend(_quote_lines(part.content, part.gap_px, place, theme))
        bars.extend(QRect(x, top, _LINE_PX, bottom + 1 - top) for top, bottom in spans.values())
        # Also where they are the same: scrolling has moved what was painted.
        for bar in (*self._bars, *bars):
            self._viewport.update(bar)
        self._bars = bars

    def __bool__(self) -> bool:
        return bool(self._bars)

    def paint(self, painter: QPainter, colors: Palette) -> None:
        for bar in self._bars:
            painter.fillRect(bar, colors.hairline)


def _quote_lines(block: Block, gap_px: int, place: QRect, theme: Theme) -> Iterator[QRect]:
    """Through the gap above where the part there is in the same quote, and beside what is no text."""
    starts = steps_in_px(block.inside, theme.reply_font(), theme.scale)
    is_text = block.kind is BlockKind.TEXT
    left = place.left() - (0 if is_text else round(starts[-1]))
    for number, kind in enumerate(block.inside):
        top = place.top() - (gap_px if number < block.shared else 0)
        height = (0 if is_text else place.height()) + place.top() - top
        if kind == QUOTE and height:
            yield QRect(left + round(starts[number]), top, QUOTE_BAR_PX, height)
