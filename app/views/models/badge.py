"""A pill beside a model's name: a draft is known for it."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import FOOTER_PX, Theme
from app.words.hub import has_draft_text

_GROUND = 0.14  # of the colour of drafts


def badge_size(theme: Theme) -> QSize:
    metrics = QFontMetrics(theme.ui_font(FOOTER_PX))
    return QSize(metrics.horizontalAdvance(has_draft_text()) + theme.px(14), metrics.height() + theme.px(2))


def paint_badge(painter: QPainter, theme: Theme, area: QRect) -> None:
    ground = QColor(theme.palette.draft)
    ground.setAlphaF(_GROUND)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    painter.drawRoundedRect(area, area.height() / 2, area.height() / 2)
    painter.setFont(theme.ui_font(FOOTER_PX))
    painter.setPen(theme.palette.draft)
    painter.drawText(area, Qt.AlignmentFlag.AlignCenter, has_draft_text())


class DraftBadge(QWidget):
    """Made again with its row when the language changes."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAccessibleName(has_draft_text())
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        return badge_size(self._theme)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            paint_badge(painter, self._theme, self.rect())
