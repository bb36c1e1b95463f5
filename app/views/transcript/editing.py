"""Fields in the transcript, kept where the user types: their growing, the focus, the caret in sight.

Not here: a field itself (`editor_part.py`), and what becomes of its words (controllers/message_changes.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QAbstractScrollArea

from app.view_models.transcript import TranscriptModel
from app.views.transcript.message_column import MessageColumn, ScrollPort
from app.views.transcript.part_context import MessageFields
from app.views.transcript.parts import Part, PartKind


@dataclass(frozen=True, slots=True)
class TypingPlace:
    """The caret in the field of a message; between its two ends something may be selected."""

    message_id: int
    anchor: int
    position: int


class Editing(MessageFields):
    def __init__(
        self, view: QAbstractScrollArea, model: TranscriptModel, column: MessageColumn, port: ScrollPort
    ) -> None:
        super().__init__(view)
        self._view = view
        self._model = model
        self._column = column
        self._port = port
        self.resized.connect(self._on_resized)

    def page_px(self) -> int:
        return self._view.viewport().height()

    def focus(self, message_id: int) -> None:
        """Brings the field of a message into sight, and the focus into it."""
        row = self._model.row_of(message_id)
        if row is None:
            return
        anchor = self._column.anchor_to_show(row, self._port.top_px(), self._port.page_px())
        if anchor is not None:
            self._port.show_at(anchor)
        part = self._part(message_id)
        take_focus = getattr(part.widget, "take_focus", None) if part is not None else None
        if take_focus is not None:
            take_focus()
        self.typed_in(message_id)

    def typing_place(self) -> TypingPlace | None:
        """Where the user types now, before all widgets are made again. Commits what is being composed there."""
        for _, item in self._column.read_items():
            part = self._part(item.message.id) if item.message.edit is not None else None
            caret = getattr(part.widget, "caret", None) if part is not None else None
            if caret is not None and (ends := caret()) is not None:
                return TypingPlace(item.message.id, *ends)
        return None

    def type_on(self, place: TypingPlace) -> None:
        """In the field that has taken the other one's place."""
        self.focus(place.message_id)
        part = self._part(place.message_id)
        put_caret = getattr(part.widget, "put_caret", None) if part is not None else None
        if put_caret is not None:
            put_caret(place.anchor, place.position)

    def typed_in(self, message_id: int) -> None:
        """Brings the caret into sight, where it is not."""
        part = self._part(message_id)
        row = self._model.row_of(message_id)
        if part is None or row is None or part.widget is None:
            return
        item = self._column.items[row]
        caret: QRect = getattr(part.widget, "place_of_caret", QRect)()
        index = item.parts.index(part)
        inside = part.gap_px + caret.top()
        top = item.top_px + item.top_of(index) + inside
        page = self._port.page_px()
        if not self._port.top_px() <= top <= self._port.top_px() + page - caret.height():
            self._port.show_at(self._column.anchor_in(row, index, inside - page // 3))

    def _part(self, message_id: int) -> Part | None:
        row = self._model.row_of(message_id)
        if row is None:
            return None
        return next((part for part in self._column.items[row].parts if part.kind is PartKind.EDITOR), None)

    def _on_resized(self, message_id: int) -> None:
        part = self._part(message_id)
        row = self._model.row_of(message_id)
        if part is not None and row is not None:
            part.measured_width_px = -1
            self._port.arrange()
