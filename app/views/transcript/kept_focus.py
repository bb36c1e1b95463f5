"""The keyboard's focus in the transcript while all of its widgets are made anew, for other colours, sizes or words.

Not here: the link in focus (`link_keys.py`), which finds itself again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from app.views.transcript.editing import Editing
from app.views.transcript.message_column import MessageColumn
from app.views.transcript.message_item import MessageItem
from app.views.transcript.parts import Part, as_widget


@dataclass(frozen=True, slots=True)
class _Place:
    message_id: int
    part: int  # which of its message
    kind: type[QWidget]
    number: int  # which of that kind in its part


def kept_focus(editing: Editing, column: MessageColumn) -> Callable[[], None]:
    """Call what it returns when the widgets are there again: the focus is where it was, and so is the caret."""
    typing, place = editing.typing_place(), _focused(column.items)

    def focus_again() -> None:
        if typing is not None:
            editing.type_on(typing)
        if place is not None:
            _focus(column.items, place)

    return focus_again


def _focused(items: Sequence[MessageItem]) -> _Place | None:
    focused = QApplication.focusWidget()
    if focused is None:
        return None
    for item in items:
        for index, part in enumerate(item.parts):
            if focused in (inside := _inside(part, type(focused))):
                return _Place(item.message.id, index, type(focused), inside.index(focused))
    return None


def _focus(items: Sequence[MessageItem], place: _Place) -> None:
    """On what stands there now; nothing where it is out of sight."""
    parts = next((item.parts for item in items if item.message.id == place.message_id), [])
    inside = _inside(parts[place.part], place.kind) if place.part < len(parts) else []
    if place.number < len(inside):
        inside[place.number].setFocus(Qt.FocusReason.OtherFocusReason)


def _inside(part: Part, kind: type[QWidget]) -> list[QWidget]:
    """In the order in which they were made, which is the same each time."""
    return [] if part.widget is None else as_widget(part.widget).findChildren(kind)
