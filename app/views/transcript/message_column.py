"""The layout of the messages: their positions, which are visible, and what keeps the reader's place.

No widgets here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from app.view_models.transcript import TranscriptMessage, TranscriptModel
from app.views.transcript.message_item import NOWHERE, MessageItem, MessageSegment
from app.views.transcript.parts import Part

MARGIN_PX = 24
_AFTER_USER_PX = 0
_AFTER_REPLY_PX = 24
_SEGMENT = 256  # messages
_OUTSIDE_PX = 100  # one character of the gaps between messages
_ROUNDS = 4  # the parts above turn out to be of another height, the section that was meant to be of several parts
_ABOVE_MATCH = 0.3  # of the page
_WORD = re.compile(r"\s*(\w{1,24}|\S)")
STICK_PX = 48


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
    """The column of all messages, in its own coordinates from 0 to `height_px`.

    Where one changes its height, only its own segment is placed again: a chat may have very many.
    """

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
        """With their rows: those whose text was cut into parts. The others have nothing but an estimated height."""
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
        self.drop(kept, len(self.items))
        for item, message in pairs[:kept]:
            item.message = message
            item.highlighted = False
            item.segment.is_stale = True
            if item.is_read:
                item.sync(width_px)
        return kept

    def make_anew(self, make: Callable[[int], MessageItem], released: Callable[[], None], scale: float) -> None:
        """Every item that was read, without what it had measured; what was opened or shows its icons stays so."""
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

    def placed_between(self, top_px: int, bottom_px: int) -> Iterator[Placed]:
        """The parts that reach into this range, from above."""
        for row in self.rows_between(top_px, bottom_px):
            item = self.items[row]
            for index in item.indexes_between(top_px - item.top_px, bottom_px - item.top_px):
                part = item.parts[index]
                yield Placed(part, item.top_px + item.top_of(index) + part.gap_px)

    def anchor_at(self, top_px: int) -> Anchor | None:
        """In the gap between two messages it is the one below; None where there is no message."""
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


class ScrollPort(Protocol):
    """What the transcript shows of its column, and how to show another place."""

    def focused_row(self) -> int | None: ...
    def top_px(self) -> int: ...
    def page_px(self) -> int: ...
    def column_px(self) -> int: ...
    def show_at(self, anchor: Anchor) -> None: ...
    def arrange(self) -> None: ...


class ReadingPlace(NamedTuple):
    """It outlives the window. Pixels would mean another place after a change of width, text size or what is folded, and
    in a long reply that is read by sections. So it is a message and an offset in characters of its text, with a
    fraction that is the way to the next part. Below 0 is what is above the text, beyond its end what is below it.
    """

    message_id: int
    offset: float


class _Mark(NamedTuple):
    """The top of a part: its place in the text, and in the message."""

    offset: float
    y_px: float


class ReadingPlaces:
    def __init__(self, model: TranscriptModel, column: MessageColumn, port: ScrollPort) -> None:
        self._model = model
        self._column = column
        self._port = port
        self._awaited: ReadingPlace | None = None
        model.was_reset.connect(self._forget)

    @property
    def awaited(self) -> ReadingPlace | None:
        """Where the reader was in a message that is still to come, as earlier ones of a long chat are."""
        return self._awaited if self._model.has_earlier else None

    def _forget(self) -> None:
        self._awaited = None

    def here(self) -> ReadingPlace | None:
        """What is at the top edge; None where there is no message."""
        top = self._port.top_px()
        anchor = self._column.anchor_at(top)
        if anchor is None:
            return None
        item = anchor.item
        self._read(item)
        return ReadingPlace(item.message.id, _offset_at(_marks(item), top - item.top_px))

    def has(self, place: ReadingPlace) -> bool:
        return self._model.row_of(place.message_id) is not None

    def show(self, place: ReadingPlace) -> bool:
        """Returns whether its message is there by now."""
        row = self._model.row_of(place.message_id)
        self._awaited = place if row is None else None
        if row is not None:
            self._show(self._column.items[row], place.offset)
        return row is not None

    def _show(self, item: MessageItem, offset: float, above_px: int = 0) -> None:
        """Brings a place of a message to that far below the top edge."""
        self._read(item)
        for _ in range(_ROUNDS):
            anchor = _anchor(item, offset, above_px)
            self._port.show_at(anchor)
            if _anchor(item, offset, above_px) == anchor:
                return

    def show_character(self, message_id: int, at: int) -> bool:
        """Brings a character of a message into sight; returns whether the message is there by now."""
        row = self._model.row_of(message_id)
        self._awaited = ReadingPlace(message_id, at) if row is None else None
        if row is not None:
            self._show_character(self._column.items[row], at)
        return row is not None

    def _show_character(self, item: MessageItem, at: int) -> None:
        """With some of what is above it."""
        above_px = round(self._port.page_px() * _ABOVE_MATCH)
        self._show(item, at, above_px)
        index, part = next(_parts_up_to(item, at), (0, None))
        if part is None or part.selectable is None:
            return
        char = _char_in(part, item.message.text, at, _end_of(item, index))
        inside_px = part.gap_px + part.selectable.rect_of(char).top()
        self._port.show_at(Anchor(item, index, inside_px - above_px, part))
        part.selectable.show_char(char)

    def _read(self, item: MessageItem) -> None:
        if not item.is_read:
            item.sync(self._port.column_px())
            self._port.arrange()


def _anchor(item: MessageItem, offset: float, above_px: int) -> Anchor:
    y_px = round(_y_at(_marks(item), offset))
    index = next(iter(item.indexes_between(y_px, y_px)), 0)
    part = item.parts[index] if item.parts else None
    return Anchor(item, index, y_px - item.top_of(index) - above_px, part)


def _parts_up_to(item: MessageItem, at: int) -> Iterator[tuple[int, Part]]:
    """The parts of the text that begin at a character or before it, the nearest one first."""
    return (
        (index, part) for index, part in reversed([*enumerate(item.parts)]) if part.at is not None and part.at <= at
    )


def _end_of(item: MessageItem, index: int) -> int:
    """Where the text of a part ends."""
    starts = (part.at for part in item.parts[index + 1 :] if part.at is not None)
    return next(starts, len(item.message.text))


def _char_in(part: Part, text: str, at: int, end: int) -> int:
    """Where a character of the message's text is in the document of its part.

    Markup is not in the document, so it is the nearest place with the same word to where the character would be if the
    markup were spread evenly.
    """
    document = part.selectable.document_of() if part.selectable is not None else None
    word = _WORD.match(text, at)
    if document is None or word is None or part.at is None:
        return 0
    shown = document.toPlainText()
    guess = len(shown) * (at - part.at) / max(1, end - part.at)
    places = (found.start() for found in re.finditer(re.escape(word[1]), shown))
    place = min(places, key=lambda each: abs(each - guess), default=round(guess))
    return len(shown[:place].encode("utf-16-le", "surrogatepass")) // 2  # which Qt counts in


def _marks(item: MessageItem) -> list[_Mark]:
    """From above the message to below it, both coordinates rising."""
    texts = [(part.at, index) for index, part in enumerate(item.parts) if part.at is not None]
    end = len(item.message.text)
    foot = texts[-1][1] + 1 if texts else len(item.parts)
    marks = [_Mark(-2, -_OUTSIDE_PX), _Mark(-1, 0)]
    marks += [_Mark(at, item.top_of(index)) for at, index in _rising(texts)]
    marks += [_Mark(max(end, marks[-1].offset + 1), item.top_of(foot))]
    return [
        *marks,
        _Mark(marks[-1].offset + 1, item.height_px),
        _Mark(marks[-1].offset + 2, item.height_px + _OUTSIDE_PX),
    ]


def _rising(texts: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Without parts that begin where one above does, as two on one line of the text do."""
    last = -1
    for at, index in texts:
        if at > last:
            yield at, index
        last = max(last, at)


def _y_at(marks: list[_Mark], offset: float) -> float:
    place = min(max(bisect_right(marks, offset, key=lambda mark: mark.offset) - 1, 0), len(marks) - 2)
    above = marks[place]
    below = marks[place + 1]
    return above.y_px + (offset - above.offset) / (below.offset - above.offset) * (below.y_px - above.y_px)


def _offset_at(marks: list[_Mark], y_px: float) -> float:
    place = min(max(bisect_right(marks, y_px, key=lambda mark: mark.y_px) - 1, 0), len(marks) - 2)
    above = marks[place]
    below = marks[place + 1]
    if below.y_px == above.y_px:
        return above.offset
    return above.offset + (y_px - above.y_px) / (below.y_px - above.y_px) * (below.offset - above.offset)


class Hold:
    """What stays in its place while heights change and text grows: the end, or the part at the top edge."""

    def __init__(self, column: MessageColumn) -> None:
        self.follows_end = True
        self.anchor: Anchor | None = None  # what is at the top edge
        self.place: ReadingPlace | None = None  # the same in the text, kept over changes of width and style
        self._column = column
        self._last_top_px = 0

    def follow_end(self) -> None:
        self.follows_end = True
        self.place = None

    def let_go(self) -> None:
        """Stays with what is at the top edge from now on."""
        self.follows_end = False

    def take(self, anchor: Anchor) -> None:
        self.follows_end = False
        self.anchor = anchor
        self.place = None

    def drop_lost(self) -> None:
        """The message of the anchor may have been removed, or has another item now."""
        if self.anchor is not None and self.anchor.item.segment is NOWHERE:
            self.anchor = None

    def wanted_top(self, bottom_px: int) -> int:
        if self.follows_end:
            return bottom_px
        if self.anchor is None:
            return min(self._last_top_px, bottom_px)
        return max(0, min(self._column.top_of(self.anchor), bottom_px))

    def settled(self, top_px: int) -> None:
        self.anchor = self._column.anchor_at(top_px)
        self._last_top_px = top_px

    def scrolled(self, top_px: int, bottom_px: int, *, up: bool) -> None:
        """Any scroll upwards stops following the end; scrolling back to it starts following again."""
        self.follows_end = not up and bottom_px - top_px <= STICK_PX
        self.place = None
        self.settled(top_px)
