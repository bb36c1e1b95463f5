"""The column of messages: their positions and heights. No widgets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from app.view_models.transcript import TranscriptMessage
from app.views.transcript.message_item import NOWHERE, MessageItem, MessageSegment
from app.views.transcript.parts import Part

MARGIN_PX = 24
_AFTER_USER_PX = 0
_AFTER_REPLY_PX = 24
_SEGMENT = 256  # messages


@dataclass(frozen=True, slots=True)
class Anchor:
    """The part at the top edge of the window, and its offset above that edge."""

    item: MessageItem
    index: int  # of the part, when it was at the edge
    offset_px: int
    part: Part | None = None


class MessageColumn:
    """All messages, from 0 to `height_px`. A changed height moves only its own segment, since chats may be long."""

    def __init__(self) -> None:
        self.items: list[MessageItem] = []
        self.height_px = 0
        self._segments: list[MessageSegment] = []
        self.scale = 1.0

    def put(self, row: int, new: list[MessageItem]) -> None:
        """Items above all others, below them, or one between."""
        above = self.items[row - 1].segment if row else NOWHERE
        is_last = row == len(self.items)
        self.items[row:row] = new
        if len(new) == 1 and row and (above.count < _SEGMENT or not is_last):
            above.count += 1
            above.is_stale = True
            new[0].segment = above
        else:
            at = len(self._segments) if row else 0
            self._segments[at:at] = _segments_of(new)

    def drop(self, first: int, end: int) -> None:
        at = 0
        kept = list[MessageSegment]()
        for segment in self._segments:
            rows = range(at, at := at + segment.count)
            if rows.stop <= first or rows.start >= end:
                kept.append(segment)
                continue
            for item in self.items[rows.start : rows.stop]:
                item.segment = NOWHERE
            kept += _segments_of(self.items[rows.start : first]) + _segments_of(self.items[end : rows.stop])
        self._segments = kept
        del self.items[first:end]

    def read_items(self) -> Iterator[tuple[int, MessageItem]]:
        """Items cut into parts, with their rows; others have an estimated height only."""
        row = 0
        for segment in self._segments:
            end = row + segment.count
            if segment.has_read:
                yield from ((at, self.items[at]) for at in range(row, end) if self.items[at].is_read)
            row = end

    def arrange(self, scale: float = 1.0) -> None:
        """Puts everything in its place."""
        row = 0
        y = MARGIN_PX
        for segment in self._segments:
            if segment.is_stale or scale != self.scale:
                _place(segment, self.items[row : row + segment.count], scale)
            segment.top_px = y
            row += segment.count
            y += segment.height_px
        self.scale = scale
        self.height_px = max(MARGIN_PX, y - round(_AFTER_REPLY_PX * scale)) + MARGIN_PX if self.items else 0

    def rows_between(self, top_px: int, bottom_px: int) -> range:
        first = max(0, bisect_right(self.items, top_px, key=lambda item: item.top_px) - 1)
        last = bisect_right(self.items, bottom_px, key=lambda item: item.top_px)
        return range(first, last)

    def message_at(self, y_px: int) -> int | None:
        items = (self.items[row] for row in self.rows_between(y_px, y_px))
        return next((each.message.id for each in items if each.top_px <= y_px <= each.top_px + each.height_px), None)

    def keep_same(self, messages: Sequence[TranscriptMessage], width_px: int) -> int:
        """Keeps the leading items that show the same messages, drops the others; returns how many are kept."""
        pairs = list(zip(self.items, messages, strict=False))
        kept = next((row for row, (item, new) in enumerate(pairs) if item.message.id != new.id), len(pairs))
        for item in self.items[kept:]:
            if item.is_read:
                item.release_all()
        self.drop(kept, len(self.items))
        for item, message in pairs[:kept]:
            item.message = message
            item.highlighted = False
            item.segment.is_stale = True
            if item.is_read:
                item.sync(width_px)
        return kept

    def make_anew(self, make: Callable[[int], MessageItem], released: Callable[[], None], scale: float) -> None:
        """Recreate items that were cut, without measured heights; folding and icons stay."""
        read = list(self.read_items())
        for _, item in read:
            item.release_all()
        released()
        factor = scale / self.scale
        for item in self.items if factor != 1 else ():
            item.height_px = round(item.height_px * factor)
        for segment in self._segments:
            segment.has_read = False
        for row, item in read:
            new = self.items[row] = make(row)
            new.opened = item.opened
            new.highlighted = item.highlighted
            new.segment = item.segment
            new.segment.is_stale = True
            item.segment = NOWHERE

    def placed_between(self, top_px: int, bottom_px: int) -> Iterator[tuple[Part, int]]:
        """The parts that reach into this range, from above, and where their tops are."""
        for row in self.rows_between(top_px, bottom_px):
            item = self.items[row]
            for index in item.indexes_between(top_px - item.top_px, bottom_px - item.top_px):
                part = item.parts[index]
                yield part, item.top_px + item.top_of(index) + part.gap_px

    def anchor_at(self, top_px: int) -> Anchor | None:
        """The anchor at a position; in a gap, the message below. None without messages."""
        rows = self.rows_between(top_px, top_px + 1)
        for row in rows:
            item = self.items[row]
            within = top_px - item.top_px
            if within < item.height_px or row == len(self.items) - 1:
                index = next(iter(item.indexes_between(within, within)), 0)
                part = item.parts[index] if item.parts else None
                return Anchor(item, index, within - item.top_of(index), part)
        for item in self.items[rows.stop : rows.stop + 1]:
            return Anchor(item, 0, top_px - item.top_px, item.parts[0] if item.parts else None)
        return None

    def top_of(self, anchor: Anchor) -> int:
        """The scroll position at which the anchored part is where it was."""
        return anchor.item.top_px + anchor.item.top_of(_index_now(anchor)) + anchor.offset_px


def _index_now(anchor: Anchor) -> int:
    """Sections that were read meanwhile have made more parts of the item, or its text has changed."""
    parts = anchor.item.parts
    index = min(anchor.index, len(parts))
    if index < len(parts) and anchor.part is not None and parts[index] is not anchor.part:
        return next((place for place, part in enumerate(parts) if part is anchor.part), index)
    return index


def _segments_of(items: list[MessageItem]) -> list[MessageSegment]:
    made = []
    for start in range(0, len(items), _SEGMENT):
        some = items[start : start + _SEGMENT]
        made.append(segment := MessageSegment(len(some)))
        for item in some:
            item.segment = segment
            segment.has_read = segment.has_read or item.is_read
    return made


def _place(segment: MessageSegment, items: list[MessageItem], scale: float) -> None:
    gaps_px = round(_AFTER_REPLY_PX * scale), round(_AFTER_USER_PX * scale)
    y = 0
    for item in items:
        item.offset_px = y
        y += item.height_px + gaps_px[item.message.from_user]
    segment.height_px = y
    segment.is_stale = False
