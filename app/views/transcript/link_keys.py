"""Tab through links: which is next, the focused one, and footnotes.

Within a focused message Tab stays there; otherwise it goes from the top of the page to the end of the chat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, Qt, QUrl
from PySide6.QtGui import QFocusEvent, QTextDocument
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.markup.block import Block
from app.markup.links import Link, links_of, may_have_links, noted, places_of, way_back
from app.theme import Theme
from app.views.transcript.layout import Layout
from app.views.transcript.message_item import Unread
from app.views.transcript.message_keys import Highlights
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part
from app.views.transcript.text_parts import ReadOnlyText
from app.views.widgets.focus import chain
from app.views.widgets.link_ring import AROUND_PX, LinkRing


@dataclass(frozen=True, slots=True)
class LinkPlace:
    """A link on its place: which message, which of its parts, and which link of that part."""

    row: int
    part: Part
    number: int
    link: Link


class LinkWalk:
    """Walks from link to link, also to those in parts without widgets."""

    def __init__(self, context: PartContext, layout: Layout) -> None:
        self._context = context
        self._layout = layout

    def beside(self, spot: LinkPlace, step: int, rows: range) -> LinkPlace | None:
        """The link before (-1) or after (+1) another one, within these rows."""
        here = list(self._in_row(spot.row))
        place = next((n for n, each in enumerate(here) if _same(each, spot)), None)
        if place is not None and 0 <= place + step < len(here):
            return here[place + step]
        onward = range(spot.row + 1, rows.stop) if step > 0 else range(rows.start, spot.row)
        return self.end_of(onward, last=step < 0)

    def end_of(self, rows: range, *, last: bool) -> LinkPlace | None:
        """The first or last link of these rows."""
        for row in reversed(rows) if last else rows:
            found = list(self._in_row(row))
            if found:
                return found[-1 if last else 0]
        return None

    def first_below(self, rows: range, is_below: Callable[[LinkPlace], bool], end: int) -> LinkPlace | None:
        """The first link of these rows for which `is_below` is true, or of later rows."""
        here = (spot for row in rows for spot in self._in_row(row) if is_below(spot))
        return next(here, None) or self.end_of(range(rows.stop, end), last=False)

    def again(self, spot: LinkPlace) -> LinkPlace | None:
        """The same link after its message was laid out again; None if it has none."""
        row = self._layout.model.row_of(spot.part.message_id)
        return None if row is None else next((each for each in self._in_row(row) if _same(each, spot)), None)

    def first_to(self, address: str, row: int) -> LinkPlace | None:
        return next((spot for spot in self._in_row(row) if spot.link.address == address), None)

    def _in_row(self, row: int) -> Iterator[LinkPlace]:
        item = self._layout.column.items[row]
        if item.message.from_user or not may_have_links(item.shown_text()):
            return
        if not item.is_read or any(isinstance(part.content, Unread) for part in item.parts):
            self._layout.read_whole(item)
        for part in item.parts:
            if isinstance(part.content, Block) and _may_lead_on(part.content):
                for number, link in enumerate(links_of(self._document_of(part, part.content))):
                    if not noted(link.address) or f"[^{noted(link.address)}]:" in item.message.text:
                        yield LinkPlace(row, part, number, link)

    def _document_of(self, part: Part, block: Block) -> QTextDocument:
        shown = part.document if part.measured_width_px >= 0 else None
        self._kept = shown or self._context.document_of(
            block, secondary=part.secondary
        )  # while its blocks are looked at
        return self._kept


def _may_lead_on(block: Block) -> bool:
    return block.is_note or any(may_have_links(token.content) for token in block.tokens)


def _same(one: LinkPlace, other: LinkPlace) -> bool:
    return (one.part.message_id, one.part.address, one.number) == (
        other.part.message_id,
        other.part.address,
        other.number,
    )


class FocusedLink(LinkRing):
    """The focused link; Return and Space open it. It stays with its link while it has the focus."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.spot: LinkPlace | None = None
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Tab comes to it by way of the transcript
        self.clicked.connect(self._open)
        self.hide()

    def take(self, spot: LinkPlace) -> None:
        self.spot = spot
        self.name_after(spot.link)
        self.place()
        self.show()
        self.setFocus(Qt.FocusReason.TabFocusReason)
        self.have_heard()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        # A menu, a dialog or another window give it back.
        if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason):
            self.spot = None
            self.hide()

    @property
    def _text(self) -> ReadOnlyText | None:
        widget: object = None if self.spot is None else self.spot.part.widget
        return widget if isinstance(widget, ReadOnlyText) else None

    def place(self) -> None:
        """Where its words are now; out of sight it keeps the focus."""
        text = self._text
        if self.spot is None or text is None:
            self.move(QPoint(0, -10_000))
            return
        shift = text.pos() - QPoint(text.horizontalScrollBar().value(), 0)
        self.surround(place.translated(shift) for place in places_of(self.spot.link, text.document()))

    def show_sideways(self) -> None:
        """Scroll to it in a table that is wider than the column."""
        text = self._text
        if text is None or self.spot is None:
            return
        bar = text.horizontalScrollBar()
        places = places_of(self.spot.link, text.document())
        if places and not bar.value() <= places[0].left() <= places[0].right() <= bar.value() + text.width():
            bar.setValue(round(places[0].left()) - AROUND_PX)
        self.place()

    def _open(self) -> None:
        """As a click on the words does."""
        if self._text is not None and self.spot is not None:
            self._text.follow(QUrl(self.spot.link.address))


class LinkKeys:
    def __init__(
        self, context: PartContext, layout: Layout, highlights: Highlights, button: FocusedLink, view: QWidget
    ) -> None:
        self._view = view
        self._layout = layout
        self._column = layout.column
        self._highlights = highlights
        self.button = button
        self._walk = LinkWalk(context, layout)
        context.note_requested.connect(self._go_to_other_end)

    def tab(self, *, forward: bool) -> bool:
        """Tab; backwards from the first link the focus goes to the view. False: there is no link to go to."""
        on_link = self.button.hasFocus()
        if (on_link or (self._view.hasFocus() and forward)) and self.step(1 if forward else -1):
            return True
        if on_link and not forward:
            self._view.setFocus(Qt.FocusReason.TabFocusReason)
        return on_link and not forward

    def step(self, step: int) -> bool:
        """Focuses the next (+1) or previous (-1) link; after the last of a message its buttons. False: none left."""
        spot = self._beside(step)
        if spot is not None:
            self._focus(spot)
        return spot is not None or (step > 0 and self._focus_buttons())

    def _focus_buttons(self) -> bool:
        """Those under the message in focus, brought into sight."""
        row = self._highlights.focused
        if row is None:
            return False
        part = self._layout.read(self._column.items[row]).parts[-1]
        self._layout.show_part(part)
        self._layout.show_rect(part, self._layout.place_of(part), barely=True)
        buttons = part.widget.findChildren(QAbstractButton) if part.widget is not None else []
        buttons = [each for each in buttons if each.isVisible() and each.isEnabled()]
        # A widget that was made late comes last in its window, but Tab goes on after the transcript.
        chain([self._view, *buttons])
        if buttons:
            buttons[0].setFocus(Qt.FocusReason.TabFocusReason)
        return bool(buttons)

    def show_focused(self) -> None:
        """Brings the button that Tab has reached into sight, if it is one of the transcript's."""
        focused = QApplication.focusWidget()
        for part, place in self._layout.parts.shown():
            widget = part.widget
            if focused is not None and widget is not None and (widget is focused or widget.isAncestorOf(focused)):
                inside = QRect(focused.mapTo(widget, QPoint(0, 0)), focused.size())
                self._layout.show_rect(part, inside.translated(place.topLeft()))
                return

    def enter_at_end(self) -> None:
        """Focuses the last link, as Shift+Tab from the next widget does."""
        spot = self._walk.end_of(self._rows(), last=True)
        if spot is not None:
            self._focus(spot)

    def _go_to_other_end(self, text: object, address: str) -> None:
        """Go from a footnote's mark to its note, or back, with the focus."""
        row = self._row_of(text)
        spot = None if row is None else self._walk.first_to(way_back(address), row)
        if spot is not None:
            self._focus(spot)

    def _row_of(self, text: object) -> int | None:
        parts = (part for part, _ in self._layout.parts.shown() if part.widget is text)
        return next((self._layout.model.row_of(part.message_id) for part in parts), None)

    def place(self) -> None:
        """Puts the ring where the link is now, also after its message was laid out again."""
        spot = self.button.spot
        if spot is None:
            return
        items = self._column.items
        if spot.row >= len(items) or spot.part not in items[spot.row].parts:
            self.button.spot = self._walk.again(spot)
        self.button.place()

    def _rows(self) -> range:
        focused = self._highlights.focused
        return range(len(self._column.items)) if focused is None else range(focused, focused + 1)

    def _beside(self, step: int) -> LinkPlace | None:
        rows = self._rows()
        spot = self.button.spot
        if spot is not None:
            spot = self._walk.again(spot)
            return None if spot is None else self._walk.beside(spot, step, rows)
        if self._highlights.focused is not None:
            return self._walk.end_of(rows, last=False)
        top = self._layout.top_px()
        at_top = self._column.rows_between(top, top)
        place_of = self._layout.place_of
        return self._walk.first_below(at_top, lambda spot: place_of(spot.part).bottom() >= 0, rows.stop)

    def _focus(self, spot: LinkPlace) -> None:
        self._layout.show_part(spot.part)
        self.button.take(spot)
        self.button.show_sideways()
        self._layout.show_rect(spot.part, self.button.geometry())
