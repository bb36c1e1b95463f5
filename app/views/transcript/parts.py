"""The parts that a message is shown as, and what their widgets have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from PySide6.QtCore import QPoint, QRect, Signal
from PySide6.QtGui import QEnterEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QTextEdit

from app.views.transcript.selection import Address, TextRange, Unit
from app.views.widgets.mixins import BeforeWidget

_Move = QTextCursor.MoveOperation
_ONWARD = frozenset({_Move.NextCharacter, _Move.NextWord, _Move.EndOfLine, _Move.EndOfBlock})
_BACK = frozenset({_Move.PreviousCharacter, _Move.PreviousWord, _Move.StartOfLine, _Move.StartOfBlock})


class PartKind(StrEnum):
    BEGINNING = "beginning"
    ATTACHMENTS = "attachments"
    BUBBLE = "bubble"
    UNREAD = "unread"  # a section of a long reply that is not cut yet; cut before it gets a widget
    FOLD = "fold"
    TEXT = "text"  # this and the next ones as `BlockKind` has them
    CODE = "code"
    TABLE = "table"
    FORMULA = "formula"
    CALL = "call"
    CALL_TEXT = "call_text"
    CALL_PICTURES = "call_pictures"
    CONSENT = "consent"
    PROGRESS = "progress"
    NOTICE = "notice"
    FOOTER = "footer"
    EDITOR = "editor"


PartContent = tuple[PartKind, object, int]  # with the gap above it


@dataclass(frozen=True, slots=True)
class Bubble:
    """The user's message, or a section of it."""

    text: str
    first: bool = True
    last: bool = True
    glue: str = ""  # what is between it and the section above


@dataclass(eq=False, slots=True)
class Part:
    """A part. Its height is estimated until a widget has measured `content` at `measured_width_px`."""

    kind: PartKind
    content: object
    message_id: int
    name: Callable[[], str]  # for screen readers
    gap_px: int = 0  # space above it
    inset_px: int = 0
    secondary: bool = False  # thinking: secondary text
    height_px: int = 0
    measured_width_px: int = -1
    address: Address | None = None  # of its text in the message; None where there is none to select
    start: int = 0  # where its text begins in the text, or the thinking, of its step
    widget: "PartWidget | None" = field(default=None, repr=False)

    @property
    def selectable(self) -> "Selectable | None":
        """The text that its widget shows."""
        text = getattr(self.widget, "text", None)
        return text if isinstance(text, Selectable) else None

    @property
    def document(self) -> QTextDocument | None:
        """The document that its widget shows."""
        return self.selectable.document() if isinstance(self.selectable, QTextEdit) else None

    def corner(self) -> QPoint:
        """Of its text, on the page. It has a widget."""
        text = self.selectable
        assert text is not None
        assert self.widget is not None
        return self.widget.pos() + text.mapTo(self.widget, QPoint(0, 0))

    def rect_of(self, char: int) -> QRect:
        """Rectangle of a caret before this character, on the page."""
        assert self.selectable is not None
        return self.selectable.rect_of(char).translated(self.corner())

    def set_content(self, content: object) -> None:
        if content != self.content:
            self.content = content
            self.measured_width_px = -1


class PartWidget(BeforeWidget):
    """Comes before the Qt class of what shows a part. It reports the pointer's coming: an event filter would get every
    event of every part.
    """

    entered = Signal(object)

    def show_part(self, part: Part, width_px: int) -> int:
        """Shows the part and returns the height that it needs at this width."""
        raise NotImplementedError

    def enterEvent(self, event: QEnterEvent) -> None:
        self.entered.emit(self)
        super().enterEvent(event)


class Selectable(BeforeWidget):
    """Comes before the Qt class of what can be selected: `text` of a part's widget. Characters are counted from 0.

    By itself it is one character, as a drawn formula is.
    """

    def show_name(self, name: str) -> None:
        """Has screen readers say this name of its message."""
        self.setAccessibleName(name)

    @property
    def length(self) -> int:
        return 1

    def char_at(self, at: QPoint) -> int:
        """The character nearest to a point of the widget."""
        return int(at.x() > self.width() / 2)

    def unit_at(self, char: int, unit: Unit) -> tuple[int, int]:
        """The word or line around a character, or just its place."""
        return (char, char) if unit is Unit.CHARACTER else (0, 1)

    def moved(self, char: int, move: QTextCursor.MoveOperation, goal_x_px: int) -> int | None:
        """The character that a caret moves to; None outside the text. Lines are entered at `goal_x_px`."""
        if move in _ONWARD:
            return 1 if char == 0 else None
        return 0 if char == 1 and move in _BACK else None

    def line_end(self, goal_x_px: int, *, last: bool) -> int:
        """The character at this place in the first or last line."""
        return self.char_at(QPoint(goal_x_px, 0))

    def rect_of(self, char: int) -> QRect:
        """A caret before that character."""
        return QRect(self.width() - 1 if char else 0, 0, 1, self.height())

    def show_char(self, char: int) -> None:
        """Scrolls sideways to it, where it is wider than the column."""

    def light(self, text_range: TextRange | None) -> None:
        """Highlight this range as selected, and no other."""
        raise NotImplementedError

    def light_found(self, ranges: Sequence[tuple[int, int]], current: int | None) -> None:
        """Shows what a search has found in it, and which of that is the current one."""
        raise NotImplementedError
