"""A thin bar that fills: how far something is."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QProgressBar, QWidget

from app.theme import Theme

_STEPS = 1000
_HIGH_PX = 4


class ProgressLine(QProgressBar):
    """A progress bar for screen readers; painted by us."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._moving = True
        self.setRange(0, _STEPS)
        self.setTextVisible(False)
        theme.changed.connect(self.updateGeometry)

    def set_share(self, share: float, moving: bool = True) -> None:
        """Fainter where nothing moves it on now."""
        self._moving = moving
        self.setValue(round(max(0.0, min(1.0, share)) * _STEPS))
        self.update()

    @property
    def share(self) -> float:
        return max(0, self.value()) / _STEPS

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(200), self._theme.px(_HIGH_PX))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(40), self._theme.px(_HIGH_PX))

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            track = QRectF(self.rect())
            radius = track.height() / 2
            painter.setBrush(self._theme.palette.hairline)
            painter.drawRoundedRect(track, radius, radius)
            track.setWidth(track.width() * self.share)
            painter.setBrush(self._theme.palette.ink if self._moving else self._theme.palette.faint)
            painter.drawRoundedRect(track, radius, radius)
