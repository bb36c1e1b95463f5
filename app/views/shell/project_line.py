"""The composer's line that says which project the chat is in, and what of it is in force. A click opens its page."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import FOOTER_PX, Theme
from app.view_models.project import ProjectView
from app.views.icons import icon
from app.views.widgets.buttons import NamedButton
from app.views.widgets.translated import Translated
from app.words.formats import fill

_ICON_PX = 14
_GAP_PX = 6
_EDGE_PX = 6
_HEIGHT_PX = 24
_LEAST_PX = 80


class ProjectLine(Translated, NamedButton):
    shown_or_hidden = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._project: ProjectView | None = None
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_project(self, project: ProjectView | None) -> None:
        """None: the chat is in none."""
        if project == self._project:
            return
        self._project = project
        self._retranslate()
        if self.isHidden() != (project is None):
            self.setVisible(project is not None)
            self.shown_or_hidden.emit()

    def _retranslate(self) -> None:
        project = self._project
        if project is None:
            return
        parts = (
            self.tr("instructions") if project.has_instructions else "",
            self.tr("%Ln file(s)", "", project.files) if project.files else "",
            self.tr("settings") if project.has_options else "",
        )
        self.setText(" · ".join(filter(None, (project.name, *parts))))
        self.set_name(fill(self.tr("Project: %1"), self.text()))
        self.updateGeometry()
        self.update()

    def _face(self) -> QFont:
        return self.theme.ui_font(FOOTER_PX)

    def _before_words_px(self) -> int:
        return self.theme.px(_ICON_PX + _GAP_PX)

    def sizeHint(self) -> QSize:
        words = QFontMetrics(self._face()).horizontalAdvance(self.text())
        return QSize(self._before_words_px() + words + self.theme.px(_EDGE_PX) + 1, self.theme.px(_HEIGHT_PX))

    def minimumSizeHint(self) -> QSize:
        """A long name is cut."""
        return QSize(self.theme.px(_LEAST_PX), self.theme.px(_HEIGHT_PX))

    def paint_content(self, painter: QPainter) -> None:
        colors = self.theme.palette
        color = colors.text if self.underMouse() or self.isDown() else colors.secondary
        side = self.theme.px(_ICON_PX)
        at = QRect(0, (self.height() - side) // 2, side, side)
        icon("folder", color).paint(painter, at)
        place = self.rect().adjusted(self._before_words_px(), 0, -self.theme.px(_EDGE_PX), 0)
        words = QFontMetrics(self._face()).elidedText(self.text(), Qt.TextElideMode.ElideRight, place.width() + 1)
        painter.setFont(self._face())
        painter.setPen(color)
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
