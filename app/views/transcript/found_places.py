"""Where words were found: how often in each part of each message that was read, and the current one of these places.

Places are counted, never listed: in a long chat there may be millions. Not here: reading the messages (`finder.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.view_models.transcript import TranscriptModel
from app.views.transcript.selection import Address

_TOP: Address = (-1, 0, 0)


@dataclass(frozen=True, slots=True)
class Place:
    """The `number`th of what was found in a part of a message."""

    message_id: int
    address: Address
    number: int


@dataclass(frozen=True, slots=True)
class PartRead:
    """A part as it was counted."""

    content: object
    count: int


class NotRead(Exception):
    """Which place is next is not known before the message in this row is read."""

    def __init__(self, row: int) -> None:
        self.row = row


class FoundPlaces:
    def __init__(self, model: TranscriptModel) -> None:
        self._model = model
        self._read: dict[int, dict[Address, PartRead]] = {}  # by message
        self._counts: dict[int, int] = {}  # of those messages that have any
        self._current: Place | None = None
        self._above = 0  # how many stand in messages before that of the current one
        self._walked: int | None = None  # the message up to which a walk from there has met nothing
        self.count = 0

    def clear(self) -> None:
        self._read, self._counts = {}, {}
        self.current, self.count = None, 0

    def of(self, message_id: int) -> dict[Address, PartRead]:
        return self._read.get(message_id, {})

    def has_read(self, message_id: int) -> bool:
        return message_id in self._read

    def put(self, message_id: int, found: dict[Address, PartRead]) -> None:
        """What was found in a message, in place of what was known of it."""
        count = sum(part.count for part in found.values())
        more = count - self._counts.pop(message_id, 0)
        if count:
            self._counts[message_id] = count
        self._read[message_id] = found
        self.count += more
        if self._current is not None and self._row(message_id) < self._row(self._current.message_id):
            self._above += more

    def drop_lost(self) -> None:
        """Forgets messages that are gone."""
        row_of = self._model.row_of
        self._read = {number: found for number, found in self._read.items() if row_of(number) is not None}
        self._counts = {number: count for number, count in self._counts.items() if number in self._read}
        self.count = sum(self._counts.values())
        self.current = self._current

    @property
    def current(self) -> Place | None:
        return self._current

    @current.setter
    def current(self, place: Place | None) -> None:
        self._current, self._walked, self._above = place, None, 0
        if place is not None:
            above = self._model.messages[: max(0, self._row(place.message_id))]
            self._above = sum(self._counts.get(message.id, 0) for message in above) if self._counts else 0

    @property
    def number(self) -> int:
        """Which one the current one is, from 1; 0: there is none, or it is there no more."""
        place = self._current
        parts = {} if place is None else self.of(place.message_id)
        if place is None or place.address not in parts or place.number >= parts[place.address].count:
            return 0
        before = sum(part.count for address, part in parts.items() if address < place.address)
        return self._above + before + place.number + 1

    def first_of(self, message_id: int, address: Address = _TOP, number: int = 0) -> Place | None:
        """The first one of a message from a place on, which need not be there."""
        places = self._places(message_id, 1)
        return next((place for place in places if (place.address, place.number) >= (address, number)), None)

    def first(self) -> Place | None:
        """Of those that are known."""
        found = (message.id for message in self._model.messages if message.id in self._counts)
        return next((place for number in found for place in self._places(number, 1)), None)

    def in_place_of_current(self) -> Place | None:
        """The next one, where the current one is gone. All has been read."""
        place = self._current
        if place is None or self._model.row_of(place.message_id) is None:
            return self.first()
        return self.first_of(place.message_id, place.address, place.number) or self.beside(1)

    def beside(self, direction: int) -> Place | None:
        """The next one (1) or the one before (-1); behind the last comes the first. NotRead: it is not known yet."""
        place = self._current
        if place is not None and (inside := self._beside_inside(place, direction)) is not None:
            return inside
        messages = self._model.messages
        start = self._start(direction)
        for step in range(1, len(messages) + 1):
            row = (start + step * direction) % len(messages)
            number = messages[row].id
            if number not in self._read:
                self._walked = messages[(row - direction) % len(messages)].id if step > 1 else self._walked
                raise NotRead(row)
            if number in self._counts:
                return next(self._places(number, direction), None)
        return None

    def _start(self, direction: int) -> int:
        """The row that a walk goes on from."""
        for number in (self._walked, self._current.message_id if self._current is not None else None):
            if number is not None and (row := self._model.row_of(number)) is not None:
                return row
        return -1 if direction > 0 else 0

    def _beside_inside(self, place: Place, direction: int) -> Place | None:
        """In the same message."""
        parts = self.of(place.message_id)
        if place.address in parts and 0 <= place.number + direction < parts[place.address].count:
            return Place(place.message_id, place.address, place.number + direction)
        addresses = sorted((each for each in parts if parts[each].count), reverse=direction < 0)
        after = (each for each in addresses if (each > place.address if direction > 0 else each < place.address))
        address = next(after, None)
        last = 0 if address is None or direction > 0 else parts[address].count - 1
        return None if address is None else Place(place.message_id, address, last)

    def _places(self, message_id: int, direction: int) -> Iterator[Place]:
        """Of one message, from its first or from its last on."""
        parts = self.of(message_id)
        for address in sorted(parts, reverse=direction < 0):
            for number in range(parts[address].count)[::direction]:
                yield Place(message_id, address, number)

    def _row(self, message_id: int) -> int:
        row = self._model.row_of(message_id)
        return -1 if row is None else row
