"""Finding the next link for the keyboard, also in messages and parts that are out of sight. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PySide6.QtGui import QTextDocument

from app.markup.block import Block
from app.markup.document import DocumentBuilder
from app.markup.links import Link, links_of, may_have_links, noted
from app.views.transcript.body import Unread
from app.views.transcript.message_item import MessageItem
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part


@dataclass(frozen=True, slots=True)
class Spot:
    """A link on its place: which message, which of its parts, and which link of that part."""

    row: int
    part: Part
    number: int
    link: Link


class LinkWalk:
    def __init__(self, context: PartContext, items: Callable[[], list[MessageItem]], read: Callable[[int], None]):
        """`read` has every part of a row read."""
        self._context = context
        self._items = items
        self._read = read

    def beside(self, spot: Spot, step: int, rows: range) -> Spot | None:
        """The link before (-1) or after (+1) another one, within these rows."""
        here = list(self._in_row(spot.row))
        place = next((n for n, each in enumerate(here) if _same(each, spot)), None)
        if place is not None and 0 <= place + step < len(here):
            return here[place + step]
        onward = range(spot.row + 1, rows.stop) if step > 0 else range(rows.start, spot.row)
        return self.end_of(onward, last=step < 0)

    def end_of(self, rows: range, *, last: bool) -> Spot | None:
        """The first or last link of these rows."""
        for row in reversed(rows) if last else rows:
            found = list(self._in_row(row))
            if found:
                return found[-1 if last else 0]
        return None

    def first_below(self, rows: range, is_below: Callable[[Spot], bool], end: int) -> Spot | None:
        """The first link of these rows of which `is_below` says so, or else of the later ones."""
        here = (spot for row in rows for spot in self._in_row(row) if is_below(spot))
        return next(here, None) or self.end_of(range(rows.stop, end), last=False)

    def again(self, spot: Spot) -> Spot | None:
        """The same link after its message was laid out anew; None if it is gone."""
        ids = [item.message.id for item in self._items()]
        here = self._in_row(ids.index(spot.part.message_id)) if spot.part.message_id in ids else iter(())
        return next((each for each in here if _same(each, spot)), None)

    def first_to(self, address: str, row: int) -> Spot | None:
        return next((spot for spot in self._in_row(row) if spot.link.address == address), None)

    def _in_row(self, row: int) -> Iterator[Spot]:
        item = self._items()[row]
        if item.message.from_user or not may_have_links(item.message.text + item.message.thinking * item.opened):
            return
        if not item.is_read or any(isinstance(part.content, Unread) for part in item.parts):
            self._read(row)
        for part in item.parts:
            if isinstance(part.content, Block) and _may_lead_on(part.content):
                for number, link in enumerate(links_of(self._document_of(part, part.content))):
                    if not noted(link.address) or f"[^{noted(link.address)}]:" in item.message.text:
                        yield Spot(row, part, number, link)

    def _document_of(self, part: Part, block: Block) -> QTextDocument:
        shown = part.selectable.document_of() if part.selectable is not None and part.measured_width_px >= 0 else None
        if shown is not None:
            return shown
        document = QTextDocument()
        style = self._context.document_style(secondary=part.secondary)
        DocumentBuilder(document, style, self._context.formulas.only_known()).write(block.tokens)
        self._kept = document  # as long as its blocks are looked at
        return document


def _may_lead_on(block: Block) -> bool:
    return block.is_note or any(may_have_links(token.content) for token in block.tokens)


def _same(one: Spot, other: Spot) -> bool:
    return (one.part.message_id, one.part.address, one.number) == (
        other.part.message_id,
        other.part.address,
        other.number,
    )
