"""Where the reader is, in terms that outlive the window: a place in a message's own text, and the way back to it.

Pixels would mean another place after a change of width, text size or what is folded open, and in a long reply that is
read by sections. So a place is a message and an offset in characters of its text, with a fraction that is the way to
the next part. Below 0 is what stands above the text, beyond its end what stands below it.
Not here: following the end, and bringing an anchor into sight (`view.py`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from app.view_models.transcript import TranscriptModel
from app.views.transcript.message_column import Anchor, MessageColumn
from app.views.transcript.message_item import MessageItem
from app.views.transcript.parts import Part
from app.views.transcript.sight import Sight

_OUTSIDE_PX = 100  # of the gaps between messages are one character
_ROUNDS = 4  # the parts above turn out to be of another height, the section that was meant to be of several parts
_ABOVE_MATCH = 0.3  # of the page
_WORD = re.compile(r"\s*(\w{1,24}|\S)")


class ReadingPlace(NamedTuple):
    message_id: int
    offset: float


class _Mark(NamedTuple):
    """The top of a part: its place in the text, and in the message."""

    offset: float
    y_px: float


class ReadingPlaces:
    def __init__(self, model: TranscriptModel, column: MessageColumn, sight: Sight) -> None:
        self._model = model
        self._column = column
        self._sight = sight
        self._awaited: ReadingPlace | None = None
        model.was_reset.connect(self._forget)

    @property
    def awaited(self) -> ReadingPlace | None:
        """Where the reader was in a message that is still to come, as earlier ones of a long chat are."""
        return self._awaited if self._model.has_earlier else None

    def _forget(self) -> None:
        self._awaited = None

    def here(self) -> ReadingPlace | None:
        """What stands at the top edge; None where there is no message."""
        top = self._sight.top_px()
        if not self._column.items:
            return None
        anchor = self._column.anchor_at(top)
        item = self._column.items[0] if anchor is None else anchor.item
        self._read(item)
        return ReadingPlace(item.message.id, _offset_at(_marks(item), top - item.top_px))

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
            self._sight.show_at(anchor)
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
        """With some of what stands above it."""
        above_px = round(self._sight.page_px() * _ABOVE_MATCH)
        self._show(item, at, above_px)
        index, part = next(_parts_up_to(item, at), (0, None))
        if part is None or part.selectable is None:
            return
        char = _char_in(part, item.message.text, at, _end_of(item, index))
        inside_px = part.gap_px + part.selectable.rect_of(char).top()
        self._sight.show_at(Anchor(item, index, inside_px - above_px, part))
        part.selectable.show_char(char)

    def _read(self, item: MessageItem) -> None:
        if not item.is_read:
            item.sync(self._sight.column_px())
            self._sight.arrange(self._column.items.index(item))


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
    """Where a character of the message's text stands in the document of its part.

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
    above, below = marks[place], marks[place + 1]
    return above.y_px + (offset - above.offset) / (below.offset - above.offset) * (below.y_px - above.y_px)


def _offset_at(marks: list[_Mark], y_px: float) -> float:
    place = min(max(bisect_right(marks, y_px, key=lambda mark: mark.y_px) - 1, 0), len(marks) - 2)
    above, below = marks[place], marks[place + 1]
    if below.y_px == above.y_px:
        return above.offset
    return above.offset + (y_px - above.y_px) / (below.y_px - above.y_px) * (below.offset - above.offset)
