"""A list to choose one from: headings, options with details below, greyed ones that say why they cannot be chosen.

The keyboard goes to every option, also to a greyed one: whoever cannot choose it can still read why, and scroll to it.
It steps over headings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QPainter,
    QResizeEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.theme import FOOTER_PX, Theme
from app.views.icons import icon
from app.views.widgets.labels import details_in_lines
from app.views.widgets.painting import paint_line, paint_row_ground
from app.views.widgets.row_list import ChoiceList, Index

_OPTION = Qt.ItemDataRole.UserRole
EDGE_PX = 12  # where headings and ticks begin; what stands around a list begins there too
_MOVES = QListView.CursorAction
_BACKWARDS = (_MOVES.MoveHome, _MOVES.MovePageUp, _MOVES.MoveUp, _MOVES.MovePrevious)
_WORDS_PX = EDGE_PX + 22  # behind the tick


@dataclass(frozen=True, slots=True)
class Option:
    """`value` is None for a heading; `reason` says why it cannot be chosen. A sub-heading stands below a heading."""

    text: str
    value: str | None = None
    detail: str = ""
    reason: str = ""
    is_sub_heading: bool = False


class OptionList(ChoiceList):
    moved = Signal()  # another option is the current one

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.checked = ""
        self._items = QStandardItemModel(self)
        self.setModel(self._items)
        self.selectionModel().currentChanged.connect(self.moved)
        self.setItemDelegate(_OptionDelegate(self))

    def set_options(self, options: Sequence[Option], checked: str) -> None:
        """Keeps the scroll position when the options are the same, and the current option unless that was checked."""
        current = self.current_value
        kept = checked if current in (None, self.checked) else current
        self.checked = checked
        if [self._items.item(row).data(_OPTION) for row in range(self._items.rowCount())] != list(options):
            self._items.clear()
            for option in options:
                self._items.appendRow(_item(option))
        if self.current_value != kept:
            index = self._index_of(kept)
            self.setCurrentIndex(index if index.isValid() else self._index_of(checked))
        self.viewport().update()

    @property
    def current_value(self) -> str | None:
        """Of the option that the keyboard is at, whether it can be chosen or not; None without one."""
        option = self.currentIndex().data(_OPTION)
        return option.value if isinstance(option, Option) else None

    def show_checked(self) -> None:
        """Has the keyboard begin at the chosen option, and that in sight."""
        if (index := self._index_of(self.checked)).isValid():
            self.setCurrentIndex(index)
            self._bring_into_sight(index)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What the keyboard is at stays in sight, also where something below the list takes of its height."""
        super().resizeEvent(event)
        if self.currentIndex().isValid():
            self._bring_into_sight(self.currentIndex())

    def _bring_into_sight(self, index: QModelIndex) -> None:
        """And the row at the top whole, unless the list ends before that."""
        self.scrollTo(index)
        first = self.visualRect(self.indexAt(QPoint(0, 0)))
        if first.top() < 0 and self.visualRect(index).top() > first.bottom():
            self.verticalScrollBar().setValue(self.verticalScrollBar().value() + first.bottom() + 1)

    def _index_of(self, value: str | None) -> QModelIndex:
        for row in range(self._items.rowCount()):
            if value is not None and self._items.item(row).data(_OPTION).value == value:
                return self._items.index(row, 0)
        return QModelIndex()

    def moveCursor(self, action: QListView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Qt itself stays where it is when Home, End or a page would lead to a heading."""
        index = super().moveCursor(action, modifiers)
        ahead, behind = range(index.row(), self._items.rowCount()), range(index.row(), -1, -1)
        rows = (*behind, *ahead) if action in _BACKWARDS else (*ahead, *behind)
        options = (self._items.index(row, 0) for row in rows if self._items.item(row).isEnabled())
        return next(options, index) if index.isValid() else index

    def value_of(self, index: Index) -> str | None:
        option = index.data(_OPTION)
        return option.value if isinstance(option, Option) and not option.reason else None

    def content_height(self) -> int:
        delegate, shown = self.itemDelegate(), QStyleOptionViewItem()
        rows = (self._items.index(row, 0) for row in range(self._items.rowCount()))
        return sum(delegate.sizeHint(shown, index).height() for index in rows)


def _item(option: Option) -> QStandardItem:
    item = QStandardItem(option.text)
    item.setData(option, _OPTION)
    item.setEditable(False)
    item.setAccessibleText(" ".join(part for part in (option.text, option.detail, option.reason) if part))
    if option.value is None:
        item.setFlags(Qt.ItemFlag.NoItemFlags)
    return item


class _OptionDelegate(QStyledItemDelegate):
    def __init__(self, options: OptionList) -> None:
        super().__init__(options)
        self._list = options

    @property
    def _theme(self) -> Theme:
        return self._list.theme

    def _small(self) -> QFont:
        return self._theme.ui_font(FOOTER_PX)

    def _words_width(self) -> int:
        return self._list.viewport().width() - self._theme.px(_WORDS_PX + 10)

    def _words_height(self, words: str) -> int:
        room = QRect(0, 0, max(40, self._words_width()), 1000)
        return QFontMetrics(self._small()).boundingRect(room, Qt.TextFlag.TextWordWrap, words).height()

    def _words_below(self, option: Option) -> str:
        words = option.reason or option.detail
        return details_in_lines(words, QFontMetrics(self._small()), max(40, self._words_width()))

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        option: Option = index.data(_OPTION)
        line = QFontMetrics(self._theme.ui_font()).height()
        if option.value is None:
            return QSize(0, line + self._theme.px(4 if option.is_sub_heading else 14))
        words = self._words_below(option)
        below = self._words_height(words) if words else 0
        return QSize(0, line + below + self._theme.px(12))

    def paint(self, painter: QPainter, style: QStyleOptionViewItem, index: Index) -> None:
        area: QRect = style.rect
        state: QStyle.StateFlag = style.state
        option: Option = index.data(_OPTION)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.value is None:
            self._paint_heading(painter, area, option)
        else:
            # What cannot be chosen has no tick to get by a click: the ground shows that it is the one in question.
            lit = QStyle.StateFlag.State_Selected if option.reason else QStyle.StateFlag.State_MouseOver
            ring = self._list.rings(state)
            paint_row_ground(painter, area, self._theme.palette, bool(state & lit) or ring, ring)
            self._paint_option(painter, area, option)
        painter.restore()

    def _paint_heading(self, painter: QPainter, area: QRect, option: Option) -> None:
        weight = QFont.Weight.Normal if option.is_sub_heading else QFont.Weight.DemiBold
        font = self._theme.ui_font(FOOTER_PX, weight)
        left = self._theme.px(_WORDS_PX if option.is_sub_heading else EDGE_PX)
        place = area.adjusted(left, self._theme.px(0 if option.is_sub_heading else 6), -self._theme.px(8), 0)
        ink = self._theme.palette.secondary if option.is_sub_heading else self._theme.palette.faint
        paint_line(painter, place, option.text, font, ink, Qt.TextElideMode.ElideRight)

    def _paint_option(self, painter: QPainter, area: QRect, option: Option) -> None:
        theme, colors = self._theme, self._theme.palette
        line = QFontMetrics(theme.ui_font()).height()
        place = QRect(area.left() + theme.px(_WORDS_PX), area.top() + theme.px(6), self._words_width(), line)
        if option.value == self._list.checked and not option.reason:
            side = theme.px(15)
            tick = QRect(area.left() + theme.px(EDGE_PX), place.top() + (line - side) // 2, side, side)
            icon("check", colors.ink).paint(painter, tick)
        ink = colors.faint if option.reason else colors.text
        paint_line(painter, place, option.text, theme.ui_font(), ink, Qt.TextElideMode.ElideMiddle)
        below = QRect(place.left(), place.bottom() + 1, place.width(), area.bottom() - place.bottom())
        painter.setFont(self._small())
        painter.setPen(colors.faint if option.reason else colors.secondary)
        painter.drawText(below, Qt.TextFlag.TextWordWrap, self._words_below(option))
