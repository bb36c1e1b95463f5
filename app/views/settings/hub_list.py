"""The list of models that a hub has: two lines each, drawn, so that thousands cost no more than those in sight."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.theme import FOOTER_PX, RADIUS_ROW, Theme
from app.view_models.hub import ENTRY_ROLE, HubEntry, HubList
from app.views.icons import icon
from app.views.widgets.scrolling import ThinScrollBars
from app.words.hub import hub_line, hub_record

Index = QModelIndex | QPersistentModelIndex


class HubListView(QListView):
    chosen = Signal(str)  # repository

    def __init__(self, theme: Theme, results: HubList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.by_key = False  # a ring shows where the keyboard is, once it is used
        self.setModel(results)
        self.setItemDelegate(_HubDelegate(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.clicked.connect(self._choose)
        theme.changed.connect(self.scheduleDelayedItemsLayout)
        ThinScrollBars(self, theme)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.by_key = True
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._choose(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()

    def _choose(self, index: QModelIndex) -> None:
        entry = index.data(ENTRY_ROLE)
        if isinstance(entry, HubEntry):
            self.chosen.emit(entry.model.repository)


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
        self._paint_ground(painter, area, state)
        self._paint_words(painter, area, entry)
        painter.restore()

    def _paint_ground(self, painter: QPainter, area: QRect, state: QStyle.StateFlag) -> None:
        colors = self._theme.palette
        by_key = self._view.by_key and self._view.hasFocus() and bool(state & QStyle.StateFlag.State_HasFocus)
        over = bool(state & QStyle.StateFlag.State_MouseOver)
        painter.setPen(QPen(colors.ink, 2) if by_key else Qt.PenStyle.NoPen)
        painter.setBrush(colors.hover if over or by_key else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(area).adjusted(1, 1, -1, -1), RADIUS_ROW, RADIUS_ROW)
        painter.fillRect(QRectF(area.left() + 10, area.bottom(), area.width() - 20, 1), colors.hairline)

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
        self._text(painter, line, entry.model.name, theme.ui_font(), colors.text, Qt.TextElideMode.ElideMiddle)
        small, below = theme.ui_font(FOOTER_PX), QRect(place.left(), line.bottom() + 2, place.width(), line_px)
        self._text(painter, below, hub_line(entry.model, entry.fit), small, colors.secondary)
        self._text(painter, below.translated(0, line_px), hub_record(entry.model), small, colors.secondary)

    def _text(
        self,
        painter: QPainter,
        place: QRect,
        text: str,
        font: QFont,
        color: QColor,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        painter.setFont(font)
        painter.setPen(color)
        shown = QFontMetrics(font).elidedText(text, mode, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, shown)
