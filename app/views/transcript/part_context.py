"""What all parts of a transcript share: theme, formulas, document styles, signals for requests, who takes the mouse."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor, QGuiApplication, QMouseEvent, QTextDocument
from PySide6.QtWidgets import QWidget

from app.markup.block import Block
from app.markup.document import DocumentBuilder
from app.markup.document_style import DocumentStyle
from app.markup.formula import Formulas
from app.markup.links import is_in_message
from app.theme import CODE_PX, REPLY_LEADING, REPLY_PX, Theme
from app.view_models.attached import AttachedModel
from app.view_models.transcript import TranscriptMessage
from app.views.transcript.code_colors import SharedSlice
from app.views.transcript.parts import Part
from app.views.widgets.mixins import BeforeArea

# What follows when an edit is saved; the words of the controller's `Then`.
NOTHING = "nothing"
REPLY = "reply"
CONTINUE = "continue"


class Pointer(Protocol):
    """Selects text; gets the mouse events of texts directly: an event filter would get all events."""

    def takes(self, widget: QWidget, event: QMouseEvent) -> bool:
        """Act on an event of the widget; True if it is consumed."""


class Pointed(BeforeArea):
    """Comes before the Qt class of a scroll area, whose viewport the events are of."""

    pointer: Pointer | None = None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self._is_taken(event):
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self._is_taken(event):
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not self._is_taken(event):
            super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if not self._is_taken(event):
            super().mouseDoubleClickEvent(event)

    def _is_taken(self, event: QMouseEvent) -> bool:
        return self.pointer is not None and self.pointer.takes(self.viewport(), event)


class MessageFields(QObject):
    """Requests of edit fields, to controllers and the view. Signals carry message ids."""

    typed = Signal(int, str)
    saved = Signal(int, str)  # and what follows
    cancelled = Signal(int)
    role_chosen = Signal(int, bool)  # whether they are the user's words
    resized = Signal(int)
    caret_moved = Signal(int)
    attach_requested = Signal(int)
    files_given = Signal(int, list)  # paths that were pasted or dropped
    text_given = Signal(int, str)  # one that is too long for a field
    image_given = Signal(int, object)  # and a QImage
    attached_opened = Signal(int, int)  # and the number of the row
    attached_removed = Signal(int, int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.sends_with_control = False  # Return alone begins a line then
        self._attached_in: Callable[[int], AttachedModel] = lambda _message_id: AttachedModel()

    def bind_attachments(self, attached_in: Callable[[int], AttachedModel]) -> None:
        """From now on fields show what is attached in them; `attached_in` has it, by message."""
        self._attached_in = attached_in

    def attached(self, message_id: int) -> AttachedModel:
        return self._attached_in(message_id)


class PartContext(QObject):
    """One for a transcript. Its signals are requests with message ids."""

    link_requested = Signal(str)
    note_requested = Signal(object, str)  # the text with a footnote's mark or number, and the address there
    copy_requested = Signal(int)
    regenerate_requested = Signal(int)
    edit_requested = Signal(int)
    delete_requested = Signal(int)
    continue_requested = Signal(int)
    sibling_requested = Signal(int, int)  # message id, -1 or +1
    notice_action_requested = Signal(int, object)  # message id, NoticeAction
    act_requested = Signal(int, str)  # message id, one of those in message_footer.py
    fold_requested = Signal(int)  # all that can be opened in a message, or closed
    opening_requested = Signal(int, object)  # message id, and the key of what is to be opened or closed
    picture_requested = Signal(object)  # an Attachment that belongs to no message's own
    begin_requested = Signal(int)  # of a part whose beginning is so many pixels below the top of the page
    consent_answered = Signal(int, object, object)  # message id, Answer, the ConsentView that was seen
    consent_shown = Signal(int, object)  # message id, and the button that refuses
    beginning_asked = Signal(int, object)  # message id, and the line there: what is left out before it
    attachment_requested = Signal(int, int)  # message id, which of its attachments
    hovered = Signal(int)
    selecting = Signal()  # the pointer is selecting: what is under it must not move

    def __init__(
        self,
        theme: Theme,
        parent: QObject | None = None,
        message_of: Callable[[int], TranscriptMessage | None] = lambda _message_id: None,
        code_of: Callable[[Part], str] = lambda _part: "",
    ) -> None:
        """`code_of`: all code of which a part shows the beginning."""
        super().__init__(parent)
        self.theme = theme
        self.message_of = message_of
        self.code_of = code_of
        self.editing = MessageFields(self)
        self.formulas = Formulas(self)
        self.slice = SharedSlice(self)
        self.pointer: Pointer | None = None  # asked about the mouse over texts
        self._styles: dict[bool, DocumentStyle] = {}
        self._cited: frozenset[str] = frozenset()
        theme.changed.connect(self._styles.clear)

    def cite(self, names: Iterable[str]) -> None:
        """Names of the documents whose citations are links, in what is laid out from now on."""
        cited = frozenset(names)
        if cited != self._cited:
            self._cited = cited
            self._styles.clear()

    def follow(self, text: object, address: str) -> None:
        """Request what a click on a link of this text means."""
        if is_in_message(address):
            self.note_requested.emit(text, address)
        else:
            self.link_requested.emit(address)

    def selection_color(self) -> QColor:
        result = QColor(self.theme.palette.ink)
        result.setAlphaF(0.28)
        return result

    def document_style(self, *, secondary: bool = False) -> DocumentStyle:
        if secondary not in self._styles:
            self._styles[secondary] = self._make_style(secondary=secondary)
        return self._styles[secondary]

    def document_of(self, block: Block, *, secondary: bool) -> QTextDocument:
        """A temporary document for a part without widget; without formulas."""
        result = QTextDocument()
        style = self.document_style(secondary=secondary)
        DocumentBuilder(result, style, self.formulas, is_shown=False).write(block.tokens)
        return result

    def _make_style(self, *, secondary: bool) -> DocumentStyle:
        theme = self.theme
        colors = self.theme.palette
        return DocumentStyle(
            font=theme.reply_font(),
            mono=theme.mono_font(CODE_PX),
            text=colors.secondary if secondary else colors.text,
            secondary=colors.secondary,
            link=colors.ink,
            hairline=colors.hairline,
            line_px=round(REPLY_PX * REPLY_LEADING * theme.scale),
            scale=theme.scale,
            ratio=QGuiApplication.primaryScreen().devicePixelRatio(),
            cited=self._cited,
        )
