"""A ring around one widget for a moment, so that a user who was led to it sees it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, QTimer, QVariantAnimation
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.theme import RADIUS_ROW, Theme

_STAYS_MS = 1600
_AROUND_PX = 6


class Spotlight(QWidget):
    """Is over the widget until it fades; where nothing should move it just goes. Never takes a click."""

    def __init__(self, theme: Theme, spot: QWidget) -> None:
        super().__init__(spot.parentWidget())
        self._theme = theme
        self._spot = spot
        self._strength = 1.0
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._fade = QVariantAnimation(self, startValue=1.0, endValue=0.0, duration=max(1, theme.motion_ms))
        self._fade.valueChanged.connect(self._set_strength)
        self._fade.finished.connect(self.deleteLater)
        QTimer.singleShot(_STAYS_MS, self, self._fade.start)
        spot.installEventFilter(self)
        self._follow()
        self.show()
        self.raise_()

    def eventFilter(self, _spot: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._follow()
        return False

    def _follow(self) -> None:
        self.setGeometry(self._spot.geometry().adjusted(-_AROUND_PX, -_AROUND_PX, _AROUND_PX, _AROUND_PX))

    def _set_strength(self, strength: float) -> None:
        self._strength = strength
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            ground = QColor(self._theme.palette.ink)
            ground.setAlphaF(0.08 * self._strength)
            edge = QColor(self._theme.palette.ink)
            edge.setAlphaF(0.9 * self._strength)
            painter.setBrush(ground)
            painter.setPen(QPen(edge, 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), RADIUS_ROW, RADIUS_ROW)
