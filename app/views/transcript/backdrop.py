"""Painting behind the parts: the ring around the focused message or all of them, the line beside opened thinking."""

from collections.abc import Iterable

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter, QPalette, QPen
from PySide6.QtWidgets import QWidget

from app.theme import RADIUS_CARD, Palette
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


class ThoughtBars:
    """The line beside opened thinking: one for each message, through the gaps between its parts.

    It stands where no part does, so nothing but itself has it painted again when parts move.
    """

    def __init__(self, viewport: QWidget) -> None:
        self._viewport = viewport
        self._bars: list[QRect] = []

    def place(self, shown: Iterable[tuple[Part, QRect]], x: int) -> None:
        spans: dict[int, tuple[int, int]] = {}
        for part, place in shown:
            if part.secondary:
                top, bottom = spans.get(part.message_id, (place.top() - part.gap_px, place.bottom()))
                spans[part.message_id] = min(top, place.top() - part.gap_px), max(bottom, place.bottom())
        bars = [QRect(x, top, _LINE_PX, bottom + 1 - top) for top, bottom in spans.values()]
        # Also where they are the same: scrolling has moved what was painted.
        for bar in (*self._bars, *bars):
            self._viewport.update(bar)
        self._bars = bars

    def __bool__(self) -> bool:
        return bool(self._bars)

    def paint(self, painter: QPainter, colors: Palette) -> None:
        for bar in self._bars:
            painter.fillRect(bar, colors.hairline)
