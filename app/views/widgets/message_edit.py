"""The plain-text field that messages are written in: lines of any length, and input methods."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMargins, QMimeData, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QInputMethodEvent, QKeyEvent, QPalette, QResizeEvent, QTextOption
from PySide6.QtWidgets import QFrame, QWidget

from app.markup import long_lines
from app.theme import Theme
from app.views.widgets.composing import Composing
from app.views.widgets.drop_target import has_picture, local_files, takes
from app.views.widgets.held_keys import PAGE_KEYS, RETURN_KEYS, modifiers_of
from app.views.widgets.long_text import LongText
from app.views.widgets.scrolling import ThinScrollBars

LONG_PASTE = 6_000  # characters; more become an attachment


class MessageEdit(Composing, LongText):
    """A plain-text field as high as its lines. Return or Ctrl+Return submits, but not what an input method composes."""

    submitted = Signal()
    escaped = Signal()
    height_wanted = Signal()
    composition_changed = Signal()
    files_given = Signal(list)  # paths that were pasted or dropped
    image_given = Signal(object)  # a QImage that is no file
    long_text_given = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._hint = ""
        self.sends_with_control = False  # Return alone begins a new line then
        self.can_attach = False  # then files and long texts are handed on
        self.leaves_drops = False  # of files to the window around it, which shows a sign for them
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        sideways = self.horizontalScrollBar()
        # WORKAROUND: Qt counts the spaces that lines end with, scrolls to them, and cuts the first letters.
        sideways.rangeChanged.connect(lambda: sideways.setMaximum(0))
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(0)
        self.document().clearUndoRedoStacks()  # Qt takes the margin for something that can be undone
        ThinScrollBars(self, theme)
        self.textChanged.connect(self.height_wanted)

    def set_hint(self, hint: str) -> None:
        self._hint = hint
        self.setPlaceholderText("" if self.composed else hint)

    def set_room(self, right_px: int, below_px: int) -> None:
        """Between the lines and the scroll bar, and below them."""
        if self.viewportMargins() != QMargins(0, 0, right_px, below_px):
            self.setViewportMargins(0, 0, right_px, below_px)
        self.setMinimumWidth(right_px + self.minimumSizeHint().width())

    def needs_lines(self, width_px: int) -> bool:
        """Whether the text, with what is composed, is wider than that, or has several lines anyway."""
        document = self.document()
        first = document.firstBlock()
        document.documentLayout().blockBoundingRect(first)  # lays it out
        return document.blockCount() > 1 or first.layout().maximumWidth() > width_px

    def restyle(self) -> None:
        colors = self._theme.palette
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Base, colors.surface)
        palette.setColor(QPalette.ColorRole.Text, colors.text)
        palette.setColor(QPalette.ColorRole.PlaceholderText, colors.faint)
        self.setPalette(palette)
        self.setFont(self._theme.reply_font())

    def text_height(self, at_most: float) -> float:
        """The height of the lines, at most about `at_most`; the cost does not grow with longer text."""
        layout = self.document().documentLayout()
        block = self.document().firstBlock()
        height = 0.0
        while block.isValid() and height < at_most:
            height += layout.blockBoundingRect(block).height()
            block = block.next()
        return height

    def fitting_height(self, most: float) -> int:
        """As high as its lines, at least one and at most this; from there on with a scroll bar. Without room below."""
        wanted = max(self.fontMetrics().lineSpacing(), self.text_height(most))
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if wanted > most else policy.ScrollBarAlwaysOff)
        return round(min(wanted, most))

    def text_with_composed(self) -> str:
        """As if it were committed now."""
        place = self.textCursor().position()
        end = self.document().characterCount() - 1
        around = [long_lines.text_between(self.document(), *each) for each in ((0, place), (place, end))]
        return self.composed.join(around)

    def set_text(self, text: str) -> None:
        """Replaces all, also what is being composed."""
        self.drop_composed()
        super().set_text(text)

    def begin_with(self, text: str) -> None:
        """Replace all; what is typed next follows it."""
        self.set_text(text)
        self.moveCursor(self.textCursor().MoveOperation.End)

    def event(self, event: QEvent) -> bool:
        """Without text, a key that goes to its start or end is left to the window: it leads to the messages there."""
        if event.type() == QEvent.Type.ShortcutOverride and self._is_left_by(event):
            event.ignore()
            return False
        return super().event(event)

    def _is_left_by(self, event: QEvent) -> bool:
        assert isinstance(event, QKeyEvent)
        leads_away = event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down)
        with_control = modifiers_of(event) == Qt.KeyboardModifier.ControlModifier
        return leads_away and with_control and not self.composed and self.document().isEmpty()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self.leaves_drops and takes(event.mimeData()):
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.ends_composition(event):
            event.accept()
        elif event.key() in RETURN_KEYS:
            self._on_return(event)
        elif event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        elif self._is_for_the_chat(event):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def _is_for_the_chat(self, event: QKeyEvent) -> bool:
        """A page key, where all that is typed is in sight: it scrolls the messages."""
        keys = event.key() in PAGE_KEYS and not modifiers_of(event)
        whole = self.verticalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        return keys and whole and not self.composed

    def _on_return(self, event: QKeyEvent) -> None:
        """One of the two keys sends; the other begins a line, as Shift and Return always do."""
        modifier = Qt.KeyboardModifier
        with_control = bool(modifiers_of(event) & modifier.ControlModifier)
        other = with_control is not self.sends_with_control
        if other or modifiers_of(event) & (modifier.ShiftModifier | modifier.AltModifier):
            self._insert("\n")
        elif not event.isAutoRepeat():
            self.submitted.emit()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        # WORKAROUND: on the Mac a Return that ends a Korean composition arrives once more as a key, after the commit;
        # only what is still being composed when the key comes may hold it back.
        super().inputMethodEvent(event)
        # Qt goes on painting the placeholder under what is being composed.
        self.setPlaceholderText("" if self.composed else self._hint)
        self.height_wanted.emit()
        self.composition_changed.emit()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        if local_files(source):  # Qt takes their addresses for text, and a field that takes no files must leave them
            return self.can_attach
        return source.hasText() or (self.can_attach and source.hasImage())

    def insertFromMimeData(self, source: QMimeData) -> None:
        """A file is never the line of its address."""
        paths = local_files(source)
        if self.can_attach and paths:
            self.files_given.emit(paths)
        elif self.can_attach and has_picture(source):
            self.image_given.emit(source.imageData())
        elif source.hasText() and not paths:
            self._insert_text(source.text())

    def _insert_text(self, text: str) -> None:
        if self.can_attach and len(text) > LONG_PASTE:
            self.long_text_given.emit(text)
        else:
            self._insert(text)

    def insert_text(self, text: str) -> None:
        """At the cursor, however long it is; on lines of its own."""
        cursor = self.textCursor()
        above = "" if cursor.atBlockStart() else "\n"
        below = "" if cursor.atBlockEnd() or text.endswith("\n") else "\n"
        self._insert(above + text + below)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.height_wanted.emit()
