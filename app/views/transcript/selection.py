"""The transcript's selection, across parts and messages: its ends, and how much of a part is selected.

It refers to text, not widgets, so it survives growing text and scrolling. Pointer and keys are in `selection_keys.py`,
painting in the parts, copying in `copier.py`.
"""

from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import QObject, Signal

from app.view_models.transcript import TranscriptModel

# Of a part in its message: 0 for bubbles, and for step n of a reply 3n + 1 for its thinking, 3n + 2 for its text and
# 3n + 3 for its calls; section, or which call; block.
Address = tuple[int, int, int]
TextRange = tuple[int, int | None]  # first character and the one after the last; None is the end

_Key = tuple[tuple[int, Address], int]  # sort key of a place: row and part, then character

_BEFORE_ALL: Address = (-1, 0, 0)
_AFTER_ALL: Address = (1 << 40, 0, 0)


class Unit(Enum):
    """Units of a drag: characters, words or lines."""

    CHARACTER = auto()
    WORD = auto()
    LINE = auto()


@dataclass(frozen=True, slots=True)
class TextPlace:
    message_id: int
    address: Address
    char: int


class TranscriptSelection(QObject):
    """From a unit at the anchor to a unit at the cursor."""

    changed = Signal()

    def __init__(self, model: TranscriptModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._anchor: tuple[TextPlace, TextPlace] | None = None
        self._cursor: tuple[TextPlace, TextPlace] | None = None

    def begin(self, first: TextPlace, last: TextPlace) -> None:
        self._set((first, last), (first, last))

    def extend(self, first: TextPlace, last: TextPlace) -> None:
        self._set(self._anchor or (first, last), (first, last))

    def select_all(self) -> None:
        messages = self._model.messages
        if messages:
            first = TextPlace(messages[0].id, _BEFORE_ALL, 0)
            last = TextPlace(messages[-1].id, _AFTER_ALL, 0)
            self._set((first, first), (last, last))

    def select_message(self, message_id: int) -> None:
        first = TextPlace(message_id, _BEFORE_ALL, 0)
        last = TextPlace(message_id, _AFTER_ALL, 0)
        self._set((first, first), (last, last))

    def clear(self) -> None:
        self._set(None, None)

    def drop_lost(self) -> None:
        """Clear it if a message at either end was removed."""
        ends = [*(self._anchor or ()), *(self._cursor or ())]
        if any(self._model.row_of(place.message_id) is None for place in ends):
            self.clear()

    def _set(self, anchor: tuple[TextPlace, TextPlace] | None, cursor: tuple[TextPlace, TextPlace] | None) -> None:
        if (anchor, cursor) != (self._anchor, self._cursor):
            self._anchor = anchor
            self._cursor = cursor
            self.changed.emit()

    @property
    def cursor(self) -> TextPlace | None:
        """The end that keys move; None without a selection."""
        if self._anchor is None or self._cursor is None:
            return None
        anchor = self._key(self._anchor[0])
        cursor = self._key(self._cursor[0])
        if anchor is None or cursor is None:
            return None
        return self._cursor[0 if cursor < anchor else 1]

    @property
    def is_empty(self) -> bool:
        return self._span() is None

    def rows(self) -> range:
        """The rows of the messages that it touches."""
        span = self._span()
        return range(0) if span is None else range(span[0][0][0], span[1][0][0] + 1)

    def range_in(self, message_id: int, address: Address | None) -> TextRange | None:
        """How much of a part is selected."""
        span = self._span()
        row = self._model.row_of(message_id)
        if span is None or row is None or address is None:
            return None
        part = (row, address)
        (first_part, first_char), (last_part, last_char) = span
        if not first_part <= part <= last_part:
            return None
        first = first_char if part == first_part else 0
        last = last_char if part == last_part else None
        return None if last is not None and first >= last else (first, last)

    def takes_all_of(self, row: int) -> bool:
        """Whether it begins before and ends after a message."""
        span = self._span()
        if span is None:
            return False
        return span[0][0] < (row, (0, 0, 0)) and span[1][0] >= (row, _AFTER_ALL)

    def _span(self) -> tuple[_Key, _Key] | None:
        if self._anchor is None or self._cursor is None:
            return None
        keys = [self._key(place) for place in (*self._anchor, *self._cursor)]
        known = [key for key in keys if key is not None]
        if len(known) < len(keys):
            return None
        first = min(known)
        last = max(known)
        return (first, last) if first < last else None

    def _key(self, place: TextPlace) -> _Key | None:
        row = self._model.row_of(place.message_id)
        return None if row is None else ((row, place.address), place.char)
