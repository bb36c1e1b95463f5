"""Messages of a long chat that come before those that are shown already: the reader stays where they are."""

from __future__ import annotations

from collections.abc import Callable

from app.view_models.transcript import TranscriptModel
from app.views.transcript.highlights import Highlights
from app.views.transcript.hold import Hold
from app.views.transcript.message_column import MessageColumn
from app.views.transcript.message_item import MessageItem
from app.views.transcript.reading_places import ReadingPlaces
from app.views.transcript.sight import Sight


class EarlierMessages:
    def __init__(
        self,
        model: TranscriptModel,
        column: MessageColumn,
        sight: Sight,
        hold: Hold,
        highlights: Highlights,
        places: ReadingPlaces,
        make_item: Callable[[int, int], MessageItem],
    ) -> None:
        self._column = column
        self._sight = sight
        self._hold = hold
        self._highlights = highlights
        self._places = places
        self._make_item = make_item
        model.messages_prepended.connect(self._on_prepended)

    def _on_prepended(self, count: int) -> None:
        width_px = self._sight.column_px()
        self._column.prepend([self._make_item(row, width_px) for row in range(count)])
        self._highlights.shift(count)
        self._sight.arrange(len(self._column.items))
        if self._hold.follows_end and self._places.awaited is not None:
            self._places.show(self._places.awaited)
