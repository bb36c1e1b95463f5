"""Fields in the transcript, kept where the user types: their growing, the focus, the caret in sight.

Not here: a field itself (`editor_part.py`), and what becomes of its words (controllers/message_changes.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QAbstractScrollArea

from app.view_models.transcript import TranscriptModel
from app.views.transcript.message_column import MessageColumn, Sight
from app.views.transcript.part_context import Fields
from app.views.transcript.parts import Part, PartKind


@dataclass(frozen=True, slots=True)
class TypingPlace:
    """The caret in the field of a message; between its two ends something may be selected."""

    message_id: int
    anchor: int
    position: int


class Editing(Fields):
    def __init__(self, view: QAbstractScrollArea, model: TranscriptModel, column: MessageColumn, sight: Sight) -> None:
        super().__init__(view)
        self._view, self._model, self._column, self._sight = view, model, column, sight
        self.resized.connect(self._on_resized)

    def page_px(self) -> int:
        return self._view.viewport().height()

    def focus(self, message_id: int) -> None:
        """Brings the field of a message into sight, and the focus into it."""
        row = self._model.row_of(message_id)
        if row is None:
            return
        anchor = self._column.anchor_to_show(row, self._sight.top_px(), self._sight.page_px())
        if anchor is not None:
            self._sight.show_at(anchor)
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
        part, row = self._part(message_id), self._model.row_of(message_id)
        if part is None or row is None or part.widget is None:
            return
        item = self._column.items[row]
        caret: QRect = getattr(part.widget, "place_of_caret", QRect)()
        index, inside = item.parts.index(part), part.gap_px + caret.top()
        top, page = item.top_px + item.top_of(index) + inside, self._sight.page_px()
        if not self._sight.top_px() <= top <= self._sight.top_px() + page - caret.height():
            self._sight.show_at(self._column.anchor_in(row, index, inside - page // 3))

    def _part(self, message_id: int) -> Part | None:
        row = self._model.row_of(message_id)
        if row is None:
            return None
        return next((part for part in self._column.items[row].parts if part.kind is PartKind.EDITOR), None)

    def _on_resized(self, message_id: int) -> None:
        part, row = self._part(message_id), self._model.row_of(message_id)
        if part is not None and row is not None:
            part.measured_width_px = -1
            self._sight.arrange()
