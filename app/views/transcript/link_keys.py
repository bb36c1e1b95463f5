"""Tab through the links of the transcript: which is next, and bringing it into sight; a footnote's mark and its note.

With a message in focus Tab stays in it; otherwise it goes from the top of what is in sight to the end of the chat.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.markup.links import way_back
from app.views.transcript.focused_link import FocusedLink
from app.views.transcript.link_walk import LinkWalk, Spot
from app.views.transcript.message_column import MARGIN_PX, Anchor, MessageColumn
from app.views.transcript.message_item import MessageItem
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part, as_widget
from app.views.transcript.sight import Sight


class LinkKeys:
    def __init__(
        self, context: PartContext, column: MessageColumn, sight: Sight, button: FocusedLink, view: QWidget
    ) -> None:
        self._view = view
        self._column = column
        self._sight = sight
        self.button = button
        self._walk = LinkWalk(context, lambda: column.items, self._read_whole)
        context.note_requested.connect(self._go_to_other_end)

    def step(self, step: int) -> bool:
        """Focuses the next (+1) or previous (-1) link; behind the last of a message its buttons. False: none left."""
        spot = self._beside(step)
        if spot is not None:
            self._focus(spot)
        return spot is not None or (step > 0 and self._focus_buttons())

    def _focus_buttons(self) -> bool:
        """Those under the message in focus, brought into sight."""
        row, sight = self._sight.focused_row(), self._sight
        if row is None:
            return False
        item = self._column.items[row]
        if not item.is_read:
            item.sync(sight.column_px())
        index, part = len(item.parts) - 1, item.parts[-1]
        top = item.top_px + item.top_of(index) - sight.top_px()
        if part.widget is None or not 0 <= top <= sight.page_px() - part.height_px:
            sight.show_at(Anchor(item, index, part.height_px + MARGIN_PX - sight.page_px(), part))
        buttons = as_widget(part.widget).findChildren(QAbstractButton) if part.widget is not None else []
        buttons = [each for each in buttons if each.isVisible() and each.isEnabled()]
        # A widget that was made late comes last in its window, but Tab goes on behind the transcript.
        before = self._view
        for button in buttons:
            QWidget.setTabOrder(before, button)
            before = button
        if buttons:
            buttons[0].setFocus(Qt.FocusReason.TabFocusReason)
        return bool(buttons)

    def show_focused(self) -> bool:
        """Brings the button that Tab has reached into sight, if it is one of the transcript's. True."""
        focused, page_px = QApplication.focusWidget(), self._sight.page_px()
        for item in self._column.items:
            for index, part in enumerate(item.parts):
                widget = as_widget(part.widget) if part.widget is not None else None
                if focused is not None and widget is not None and (widget is focused or widget.isAncestorOf(focused)):
                    top = widget.y() + focused.mapTo(widget, QPoint(0, 0)).y()
                    if not 0 <= top <= page_px - focused.height():
                        self._sight.show_at(Anchor(item, index, -page_px // 3, part))
        return True

    def enter_at_end(self) -> None:
        """Focuses the last link, as Shift+Tab from behind does."""
        spot = self._walk.end_of(self._rows(), last=True)
        if spot is not None:
            self._focus(spot)

    def _go_to_other_end(self, text: object, address: str) -> None:
        """From a footnote's mark to its number, or back. The focus goes along, so that Return leads back."""
        row = next((row for row, item in enumerate(self._column.items) if _shows(item, text)), None)
        spot = None if row is None else self._walk.first_to(way_back(address), row)
        if spot is not None:
            self._focus(spot)

    def place(self) -> None:
        """Puts the ring where the link is now, also after its message was laid out anew."""
        spot = self.button.spot
        if spot is None:
            return
        items = self._column.items
        if spot.row >= len(items) or spot.part not in items[spot.row].parts:
            self.button.spot = self._walk.again(spot)
        self.button.place()

    def _rows(self) -> range:
        focused = self._sight.focused_row()
        return range(len(self._column.items)) if focused is None else range(focused, focused + 1)

    def _beside(self, step: int) -> Spot | None:
        rows, spot = self._rows(), self.button.spot
        if spot is not None:
            spot = self._walk.again(spot)
            return None if spot is None else self._walk.beside(spot, step, rows)
        if self._sight.focused_row() is not None:
            return self._walk.end_of(rows, last=False)
        top = self._sight.top_px()
        return self._walk.first_below(self._column.rows_between(top, top), self._is_below_top, rows.stop)

    def _is_below_top(self, spot: Spot) -> bool:
        return self._bottom_of(spot.row, spot.part) > self._sight.top_px()

    def _bottom_of(self, row: int, part: Part) -> int:
        item = self._column.items[row]
        return item.top_px + item.top_of(item.parts.index(part) + 1)

    def _focus(self, spot: Spot) -> None:
        item, sight = self._column.items[spot.row], self._sight
        index = item.parts.index(spot.part)
        top = item.top_px + item.top_of(index) - sight.top_px()
        if spot.part.widget is None or not 0 <= top <= sight.page_px() - spot.part.height_px:
            sight.show_at(Anchor(item, index, -sight.page_px() // 3, spot.part))
        self.button.take(spot)
        self.button.show_sideways()
        # Further down in a part that is longer than the page.
        above, below = self.button.y(), self.button.y() + self.button.height() - sight.page_px()
        if above < 0 or below > 0:
            offset = sight.top_px() - item.top_px - item.top_of(index)
            shift = above - MARGIN_PX if above < 0 else below + MARGIN_PX
            sight.show_at(Anchor(item, index, offset + shift, spot.part))

    def _read_whole(self, row: int) -> None:
        item = self._column.items[row]
        if not item.is_read:
            item.sync(self._sight.column_px())
        while item.read_section(range(len(item.parts)), self._sight.column_px()):
            pass
        self._sight.arrange(row)


def _shows(item: MessageItem, text: object) -> bool:
    return any(part.widget is text for part in item.parts)
