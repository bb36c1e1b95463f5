"""Messages of a long chat: they come before those that are shown already, the reader staying where they are, and go."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer

from app.view_models.transcript import TranscriptModel
from app.views.transcript.message_column import Hold, MessageColumn, ReadingPlaces, Sight
from app.views.transcript.message_item import MessageItem
from app.views.transcript.message_keys import Highlights

_MOST = 2000  # items that are freed at one go


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
        self._leaving: list[MessageItem] = []
        self._timer = QTimer(model, interval=0)
        self._timer.timeout.connect(self._let_go)
        model.messages_prepended.connect(self._on_prepended)
        model.was_reset.connect(self._keep_leaving)

    def _on_prepended(self, count: int) -> None:
        width_px = self._sight.column_px()
        self._column.prepend([self._make_item(row, width_px) for row in range(count)])
        self._highlights.shift(count)
        self._sight.arrange(len(self._column.items))
        if self._hold.follows_end and self._places.awaited is not None:
            self._places.show(self._places.awaited)

    def _keep_leaving(self) -> None:
        """Before they leave the column: to free very many at once takes as long as to make them."""
        if len(self._column.items) > _MOST:
            self._leaving += self._column.items
            self._timer.start()

    def _let_go(self) -> None:
        del self._leaving[-_MOST:]
        if not self._leaving:
            self._timer.stop()
