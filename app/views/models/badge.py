"""A pill beside a model's name: a draft is known for it."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import FOOTER_PX, Theme

_GROUND = 0.14  # of the colour of drafts


def draft_badge_text() -> str:
    return QCoreApplication.translate("Models", "has a draft")


def badge_size(theme: Theme, text: str) -> QSize:
    metrics = QFontMetrics(theme.ui_font(FOOTER_PX))
    return QSize(metrics.horizontalAdvance(text) + theme.px(14), metrics.height() + theme.px(2))


def paint_badge(painter: QPainter, theme: Theme, area: QRect, text: str) -> None:
    ground = QColor(theme.palette.draft)
    ground.setAlphaF(_GROUND)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    painter.drawRoundedRect(area, area.height() / 2, area.height() / 2)
    painter.setFont(theme.ui_font(FOOTER_PX))
    painter.setPen(theme.palette.draft)
    painter.drawText(area, Qt.AlignmentFlag.AlignCenter, text)


class DraftBadge(QWidget):
    """Made again with its row when the language changes."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text = draft_badge_text()
        self.setAccessibleName(self._text)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        return badge_size(self._theme, self._text)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            paint_badge(painter, self._theme, self.rect(), self._text)
