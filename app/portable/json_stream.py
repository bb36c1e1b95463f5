"""Reads a large JSON file value by value: the elements of its array, or of the array named "chats" in its object.

Python's decoder reads each value; one that is longer than the text so far is read again with twice as much. Only the
current value is in memory. The file is not trusted.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from app.portable.problems import Unreadable, WhyNotRead

MOST_CHARACTERS = 256_000_000  # of one value: MEASURED, a chat of ours takes four times as much memory
_LISTS = ("chats", "conversations")
_SIGN = re.compile(r"[^ \t\n\r]")
_BEGINS = frozenset('"{[-0123456789tfnNI')  # of a value
_MOST_DIGITS = 4000  # of an integer; of more Python makes none
_MAY_GO_ON = re.compile(r"[-+.,\w\\\s]{0,12}")  # what is left of a text that ends within a number, name or escape


@dataclass(frozen=True, slots=True)
class Element:
    """A value of the list; `why`: the reason that it alone cannot be used."""

    value: Any
    why: WhyNotRead | None = None


class JsonReader:
    """`elements` yields the values of the list; then `head` has the rest of the object around it.

    An object without such a list is one element itself.
    """

    def __init__(self) -> None:
        self.head: dict[str, Any] = {}  # fields before the list; complete after it

    def elements(self, chunks: Iterable[str]) -> Iterator[Element]:
        """Raises Unreadable where the file as a whole is not as it should be."""
        text = _Text(iter(chunks))
        sign = text.sign()
        if sign == "[":
            yield from text.values()
        elif sign == "{":
            yield from self._object(text)
        else:
            raise Unreadable(WhyNotRead.NOT_JSON if sign else WhyNotRead.EMPTY)
        if text.sign():
            raise Unreadable(WhyNotRead.NOT_JSON)

    def _object(self, text: _Text) -> Iterator[Element]:
        has_list = False
        entries: dict[str, Any] = {}
        why: WhyNotRead | None = None
        for _ in text.items("}"):
            name = text.value().value
            text.expect(":")
            if name in _LISTS and text.next_sign() == "[":
                if has_list:
                    raise Unreadable(WhyNotRead.DUPLICATE)
                has_list = True
                self.head = entries
                text.expect("[")
                yield from text.values()
                continue
            element = text.value()
            if not isinstance(name, str):
                raise Unreadable(WhyNotRead.NOT_JSON)
            why = why or element.why or (WhyNotRead.DUPLICATE if name in entries else None)
            entries[name] = element.value
        if not has_list or why is not None:
            yield Element(entries, why)


class _Text:
    """The text of a file, read by character and by value. Raises Unreadable for invalid JSON."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self._text = ""
        self._at = 0

    def next_sign(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            if found := _SIGN.search(self._text, self._at):
                self._at = found.start()
                return found[0]
            self._at = len(self._text)
            if not self._more():
                return ""

    def sign(self) -> str:
        sign = self.next_sign()
        self._at += len(sign)
        return sign

    def expect(self, *signs: str) -> str:
        sign = self.sign()
        if sign not in signs:
            raise Unreadable(WhyNotRead.NOT_JSON if sign else WhyNotRead.TRUNCATED)
        return sign

    def items(self, closer: str) -> Iterator[None]:
        """Yields once for each item of the current list or object; the caller reads the item."""
        if self.next_sign() == closer:
            self.expect(closer)
            return
        yield
        while self.expect(",", closer) == ",":
            yield

    def values(self) -> Iterator[Element]:
        """The values of the current list."""
        for _ in self.items("]"):
            yield self.value()

    def value(self) -> Element:
        if self.next_sign() not in _BEGINS:
            raise Unreadable(WhyNotRead.NOT_JSON if self.next_sign() else WhyNotRead.TRUNCATED)
        while True:
            decoder = _Decoder()
            try:
                value, end = decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._may_go_on(error):
                    raise Unreadable(WhyNotRead.NOT_JSON) from None
                if not self._more():
                    raise Unreadable(WhyNotRead.TRUNCATED) from None
                continue
            except RecursionError:
                raise Unreadable(WhyNotRead.TOO_DEEP) from None
            if end < len(self._text) or not self._more():  # a number may continue
                self._at = end
                return Element(value, decoder.why)

    def _may_go_on(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated") or bool(_MAY_GO_ON.fullmatch(self._text, error.pos))

    def _more(self) -> bool:
        """Read on until the text is twice as long; False at the end."""
        parts = [self._text[self._at :]]
        had = len(parts[0])
        if had > MOST_CHARACTERS:
            raise Unreadable(WhyNotRead.TOO_LARGE)
        size = had
        for chunk in self._chunks:
            parts.append(chunk)
            size += len(chunk)
            if size > min(2 * had, MOST_CHARACTERS):
                break
        self._text = "".join(parts)
        self._at = 0
        return size > had


class _Decoder(json.JSONDecoder):
    """`why`: the value has NaN, an infinite number, or a duplicate name."""

    def __init__(self) -> None:
        super().__init__(
            object_pairs_hook=self._object,
            parse_float=self._float,
            parse_int=self._int,
            parse_constant=self._float,
        )
        self.why: WhyNotRead | None = None

    def _float(self, text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            self.why = self.why or WhyNotRead.NOT_JSON
        return value

    def _int(self, text: str) -> int:
        if len(text) > _MOST_DIGITS:
            self.why = self.why or WhyNotRead.NOT_JSON
            return 0
        return int(text)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            self.why = self.why or WhyNotRead.DUPLICATE
        return found


def loads(text: str) -> Any:
    """Decode one value. Raises Unreadable."""
    decoder = _Decoder()
    try:
        value = decoder.decode(text)
    except (ValueError, RecursionError):
        raise Unreadable(WhyNotRead.NOT_JSON) from None
    if decoder.why is not None:
        raise Unreadable(decoder.why)
    return value
