"""What the transcript holds on to while heights change and text grows: its end, or the part at its top edge.

No widgets here; `view.py` asks it where the top edge has to be.
"""

from app.views.transcript.message_column import Anchor, MessageColumn
from app.views.transcript.reading_places import ReadingPlace

STICK_PX = 48


class Hold:
    def __init__(self, column: MessageColumn) -> None:
        self.follows_end = True
        self.anchor: Anchor | None = None  # what is at the top edge
        self.place: ReadingPlace | None = None  # the same in the text, kept over changes of width and style
        self._column = column
        self._last_top_px = 0

    def follow_end(self) -> None:
        self.follows_end, self.place = True, None

    def let_go(self) -> None:
        """Stays with what is at the top edge from now on."""
        self.follows_end = False

    def take(self, anchor: Anchor) -> None:
        self.follows_end, self.anchor, self.place = False, anchor, None

    def drop_lost(self) -> None:
        """The message of the anchor may have been removed, or has another item now."""
        if self.anchor is not None and self.anchor.item not in self._column.items:
            self.anchor = None

    def wanted_top(self, bottom_px: int) -> int:
        if self.follows_end:
            return bottom_px
        if self.anchor is None:
            return min(self._last_top_px, bottom_px)
        return max(0, min(self._column.top_of(self.anchor), bottom_px))

    def settled(self, top_px: int) -> None:
        self.anchor = self._column.anchor_at(top_px)
        self._last_top_px = top_px

    def scrolled(self, top_px: int, bottom_px: int, *, up: bool) -> None:
        """Any scroll upwards stops following the end; scrolling back to it starts following again."""
        self.follows_end, self.place = not up and bottom_px - top_px <= STICK_PX, None
        self.settled(top_px)
