"""Hunch's mark, painted: in the empty chat, in About, and as the icon beside the clock."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme


class Mark(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        theme.follow(self._restyle)

    def _restyle(self) -> None:
        self.setFixedSize(self._theme.px(84), self._theme.px(36))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        colors = self._theme.palette
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.scale(self._theme.scale, self._theme.scale)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.ink)
            painter.drawRoundedRect(QRectF(0, 6, 24, 24), 8, 8)
            guess = QColor(colors.draft)
            for place, (radius, strength) in enumerate(((7.0, 1.0), (5.5, 0.65), (4.0, 0.35))):
                guess.setAlphaF(strength)
                painter.setBrush(guess)
                painter.drawEllipse(QPointF(38 + place * 18, 18), radius, radius)
