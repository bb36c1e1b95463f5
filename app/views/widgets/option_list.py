"""A list of options with headings; unusable options are greyed.

The keyboard goes to greyed options as well, so that their details can be read (`pointed`); headings are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QCursor,
    QFont,
    QFontMetrics,
    QKeyEvent,
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
from app.views.widgets.held_keys import RETURN_KEYS, is_held
from app.views.widgets.painting import paint_aside, paint_line, paint_row_ground
from app.views.widgets.row_list import ChoiceList, Index

_OPTION = Qt.ItemDataRole.UserRole
EDGE_PX = 12  # where headings and ticks begin; what is around a list begins there too
_MOVES = QListView.CursorAction
_BACKWARDS = (_MOVES.MoveHome, _MOVES.MovePageUp, _MOVES.MoveUp, _MOVES.MovePrevious)
WORDS_PX = EDGE_PX + 22  # where the words begin, after the tick


@dataclass(frozen=True, slots=True)
class ListedOption:
    """`value` is None for a heading; `reason` says why it cannot be chosen. A sub-heading is below a heading.

    `aside` is at the right of the row; `detail` only under the pointer.
    """

    text: str
    value: str | None = None
    detail: str = ""
    reason: str = ""
    aside: str = ""
    is_gain: bool = False  # `aside` is about a gain
    is_sub_heading: bool = False
    mark: str = ""  # name of an icon after `text`; `detail` has its meaning in words


class OptionList(ChoiceList):
    pointed = Signal()  # another option is under the pointer or the current one, or none
    typed = Signal(str)  # letters, for a field that searches in the list
    confirmed = Signal()  # something was chosen by Return

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.checked = ""
        self.is_led = False  # a field that has the focus leads it: Return in there chooses the current option
        self._items = QStandardItemModel(self)
        self.setModel(self._items)
        self.selectionModel().currentChanged.connect(self.pointed)
        self.setItemDelegate(_OptionDelegate(self))
        self.entered.connect(self.pointed)

    def set_options(self, options: Sequence[ListedOption], checked: str) -> None:
        """Keeps the scroll position when the options are the same, and the current option unless that was checked."""
        current = self.current_value
        kept = checked if current in (None, self.checked) else current
        self.checked = checked
        if [index.data(_OPTION) for index in self._indexes()] != list(options):
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
        return option.value if isinstance(option, ListedOption) else None

    @property
    def current_words(self) -> str:
        """The current option, as screen readers say it."""
        return str(self.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole) or "")

    @property
    def pointed_option(self) -> ListedOption | None:
        """Under the pointer, else where the keyboard is in a list that it leads."""
        under = self.indexAt(self.viewport().mapFromGlobal(QCursor.pos())) if self.viewport().underMouse() else None
        led = self.currentIndex() if self.hasFocus() or self.is_led else QModelIndex()
        option = (under if under is not None and under.isValid() else led).data(_OPTION)
        return option if isinstance(option, ListedOption) and option.value is not None else None

    def show_first(self) -> bool:
        """Goes to the first option that can be chosen; whether there is one."""
        first = next((index for index in self._indexes() if self.value_of(index) is not None), None)
        if first is not None:
            self.setCurrentIndex(first)
            self.scrollTo(first)
        return first is not None

    def choose_current(self) -> bool:
        """Whether it can be chosen."""
        can_be_chosen = self.value_of(self.currentIndex()) is not None
        self.choose(self.currentIndex())
        return can_be_chosen

    @property
    def is_at_first(self) -> bool:
        rows = range(self._items.rowCount())
        return self.currentIndex().row() <= next((row for row in rows if self._items.item(row).isEnabled()), 0)

    def keyboardSearch(self, letters: str) -> None:  # noqa: N802 - Qt's name
        self.typed.emit(letters)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        can_be_chosen = self.value_of(self.currentIndex()) is not None
        is_return = event.key() in RETURN_KEYS and not is_held(event)
        super().keyPressEvent(event)
        if is_return and can_be_chosen:
            self.confirmed.emit()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.pointed.emit()

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
        same = (index for index in self._indexes() if index.data(_OPTION).value == value)
        return QModelIndex() if value is None else next(same, QModelIndex())

    def _indexes(self) -> list[QModelIndex]:
        return [self._items.index(row, 0) for row in range(self._items.rowCount())]

    def moveCursor(self, action: QListView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Qt itself stays where it is when Home, End or a page would lead to a heading."""
        index = super().moveCursor(action, modifiers)
        ahead = range(index.row(), self._items.rowCount())
        behind = range(index.row(), -1, -1)
        rows = (*behind, *ahead) if action in _BACKWARDS else (*ahead, *behind)
        options = (self._items.index(row, 0) for row in rows if self._items.item(row).isEnabled())
        return next(options, index) if index.isValid() else index

    def value_of(self, index: Index) -> str | None:
        option = index.data(_OPTION)
        return option.value if isinstance(option, ListedOption) and not option.reason else None

    def content_height(self) -> int:
        delegate = self.itemDelegate()
        shown = QStyleOptionViewItem()
        return sum(delegate.sizeHint(shown, index).height() for index in self._indexes())


def _item(option: ListedOption) -> QStandardItem:
    item = QStandardItem(option.text)
    item.setData(option, _OPTION)
    item.setEditable(False)
    item.setAccessibleText(" ".join(part for part in (option.text, option.aside, option.detail, option.reason) if part))
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

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        option: ListedOption = index.data(_OPTION)
        line = QFontMetrics(self._theme.ui_font()).height()
        if option.value is None:
            return QSize(0, line + self._theme.px(4 if option.is_sub_heading else 14))
        return QSize(0, line + self._theme.px(12))

    def paint(self, painter: QPainter, style: QStyleOptionViewItem, index: Index) -> None:
        area: QRect = style.rect
        state: QStyle.StateFlag = style.state
        option: ListedOption = index.data(_OPTION)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.value is None:
            self._paint_heading(painter, area, option)
        else:
            # What cannot be chosen has no tick to get by a click: the ground shows that it is the one in question.
            lit = QStyle.StateFlag.State_MouseOver
            if option.reason or self._list.is_led:
                lit = QStyle.StateFlag.State_Selected | lit
            ring = self._list.rings(state)
            paint_row_ground(painter, area, self._theme.palette, bool(state & lit) or ring, ring)
            self._paint_option(painter, area, option)
        painter.restore()

    def _paint_heading(self, painter: QPainter, area: QRect, option: ListedOption) -> None:
        weight = QFont.Weight.Normal if option.is_sub_heading else QFont.Weight.DemiBold
        font = self._theme.ui_font(FOOTER_PX, weight)
        left = self._theme.px(WORDS_PX if option.is_sub_heading else EDGE_PX)
        place = area.adjusted(left, self._theme.px(0 if option.is_sub_heading else 6), -self._theme.px(8), 0)
        ink = self._theme.palette.secondary if option.is_sub_heading else self._theme.palette.faint
        paint_line(painter, place, option.text, font, ink, Qt.TextElideMode.ElideRight)

    def _paint_option(self, painter: QPainter, area: QRect, option: ListedOption) -> None:
        theme = self._theme
        colors = self._theme.palette
        if option.value == self._list.checked and not option.reason:
            side = theme.px(15)
            top = area.top() + (area.height() - side) // 2
            icon("check", colors.ink).paint(painter, area.left() + theme.px(EDGE_PX), top, side, side)
        words = area.adjusted(theme.px(WORDS_PX), 0, -theme.px(10), 0)
        aside_ink = colors.gain if option.is_gain else colors.secondary
        if aside_px := paint_aside(painter, words, option.aside, theme.ui_font(FOOTER_PX), aside_ink):
            words.setRight(words.right() - aside_px - theme.px(10))
        ink = colors.faint if option.reason else colors.text
        if option.mark:
            self._paint_mark(painter, words, option)
        paint_line(painter, words, option.text, theme.ui_font(), ink, Qt.TextElideMode.ElideMiddle)

    def _paint_mark(self, painter: QPainter, words: QRect, option: ListedOption) -> None:
        """After the words, which leave it room."""
        theme = self._theme
        side = theme.px(14)
        gap = theme.px(6)
        text_px = QFontMetrics(theme.ui_font()).horizontalAdvance(option.text) + 1
        words.setWidth(min(text_px, words.width() - side - gap))
        top = words.top() + (words.height() - side) // 2
        icon(option.mark, theme.palette.secondary).paint(painter, words.right() + 1 + gap, top, side, side)
