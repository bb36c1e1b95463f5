"""Edit fields in the transcript: keeping their height, focus and caret while the user types.

The field is in `editor_part.py`, saving in controllers/message_changes.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.views.transcript.editor_part import EditorPart
from app.views.transcript.layout import Layout
from app.views.transcript.part_context import MessageFields, PartContext
from app.views.transcript.parts import Part, PartKind


@dataclass(frozen=True, slots=True)
class TypingPlace:
    """Caret and anchor in a message's edit field."""

    message_id: int
    anchor: int
    position: int


class Editing(MessageFields):
    def __init__(self, context: PartContext, layout: Layout) -> None:
        super().__init__(context)
        self._layout = layout
        context.editing = self
        self.resized.connect(self._on_resized)
        self.caret_moved.connect(self._show_caret)

    def focus(self, message_id: int) -> None:
        """Scroll to the field of a message, and focus it."""
        item = self._layout.item(message_id)
        if item is None:
            return
        self._layout.show_message(item)
        field = self._field(message_id)
        if field is not None:
            field.take_focus()
            self._show_caret(message_id)

    def typing_place(self) -> TypingPlace | None:
        """The caret, before all widgets are recreated. Commits a composition."""
        for _, item in self._layout.column.read_items():
            field = self._field(item.message.id) if item.message.edit is not None else None
            if field is not None and (ends := field.caret()) is not None:
                return TypingPlace(item.message.id, *ends)
        return None

    def type_on(self, place: TypingPlace) -> None:
        """Restore the caret in the recreated field."""
        self.focus(place.message_id)
        field = self._field(place.message_id)
        if field is not None:
            field.put_caret(place.anchor, place.position)

    def _show_caret(self, message_id: int) -> None:
        """Scroll to the caret if it is not visible."""
        part = self._part(message_id)
        field = self._field(message_id)
        if part is not None and field is not None:
            self._layout.show_rect(part, field.place_of_caret().translated(field.pos()))

    def _part(self, message_id: int) -> Part | None:
        item = self._layout.item(message_id)
        parts = [] if item is None else item.parts
        return next((part for part in parts if part.kind is PartKind.EDITOR), None)

    def _field(self, message_id: int) -> EditorPart | None:
        part = self._part(message_id)
        return part.widget if part is not None and isinstance(part.widget, EditorPart) else None

    def _on_resized(self, message_id: int) -> None:
        part = self._part(message_id)
        if part is not None:
            part.measured_width_px = -1
            self._layout.arrange()
