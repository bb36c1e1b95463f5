"""The reader's position in the text, independent of width, text size and run of the app."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from PySide6.QtCore import QObject

from app.views.transcript.layout import ABOVE_SHARE, Layout
from app.views.transcript.message_column import Anchor
from app.views.transcript.message_item import MessageItem

_OUTSIDE_PX = 100  # length of a character in gaps between messages
_ROUNDS = 4  # repetitions, since cutting sections and measuring parts changes heights

_Mark = tuple[float, float]  # of the top of a part: its offset in the text, and its y in the message


class ReadingPlace(NamedTuple):
    """A message and an offset in characters of its text, with a fraction for the way to the next part.

    It is stored: pixels would mean another place after a change of width, text size or folding, or in a reply cut
    later. Below 0 is above the text, beyond its end below it.
    """

    message_id: int
    offset: float


class ReadingPlaces(QObject):
    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._layout = layout
        self._model = layout.model
        self._awaited: ReadingPlace | None = None
        self._kept: ReadingPlace | None = None  # what is at the top edge, over changes of width and style
        self._width_px = 0  # of the column, when everything was laid out last
        self._model.was_reset.connect(self._forget)
        layout.moved.connect(self._on_moved)

    @property
    def awaited(self) -> ReadingPlace | None:
        """A position in a message that is not loaded yet, as earlier ones of a long chat."""
        return self._awaited if self._model.has_earlier else None

    def _forget(self) -> None:
        self._awaited = None

    def _on_moved(self) -> None:
        self._kept = None

    def here(self) -> ReadingPlace | None:
        """The position at the top edge; None at the end, which is followed, and without messages."""
        if self._layout.follows_end:
            return self.awaited
        top = self._layout.top_px()
        anchor = self._layout.column.anchor_at(top)
        if anchor is None:
            return None
        item = self._layout.read(anchor.item)
        marks = [(y_px, offset) for offset, y_px in _marks(item)]
        return ReadingPlace(item.message.id, _between(marks, top - item.top_px))

    def resize(self) -> None:
        """Keep the text at the top edge in place after a change of width."""
        if self._layout.column_px() == self._width_px:
            self._layout.arrange()
        else:
            self._width_px = self._layout.column_px()
            self.change(lambda: None)

    def change(self, act: Callable[[], object]) -> None:
        """Run a change of heights, keeping the text at the top edge in place."""
        place = self._kept
        if place is None or self._model.row_of(place.message_id) is None:
            place = self.here()
        act()
        self._layout.drop_lost()
        self._layout.arrange()
        if place is not None and self.show(place):
            self._kept = place

    def show(self, place: ReadingPlace, above_px: int = 0) -> bool:
        """Brings a position to that far below the top edge; returns whether its message is there by now.

        If it is not loaded, the position is shown when it is.
        """
        item = self._layout.item(place.message_id)
        self._awaited = place if item is None else None
        if item is not None:
            self._show(item, place.offset, above_px)
        return item is not None

    def show_message(self, message_id: int) -> bool:
        """The beginning of its text, with some of what is above it."""
        return self.show(ReadingPlace(message_id, 0), round(self._layout.page_px() * ABOVE_SHARE))

    def _show(self, item: MessageItem, offset: float, above_px: int) -> None:
        self._layout.read(item)
        for _ in range(_ROUNDS):
            anchor = _anchor(item, offset, above_px)
            self._layout.show_at(anchor)
            if _anchor(item, offset, above_px) == anchor:
                return


def _anchor(item: MessageItem, offset: float, above_px: int) -> Anchor:
    y_px = round(_between(_marks(item), offset))
    index = next(iter(item.indexes_between(y_px, y_px)), 0)
    part = item.parts[index] if item.parts else None
    return Anchor(item, index, y_px - item.top_of(index) - above_px, part)


def _marks(item: MessageItem) -> list[_Mark]:
    """From above the message to below it, both coordinates rising."""
    texts = [(part.start, index) for index, part in enumerate(item.parts) if item.is_of_text(part)]
    foot = texts[-1][1] + 1 if texts else len(item.parts)
    marks: list[_Mark] = [(-2, -_OUTSIDE_PX), (-1, 0)]
    marks += [(at, item.top_of(index)) for at, index in _rising(texts)]
    end = max(len(item.message.text), marks[-1][0] + 1)
    return [*marks, (end, item.top_of(foot)), (end + 1, item.height_px), (end + 2, item.height_px + _OUTSIDE_PX)]


def _rising(texts: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Without parts that begin where one above does, as two on one line of the text do."""
    last = -1
    for at, index in texts:
        if at > last:
            yield at, index
        last = max(last, at)


def _between(marks: list[tuple[float, float]], x: float) -> float:
    """Interpolates between the marks, which rise in both coordinates."""
    place = min(max(bisect_right(marks, x, key=lambda mark: mark[0]) - 1, 0), len(marks) - 2)
    first_x, first_y = marks[place]
    last_x, last_y = marks[place + 1]
    return first_y if last_x == first_x else first_y + (x - first_x) / (last_x - first_x) * (last_y - first_y)
