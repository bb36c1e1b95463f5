"""The layout of the messages: their positions, which are visible, and the anchor that keeps the reader's place.

No widgets here.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from app.view_models.transcript import TranscriptMessage
from app.views.transcript.message_item import MessageItem
from app.views.transcript.parts import Part

MARGIN_PX = 24
_AFTER_USER_PX = 0
_AFTER_REPLY_PX = 24


@dataclass(frozen=True, slots=True)
class Anchor:
    """The part at the top edge of the window, and how far above that edge it starts."""

    item: MessageItem
    index: int  # of the part, when it was at the edge
    offset_px: int
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    part: Part
    top_px: int


class MessageColumn:
    """The column of all messages, in its own coordinates from 0 to `height_px`."""

    def __init__(self) -> None:
        self.items: list[MessageItem] = []
        self.height_px = 0
        self._scale = 1.0

    def arrange(self, first: int = 0, scale: float = 1.0) -> None:
        """Sets tops from row `first` on."""
        self._scale = scale
        y = MARGIN_PX
        if 0 < first <= len(self.items):
            y = _below(self.items[first - 1], scale)
        for item in self.items[first:]:
            item.top_px = y
            y = _below(item, scale)
        self.height_px = max(MARGIN_PX, y - round(_AFTER_REPLY_PX * scale)) + MARGIN_PX if self.items else 0

    def prepend(self, items: list[MessageItem]) -> None:
        """Puts items above all others, which stay as they are arranged."""
        y = MARGIN_PX
        for item in items:
            item.top_px = y
            y = _below(item, self._scale)
        for item in self.items:
            item.top_px += y - MARGIN_PX
        self.items[:0] = items
        self.height_px += y - MARGIN_PX

    def rows_between(self, top_px: int, bottom_px: int) -> range:
        first = max(0, bisect_right(self.items, top_px, key=lambda item: item.top_px) - 1)
        last = bisect_right(self.items, bottom_px, key=lambda item: item.top_px)
        return range(first, last)

    def row_at(self, y_px: int) -> int | None:
        for row in self.rows_between(y_px, y_px):
            item = self.items[row]
            if item.top_px <= y_px <= item.top_px + item.height_px:
                return row
        return None

    def keep_same(self, messages: Sequence[TranscriptMessage], width_px: int) -> int:
        """Keeps the leading items that show the same messages, drops the others; returns how many are kept."""
        pairs = list(zip(self.items, messages, strict=False))
        kept = next((row for row, (item, new) in enumerate(pairs) if item.message.id != new.id), len(pairs))
        for item in self.items[kept:]:
            if item.is_read:
                item.release_all()
        del self.items[kept:]
        for item, message in pairs[:kept]:
            item.message, item.highlighted = message, False
            if item.is_read:
                item.sync(width_px)
        return kept

    def make_anew(self, make: Callable[[int], MessageItem], released: Callable[[], None], scale: float) -> None:
        """Every item that was read, without what it had measured; what was opened or shows its icons stays so.

        The others, of which a long chat has very many, have nothing but their estimated height.
        """
        read = [(row, item) for row, item in enumerate(self.items) if item.is_read]
        for _, item in read:
            item.release_all()
        released()
        factor = scale / self._scale
        for item in self.items if factor != 1 else ():
            item.height_px = round(item.height_px * factor)
        for row, item in read:
            self.items[row] = make(row)
            self.items[row].opened, self.items[row].highlighted = item.opened, item.highlighted

    def placed_between(self, top_px: int, bottom_px: int) -> Iterator[Placed]:
        """The parts that reach into this stretch, from above."""
        for row in self.rows_between(top_px, bottom_px):
            item = self.items[row]
            for index in item.indexes_between(top_px - item.top_px, bottom_px - item.top_px):
                part = item.parts[index]
                yield Placed(part, item.top_px + item.top_of(index) + part.gap_px)

    def anchor_at(self, top_px: int) -> Anchor | None:
        for row in self.rows_between(top_px, top_px + 1):
            item = self.items[row]
            within = top_px - item.top_px
            if within < item.height_px or row == len(self.items) - 1:
                index = next(iter(item.indexes_between(within, within)), 0)
                part = item.parts[index] if item.parts else None
                return Anchor(item, index, within - item.top_of(index), part)
        return None

    def anchor_in(self, row: int, index: int, offset_px: int) -> Anchor:
        """The scroll position at which the window's top edge is so far below the start of a part."""
        item = self.items[row]
        return Anchor(item, index, offset_px, item.parts[index])

    def anchor_to_show(self, row: int, top_px: int, page_px: int) -> Anchor | None:
        """The scroll position that makes a message visible; None when all of it is."""
        item = self.items[row]
        bottom_px = item.top_px + item.height_px
        if item.top_px >= top_px and bottom_px <= top_px + page_px:
            return None
        fits = item.height_px + 2 * MARGIN_PX <= page_px
        if item.top_px >= top_px and fits:
            return Anchor(item, 0, item.height_px + MARGIN_PX - page_px)
        return Anchor(item, 0, -MARGIN_PX)

    def top_of(self, anchor: Anchor) -> int:
        """Where the window's top edge has to be for the anchored part to stay where it was."""
        return anchor.item.top_px + anchor.item.top_of(_index_now(anchor)) + anchor.offset_px


def _index_now(anchor: Anchor) -> int:
    """Sections that were read meanwhile have made more parts of the item, or its text has changed."""
    parts = anchor.item.parts
    index = min(anchor.index, len(parts))
    if index < len(parts) and anchor.part is not None and parts[index] is not anchor.part:
        return next((place for place, part in enumerate(parts) if part is anchor.part), index)
    return index


def _below(item: MessageItem, scale: float) -> int:
    gap = _AFTER_USER_PX if item.message.from_user else _AFTER_REPLY_PX
    return item.top_px + item.height_px + round(gap * scale)
