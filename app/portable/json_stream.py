"""A large JSON file value by value: the elements of its array, or of the array that its object calls "chats".

Nothing is held but the value that is being read, and nothing is trusted: depth, length and form are checked before
Python's own reader sees a value.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Never

from app.portable.problems import Unreadable, WhyNotRead

MOST_DEPTH = 200
MOST_CHARACTERS = 256_000_000  # of one value: MEASURED, a chat of ours takes four times as much memory
_STRUCTURE = re.compile(r'["{}\[\],]')
_IN_STRING = re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL)
_LIST_NAME = re.compile(r'\s*"(?:chats|conversations)"\s*:\s*\Z')
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|["{}\[\]]', re.DOTALL)  # a whole string, or a sign
_OPENING = "{["
_CLOSING = "}]"
_CLOSER = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class Element:
    """A value of the list, as text; `why`: it is too much to be read."""

    text: str
    why: WhyNotRead | None = None


@dataclass(slots=True)
class Reader:
    """`elements` yields the values of the list; then `head` has the rest of the object around it.

    An object without such a list is one element itself.
    """

    head: dict[str, Any] = field(default_factory=dict)
    _closers: list[str] = field(default_factory=list)  # of what is open
    _level: int = 1  # how many are open around an element
    _parts: list[str] = field(default_factory=list)  # of the element so far
    _length: int = 0
    _why: WhyNotRead | None = None
    _in_string: bool = False
    _is_object: bool = False
    _has_list: bool = False
    _ended: bool = False
    _entries: list[str] = field(default_factory=list)  # of the object around the list
    _entries_why: WhyNotRead | None = None  # not all of them are there

    def elements(self, chunks: Iterable[str]) -> Iterator[Element]:
        """Raises Unreadable where the file as a whole is not as it should be."""
        carried = ""
        for chunk in chunks:
            carried = yield from self._take(carried + chunk)
        if carried or self._closers or self._in_string:
            raise Unreadable(WhyNotRead.TRUNCATED)
        if not self._ended:
            raise Unreadable(WhyNotRead.EMPTY)
        if self._is_object and self._has_list:
            self.head = self.begun()
            if self._entries_why is not None:
                yield Element("", self._entries_why)
        elif self._is_object:
            yield Element("{" + ",".join(self._entries) + "}", self._entries_why)

    def begun(self) -> dict[str, Any]:
        """What comes before the list, for a look while it is read."""
        return dict(loads("{" + ",".join(self._entries) + "}")) if self._has_list else {}

    def _take(self, text: str) -> Generator[Element, None, str]:
        """Returns what has to be looked at again with the next chunk."""
        at = 0
        while at < len(text):
            if self._in_string:
                end = _IN_STRING.match(text, at).end()  # type: ignore[union-attr]
                closed = end < len(text) and text[end] == '"'
                self._keep(text[at : end + closed])
                if not closed and end < len(text):  # a backslash at the end of the chunk
                    return text[end:]
                self._in_string = not closed
                at = end + closed
                continue
            if len(self._closers) > self._level:
                at = self._inside(text, at)
            found = _STRUCTURE.search(text, at)
            if found is None:
                self._keep(text[at:])
                return ""
            self._keep(text[at : found.start()])
            yield from self._structure(found[0])
            at = found.end()
        return ""

    def _inside(self, text: str, start: int) -> int:
        """Goes on to where the element ends, or to a string that the chunk cuts. MEASURED: 40 MB a second."""
        closers = self._closers
        level = self._level
        end = len(text)
        for found in _TOKEN.finditer(text, start):
            sign = found[0]
            if sign in _CLOSER:
                closers.append(_CLOSER[sign])
                if len(closers) > MOST_DEPTH:
                    raise Unreadable(WhyNotRead.TOO_DEEP)
            elif len(sign) == 1:
                if sign == '"' or len(closers) == level + 1:
                    end = found.start()
                    break
                if closers.pop() != sign:
                    raise Unreadable(WhyNotRead.NOT_JSON)
        self._keep(text[start:end])
        return end

    def _keep(self, text: str) -> None:
        if self._ended and text.strip():
            raise Unreadable(WhyNotRead.NOT_JSON)
        if not self._closers:
            if text.strip() and not self._ended:
                raise Unreadable(WhyNotRead.NOT_JSON)
            return
        self._length += len(text)
        if self._length > MOST_CHARACTERS:
            self._why = self._why or WhyNotRead.TOO_LARGE
            self._parts = []
        elif self._why is None:
            self._parts.append(text)

    def _structure(self, sign: str) -> Iterator[Element]:
        if self._ended or (not self._closers and sign not in _OPENING):
            raise Unreadable(WhyNotRead.NOT_JSON)
        if sign in _OPENING:
            self._open(sign)
        elif sign in _CLOSING:
            yield from self._close(sign)
        elif sign == "," and len(self._closers) == self._level:
            yield from self._end_element(is_last=False)
        else:
            self._keep(sign)
            self._in_string = sign == '"'

    def _open(self, sign: str) -> None:
        if not self._closers:
            self._is_object = sign == "{"
        elif self._begins_list(sign):
            self._has_list = True
            self._level = 2
            self._parts = []
            self._length = 0
        else:
            self._keep(sign)
        self._closers.append(_CLOSER[sign])
        if len(self._closers) > MOST_DEPTH:
            raise Unreadable(WhyNotRead.TOO_DEEP)

    def _begins_list(self, sign: str) -> bool:
        if not (self._is_object and sign == "[" and len(self._closers) == 1 and self._length < 100):
            return False
        if _LIST_NAME.match("".join(self._parts)) is None:
            return False
        if self._has_list:
            raise Unreadable(WhyNotRead.DUPLICATE)
        return True

    def _close(self, sign: str) -> Iterator[Element]:
        if self._closers[-1] != sign:
            raise Unreadable(WhyNotRead.NOT_JSON)
        if len(self._closers) == self._level:
            yield from self._end_element(is_last=True)
        else:
            self._keep(sign)
        self._closers.pop()
        if self._level == 2 and len(self._closers) == 1:  # the list in the object ends
            self._level = 1
            self._parts = []
            self._length = 0
        self._ended = not self._closers

    def _end_element(self, *, is_last: bool) -> Iterator[Element]:
        text = "".join(self._parts)
        why = self._why
        in_head = self._is_object and self._level == 1
        self._parts = []
        self._length = 0
        self._why = None
        if not text.strip() and why is None:
            if not is_last:
                if in_head and self._has_list:  # after the list
                    return
                raise Unreadable(WhyNotRead.NOT_JSON)
            return
        if in_head:
            self._keep_entry(text, why)
        else:
            yield Element(text, why)

    def _keep_entry(self, text: str, why: WhyNotRead | None) -> None:
        if why is None and sum(map(len, self._entries)) + len(text) <= MOST_CHARACTERS:
            self._entries.append(text)
        else:
            self._entries_why = WhyNotRead.TOO_LARGE


def loads(text: str) -> Any:
    """JSON as it should be: no NaN, no name twice in an object, no number without end. Raises Unreadable."""
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_float, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        raise Unreadable(WhyNotRead.NOT_JSON) from None


def _refuse(_constant: str) -> Never:
    raise Unreadable(WhyNotRead.NOT_JSON)


def _float(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unreadable(WhyNotRead.DUPLICATE)
    return found
