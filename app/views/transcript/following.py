"""The items of the column, kept as the model's messages are: they come, grow, change and go.

Those of a long chat come before the ones that are shown already; the reader stays at the same words.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from app.views.transcript.layout import Layout
from app.views.transcript.message_item import MessageItem
from app.views.transcript.reading_places import ReadingPlaces

_MOST = 2000  # items that are freed at one go


class FollowedMessages(QObject):
    grew = Signal()  # words came that fit into their line
    prepended = Signal(int)
    lost = Signal()  # messages may have left

    def __init__(self, layout: Layout, places: ReadingPlaces) -> None:
        super().__init__(layout)
        self._model = layout.model
        self._column = layout.column
        self._layout = layout
        self._places = places
        self._leaving: list[MessageItem] = []
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._free_some)
        self._model.was_reset.connect(self.reset)
        self._model.message_inserted.connect(self._on_inserted)
        self._model.messages_prepended.connect(self._on_prepended)
        self._model.text_appended.connect(self._on_appended)
        self._model.message_changed.connect(self.sync)
        self._model.messages_removed.connect(self._on_removed)

    def reset(self) -> None:
        """Another chat opens at its end; another branch of the same chat keeps the scroll position."""
        count = len(self._model.messages)
        width_px = self._layout.column_px()
        self._free_later(self._column.items)
        kept = self._column.keep_same(self._model.messages, width_px)
        self._column.put(kept, [self._layout.make_item(row, width_px) for row in range(kept, count)])
        self.lost.emit()
        self._layout.follows_end = not kept or (self._layout.follows_end and kept >= count - 1)
        self._layout.drop_lost()
        self._layout.arrange()
        self._layout.parts.keep_few_spare()

    def sync(self, row: int) -> None:
        """The message is another one now, or is to be shown otherwise."""
        item = self._column.items[row]
        item.message = self._model.messages[row]
        item.segment.is_stale = True
        if item.is_read:
            item.sync(self._layout.column_px())
        self._layout.arrange()

    def _on_inserted(self, row: int) -> None:
        if row == len(self._column.items) and self._model.messages[row].from_user:
            self._layout.follow_end()  # a new question is always scrolled into view
        self._column.put(row, [self._layout.make_item(row)])
        self._layout.arrange()

    def _on_prepended(self, count: int) -> None:
        width_px = self._layout.column_px()
        self._column.put(0, [self._layout.make_item(row, width_px) for row in range(count)])
        self.prepended.emit(count)
        self._layout.arrange()
        if self._layout.follows_end and self._places.awaited is not None:
            self._places.show(self._places.awaited)

    def _on_appended(self, row: int) -> None:
        """Most words find room in the line that is there: then nothing has to be placed."""
        item = self._column.items[row]
        width_px = self._layout.column_px()
        if not item.is_read or item.grow(width_px) or self._layout.parts.show_grown(item, width_px):
            self._layout.arrange()
        else:
            self.grew.emit()

    def toggle_thinking(self, message_id: int) -> None:
        """Shows the thinking of a message, or folds it up."""
        row = self._model.row_of(message_id)
        if row is not None and self._model.messages[row].thinking:
            self._column.items[row].opened ^= True
            self._layout.let_go()
            self.sync(row)

    def _on_removed(self, first: int, count: int) -> None:
        for item in self._column.items[first : first + count]:
            item.release_all()
        self._column.drop(first, first + count)
        self.lost.emit()
        self._layout.drop_lost()
        self._layout.arrange()

    def _free_later(self, items: list[MessageItem]) -> None:
        """To free very many at once takes as long as to make them."""
        if len(items) > _MOST:
            self._leaving += items
            self._timer.start()

    def _free_some(self) -> None:
        del self._leaving[-_MOST:]
        if not self._leaving:
            self._timer.stop()
