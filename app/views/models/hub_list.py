"""The list of a hub's models, painted by a delegate: name, two details, Install and a chevron.

Thousands of rows cost no more than the visible ones. It is as high as its rows, since the page around it scrolls. All
rows have the height of the longest details at this width. A click on Install installs; elsewhere, like Return, it opens
the model's page.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QCursor, QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.theme import FOOTER_PX, RADIUS_ROW, Theme
from app.view_models.downloads import DownloadState
from app.view_models.hub import ENTRY_ROLE, HubEntry, HubList
from app.views.icons import icon
from app.views.models.badge import badge_size, paint_badge
from app.views.models.model_facts import coming_text
from app.views.widgets.arrange import arrange
from app.views.widgets.cards import Card
from app.views.widgets.labels import TextStyle, details_in_lines, style_font
from app.views.widgets.painting import paint_line, paint_row_ground
from app.views.widgets.row_list import ChoiceList, Index
from app.views.widgets.tooltips import show_item_tooltips
from app.words.hub import hub_line, hub_record, install_text, installed_text, long_lines
from app.words.model_names import human_name

_WRAPPED = Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
_SIDE_PX = 10
_CHEVRON_PX = 16
_BUTTON_PX = 28
_CARD_EDGE_PX = 6
_MOVES = QListView.CursorAction


class HubListView(ChoiceList):
    """Chooses repositories."""

    install_requested = Signal(str)
    current_moved = Signal(QRect)  # where the keyboard is now, for the page that scrolls

    def __init__(self, theme: Theme, results: HubList) -> None:
        super().__init__(theme)
        self.coming: Mapping[str, DownloadState] = {}  # what is being downloaded, by repository
        self.page_px = 0  # how much of it is in sight at once
        self._pressed_install = ""
        self._results = results
        self.setModel(results)
        self.setItemDelegate(HubDelegate(self))
        self.setUniformItemSizes(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        show_item_tooltips(self)
        for signal in (results.rowsInserted, results.modelReset, theme.changed):
            signal.connect(self._fit_height)
        self.selectionModel().currentChanged.connect(lambda now: self.current_moved.emit(self.visualRect(now)))

    def set_coming(self, coming: Mapping[str, DownloadState]) -> None:
        self.coming = coming
        self.viewport().update()

    def value_of(self, index: Index) -> str | None:
        entry = index.data(ENTRY_ROLE)
        return entry.model.repository if isinstance(entry, HubEntry) else None

    def delegate(self) -> HubDelegate:
        found = self.itemDelegate()
        assert isinstance(found, HubDelegate)
        return found

    def row_px(self) -> int:
        return self.delegate().sizeHint(QStyleOptionViewItem(), QModelIndex()).height()

    @property
    def has_records(self) -> bool:
        """Whether the hub has sent more of any than its owner, which the tooltip has as well."""
        return any(each.model.downloads or each.model.updated_at for each in self._results.entries)

    def _fit_height(self) -> None:
        height = self.row_px() * self.model().rowCount()
        if height != self.maximumHeight():
            self.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height()

    def moveCursor(self, action: QListView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Page keys move by what is visible: Qt would take the whole list for one page."""
        if action not in (_MOVES.MovePageDown, _MOVES.MovePageUp):
            return super().moveCursor(action, modifiers)
        rows = max(1, self.page_px // self.row_px() - 1)
        row = self.currentIndex().row() + (rows if action == _MOVES.MovePageDown else -rows)
        return self.model().index(max(0, min(row, self.model().rowCount() - 1)), 0)

    # Install in a row

    def install_at(self, place: QPoint) -> str:
        """The repository whose Install button is there; "" if none is."""
        index = self.indexAt(place)
        entry = index.data(ENTRY_ROLE)
        if not isinstance(entry, HubEntry) or self.delegate().said(entry):
            return ""
        return entry.model.repository if self.delegate().button(self.visualRect(index), entry).contains(place) else ""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._pressed_install = self.install_at(event.position().toPoint()) if self._pressed else ""
        if self._pressed_install:
            self._pressed = None

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        pressed = self._pressed_install
        self._pressed_install = ""
        if pressed and self.install_at(event.position().toPoint()) == pressed:
            self.install_requested.emit(pressed)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self.viewport().update()  # a button under the pointer is lit

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """At either end arrow keys scroll the page."""
        ends = {Qt.Key.Key_Up: 0, Qt.Key.Key_Down: self.model().rowCount() - 1}
        if ends.get(Qt.Key(event.key())) == self.currentIndex().row():
            event.ignore()
        else:
            super().keyPressEvent(event)


def in_card(rows: HubListView) -> Card:
    """Their words begin where those of any card do: they have sides of their own."""
    card = Card(rows.theme)
    arrange(card.column, rows, margins=(_CARD_EDGE_PX,) * 4)
    return card


class HubDelegate(QStyledItemDelegate):
    def __init__(self, view: HubListView) -> None:
        super().__init__(view)
        self._view = view

    @property
    def _theme(self) -> Theme:
        return self._view.theme

    def _name_font(self) -> QFont:
        return style_font(self._theme, TextStyle.HEADING)

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        name_px = QFontMetrics(self._name_font()).height()
        return QSize(0, name_px + self._details_px(self._view.viewport().width()) + self._theme.px(20))

    def _details_px(self, row_px: int) -> int:
        small = QFontMetrics(self._theme.ui_font(FOOTER_PX))
        place = QRect(0, 0, self._words_px(row_px), 0)
        lines = (details_in_lines(line, small, place.width()) for line in long_lines())
        shown = [*lines][: 1 + self._view.has_records]
        return sum(small.boundingRect(place, _WRAPPED, each).height() for each in shown)

    def _aside_px(self, row_px: int) -> int:
        """For Install, or what became of it, and the chevron; without much room for the chevron alone."""
        metrics = QFontMetrics(self._theme.ui_font())
        words = (install_text(), installed_text(), *(coming_text(state) for state in DownloadState))
        button = max(map(metrics.horizontalAdvance, filter(None, words))) + self._theme.px(24)
        return button if row_px >= 3 * button else 0

    def _words_px(self, row_px: int) -> int:
        theme = self._theme
        aside = self._aside_px(row_px)
        return row_px - theme.px(2 * _SIDE_PX + _CHEVRON_PX + 8) - aside - (theme.px(8) if aside else 0)

    def button(self, row: QRect, entry: HubEntry) -> QRect:
        """Rectangle of Install, or of the text in its place."""
        theme = self._theme
        wide = self._aside_px(row.width())
        right = row.right() - theme.px(_SIDE_PX + _CHEVRON_PX + 8)
        high = theme.px(_BUTTON_PX)
        if wide and not self.said(entry):  # as wide as its word
            wide = QFontMetrics(theme.ui_font()).horizontalAdvance(install_text()) + theme.px(24)
        return QRect(right - wide + 1, row.center().y() - high // 2, wide, high)

    def said(self, entry: HubEntry) -> str:
        """The text in place of Install."""
        return installed_text() if entry.installed else coming_text(self._view.coming.get(entry.model.repository))

    def paint(self, painter: QPainter, style: QStyleOptionViewItem, index: Index) -> None:
        entry: HubEntry = index.data(ENTRY_ROLE)
        area: QRect = style.rect
        state: QStyle.StateFlag = style.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ring = self._view.rings(state)
        over = bool(state & QStyle.StateFlag.State_MouseOver)
        paint_row_ground(painter, area, self._theme.palette, over or ring, ring)
        if index.row() < index.model().rowCount() - 1:
            line = QRectF(area.left() + 10, area.bottom(), area.width() - 20, 1)
            painter.fillRect(line, self._theme.palette.hairline)
        self._paint_words(painter, area, entry)
        self._paint_aside(painter, area, entry)
        painter.restore()

    def _paint_aside(self, painter: QPainter, area: QRect, entry: HubEntry) -> None:
        theme = self._theme
        colors = self._theme.palette
        side = self._theme.px(_CHEVRON_PX)
        at = QRect(area.right() - theme.px(_SIDE_PX) - side, area.center().y() - side // 2, side, side)
        icon("chevron-right", colors.faint).paint(painter, at)
        place = self.button(area, entry)
        said = self.said(entry)
        if not place.width():
            return
        painter.setFont(theme.ui_font())
        if said:
            painter.setPen(colors.secondary)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, said)
            return
        pointer = self._view.viewport().mapFromGlobal(QCursor.pos())
        painter.setPen(Qt.PenStyle.NoPen)
        for _ in range(2 if self._view.viewport().underMouse() and place.contains(pointer) else 1):
            painter.setBrush(colors.hover)
            painter.drawRoundedRect(place, RADIUS_ROW, RADIUS_ROW)
        painter.setPen(colors.text)
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, install_text())

    def _paint_words(self, painter: QPainter, area: QRect, entry: HubEntry) -> None:
        theme = self._theme
        colors = self._theme.palette
        place = area.adjusted(theme.px(_SIDE_PX), theme.px(8), 0, 0)
        place.setWidth(self._words_px(area.width()))
        mark_px = theme.px(24) if entry.model.gated else 0
        if mark_px:
            side = theme.px(15)
            icon("key-round", colors.secondary).paint(painter, QRect(place.right() - side, place.top(), side, side))
        name_px = QFontMetrics(self._name_font()).height()
        line = QRect(place.left(), place.top(), place.width() - mark_px, name_px)
        name = human_name(entry.model.name)
        if entry.has_draft:
            line.setWidth(self._paint_badge(painter, line, name))
        paint_line(painter, line, name, self._name_font(), colors.text, Qt.TextElideMode.ElideMiddle)
        painter.setFont(theme.ui_font(FOOTER_PX))
        painter.setPen(colors.secondary)
        below = QRect(place.left(), line.bottom() + 2, place.width(), area.bottom() - line.bottom() - theme.px(10))
        lines = hub_line(entry.model, entry.fit), hub_record(entry.model) if self._view.has_records else ""
        details = (details_in_lines(line, painter.fontMetrics(), below.width()) for line in lines)
        painter.drawText(below, _WRAPPED, "\n".join(filter(None, details)))

    def _paint_badge(self, painter: QPainter, line: QRect, name: str) -> int:
        """Paint the badge after the name; returns the width left for the name."""
        gap = self._theme.px(8)
        size = badge_size(self._theme)
        name_px = min(QFontMetrics(self._name_font()).horizontalAdvance(name) + 2, line.width() - size.width() - gap)
        top = line.top() + (line.height() - size.height()) // 2
        paint_badge(painter, self._theme, QRect(QPoint(line.left() + name_px + gap, top), size))
        return name_px
