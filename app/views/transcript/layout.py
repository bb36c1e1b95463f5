"""Scrolling and layout of visible messages.

Here: the scroll bar, the anchor that stays in place while heights change, reading messages and sections on demand.
Positions of messages are in `message_column.py`, widgets in `visible_parts.py`.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QRect, QTimer, Signal
from PySide6.QtWidgets import QAbstractScrollArea

from app.theme import COLUMN_PX, Theme
from app.view_models.transcript import TranscriptModel
from app.views.transcript.message_column import MARGIN_PX, Anchor, MessageColumn
from app.views.transcript.message_item import NOWHERE, MessageItem, Unread, message_name
from app.views.transcript.parts import Part
from app.views.transcript.selection import Address
from app.views.transcript.visible_parts import VisibleParts

STICK_PX = 48  # distance from the end within which it is followed
ABOVE_SHARE = 0.3  # share of the page above something scrolled to
_SIDE_PX = 24
_LEAST_COLUMN_PX = 120
_SETTLING_ROUNDS = 6


class Layout(QObject):
    """Lays out what is visible. The end of the chat, or the part at the top edge, keeps its place."""

    settled = Signal(int)  # y of the top edge
    moved = Signal()  # to another place, by the user or for what is shown

    def __init__(
        self,
        view: QAbstractScrollArea,
        theme: Theme,
        model: TranscriptModel,
        column: MessageColumn,
        parts: VisibleParts,
    ) -> None:
        super().__init__(view)
        self.model = model
        self.column = column
        self.parts = parts
        self.follows_end = True
        self.is_settling = False
        self.covered_px = 0  # of the foot of the page, by a notice: so much further one can scroll
        self._theme = theme
        self._bar = view.verticalScrollBar()
        self._viewport = view.viewport()
        self._anchor: Anchor | None = None  # what is at the top edge
        self._last_top_px = 0
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.settle)
        parts.outdated.connect(self._later.start)

    def top_px(self) -> int:
        return self._bar.value()

    def page_px(self) -> int:
        return self._viewport.height()

    def column_px(self) -> int:
        return max(_LEAST_COLUMN_PX, min(self._theme.px(COLUMN_PX), self._viewport.width() - 2 * _SIDE_PX))

    @property
    def left_px(self) -> int:
        return (self._viewport.width() - self.column_px()) // 2

    @property
    def bottom_px(self) -> int:
        """The scroll bar's value at the end."""
        return max(0, self.column.height_px - self.page_px())

    @property
    def last_px(self) -> int:
        """Its largest value: the end is above what covers the page."""
        return max(0, self.column.height_px + self.covered_px - self.page_px())

    def rows_in_sight(self) -> range:
        return self.column.rows_between(self.top_px(), self.top_px() + self.page_px())

    def place_of(self, part: Part) -> QRect:
        """Rectangle on the page, without the gap above; the part need not have a widget."""
        item = self._item_of(part)
        top = item.top_px + item.top_of(item.parts.index(part)) + part.gap_px - self.top_px()
        return QRect(self.left_px, top, self.column_px(), part.height_px)

    def make_item(self, row: int, width_px: int | None = None) -> MessageItem:
        """`width_px` of the column, where many are made."""
        message = self.model.messages[row]
        name = partial(message_name, self.model, message.id)
        item = MessageItem(message, name, self._theme, self.parts.release)
        item.estimate(self.column_px() if width_px is None else width_px)
        return item

    def item(self, message_id: int) -> MessageItem | None:
        row = self.model.row_of(message_id)
        return None if row is None else self.column.items[row]

    def _item_of(self, part: Part) -> MessageItem:
        item = self.item(part.message_id)
        assert item is not None
        return item

    def read(self, item: MessageItem) -> MessageItem:
        """Cut a message into parts."""
        if not item.is_read:
            item.sync(self.column_px())
            self.arrange()
        return item

    def read_whole(self, item: MessageItem) -> None:
        """Cut all sections of a message into parts."""
        self.read(item)
        while item.read_section(range(len(item.parts)), self.column_px()):
            pass
        self.arrange()

    def read_part(self, part: Part, *, last: bool = False) -> Part:
        """The first or last part of an uncut section; other parts unchanged."""
        item = self._item_of(part)
        while isinstance(part.content, Unread):
            index = item.parts.index(part)
            behind = len(item.parts) - index
            item.read_section(range(index, index + 1), self.column_px())
            self.arrange()
            part = item.parts[len(item.parts) - behind if last else index]
        return part

    def part_at(self, item: MessageItem, address: Address) -> Part | None:
        """The part with this address, after cutting its message and section."""
        for part in self.read(item).parts:
            if isinstance(part.content, Unread) and part.address is not None and part.address[:2] == address[:2]:
                self.read_part(part)
                break
        return next((part for part in item.parts if part.address == address), None)

    def show_at(self, anchor: Anchor) -> None:
        self.follows_end = False
        self._anchor = anchor
        self.moved.emit()
        self.settle()

    def show_message(self, item: MessageItem) -> None:
        """Scroll to all of it, or to its beginning if it does not fit."""
        top = item.top_px - self.top_px()
        if top >= 0 and top + item.height_px <= self.page_px():
            return
        fits_below = top >= 0 and item.height_px + 2 * MARGIN_PX <= self.page_px()
        above_px = self.page_px() - item.height_px - MARGIN_PX if fits_below else MARGIN_PX
        self.show_at(Anchor(item, 0, -above_px))

    def show_part(self, part: Part) -> None:
        """Scroll to a part; it gets a widget."""
        if part.widget is None:
            self._show(part, self.place_of(part).top(), round(self.page_px() * ABOVE_SHARE))

    def show_rect(self, part: Part, rect: QRect, *, clear_px: int = 0, barely: bool = False) -> None:
        """Scroll to a rectangle of the page within this part, if it is nearer to an edge than `clear_px`.

        Some context above it is shown too; `barely`: it scrolls no further than needed.
        """
        page_px = self.page_px()
        is_above = rect.top() < clear_px
        if not is_above and rect.bottom() <= page_px - clear_px:
            return
        wanted_px = round(page_px * ABOVE_SHARE)
        if barely:
            wanted_px = MARGIN_PX if is_above else page_px - rect.height() - MARGIN_PX
        self._show(part, rect.top(), wanted_px)

    def show_char(self, part: Part, char: int, *, clear_px: int = 0, barely: bool = False) -> None:
        """Scroll to a character of a part with text."""
        self.show_part(part)
        if part.selectable is not None:
            self.show_rect(part, part.rect_of(char), clear_px=clear_px, barely=barely)
            part.selectable.show_char(char)

    def _show(self, part: Part, from_px: int, to_px: int) -> None:
        """Scroll so that `from_px` on the page gets to `to_px`; the part stays there while heights change."""
        item = self._item_of(part)
        index = item.parts.index(part)
        self.show_at(Anchor(item, index, self.top_px() + from_px - to_px - item.top_px - item.top_of(index), part))

    def follow_end(self) -> None:
        self.follows_end = True
        self.moved.emit()

    def let_go(self) -> None:
        """From here on keep the top edge in place rather than the end."""
        self.follows_end = False

    def scrolled(self, *, up: bool) -> None:
        """Any scroll upwards stops following the end; scrolling back to it starts following again."""
        top_px = self.top_px()
        self.follows_end = not up and self.bottom_px - top_px <= STICK_PX
        self._hold(top_px)
        self.moved.emit()
        self.parts.read_ahead(self.column, top_px, self.page_px(), self.column_px())
        self.settle()

    def arrange(self) -> None:
        self.column.arrange(self._theme.scale)
        self.settle()

    def drop_lost(self) -> None:
        """The message at the top edge may have been removed, or has another item now."""
        if self._anchor is not None and self._anchor.item.segment is NOWHERE:
            self._anchor = None

    def settle(self) -> None:
        """Measure and place visible parts. Not reentrant: nested calls do nothing."""
        if not self.is_settling:
            self.is_settling = True
            try:
                self._settle()
            finally:
                self.is_settling = False

    def _settle(self) -> None:
        """Repeats while measuring changes what is visible, keeping the reader's place."""
        parts = self.parts
        column = self.column
        page_px = self.page_px()
        width_px = self.column_px()
        parts.begin_turn()
        for _ in range(_SETTLING_ROUNDS):
            first = parts.measure(column, self._wanted_top(), page_px, width_px)
            if first is None:
                break
            column.arrange(column.scale)
        if first is not None or parts.has_more:
            self._later.start()
        top = self._wanted_top()
        self._bar.setPageStep(page_px)
        self._bar.setRange(0, self.last_px)
        self._bar.setValue(top)
        self._bar.setEnabled(self.last_px > 0)
        parts.place(column, top, page_px, self.left_px, width_px)
        self._hold(top)
        self.settled.emit(top)

    def _wanted_top(self) -> int:
        last_px = self.last_px
        if self.follows_end:
            return max(self.bottom_px, min(self._last_top_px, last_px))
        if self._anchor is None:
            return min(self._last_top_px, last_px)
        return max(0, min(self.column.top_of(self._anchor), last_px))

    def _hold(self, top_px: int) -> None:
        self._anchor = self.column.anchor_at(top_px)
        self._last_top_px = top_px
