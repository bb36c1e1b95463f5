"""The table of requests: one row each, with figures of fixed width, so that updates do not move them."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from app.theme import FOOTER_PX, Palette, Theme
from app.view_models.request_table import RequestRole, RequestRow, RequestTableModel
from app.view_models.transcript import RequestStats
from app.views.widgets.held_keys import presses
from app.views.widgets.painting import paint_aside, paint_line
from app.views.widgets.scrolling import ThinScrollBars, keep_room_for_bar
from app.views.widgets.sparkline import paint_positions, paint_sparkline, paint_time
from app.views.widgets.tooltips import show_item_tooltips
from app.views.widgets.translated import Translated
from app.words.replies import Tone, tone_of
from app.words.requests import RequestColumn, all_state_words
from app.words.speculation import has_charts

_ROW_PX = 42
_FIRST_COLUMN_PX = 150
_NUMBER_COLUMN_PX = 62
_COLUMN_PX = {RequestColumn.STATE: 88, RequestColumn.SPEED_UP: 88, RequestColumn.TOKENS_PER_PASS: 72}
_LAST_TO_GO = (
    RequestColumn.SPEED_UP,
    RequestColumn.STATE,
    RequestColumn.SPEED,
    RequestColumn.ACCEPT_RATE,
    RequestColumn.TOKENS_PER_PASS,
    RequestColumn.TIME,
    RequestColumn.POSITIONS,
    RequestColumn.OVER_TIME,
)
_LEFT_PX = 8
_RIGHT_PX = 6  # between a cell's edges and its words
_PICTURES = (RequestColumn.POSITIONS, RequestColumn.OVER_TIME)
_TIME_BAR_PX = 6


class RequestTable(Translated, QTableView):
    """Chat and models share the first column; the rest are figures and small pictures. A row opens its reply."""

    opened = Signal(int, int)  # chat, message

    def __init__(self, theme: Theme, requests: RequestTableModel) -> None:
        super().__init__()
        self.theme = theme
        self._requests = requests
        self._widths = dict.fromkeys(_LAST_TO_GO, 0)
        self.setModel(requests)
        self.setItemDelegate(RequestDelegate(self))
        self._set_header()
        self._set_behaviour()
        theme.changed.connect(self._restyle)
        self.clicked.connect(self._open)
        ThinScrollBars(self, theme)
        show_item_tooltips(self)
        self._restyle()

    def _set_behaviour(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setTabKeyNavigation(False)  # or Tab would go round in the cells for ever
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        keep_room_for_bar(self)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()

    def _set_header(self) -> None:
        header = RequestHeader(self)
        self.setHorizontalHeader(header)
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)

    def _restyle(self) -> None:
        colors = self.theme.palette
        font = self.theme.ui_font(FOOTER_PX, tabular=True)
        self.setFont(font)
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Base, colors.window)
        self.setPalette(palette)
        header = self.horizontalHeader()
        self.verticalHeader().setDefaultSectionSize(self.theme.px(_ROW_PX))
        header.setMinimumSectionSize(self.theme.px(_NUMBER_COLUMN_PX) - 8)  # first: it bounds the widths
        self._retranslate()

    def _fit_columns(self) -> None:
        """The chat's column gets the remaining width. Without room, columns are hidden; the tooltip has their
        figures.
        """
        least = self.theme.px(_FIRST_COLUMN_PX)
        left = self.viewport().width() - least
        for column in _LAST_TO_GO:
            left -= self._widths[column]
            self.setColumnHidden(column, left < 0)
            self.setColumnWidth(column, self._widths[column])
        others = sum(self._widths[column] for column in _LAST_TO_GO if not self.isColumnHidden(column))
        self.setColumnWidth(RequestColumn.CHAT, max(least, self.viewport().width() - others))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _open(self, index: QModelIndex | QPersistentModelIndex) -> None:
        row = index.data(RequestRole.ROW)
        if isinstance(row, RequestRow) and row.chat_id:
            self.opened.emit(row.chat_id, row.message_id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not presses(event, lambda: self._open(self.currentIndex()), and_space=True):
            super().keyPressEvent(event)

    def _retranslate(self) -> None:
        """Names and states are translated when painted; here columns and header get their widths."""
        room = QRect(0, 0, self.theme.px(_NUMBER_COLUMN_PX) - _LEFT_PX - _RIGHT_PX, 1000)
        names = (str(self._requests.headerData(column, Qt.Orientation.Horizontal)) for column in RequestColumn)
        metrics = QFontMetrics(self.theme.ui_font(FOOTER_PX))
        states = max(QFontMetrics(self.font()).horizontalAdvance(words) for words in all_state_words())
        self._widths = {column: self.theme.px(_COLUMN_PX.get(column, _NUMBER_COLUMN_PX)) for column in _LAST_TO_GO}
        self._widths[RequestColumn.STATE] = max(states + _LEFT_PX + _RIGHT_PX, self._widths[RequestColumn.STATE])
        self._fit_columns()
        wrapped = (metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, name).height() for name in names)
        self.horizontalHeader().setFixedHeight(max(wrapped) + 8)
        self.horizontalHeader().viewport().update()
        self.viewport().update()
        self.updateGeometry()


class RequestHeader(QHeaderView):
    """Names above their columns, on two lines where they are long."""

    def __init__(self, table: RequestTable) -> None:
        super().__init__(Qt.Orientation.Horizontal, table)
        self.viewport().setAutoFillBackground(False)
        self._theme = table.theme

    def paintSection(self, painter: QPainter, rect: QRect, column: int) -> None:  # noqa: N802 - Qt's name
        words = column in (RequestColumn.CHAT, RequestColumn.STATE, *_PICTURES)
        side = Qt.AlignmentFlag.AlignLeft if words else Qt.AlignmentFlag.AlignRight
        painter.save()
        painter.setFont(self._theme.ui_font(FOOTER_PX))
        painter.setPen(self._theme.palette.secondary)
        name = self.model().headerData(column, Qt.Orientation.Horizontal)
        place = rect.adjusted(_LEFT_PX if words else 2, 0, -_RIGHT_PX, -4)
        painter.drawText(place, side | Qt.AlignmentFlag.AlignBottom | Qt.TextFlag.TextWordWrap, str(name))
        painter.restore()


class RequestDelegate(QStyledItemDelegate):
    def __init__(self, table: RequestTable) -> None:
        super().__init__(table)
        self._table = table

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme = self._table.theme
        colors = self._table.theme.palette
        area: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.ui_font(FOOTER_PX, tabular=True))
        if self._table.hasFocus() and self._table.currentIndex().row() == index.row():
            painter.fillRect(area, colors.hover)
        place = area.adjusted(_LEFT_PX, 0, -_RIGHT_PX, 0)
        if index.column() == RequestColumn.CHAT:
            self._paint_names(painter, place, index)
        elif index.column() in _PICTURES:
            self._paint_picture(painter, QRectF(place).adjusted(0, 7, 0, -7), index)
        else:
            self._paint_figure(painter, place, index)
        if index.column() == RequestColumn.TIME:
            self._paint_time(painter, place, index)
        painter.fillRect(area.left(), area.top(), area.width(), 1, colors.hairline)
        painter.restore()

    def _paint_figure(self, painter: QPainter, place: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        colors = self._table.theme.palette
        below = str(index.data(RequestRole.SECOND_LINE) or "")
        words = index.column() == RequestColumn.STATE
        side = Qt.AlignmentFlag.AlignLeft if words else Qt.AlignmentFlag.AlignRight
        two = below or index.column() == RequestColumn.TIME
        line = place.adjusted(0, 4, 0, -place.height() // 2) if two else place
        paint_line(painter, line, str(index.data()), painter.font(), self._color(index), side=side)
        if below:
            saved = index.column() == RequestColumn.SPEED_UP
            color = self._color(index) if saved else colors.secondary
            line = place.adjusted(0, place.height() // 2 - 2, 0, -3)
            paint_line(painter, line, below, painter.font(), color, side=side)

    def _color(self, index: QModelIndex | QPersistentModelIndex) -> QColor:
        colors = self._table.theme.palette
        row = index.data(RequestRole.ROW)
        if index.column() == RequestColumn.SPEED_UP:
            return speed_color(row.stats, colors)
        live = index.column() in (RequestColumn.ACCEPT_RATE, RequestColumn.TOKENS_PER_PASS)
        return colors.draft if live and row.status.under_way else colors.text

    def _paint_picture(self, painter: QPainter, place: QRectF, index: QModelIndex | QPersistentModelIndex) -> None:
        """Of what was drafted; nothing where little was."""
        stats = index.data(RequestRole.ROW).stats
        if not has_charts(stats):
            return
        if index.column() == RequestColumn.OVER_TIME:
            paint_sparkline(painter, place, stats, self._table.theme)
            return
        paint_positions(painter, place, stats, self._table.theme)

    def _paint_time(self, painter: QPainter, place: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        """Below the share of drafting: all parts of the time as a bar."""
        stats = index.data(RequestRole.ROW).stats
        high = self._table.theme.px(_TIME_BAR_PX)
        middle = place.top() + place.height() * 3 / 4 - 1
        paint_time(painter, QRectF(place.left(), middle - high / 2, place.width(), high), stats, self._table.theme)

    def _paint_names(self, painter: QPainter, place: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        colors = self._table.theme.palette
        font = painter.font()
        half = place.height() // 2
        title = QRect(place.left(), place.top() + 4, place.width(), half - 3)
        below = QRect(place.left(), place.top() + half - 1, place.width(), half - 3)
        aside = paint_aside(painter, title, str(index.data(RequestRole.WHEN)), font, colors.secondary)
        paint_line(painter, title.adjusted(0, 0, -aside - _LEFT_PX, 0), str(index.data()), font, colors.text)
        paint_line(painter, below, str(index.data(RequestRole.SECOND_LINE)), font, colors.secondary)


def speed_color(stats: RequestStats, colors: Palette) -> QColor:
    return {Tone.GAIN: colors.gain, Tone.COST: colors.cost}.get(tone_of(stats), colors.text)
