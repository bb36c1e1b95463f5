"""The list of models that a hub has: two lines each, drawn, so that thousands cost no more than those in sight."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
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
from app.views.widgets.painting import paint_line, paint_row_ground
from app.views.widgets.row_list import ChoiceList, Index
from app.words.hub import hub_line, hub_record


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

    def _lines(self) -> tuple[int, int]:
        big, small = QFontMetrics(self._theme.ui_font()), QFontMetrics(self._theme.ui_font(FOOTER_PX))
        return big.height(), small.height()

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        name, line = self._lines()
        return QSize(0, name + 2 * line + self._theme.px(20))

    def paint(self, painter: QPainter, style: QStyleOptionViewItem, index: Index) -> None:
        entry: HubEntry = index.data(ENTRY_ROLE)
        area: QRect = style.rect
        state: QStyle.StateFlag = style.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ring, over = self._view.has_ring(state), bool(state & QStyle.StateFlag.State_MouseOver)
        paint_row_ground(painter, area, self._theme.palette, over or ring, ring)
        line = QRectF(area.left() + 10, area.bottom(), area.width() - 20, 1)
        painter.fillRect(line, self._theme.palette.hairline)
        self._paint_words(painter, area, entry)
        painter.restore()

    def _paint_words(self, painter: QPainter, area: QRect, entry: HubEntry) -> None:
        theme, colors = self._theme, self._theme.palette
        name_px, line_px = self._lines()
        place = area.adjusted(theme.px(10), theme.px(8), -theme.px(10), 0)
        mark_px = theme.px(24) if entry.installed or entry.model.gated else 0
        if mark_px:
            side = theme.px(15)
            at = QRect(place.right() - side, place.top(), side, side)
            icon(
                "check" if entry.installed else "key-round", colors.gain if entry.installed else colors.secondary
            ).paint(painter, at)
        line = QRect(place.left(), place.top(), place.width() - mark_px, name_px)
        paint_line(painter, line, entry.model.name, theme.ui_font(), colors.text, Qt.TextElideMode.ElideMiddle)
        small, below = theme.ui_font(FOOTER_PX), QRect(place.left(), line.bottom() + 2, place.width(), line_px)
        paint_line(painter, below, hub_line(entry.model, entry.fit), small, colors.secondary)
        paint_line(painter, below.translated(0, line_px), hub_record(entry.model), small, colors.secondary)
