"""A thin bar that fills: how far something is."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QProgressBar, QWidget

from app.theme import Theme

_STEPS = 1000
_HIGH_PX = 4


class ProgressLine(QProgressBar):
    """A progress bar for those who hear it; painted by us."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setRange(0, _STEPS)
        self.setTextVisible(False)
        theme.changed.connect(self.updateGeometry)

    def set_share(self, share: float) -> None:
        self.setValue(round(max(0.0, min(1.0, share)) * _STEPS))

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(200), self._theme.px(_HIGH_PX))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(40), self._theme.px(_HIGH_PX))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        track = QRectF(self.rect())
        radius = track.height() / 2
        painter.setBrush(self._theme.palette.hairline)
        painter.drawRoundedRect(track, radius, radius)
        track.setWidth(track.width() * max(0, self.value()) / _STEPS)
        painter.setBrush(self._theme.palette.ink)
        painter.drawRoundedRect(track, radius, radius)
        painter.end()
