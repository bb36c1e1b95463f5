"""A part around one text: its characters are those of the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QTextCursor, QTextDocument

from app.views.transcript.parts import Selectable
from app.views.transcript.selection import Stretch, Unit

if TYPE_CHECKING:
    from app.views.transcript.text_parts import ReadOnlyText


class SelectableInside(Selectable):
    """A part around one text."""

    text: ReadOnlyText

    def show_name(self, name: str) -> None:
        self.text.show_name(name)

    @property
    def length(self) -> int:
        return self.text.length

    def char_at(self, at: QPoint) -> int:
        return self.text.char_at(at - self.text.pos())

    def unit_at(self, char: int, unit: Unit) -> tuple[int, int]:
        return self.text.unit_at(char, unit)

    def moved(self, char: int, move: QTextCursor.MoveOperation, goal_x_px: int) -> int | None:
        return self.text.moved(char, move, goal_x_px - self.text.x())

    def line_end(self, goal_x_px: int, *, last: bool) -> int:
        return self.text.line_end(goal_x_px - self.text.x(), last=last)

    def rect_of(self, char: int) -> QRect:
        return self.text.rect_of(char).translated(self.text.pos())

    def show_char(self, char: int) -> None:
        self.text.show_char(char)

    def light(self, stretch: Stretch | None) -> None:
        self.text.light(stretch)

    def light_found(self, stretches: Sequence[tuple[int, int]], current: int | None) -> None:
        self.text.light_found(stretches, current)

    def document_of(self) -> QTextDocument | None:
        return self.text.document()
