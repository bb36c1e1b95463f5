"""Bringing a character of any part of a message into sight, also one that nobody has read yet."""

from __future__ import annotations

from collections.abc import Callable

from app.views.transcript.body import Unread
from app.views.transcript.message_column import Anchor, MessageColumn
from app.views.transcript.message_item import MessageItem
from app.views.transcript.parts import Part, PartKind, as_widget
from app.views.transcript.selection import Address
from app.views.transcript.sight import Sight

_ABOVE_SHARE = 0.3  # of the page, above what is brought into sight


def bring_into_sight(
    column: MessageColumn, sight: Sight, row: int, address: Address, start_of: Callable[[Part], int], clear_px: int
) -> None:
    """`start_of` says which character, once the part has a widget. It is kept clear of the edges of the page."""
    item = column.items[row]
    part = part_at(item, address, row, sight)
    if part is None:
        return
    if part.selectable is None:
        _show(item, part, sight, 0)
    text = part.selectable
    if text is None or part.widget is None:
        return
    char = start_of(part)
    rect = text.rect_of(char).translated(as_widget(part.widget).pos())
    if rect.top() < clear_px or rect.bottom() > sight.page_px() - clear_px:
        part_top = item.top_px + item.top_of(item.parts.index(part))
        _show(item, part, sight, rect.top() + sight.top_px() - part_top)
    text.show_char(char)


def show_attachments(column: MessageColumn, sight: Sight, row: int) -> None:
    """Brings the attachments of a message into sight, if it shows any."""
    item = column.items[row]
    if not item.is_read:
        item.sync(sight.column_px())
        sight.arrange(row)
    part = next((part for part in item.parts if part.kind is PartKind.ATTACHMENTS), None)
    if part is not None:
        _show(item, part, sight, 0)


def _show(item: MessageItem, part: Part, sight: Sight, inside_px: int) -> None:
    above = round(sight.page_px() * _ABOVE_SHARE)
    sight.show_at(Anchor(item, item.parts.index(part), inside_px - above, part))


def part_at(item: MessageItem, address: Address, row: int, sight: Sight) -> Part | None:
    """The part with this address; the section that it is in is read for it."""
    if not item.is_read:
        item.sync(sight.column_px())
        sight.arrange(row)
    section = next((part for part in item.parts if _is_section_of(part, address)), None)
    if section is not None:
        index = item.parts.index(section)
        item.read_section(range(index, index + 1), sight.column_px())
        sight.arrange(row)
    return next((part for part in item.parts if part.address == address), None)


def _is_section_of(part: Part, address: Address) -> bool:
    return isinstance(part.content, Unread) and part.address is not None and part.address[:2] == address[:2]
