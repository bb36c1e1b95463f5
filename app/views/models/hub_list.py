"""The list of models that a hub has: a name and two details each, drawn, so that thousands cost no more than those in
sight. All rows are as high as long details need at this width, which large text wraps.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.theme import FOOTER_PX, Theme
from app.view_models.hub import ENTRY_ROLE, HubEntry, HubList
from app.views.icons import icon
from app.views.models.badge import badge_size, draft_badge_text, paint_badge
from app.views.widgets.labels import details_in_lines
from app.views.widgets.painting import paint_line, paint_row_ground
from app.views.widgets.row_list import ChoiceList, Index
from app.words.hub import hub_line, hub_record, long_lines
from app.words.model_names import human_name

_WRAPPED = Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap


class HubListView(ChoiceList):
    """Chooses repositories."""

    def __init__(self, theme: Theme, results: HubList, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setModel(results)
        self.setItemDelegate(_HubDelegate(self))
        self.setUniformItemSizes(True)

    def value_of(self, index: Index) -> str | None:
        entry = index.data(ENTRY_ROLE)
        return entry.model.repository if isinstance(entry, HubEntry) else None


class _HubDelegate(QStyledItemDelegate):
    def __init__(self, view: HubListView) -> None:
        super().__init__(view)
        self._view = view

    @property
    def _theme(self) -> Theme:
        return self._view.theme

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        name_px = QFontMetrics(self._theme.ui_font()).height()
        return QSize(0, name_px + self._details_px(self._view.viewport().width()) + self._theme.px(20))

    def _details_px(self, row_px: int) -> int:
        small = QFontMetrics(self._theme.ui_font(FOOTER_PX))
        place = QRect(0, 0, row_px - 2 * self._theme.px(10), 0)
        lines = (details_in_lines(line, small, place.width()) for line in long_lines())
        return sum(small.boundingRect(place, _WRAPPED, each).height() for each in lines)

    def paint(self, painter: QPainter, style: QStyleOptionViewItem, index: Index) -> None:
        entry: HubEntry = index.data(ENTRY_ROLE)
        area: QRect = style.rect
        state: QStyle.StateFlag = style.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ring, over = self._view.rings(state), bool(state & QStyle.StateFlag.State_MouseOver)
        paint_row_ground(painter, area, self._theme.palette, over or ring, ring)
        line = QRectF(area.left() + 10, area.bottom(), area.width() - 20, 1)
        painter.fillRect(line, self._theme.palette.hairline)
        self._paint_words(painter, area, entry)
        painter.restore()

    def _paint_words(self, painter: QPainter, area: QRect, entry: HubEntry) -> None:
        theme, colors = self._theme, self._theme.palette
        place = area.adjusted(theme.px(10), theme.px(8), -theme.px(10), 0)
        mark_px = theme.px(24) if entry.installed or entry.model.gated else 0
        if mark_px:
            side = theme.px(15)
            at = QRect(place.right() - side, place.top(), side, side)
            icon(
                "check" if entry.installed else "key-round", colors.gain if entry.installed else colors.secondary
            ).paint(painter, at)
        name_px = QFontMetrics(theme.ui_font()).height()
        line = QRect(place.left(), place.top(), place.width() - mark_px, name_px)
        name = human_name(entry.model.name)
        if entry.has_draft:
            line.setWidth(self._paint_badge(painter, line, name))
        paint_line(painter, line, name, theme.ui_font(), colors.text, Qt.TextElideMode.ElideMiddle)
        painter.setFont(theme.ui_font(FOOTER_PX))
        painter.setPen(colors.secondary)
        below = QRect(place.left(), line.bottom() + 2, place.width(), area.bottom() - line.bottom() - theme.px(10))
        lines = hub_line(entry.model, entry.fit), hub_record(entry.model)
        details = (details_in_lines(line, painter.fontMetrics(), below.width()) for line in lines)
        painter.drawText(below, _WRAPPED, "\n".join(details))

    def _paint_badge(self, painter: QPainter, line: QRect, name: str) -> int:
        """Behind the name, or at the end of the line; what width is left for the name."""
        gap, size = self._theme.px(8), badge_size(self._theme, draft_badge_text())
        name_px = min(
            QFontMetrics(self._theme.ui_font()).horizontalAdvance(name) + 2, line.width() - size.width() - gap
        )
        top = line.top() + (line.height() - size.height()) // 2
        paint_badge(painter, self._theme, QRect(QPoint(line.left() + name_px + gap, top), size), draft_badge_text())
        return name_px
