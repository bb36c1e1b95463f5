"""A list of places with icons: pages of the settings, search results, commands. The shown row is tinted; a ring shows
the keyboard's row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.theme import FOOTER_PX, Theme
from app.views.icons import icon
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import ChoiceButton
from app.views.widgets.focus import in_reading_order
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.painting import paint_aside, paint_line, paint_row_ground
from app.views.widgets.roles import announce
from app.views.widgets.row_list import Index, RowRing, set_up_row_list
from app.views.widgets.search_field import SearchField
from app.views.widgets.tooltips import set_tooltip, show_item_tooltips

_ENTRY = Qt.ItemDataRole.UserRole
SIDE_PX = 10
_ANY_PX = 16_777_215


@dataclass(frozen=True, slots=True)
class PageEntry:
    """`detail` is under the text, `aside` at the right, such as a shortcut."""

    text: str
    icon_name: str = ""
    detail: str = ""
    aside: str = ""


class PageList(RowRing, QListWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.shows_ring = True  # not where a field beside it has the focus and leads it
        self.setItemDelegate(_EntryDelegate(self))
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        set_up_row_list(self, theme)
        show_item_tooltips(self)

    def set_entries(self, entries: Sequence[PageEntry]) -> None:
        """The current row stays where the number of entries does."""
        now = self.currentRow() if len(entries) == self.count() else -1
        self.blockSignals(True)
        self.clear()
        for entry in entries:
            item = QListWidgetItem(entry.text)
            item.setData(_ENTRY, entry)
            set_tooltip(item, entry.text)  # it may be elided
            said = " ".join(filter(None, (entry.text, entry.detail, entry.aside)))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, said)
            self.addItem(item)
        self.setCurrentRow(now)
        self.blockSignals(False)

    def step(self, rows: int) -> None:
        """For a field beside the list, whose arrow keys lead it; goes round."""
        if self.count():
            self.setCurrentRow((self.currentRow() + rows) % self.count())

    @property
    def current_words(self) -> str:
        """The current row, as screen readers say it; they do so themselves only where the list has the focus."""
        item = self.currentItem()
        return "" if item is None else str(item.data(Qt.ItemDataRole.AccessibleTextRole))

    def words_width(self) -> int:
        """What the widest entry needs, beside a scroll bar."""
        metrics = QFontMetrics(self.theme.ui_font())
        words = [metrics.horizontalAdvance(self.item(row).text()) for row in range(self.count())]
        return max(words, default=0) + self.theme.px(24 + 24) + self.verticalScrollBar().sizeHint().width()

    def content_height(self) -> int:
        return sum(self.sizeHintForRow(row) for row in range(self.count()))


class _EntryDelegate(QStyledItemDelegate):
    def __init__(self, entries: PageList) -> None:
        super().__init__(entries)
        self._list = entries

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        theme = self._list.theme
        entry = index.data(_ENTRY)
        line = QFontMetrics(theme.ui_font()).height()
        below = QFontMetrics(theme.ui_font(FOOTER_PX)).height() if entry.detail else 0
        return QSize(0, max(theme.px(32), line + below + theme.px(12)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        area: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = bool(state & QStyle.StateFlag.State_Selected)
        filled = selected or bool(state & QStyle.StateFlag.State_MouseOver)
        ring = selected and self._list.shows_ring and self._list.has_ring
        paint_row_ground(painter, area, self._list.theme.palette, filled, ring)
        self._paint_entry(painter, area, index.data(_ENTRY))
        painter.restore()

    def _paint_entry(self, painter: QPainter, area: QRect, entry: PageEntry) -> None:
        theme = self._list.theme
        colors = self._list.theme.palette
        font = theme.ui_font()
        small = theme.ui_font(FOOTER_PX)
        words = area.adjusted(theme.px(12), 0, -theme.px(10), 0)
        if entry.icon_name:
            side = theme.px(16)
            icon(entry.icon_name, colors.secondary).paint(
                painter, words.left(), area.top() + (area.height() - side) // 2, side, side
            )
            words.setLeft(words.left() + theme.px(24))
        if aside_px := paint_aside(painter, words, entry.aside, font, colors.faint):
            words.setRight(words.right() - aside_px - theme.px(12))
        if entry.detail:
            height = QFontMetrics(font).height()
            top = QRect(words.left(), area.top() + theme.px(6), words.width(), height)
            paint_line(painter, top, entry.text, font, colors.text)
            paint_line(painter, top.translated(0, height), entry.detail, small, colors.secondary)
        else:
            paint_line(painter, words, entry.text, font, colors.text)


class PagesSide(QWidget):
    """A search and a list of pages at the left of a window; in a narrow one above the page, with a menu of pages."""

    def __init__(self, theme: Theme, window: QWidget, page: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._page = page
        self.index = ChoiceButton(theme)
        self.search = SearchField(theme)
        self.nothing = TextLabel(theme, TextStyle.SECONDARY)
        self.list = PageList(theme)
        head = arrange(QHBoxLayout(), self.index, (self.search, 1))
        arrange(QVBoxLayout(self), head, self.nothing, (self.list, 1), spacing=8, margins=(SIDE_PX, 14, SIDE_PX, 10))
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, window)
        arrange(self._row, self, (page, 1), spacing=0, margins=(0, 0, 0, 0))
        self.search.left.connect(self._leave_search)
        self.search.down_pressed.connect(self._go_down)

    def fold(self, *, narrow: bool, list_px: int, finds: bool) -> None:
        """`finds`: the list has what was found, which has no other place."""
        direction = QBoxLayout.Direction
        self._row.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)
        self.setMinimumWidth(0 if narrow else list_px)
        self.setMaximumWidth(_ANY_PX if narrow else list_px)
        policy = QSizePolicy.Policy
        self.setSizePolicy(policy.Preferred, policy.Maximum if narrow else policy.Preferred)
        self.index.setVisible(narrow)
        self.list.setVisible(finds or not narrow)
        least = min(self.list.content_height(), self.window().height() // 3)
        self.list.setMaximumHeight(least if narrow else _ANY_PX)

    def say_found(self) -> None:
        """To screen readers: the field keeps the focus."""
        if self.search.words().strip():
            announce(self.search, self.list.current_words or self.nothing.text())

    def _leave_search(self) -> None:
        """Escape empties the field; in an empty one it closes the window, as everywhere in it."""
        if self.search.text():
            self.search.clear()
        else:
            self.window().close()

    def _go_down(self) -> None:
        """A hidden list would take the focus later, when it comes for what is typed."""
        if self.list.isHidden():
            takes_it = self._page.focusPolicy() & Qt.FocusPolicy.TabFocus
            for each in [self._page] if takes_it else in_reading_order(self._page)[:1]:
                each.setFocus(Qt.FocusReason.TabFocusReason)
            return
        self.list.setFocus(Qt.FocusReason.TabFocusReason)
        if self.list.currentRow() < 0:
            self.list.setCurrentRow(0)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.palette.sidebar)
