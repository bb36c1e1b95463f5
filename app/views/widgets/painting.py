"""Painting shared by widgets: rounded backgrounds, row backgrounds, lines of text.

Cards and bubbles are painted from small cached corners. MEASURED: an antialiased rounded rectangle as large as a code
block costs 0.7 ms each time, which is each update while code streams; corners and plain rectangles cost a fiftieth.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QPixmap, QTextCharFormat
from PySide6.QtWidgets import QWidget

from app.theme import RADIUS_CARD, RADIUS_ROW, Palette, Theme


def paint_card(painter: QPainter, rect: QRect, radius: int, ground: QColor, edge: QColor | None = None) -> None:
    ratio = painter.device().devicePixelRatioF()
    corners = _corners(radius, ground.rgba(), edge.rgba() if edge else 0, ratio)
    inner = rect.adjusted(radius, radius, -radius, -radius)
    painter.fillRect(rect.adjusted(radius, 0, -radius, 0), ground)
    painter.fillRect(QRect(rect.left(), inner.top(), radius, inner.height()), ground)
    painter.fillRect(QRect(inner.right() + 1, inner.top(), radius, inner.height()), ground)
    if edge:
        _paint_edges(painter, rect, inner, edge)
    side = radius * ratio
    for x, column in ((rect.left(), 0), (inner.right() + 1, 1)):
        for y, row in ((rect.top(), 0), (inner.bottom() + 1, 1)):
            target = QRectF(x, y, radius, radius)
            painter.drawPixmap(target, corners, QRectF(column * side, row * side, side, side))


def _paint_edges(painter: QPainter, rect: QRect, inner: QRect, edge: QColor) -> None:
    painter.fillRect(QRect(inner.left(), rect.top(), inner.width(), 1), edge)
    painter.fillRect(QRect(inner.left(), rect.bottom(), inner.width(), 1), edge)
    painter.fillRect(QRect(rect.left(), inner.top(), 1, inner.height()), edge)
    painter.fillRect(QRect(rect.right(), inner.top(), 1, inner.height()), edge)


@lru_cache(maxsize=32)
def _corners(radius: int, ground: int, edge: int, ratio: float) -> QPixmap:
    result = QPixmap(round(2 * radius * ratio), round(2 * radius * ratio))
    result.setDevicePixelRatio(ratio)
    result.fill(Qt.GlobalColor.transparent)
    with QPainter(result) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(QColor.fromRgba(ground))
        painter.setPen(QPen(QColor.fromRgba(edge), 1) if edge else QPen(Qt.PenStyle.NoPen))
        inset = 0.5 if edge else 0.0
        painter.drawRoundedRect(QRectF(inset, inset, 2 * radius - 2 * inset, 2 * radius - 2 * inset), radius, radius)
    return result


def paint_surface(widget: QWidget, colors: Palette, radius: int = RADIUS_CARD) -> None:
    """The whole of a widget that lies over others."""
    with QPainter(widget) as painter:
        paint_card(painter, widget.rect(), radius, colors.surface, colors.hairline)


def paint_row_ground(painter: QPainter, row: QRect, colors: Palette, filled: bool, ring: bool) -> None:
    """The ground of a list's row: `filled` when chosen or under the pointer, `ring` where the keyboard is."""
    if filled or ring:
        painter.setPen(QPen(colors.ink, 2) if ring else Qt.PenStyle.NoPen)
        painter.setBrush(colors.hover if filled else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(row).adjusted(1, 1, -1, -1), RADIUS_ROW, RADIUS_ROW)


def paint_line(
    painter: QPainter,
    place: QRect,
    text: str,
    font: QFont,
    color: QColor,
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
) -> None:
    painter.setFont(font)
    painter.setPen(color)
    shown = QFontMetrics(font).elidedText(text, elide, place.width())
    painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter, shown)


def paint_aside(painter: QPainter, words: QRect, text: str, font: QFont, color: QColor) -> int:
    """At the right of a row; returns the width that it takes, which is half of the row at most."""
    if not text:
        return 0
    width = min(QFontMetrics(font).horizontalAdvance(text) + 1, words.width() // 2)
    paint_line(painter, QRect(words.right() - width + 1, words.top(), width, words.height()), text, font, color)
    return width


def found_format(theme: Theme, current: bool) -> QTextCharFormat:
    colors = theme.palette
    form = QTextCharFormat()
    form.setBackground(colors.cost if current else colors.found)
    if current:
        form.setForeground(colors.window)
        form.setFontUnderline(True)
    return form
