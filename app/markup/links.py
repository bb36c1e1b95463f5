"""Links of a document written by `DocumentBuilder`, and their rectangles.

A footnote's mark and its note's number link to each other, and a citation to its document, by addresses that no reply
can contain.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from PySide6.QtCore import QRectF
from PySide6.QtGui import QTextBlock, QTextDocument

from app.markup.lines import blocks_in, fragments, line_rects

_TO_NOTE = "#note:"
_TO_MARK = "#mark:"
_TO_CITED = "#cited:"
_PLACE = re.compile(rf"{_TO_CITED}(\d+):(\d+):(.*)", re.ASCII)
_CITED = re.compile(r"\[([^\[\]\n]{1,250}?)(?:, (?:pp?\. ?(\d{1,6})|lines? (\d{1,8}))[^\[\]\n]{0,40})?\]")


@dataclass(frozen=True, slots=True)
class Cited:
    """A place in a document. 0: none."""

    name: str
    page: int = 0
    line: int = 0


def to_note(label: str) -> str:
    return _TO_NOTE + label


def to_mark(label: str) -> str:
    return _TO_MARK + label


def noted(address: str) -> str:
    """The label of the note that a footnote's mark leads to; empty for any other address."""
    return address.removeprefix(_TO_NOTE) if address.startswith(_TO_NOTE) else ""


def marked(address: str) -> str:
    """The label of the mark that the number before a note leads to; empty for any other address."""
    return address.removeprefix(_TO_MARK) if address.startswith(_TO_MARK) else ""


def citations(text: str, names: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Where documents of these names are cited, as `[report.pdf, p. 3]`, and the address of the place."""
    for found in _CITED.finditer(text) if names else ():
        if found[1] in names:
            yield found.start(), found.end(), f"{_TO_CITED}{found[2] or 0}:{found[3] or 0}:{quote(found[1], safe='')}"


def cited(address: str) -> Cited | None:
    """The place that a citation leads to; None for any other address."""
    found = _PLACE.fullmatch(address)
    return None if found is None else Cited(unquote(found[3]), int(found[1]), int(found[2]))


def is_in_message(address: str) -> bool:
    return bool(noted(address) or marked(address))


def leads_out(address: str) -> bool:
    """Whether it is an address for others: neither a note, nor a document of the chat."""
    return not is_in_message(address) and cited(address) is None


def way_back(address: str) -> str:
    """From a note's number to its mark, or from the mark to the number."""
    return to_mark(noted(address)) if noted(address) else to_note(marked(address))


@dataclass(frozen=True, slots=True)
class Link:
    """Characters `first` to `last`, the last excluded."""

    first: int
    last: int
    address: str
    words: str


def may_have_links(source: str) -> bool:
    """Whether Markdown can hold a link at all; cheap, for texts that are not split yet."""
    return "[" in source or "http" in source or "<" in source


def links_of(document: QTextDocument) -> list[Link]:
    """Links in order; one in several formats is one link."""
    found: list[Link] = []
    for block in blocks_in(document):
        for link in _links_in(block):
            before = found[-1] if found else None
            if before is not None and (before.last, before.address) == (link.first, link.address):
                found[-1] = replace(before, last=link.last, words=before.words + link.words)
            else:
                found.append(link)
    return found


def _links_in(block: QTextBlock) -> Iterator[Link]:
    for fragment in fragments(block):
        address = fragment.charFormat().anchorHref()
        if address:
            yield Link(fragment.position(), fragment.position() + fragment.length(), address, fragment.text())


def places_of(link: Link, document: QTextDocument) -> list[QRectF]:
    """A rectangle for each line that the link is on; the document is laid out."""
    return list(line_rects(document, link.first, link.last))
