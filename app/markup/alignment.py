"""Maps characters of a document to the Markdown that it was written from.

It uses only the document: its text occurs in the source in the same order, with marks in between. So each segment of
the document is searched for after the previous one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from PySide6.QtCore import QTextBoundaryFinder
from PySide6.QtGui import QTextBlock, QTextDocument

from app.markup.document import MARKER, OBJECT
from app.markup.lines import blocks_in, fragments, units
from app.markup.links import is_in_message
from app.markup.long_lines import LINE_SEPARATOR

# Distance within which a segment is searched for: there may be marks, or the address of a link in between. Short
# segments could match inside an address, so they have less.
_FAR = 2000
_NEAR = 64
_SHORT = 4
_ADDRESS = re.compile(r"\](?:\(|\[)")
_ESCAPE = 12  # longest escape for one character, such as "&thinsp;"


@dataclass(frozen=True, slots=True)
class AlignedRun:
    """`length` characters of the document from `at` on are the source's from `source` on; `wide`: two units each."""

    at: int
    source: int
    length: int
    wide: bool = False


class Alignment:
    """The runs of one document from `place` on, in the order of both; `start` is where they begin in the source."""

    def __init__(self, document: QTextDocument, source: str, start: int, place: int = 0) -> None:
        self._runs = list(_runs(document, source, start, place))

    @property
    def source_end(self) -> int:
        """End of the last character of the source that the document shows."""
        return self._runs[-1].source + self._runs[-1].length if self._runs else 0

    def places_of(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Ranges of the document for a range of the source, each within one paragraph."""
        number = max(0, bisect_right(self._runs, start, key=lambda run: run.source) - 1)
        place: tuple[int, int] | None = None
        for run in self._runs[number:]:
            if run.source >= end:
                break
            first = max(start, run.source)
            last = min(end, run.source + run.length)
            if first >= last:
                continue
            width = 2 if run.wide else 1
            at, behind = (run.at + (offset - run.source) * width for offset in (first, last))
            if place is not None and place[1] == at:
                place = (place[0], behind)
                continue
            if place is not None:
                yield place
            place = (at, behind)
        if place is not None:
            yield place

    def source_at(self, place: int) -> int | None:
        """Index in the source of a character of the document; None if it is not from the source."""
        number = bisect_right(self._runs, place, key=lambda run: run.at) - 1
        if number < 0:
            return None
        run = self._runs[number]
        offset = (place - run.at) // (2 if run.wide else 1)
        return run.source + offset if offset < run.length else None


def whole_clusters(block: QTextBlock, start: int, end: int, *, outwards: bool) -> tuple[int, int]:
    """The range of the block's characters, extended or reduced to whole grapheme clusters."""
    text = block.text()
    if text.isascii():
        return start, end
    finder = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Grapheme, text)
    finder.setPosition(start)
    if not finder.isAtBoundary():
        start = finder.toPreviousBoundary() if outwards else finder.toNextBoundary()
    finder.setPosition(end)
    if not finder.isAtBoundary():
        end = finder.toNextBoundary() if outwards else finder.toPreviousBoundary()
    return start, end


def _runs(document: QTextDocument, source: str, position: int, place: int) -> Iterator[AlignedRun]:
    whole = _from(document.toPlainText(), place)
    at = source.find(whole, position, position + len(whole) + _NEAR) if document.blockCount() > 1 else -1
    if at >= 0:  # code, as a rule
        yield from _narrow_and_wide(whole, place, at)
        return
    for where, text, behind_link in _segments(document, place):
        position = _behind_address(source, position) if behind_link else position
        reach = _FAR if len(text) >= _SHORT else _NEAR
        at = source.find(text, position, position + len(text) + reach)
        if at >= 0:
            yield from _narrow_and_wide(text, where, at)
            position = at + len(text)
        else:
            for run in _one_by_one(text, where, source, position):
                position = run.source + 1
                yield run


def _behind_address(source: str, position: int) -> int:
    """After the address of a link whose words end there; it may have the words that follow it, too."""
    opening = _ADDRESS.search(source, position, position + _ESCAPE)
    if opening is None:
        return position
    depth = 0
    for at in range(opening.end() - 1, min(len(source), opening.end() + _FAR)):
        depth += (source[at] in "([") - (source[at] in ")]")
        if not depth:
            return at + 1
    return position


def _segments(document: QTextDocument, place: int) -> Iterator[tuple[int, str, bool]]:
    """The text of the document without list markers, line by line, in pieces of one format.

    With whether it comes right after the words of a link.
    """
    link = ""
    for block in blocks_in(document, place):
        for fragment in fragments(block):
            if not fragment.charFormat().boolProperty(MARKER):
                first = max(0, place - fragment.position())
                for where, text in _pieces(_from(fragment.text(), first), fragment.position() + first):
                    address = fragment.charFormat().anchorHref()
                    yield where, text, bool(link) and address != link
                    link = "" if is_in_message(address) or address == text else address


def _from(text: str, start: int) -> str:
    """Without so many of Qt's units at its start."""
    if not start or len(text) == units(text):
        return text[start:]
    return text.encode("utf-16-le", "surrogatepass")[2 * start :].decode("utf-16-le", "replace")


def _pieces(text: str, place: int) -> Iterator[tuple[int, str]]:
    for line in text.replace(OBJECT, LINE_SEPARATOR).split(LINE_SEPARATOR):
        if line.strip():
            yield place, line
        place += units(line) + 1


def _one_by_one(text: str, place: int, source: str, position: int) -> Iterator[AlignedRun]:
    """Where something of it is escaped, or is written otherwise in the source."""
    reach = _NEAR
    for char in text:
        at = source.find(char, position, position + reach)
        if at >= 0:
            yield AlignedRun(place, at, 1, wide=char > "\uffff")
            position = at + 1
            reach = _ESCAPE
        place += units(char)


def _narrow_and_wide(text: str, place: int, at: int) -> Iterator[AlignedRun]:
    """Split where characters take two units."""
    if len(text) == units(text):
        yield AlignedRun(place, at, len(text))
        return
    start = 0
    for is_wide, same in groupby(text, key=lambda char: char > "\uffff"):
        length = sum(1 for _ in same)
        yield AlignedRun(place, at + start, length, wide=is_wide)
        place += length * (2 if is_wide else 1)
        start += length
