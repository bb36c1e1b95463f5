"""A list of places to go to, with an icon each: the pages of the settings, what a search found, commands.

A real list to screen readers. The row that is shown is tinted; a ring says where the keyboard is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.theme import FOOTER_PX, RADIUS_ROW, Theme
from app.views.icons import icon
from app.views.widgets.scrolling import ThinScrollBars

_ENTRY = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class PageEntry:
    """`detail` stands under the text, `aside` at the right, such as a shortcut."""

    text: str
    icon_name: str = ""
    detail: str = ""
    aside: str = ""


class PageList(QListWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.shows_ring = True  # not where a field beside it has the focus and leads it
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        self.setMouseTracking(True)
        self.setItemDelegate(_EntryDelegate(self))
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        theme.changed.connect(self.scheduleDelayedItemsLayout)
        ThinScrollBars(self, theme)

    def set_entries(self, entries: Sequence[PageEntry]) -> None:
        """The current row stays where the number of entries does."""
        now = self.currentRow() if len(entries) == self.count() else -1
        self.blockSignals(True)
        self.clear()
        for entry in entries:
            item = QListWidgetItem(entry.text)
            item.setData(_ENTRY, entry)
            item.setToolTip(entry.text)  # it may be elided
            said = " ".join(filter(None, (entry.text, entry.detail, entry.aside)))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, said)
            self.addItem(item)
        self.setCurrentRow(now)
        self.blockSignals(False)

    def step(self, rows: int) -> None:
        """For a field beside the list, whose arrow keys lead it; goes round."""
        if self.count():
            self.setCurrentRow((self.currentRow() + rows) % self.count())

    def words_width(self) -> int:
        """What the widest entry needs."""
        metrics = QFontMetrics(self.theme.ui_font())
        words = [metrics.horizontalAdvance(self.item(row).text()) for row in range(self.count())]
        return max(words, default=0) + self.theme.px(24 + 24)

    def content_height(self) -> int:
        return sum(self.sizeHintForRow(row) for row in range(self.count()))


class _EntryDelegate(QStyledItemDelegate):
    def __init__(self, entries: PageList) -> None:
        super().__init__(entries)
        self._list = entries

    def sizeHint(self, _option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        theme, entry = self._list.theme, index.data(_ENTRY)
        line = QFontMetrics(theme.ui_font()).height()
        below = QFontMetrics(theme.ui_font(FOOTER_PX)).height() if entry.detail else 0
        return QSize(0, max(theme.px(32), line + below + theme.px(12)))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        area: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, area, state)
        self._paint_entry(painter, area, index.data(_ENTRY))
        painter.restore()

    def _paint_ground(self, painter: QPainter, area: QRect, state: QStyle.StateFlag) -> None:
        colors = self._list.theme.palette
        selected = bool(state & QStyle.StateFlag.State_Selected)
        ring = selected and self._list.shows_ring and self._list.hasFocus()
        if selected or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(QPen(colors.ink, 2) if ring else Qt.PenStyle.NoPen)
            painter.setBrush(colors.hover)
            painter.drawRoundedRect(QRectF(area).adjusted(1, 1, -1, -1), RADIUS_ROW, RADIUS_ROW)

    def _paint_entry(self, painter: QPainter, area: QRect, entry: PageEntry) -> None:
        theme, colors = self._list.theme, self._list.theme.palette
        font, small = theme.ui_font(), theme.ui_font(FOOTER_PX)
        words = area.adjusted(theme.px(12), 0, -theme.px(10), 0)
        if entry.icon_name:
            side = theme.px(16)
            icon(entry.icon_name, colors.secondary).paint(
                painter, words.left(), area.top() + (area.height() - side) // 2, side, side
            )
            words.setLeft(words.left() + theme.px(24))
        words.setRight(words.right() - self._paint_aside(painter, words, entry.aside, font))
        if entry.detail:
            height = QFontMetrics(font).height()
            top = QRect(words.left(), area.top() + theme.px(6), words.width(), height)
            self._line(painter, top, entry.text, font)
            painter.setPen(colors.secondary)
            self._line(painter, top.translated(0, height), entry.detail, small, keep_pen=True)
        else:
            self._line(painter, words, entry.text, font)

    def _paint_aside(self, painter: QPainter, words: QRect, aside: str, font: QFont) -> int:
        """The width that it takes."""
        if not aside:
            return 0
        painter.setFont(font)
        painter.setPen(self._list.theme.palette.faint)
        painter.drawText(words, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, aside)
        return QFontMetrics(font).horizontalAdvance(aside) + self._list.theme.px(12)

    def _line(self, painter: QPainter, place: QRect, text: str, font: QFont, keep_pen: bool = False) -> None:
        if not keep_pen:
            painter.setPen(self._list.theme.palette.text)
        painter.setFont(font)
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
