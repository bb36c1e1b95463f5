"""Small pictures of statistics: tokens per pass from a reply's start to its end, and what was accepted by position."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from app.theme import Theme
from app.view_models.transcript import RequestStats
from app.words.speculation import MOST_POSITIONS


def paint_sparkline(painter: QPainter, place: QRectF, stats: RequestStats, theme: Theme) -> None:
    values, needed = stats.tokens_per_pass_over_time, stats.break_even
    top = max(3.0, *values, needed or 0.0) if values else 3.0
    painter.fillRect(QRectF(place.left(), place.bottom(), place.width(), 1), theme.palette.hairline)
    if needed is not None and values:
        y = place.bottom() - place.height() * needed / top
        painter.setPen(QPen(theme.palette.secondary, 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(place.left(), y), QPointF(place.right(), y))
    if len(values) < 2:
        return
    step = place.width() / (len(values) - 1)
    points = [
        QPointF(place.left() + number * step, place.bottom() - place.height() * value / top)
        for number, value in enumerate(values)
    ]
    # MEASURED: a polyline of this width is slow where it is drawn antialiased; single lines are not.
    painter.setPen(QPen(theme.palette.draft, 1.5))
    for start, end in pairwise(points):
        painter.drawLine(start, end)


def paint_positions(painter: QPainter, place: QRectF, stats: RequestStats, theme: Theme) -> None:
    """A bar for each place of a draft, as high as the share of its tokens that were accepted there."""
    rates, colors = stats.accept_rate_by_position[:MOST_POSITIONS], theme.palette
    width = place.width() / max(4, len(rates))
    for number, rate in enumerate(rates):
        bar = QRectF(place.left() + number * width + 1, place.top(), width - 2, place.height())
        painter.fillRect(bar, colors.hover)
        painter.fillRect(bar.adjusted(0, bar.height() * (1 - rate), 0, 0), colors.draft)
