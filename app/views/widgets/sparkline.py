"""Tokens per pass from a reply's start to its end as a line, with another where it begins to pay."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from app.theme import Theme
from app.view_models.transcript import RequestStats


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
