"""Painting behind the parts: the ring around the focused message, and the line beside opened thinking."""

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


def paint_thought_bars(painter: QPainter, shown: Iterable[tuple[Part, QRect]], x: int, colors: Palette) -> None:
    """The line continues through the gaps between the parts."""
    for part, place in shown:
        if part.secondary:
            painter.fillRect(x, place.top() - part.gap_px, _LINE_PX, place.height() + part.gap_px, colors.hairline)
