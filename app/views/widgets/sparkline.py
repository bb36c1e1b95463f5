"""Small pictures of statistics: tokens per pass over a reply, what was accepted by position, where the time went."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.theme import Theme
from app.view_models.transcript import RequestStats
from app.words.speculation import MOST_POSITIONS, time_parts

_LEAST_BAR_PX = 10  # with what is between it and the next


def paint_sparkline(painter: QPainter, place: QRectF, stats: RequestStats, theme: Theme) -> None:
    values = stats.tokens_per_pass_over_time
    needed = stats.break_even
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
    """A bar for each place of a draft, as high as the share of its tokens that were accepted there.

    As many as can be seen apart: many thin ones would look like a bar code.
    """
    most = min(MOST_POSITIONS, max(4, int(place.width()) // _LEAST_BAR_PX))
    rates = stats.accept_rate_by_position[:most]
    colors = theme.palette
    width = place.width() / max(4, len(rates))
    for number, rate in enumerate(rates):
        bar = QRectF(place.left() + number * width + 2, place.top(), width - 4, place.height())
        painter.fillRect(bar, colors.hover)
        painter.fillRect(bar.adjusted(0, bar.height() * (1 - rate), 0, 0), colors.draft)


def paint_time(painter: QPainter, place: QRectF, stats: RequestStats, theme: Theme) -> None:
    """One bar of the parts of the decoding time: draft, main model, other."""
    seconds = [part_s for _, part_s in time_parts(stats)]
    left = place.left()
    radius = min(place.height(), theme.px(4)) / 2
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.palette.hover)
    painter.drawRoundedRect(place, radius, radius)
    for part_s, color in zip(seconds, time_colors(theme), strict=True):
        width = place.width() * part_s / (sum(seconds) or 1.0)
        if width >= 1:
            bar = QRectF(left, place.top(), max(1.0, width - 1), place.height())
            painter.setBrush(color)
            painter.drawRoundedRect(bar, min(radius, bar.width() / 2), radius)
        left += width


def time_colors(theme: Theme) -> tuple[QColor, QColor, QColor]:
    return theme.palette.draft, theme.palette.ink, theme.palette.faint
