"""Finding text in the chat: the results in the shown branch, the current one, and highlighting.

Messages are searched in slices of a few milliseconds, from the visible one on, and again when they change; those
without widgets by temporary documents. The bar is in `find_bar.py`, painting in `found_words.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

from PySide6.QtCore import QObject, QTimer, Signal

from app.markup.block import Block, BlockKind
from app.markup.document import OBJECT
from app.markup.folding import TextSpan, fold, occurrences, occurrences_of_any, overlap_for, slices
from app.markup.json_text import may_be_json
from app.markup.visible_text import VisibleText
from app.view_models.transcript import TranscriptModel
from app.views.transcript.call_parts import CallLine, CallPart, CallText
from app.views.transcript.consent_part import ConsentContent
from app.views.transcript.layout import Layout
from app.views.transcript.message_item import OF_LINE, MessageItem, Unread, blocks_of
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Bubble, Part, PartKind
from app.views.transcript.selection import Address
from app.views.transcript.status_parts import AttachmentsPart

SLICE_S = 0.004
_HIDDEN_CHARS = 4000  # more between two letters is not looked beyond
_TOP: Address = (-1, 0, 0)
_CLEAR_PX = 24  # distance of a result from the edges of the page
# Markdown that may be between adjacent visible letters.
_MARKS = re.compile(r"[\[\]*_`~\\$\s]")
_HIDDEN = re.compile(r"\]\((?:[^)\]\n]++|\](?!\())*+\)|\]\[[^\]\n]*\]|" + _MARKS.pattern)


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """The `number`th result in a part of a message."""

    message_id: int
    address: Address
    number: int


@dataclass(frozen=True, slots=True)
class PartRead:
    """A part with its number of results."""

    content: object
    count: int


class NotRead(Exception):
    """The next result is not known before the message in this row is searched."""

    def __init__(self, row: int) -> None:
        self.row = row


class FoundPlaces:
    """Counts of results in each searched part, without a list of them: a long chat may have millions."""

    def __init__(self, model: TranscriptModel) -> None:
        self._model = model
        self._read: dict[int, dict[Address, PartRead]] = {}  # by message
        self._counts: dict[int, int] = {}  # of those messages that have any
        self._current: FoundPlace | None = None
        self._above = 0  # results in messages before the current one's
        self._walked: int | None = None  # last message of a walk from there that found none
        self.count = 0

    def clear(self) -> None:
        self._read = {}
        self._counts = {}
        self.current = None
        self.count = 0

    def of(self, message_id: int) -> dict[Address, PartRead]:
        return self._read.get(message_id, {})

    def has_read(self, message_id: int) -> bool:
        return message_id in self._read

    def put(self, message_id: int, found: dict[Address, PartRead]) -> None:
        """Replace the results of a message."""
        count = sum(part.count for part in found.values())
        more = count - self._counts.pop(message_id, 0)
        if count:
            self._counts[message_id] = count
        self._read[message_id] = found
        self.count += more
        if self._current is not None and self._row(message_id) < self._row(self._current.message_id):
            self._above += more

    def drop_lost(self) -> None:
        """Drop removed messages."""
        row_of = self._model.row_of
        self._read = {number: found for number, found in self._read.items() if row_of(number) is not None}
        self._counts = {number: count for number, count in self._counts.items() if number in self._read}
        self.count = sum(self._counts.values())
        self.current = self._current

    @property
    def current(self) -> FoundPlace | None:
        return self._current

    @current.setter
    def current(self, place: FoundPlace | None) -> None:
        self._current = place
        self._walked = None
        self._above = 0
        if place is not None:
            above = self._model.messages[: max(0, self._row(place.message_id))]
            self._above = sum(self._counts.get(message.id, 0) for message in above) if self._counts else 0

    @property
    def number(self) -> int:
        """Number of the current result, from 1; 0: there is none."""
        place = self._current
        parts = {} if place is None else self.of(place.message_id)
        if place is None or place.address not in parts or place.number >= parts[place.address].count:
            return 0
        before = sum(part.count for address, part in parts.items() if address < place.address)
        return self._above + before + place.number + 1

    def first_of(self, message_id: int, address: Address, number: int = 0) -> FoundPlace | None:
        """The first result in a message from an address and number on."""
        return self._next_in(message_id, 1, (address, number - 1))

    def first(self) -> FoundPlace | None:
        """The first match of the messages that were searched so far."""
        found = next((message.id for message in self._model.messages if message.id in self._counts), None)
        return None if found is None else self._next_in(found, 1)

    def replace_lost(self) -> None:
        """If the current result was removed, take the next one. All messages are searched."""
        place = self._current
        if place is None or self.number:
            return
        if self._model.row_of(place.message_id) is None:
            self.current = self.first()
        else:
            self.current = self.first_of(place.message_id, place.address, place.number) or self.beside(1)

    def beside(self, direction: int) -> FoundPlace | None:
        """The next result (1) or the previous (-1), wrapping around. Raises NotRead."""
        place = self._current
        after = None if place is None else self._next_in(place.message_id, direction, (place.address, place.number))
        if after is not None:
            return after
        messages = self._model.messages
        start = self._start(direction)
        for step in range(1, len(messages) + 1):
            row = (start + step * direction) % len(messages)
            number = messages[row].id
            if number not in self._read:
                self._walked = messages[(row - direction) % len(messages)].id if step > 1 else self._walked
                raise NotRead(row)
            if number in self._counts:
                return self._next_in(number, direction)
        return None

    def _start(self, direction: int) -> int:
        """The row where a walk continues."""
        for number in (self._walked, self._current.message_id if self._current is not None else None):
            if number is not None and (row := self._model.row_of(number)) is not None:
                return row
        return -1 if direction > 0 else 0

    def _next_in(self, message_id: int, direction: int, after: tuple[Address, int] | None = None) -> FoundPlace | None:
        """In one message, from its first or last on, or after an address and number."""
        parts = self.of(message_id)
        for address in sorted(parts, reverse=direction < 0):
            number = 0 if direction > 0 else parts[address].count - 1
            if after is not None and address == after[0]:
                number = after[1] + direction
            elif after is not None and (address < after[0]) == (direction > 0):
                continue
            if 0 <= number < parts[address].count:
                return FoundPlace(message_id, address, number)
        return None

    def _row(self, message_id: int) -> int:
        row = self._model.row_of(message_id)
        return -1 if row is None else row


class WantedWords:
    """A query, and its matches in a text, a part or a message."""

    def __init__(self, context: PartContext, words: Sequence[str]) -> None:
        self._context = context
        self.words = words

    def may_be_in(self, text: str) -> bool:
        """Whether the message may match, so that it has to be cut into parts."""
        if "&" in text or "\\u" in text or may_be_json(text):  # letters in another spelling
            return True
        # In code and questions an address is shown.
        for hidden in (_HIDDEN, _MARKS) if "](" in text or "][" in text else (_HIDDEN,):
            folded = fold(hidden.sub("", text))
            if any(fold(hidden.sub("", word)) in folded for word in self.words):
                return True
        return False

    def counted(
        self, texts: Iterable[tuple[Address, object]], before: dict[Address, PartRead], *, secondary: bool = False
    ) -> Iterator[tuple[Address, PartRead]]:
        """Matches in each text; `before`: the former counts."""
        for address, content in texts:
            known = before.get(address)
            if known is not None and known.content is content:
                yield address, known
            else:
                text = self._text(content, secondary=secondary)
                yield address, PartRead(content, len(self.ranges_of(text)))

    def ranges_in(self, part: Part) -> Sequence[tuple[int, int]]:
        """Ranges of characters in the part's document."""
        document = part.document
        if document is None:  # a drawn formula is one character
            text = self._text(part.content, secondary=part.secondary)
            return [(0, 1) for _ in self.ranges_of(text)]
        folded = fold(document.toPlainText())
        if not any(fold(word) in folded for word in self.words) and OBJECT not in document.toRawText():
            return ()
        visible = VisibleText(document)
        return [visible.range_of(first, last) for first, last in self.ranges_of(visible.text)]

    def ranges_of(self, text: str) -> list[TextSpan]:
        one = len(self.words) == 1
        return list(occurrences(text, self.words[0])) if one else occurrences_of_any(text, self.words)

    def _text(self, content: object, *, secondary: bool) -> str:
        if isinstance(content, Bubble | CallText | ConsentContent):
            return content.text.replace("\r\n", "\n")
        if isinstance(content, CallLine):
            return content.title
        if not isinstance(content, Block):
            return ""
        if content.kind in (BlockKind.CODE, BlockKind.FORMULA):
            return content.text
        return VisibleText(self._context.document_of(content, secondary=secondary)).text


def _texts_of(part: Part) -> Iterator[tuple[Address, object]]:
    """Visible texts of a part, or of the parts of a section."""
    if part.address is None:
        return
    if isinstance(part.content, Unread):
        for number, block in enumerate(blocks_of(part.content)):
            yield (*part.address[:2], number), block
    else:
        yield part.address, part.content


@dataclass(frozen=True, slots=True)
class _LitAttachment:
    message_id: int
    number: int  # which of the message's
    words: Sequence[str]  # that were found in it


class Finder(QObject):
    changed = Signal()  # the count, or the current one
    stepped = Signal()  # a step that was asked for is done

    def __init__(self, context: PartContext, layout: Layout, item_of: Callable[[int], MessageItem]) -> None:
        """`item_of` returns a row's message cut into parts, visible or not."""
        super().__init__(context)
        self._context = context
        self._layout = layout
        self._model = layout.model
        self._item_of = item_of
        self.query = ""
        self._wanted = WantedWords(context, ())
        self._attachment: _LitAttachment | None = None
        self.found = FoundPlaces(layout.model)
        self._waiting: list[int] = []  # messages to search, the next one last
        self._ahead = 1  # direction of that list
        self._steps = 0  # requested steps, down or (negative) up, once the necessary messages are searched
        self._reading: Iterator[None] | None = None  # the running search of a message, part by part
        self._reads = 0  # its number
        self._from: tuple[int, Address] | None = None  # where the search began: a part of a message
        self._first_in: int | None = None  # a message whose first one is to be shown, and no other's
        self._seeks = False  # until it knows which one is to be the current one
        self._is_lit = False
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self.read_a_slice)
        for changed in (self._model.message_inserted, self._model.text_appended, self._model.message_changed):
            changed.connect(self._read_again)
        for changed in (self._model.was_reset, self._model.messages_removed):
            changed.connect(lambda *_: self._read_all())
        self._model.messages_prepended.connect(self._read_earlier)
        for opened in (context.fold_requested, context.opening_requested):
            opened.connect(lambda message_id, *_: self._read_again(self._model.row_of(message_id)))
        layout.parts.placed.connect(self.light)

    def find(self, query: str, message_id: int | None = None, words: Sequence[str] = ()) -> None:
        """Search, and go to the message's first result, or else to one from the current position on.

        `words`: each is found anywhere; without them the query is, as a whole.
        """
        query = query.strip("\n")
        self._attachment = None
        if query == self.query and message_id is None:
            self.light()
            return
        self._from = self._start(message_id)
        self.query = query
        self._first_in = message_id
        self._seeks = bool(query)
        self._wanted = WantedWords(self._context, tuple(words) or (query,))
        self._steps = 0
        self.found.clear()
        self._read_all()
        self.light()

    def step(self, direction: int) -> None:
        """Go to the next result (1) or the previous (-1), wrapping around, once it is known."""
        if self.query:  # without one no message is ever read, and the step would wait for good
            self._steps += direction
            self._take_steps()

    def _take_steps(self) -> None:
        while self._steps and not (self.current is None and self._seeks and self.is_reading):
            direction = 1 if self._steps > 0 else -1
            try:
                place = self.found.beside(direction)
            except NotRead as unread:
                self._read_from(unread.row, direction)
                return
            self._steps = 0 if place is None else self._steps - direction
            self._go_to(place)
            self.stepped.emit()

    def close(self) -> None:
        self.find("")

    def show_attachment(self, message_id: int, number: int, words: Sequence[str]) -> None:
        """Scroll to an attachment and mark it, until one is opened or another search begins."""
        self.close()
        self._attachment = _LitAttachment(message_id, number, words)
        self._show_attachments()
        self.light()

    def _show_attachments(self) -> None:
        """Where their message is there."""
        item = None if self._attachment is None else self._layout.item(self._attachment.message_id)
        parts = [] if item is None else self._layout.read(item).parts
        part = next((part for part in parts if part.kind is PartKind.ATTACHMENTS), None)
        if part is not None:
            self._layout.show_part(part)
            self._layout.show_rect(part, self._layout.place_of(part))

    def words_in_attachment(self, message_id: int, number: int) -> Sequence[str]:
        """The words to highlight in an attachment that is opened; removes its mark."""
        if self._attachment is None:
            return self._wanted.words if self.query else ()
        lit = self._attachment
        self.close()
        return lit.words if (lit.message_id, lit.number) == (message_id, number) else ()

    @property
    def current(self) -> FoundPlace | None:
        return self.found.current

    @property
    def count(self) -> int:
        return self.found.count

    @property
    def number(self) -> int:
        """Number of the current result, from 1; 0: there is none."""
        return self.found.number

    @property
    def is_reading(self) -> bool:
        return bool(self._waiting) or self._reading is not None

    def _read_all(self) -> None:
        self._waiting = []
        self._reading = None
        if self.query:
            self.found.drop_lost()
            first = self._first_row()
            messages = self._model.messages
            self._waiting = [message.id for message in (*messages[first:], *messages[:first])][::-1]
            self._ahead = 1
        self._timer.start()

    def _read_from(self, row: int, direction: int) -> None:
        """Search these messages first, as a step needs them."""
        if direction == self._ahead and self.is_reading:
            return
        messages = self._model.messages
        self._ahead = direction
        ahead = (*messages[row:], *messages[:row]) if direction > 0 else (*messages[row::-1], *messages[:row:-1])
        wanted = [message.id for message in ahead if not self.found.has_read(message.id)]
        known = [number for number in self._waiting if self.found.has_read(number)]  # they have changed
        self._waiting = known + [number for number in wanted[::-1] if self._reading is None or number != self._reads]
        self._timer.start()

    def _start(self, message_id: int | None) -> tuple[int, Address] | None:
        if message_id is not None:
            return message_id, _TOP
        if self.current is not None:
            return self.current.message_id, self.current.address
        shown = [
            (place.top(), part) for part, place in self._layout.parts.shown() if place.bottom() > 0 and part.address
        ]
        first = min(shown, key=lambda each: each[0], default=None)
        return None if first is None else (first[1].message_id, first[1].address or _TOP)

    def _first_row(self) -> int:
        row = None if self._from is None else self._model.row_of(self._from[0])
        return 0 if row is None else row

    def _read_again(self, row: int | None) -> None:
        message_id = None if row is None else self._model.messages[row].id
        if self.query and message_id is not None and message_id not in self._waiting:
            self._waiting.insert(0, message_id)
            self._timer.start()

    def _read_earlier(self, count: int) -> None:
        """Last of all: what has come before the others. But what is wanted of it is read next."""
        self._show_attachments()
        if self.query:
            self._waiting[:0] = [message.id for message in reversed(self._model.messages[:count])]
            if self._first_in is not None and (self._model.row_of(self._first_in) or count) < count:
                self._waiting.append(self._first_in)
            self._timer.start()

    def read_a_slice(self) -> None:
        started = perf_counter()
        more = True
        while more and perf_counter() - started < SLICE_S:
            more = self._read_some()
        if not more:
            self._timer.stop()
            self._end_seeking()
            self.found.replace_lost()
            self.light()
        self._take_steps()
        self.changed.emit()

    def _read_some(self) -> bool:
        """Search one part, since a message may have thousands; returns whether there is more."""
        if self._reading is None and self._waiting:
            self._reads = self._waiting.pop()
            self._reading = self._read(self._reads)
        if self._reading is not None and next(self._reading, self) is self:
            self._reading = None
        return self.is_reading

    def _read(self, message_id: int) -> Iterator[None]:
        row = self._model.row_of(message_id)
        if row is None or not self.query:
            return
        found: dict[Address, PartRead] = {}
        before = self.found.of(message_id)
        message = self._model.messages[row]
        text = "\n".join((message.written, *(step.thinking for step in message.steps), message.thinking))
        may_have = False
        for start, end in slices(text, _HIDDEN_CHARS + max(map(overlap_for, self._wanted.words))):
            may_have = self._wanted.may_be_in(text[start:end])
            if may_have:
                break
            yield
        item = self._item_of(row)
        for part in item.parts if may_have or message.steps else ():
            for address, read in self._wanted.counted(_texts_of(part), before, secondary=part.secondary):
                found[address] = read
                yield
        for address, read in self._wanted.counted(item.texts_of_calls(), before):
            found[address] = read
            yield
        self.found.put(message_id, found)
        if self._seeks and self._first_in in (None, message_id):
            first = self._from[1] if self._from is not None and self._from[0] == message_id else _TOP
            self._go_to(self.found.first_of(message_id, first))

    def _end_seeking(self) -> None:
        """All has been read: what there is may be before the start. What comes later moves the view only if wanted."""
        if self._seeks and self._first_in is None:
            self._go_to(self.found.first())
        self._seeks = self._seeks and self._first_in is not None and self._model.row_of(self._first_in) is None

    def _go_to(self, place: FoundPlace | None) -> None:
        if place is None:
            return
        self.found.current = place
        self._first_in = None
        self._seeks = False
        self.light()
        self._show(place)
        self.light()
        self.changed.emit()

    def _show(self, place: FoundPlace) -> None:
        item = self._layout.item(place.message_id)
        if item is not None and item.hides(place.address):
            self._context.opening_requested.emit(place.message_id, place.address[:2])
        if item is not None and place.address[2] == OF_LINE:
            line = item.line_of(place.address)
            if line is not None:
                self._layout.show_rect(line, self._layout.place_of(line), clear_px=self._context.theme.px(_CLEAR_PX))
            return
        part = None if item is None else self._layout.part_at(item, place.address)
        if part is not None:
            self._layout.show_part(part)  # which writes its document
            ranges = self._wanted.ranges_in(part)
            char = ranges[place.number][0] if place.number < len(ranges) else 0
            self._layout.show_char(part, char, clear_px=self._context.theme.px(_CLEAR_PX))

    def light(self) -> None:
        """Highlight results in visible parts, which may have changed."""
        if not self.query and self._attachment is None and not self._is_lit:
            return
        self._is_lit = bool(self.query) or self._attachment is not None
        for part, _ in self._layout.parts.shown():
            if part.kind is PartKind.ATTACHMENTS and isinstance(part.widget, AttachmentsPart):
                lit = self._attachment
                part.widget.light_found(lit.number if lit is not None and lit.message_id == part.message_id else None)
            elif isinstance(part.widget, CallPart) and isinstance(part.content, CallLine):
                ranges = self._wanted.ranges_of(part.content.title) if self.query else ()
                part.widget.light_found(ranges, self._current_in(part.message_id, (*part.content.key, OF_LINE)))
            elif part.selectable is not None and part.address is not None:
                current = self._current_in(part.message_id, part.address)
                part.selectable.light_found(self._wanted.ranges_in(part) if self.query else (), current)

    def _current_in(self, message_id: int, address: Address) -> int | None:
        if (place := self.current) is None or (place.message_id, place.address) != (message_id, address):
            return None
        return place.number
