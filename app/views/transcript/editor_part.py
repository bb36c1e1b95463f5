"""The edit field of a message, or of one to insert, with its attachments and buttons.

Actions are requested by signals (`MessageFields`).
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.theme import RADIUS_BUBBLE, Theme
from app.view_models.attached import AttachedModel
from app.view_models.transcript import EditKind, EditView
from app.views.transcript.part_context import CONTINUE, NOTHING, REPLY, MessageFields, PartContext
from app.views.transcript.parts import Part, PartWidget
from app.views.widgets.attachment_row import AttachmentRow
from app.views.widgets.buttons import Emphasis, IconButton, PillButton
from app.views.widgets.fields import Segments
from app.views.widgets.held_keys import modifiers_of
from app.views.widgets.message_edit import MessageEdit
from app.views.widgets.painting import paint_card
from app.views.widgets.tooltips import set_tooltip

_REPORT_DELAY_MS = 150  # after the last key, what is typed is reported
_GROWS_TO = 0.5  # of the transcript's height
_PAD_PX = 14
_GAP_PX = 8
_BELOW_PX = 14


class EditField(MessageEdit):
    """Ctrl+Return (on a Mac: Command) submits; Return alone as in the composer."""

    def __init__(self, theme: Theme, editing: MessageFields, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._editing = editing
        self.is_sent = False  # when it is submitted

    def _on_return(self, event: QKeyEvent) -> None:
        keys = Qt.KeyboardModifier
        sends = self.is_sent and not self._editing.sends_with_control
        alone = sends and not modifiers_of(event) & (keys.ShiftModifier | keys.AltModifier)
        if not (alone or modifiers_of(event) & keys.ControlModifier):
            self._insert("\n")
        elif not event.isAutoRepeat():
            self.submitted.emit()


class EditorPart(PartWidget, QWidget):
    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._theme = context.theme
        self._content = EditView(EditKind.EDIT, from_user=True, text="")
        self.message_id = 0
        self._part: Part | None = None
        self._known = ""  # text that was set or reported
        self._showing = False
        self._finished = False  # its text is being stored
        self._card = QRect()
        self._report_timer = QTimer(self, singleShot=True, interval=_REPORT_DELAY_MS)
        self._report_timer.timeout.connect(self._report)
        self.roles = Segments(self._theme, self)
        self.field = EditField(self._theme, context.editing, self)
        self.field.restyle()
        self._nothing = AttachedModel(self)  # what a model's words have attached
        self.attached = AttachmentRow(self._theme, self)
        self.attach_button = IconButton(self._theme, "paperclip", parent=self)
        self.cancel = PillButton(self._theme, Emphasis.QUIET, parent=self)
        self.other = PillButton(self._theme, Emphasis.PLAIN, parent=self)
        self.save = PillButton(self._theme, Emphasis.PRIMARY, parent=self)
        self._connect()

    def _connect(self) -> None:
        field = self.field
        editing = self._context.editing
        field.textChanged.connect(self._on_typed)
        field.composition_changed.connect(self._on_typed)
        field.height_wanted.connect(self._on_height)
        field.submitted.connect(lambda: self._finish(self._main_way))
        field.escaped.connect(lambda: editing.cancelled.emit(self.message_id))
        field.installEventFilter(self)
        self.cancel.clicked.connect(lambda: editing.cancelled.emit(self.message_id))
        self.other.clicked.connect(lambda: self._finish(self._other_way))
        self.save.clicked.connect(lambda: self._finish(self._main_way))
        self.roles.chosen.connect(self._choose_role)
        self._connect_attached()

    def _connect_attached(self) -> None:
        """The widget is reused for other messages."""
        field = self.field
        row = self.attached
        editing = self._context.editing
        self.attach_button.clicked.connect(lambda: editing.attach_requested.emit(self.message_id))
        field.files_given.connect(lambda paths: editing.files_given.emit(self.message_id, paths))
        field.long_text_given.connect(lambda text: editing.text_given.emit(self.message_id, text))
        field.image_given.connect(lambda image: editing.image_given.emit(self.message_id, image))
        row.open_requested.connect(lambda number: editing.attached_opened.emit(self.message_id, number))
        row.remove_requested.connect(lambda number: editing.attached_removed.emit(self.message_id, number))
        row.put_back_requested.connect(self._put_into_field)
        row.left.connect(self.take_focus)
        row.changed.connect(self._enable)
        row.changed.connect(self._on_height)

    def show_part(self, part: Part, width_px: int) -> int:
        assert isinstance(part.content, EditView)
        same = part.message_id == self.message_id and part.content.kind == self._content.kind
        if not same:
            self._report()
            self._finished = False
        stays = same and part.content.text == self._known
        self._content = part.content
        self.message_id = part.message_id
        self._part = part
        self._showing = True
        try:
            self._show_attached()
            if not stays:
                self._known = part.content.text
                self.field.begin_with(self._known)
                self._report_timer.stop()
            self._show_words()
            return self._arrange(width_px)
        finally:
            self._showing = False

    def _show_attached(self) -> None:
        """Only the user's messages can have attachments."""
        can_attach = self._content.from_user
        self.field.can_attach = can_attach
        self.attach_button.setVisible(can_attach)
        self.attached.bind(self._context.editing.attached(self.message_id) if can_attach else self._nothing)

    def _put_into_field(self, number: int) -> None:
        text = next((row.attachment.text for row in self.attached.rows if row.number == number and row.attachment), "")
        self._context.editing.attached_removed.emit(self.message_id, number)
        self.field.insert_text(text)
        self.take_focus()

    @property
    def _is_new(self) -> bool:
        """Whether it is a message to insert."""
        return self._content.kind is not EditKind.EDIT

    @property
    def _main_way(self) -> str:
        return REPLY if self._content.from_user and not self._is_new else NOTHING

    @property
    def _other_way(self) -> str:
        if self._content.from_user:
            return REPLY if self._is_new else NOTHING
        return CONTINUE

    def _show_words(self) -> None:
        content = self._content
        self.roles.set_choices(((True, self.tr("You")), (False, self.tr("Model"))))
        self.roles.set_value(content.from_user)
        self.roles.setAccessibleName(self.tr("Speaker"))
        self.roles.setVisible(self._is_new)
        self.field.set_hint(self.tr("Your message") if content.from_user else self.tr("Model's reply"))
        self.field.setAccessibleName(self.tr("New message") if self._is_new else self.tr("Edited message"))
        self.attach_button.set_name(self.tr("Attach files"))
        self.cancel.setText(self.tr("Cancel"))
        main = self.tr("Insert") if self._is_new else self.tr("Save")
        self.field.is_sent = self._main_way == REPLY
        self.save.setText(self.tr("Send") if self.field.is_sent else main)
        self.other.setText(self._other_words())
        self._explain()
        self._enable()

    def _other_words(self) -> str:
        if self._other_way == CONTINUE:
            return self.tr("Insert and continue") if self._is_new else self.tr("Save and continue")
        return self.tr("Insert and send") if self._is_new else self.tr("Save only")

    def _explain(self) -> None:
        said = {
            NOTHING: self.tr("Later messages stay."),
            REPLY: self.tr("Generates a new reply."),
            CONTINUE: self.tr("The model continues from here."),
        }
        for button, way in ((self.save, self._main_way), (self.other, self._other_way)):
            set_tooltip(button, said[way])
            button.setAccessibleName(button.text())
            button.setAccessibleDescription(said[way])

    def _enable(self) -> None:
        """Saving waits while a file is being read."""
        some = (bool(self.field.composed) or self._has_something()) and not self.attached.is_reading
        self.save.setEnabled(some)
        self.other.setEnabled(some)

    def _has_something(self) -> bool:
        return bool(self.attached.rows) or not self.field.document().isEmpty()

    def _arrange(self, width_px: int) -> int:
        px = self._theme.px
        inner = width_px - 2 * px(_PAD_PX)
        y = px(_PAD_PX)
        if self._is_new:
            size = self.roles.sizeHint()
            self.roles.setGeometry(px(_PAD_PX), y, min(size.width(), inner), size.height())
            y += size.height() + px(_GAP_PX)
        if self.attached.rows:
            height = self.attached.height_at(inner)
            self.attached.setGeometry(px(_PAD_PX), y, inner, height)
            y += height + px(_GAP_PX)
        self.field.setGeometry(px(_PAD_PX), y, inner, self._field_px(inner))
        y += self.field.height() + px(_GAP_PX)
        self._card = QRect(0, 0, width_px, self._arrange_buttons(y, width_px) + px(_PAD_PX))
        return self._card.height() + px(_BELOW_PX)

    def _field_px(self, width_px: int) -> int:
        line = self.field.fontMetrics().lineSpacing()
        transcript = self.parentWidget()
        assert transcript is not None
        most = max(3 * line, round(transcript.height() * _GROWS_TO))
        self.field.resize(width_px, self.field.height())
        if not self.field.isVisible():  # Qt lays out the lines of a hidden one when it is shown
            for widget in (self.field, self.field.viewport()):
                QApplication.sendEvent(widget, QResizeEvent(widget.size(), QSize()))
        return self.field.fitting_height(most)

    def _arrange_buttons(self, y: int, width_px: int) -> int:
        """Place buttons from the right edge, the main one first, in as many lines as needed. Returns the lower end."""
        px = self._theme.px
        right = width_px - px(_PAD_PX)
        height = 0
        clip = self.attach_button.sizeHint()
        self.attach_button.setGeometry(px(_PAD_PX), y, clip.width(), clip.height())
        for button in (self.save, self.other, self.cancel):
            size = button.sizeHint().boundedTo(QSize(width_px - 2 * px(_PAD_PX), 10_000))
            if right - size.width() < px(_PAD_PX):
                right = width_px - px(_PAD_PX)
                y = y + height + px(_GAP_PX) // 2
            button.setGeometry(right - size.width(), y, size.width(), size.height())
            right = right - size.width() - px(_GAP_PX)
            height = size.height()
        if self._content.from_user and right < px(_PAD_PX) + clip.width():  # no room beside them
            y += height + px(_GAP_PX) // 2
            self.attach_button.move(px(_PAD_PX), y)
        return y + height

    def paintEvent(self, _event: QPaintEvent) -> None:
        colors = self._theme.palette
        with QPainter(self) as painter:
            edge = colors.ink if self.field.hasFocus() else colors.hairline
            paint_card(painter, self._card, RADIUS_BUBBLE, colors.surface, edge)

    def take_focus(self) -> None:
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def caret(self) -> tuple[int, int] | None:
        """(anchor, position) of the caret, if the field has the focus. Commits a composition."""
        focused = QApplication.focusWidget()
        if focused is None or not self.isAncestorOf(focused):
            return None
        self.field.commit()
        cursor = self.field.textCursor()
        return cursor.anchor(), cursor.position()

    def put_caret(self, anchor: int, position: int) -> None:
        cursor = self.field.textCursor()
        cursor.setPosition(anchor)
        cursor.setPosition(position, cursor.MoveMode.KeepAnchor)
        self.field.setTextCursor(cursor)

    def place_of_caret(self) -> QRect:
        """The caret's rectangle in this widget."""
        return self.field.cursorRect().translated(self.field.pos())

    def _on_height(self) -> None:
        if not self._showing:
            self._context.editing.resized.emit(self.message_id)

    def _on_typed(self) -> None:
        self._enable()
        if self._showing:
            return
        if self._finished:  # the field may be removed at any moment
            self._report()
        else:
            self._report_timer.start()
        if self.field.hasFocus():
            self._context.editing.caret_moved.emit(self.message_id)

    def _report(self) -> None:
        self._report_timer.stop()
        words = self.field.text_with_composed()
        if words != self._known:
            self._known = words
            if self._part is not None:  # it is shown again at another height, before it is made again
                self._part.content = replace(self._content, text=words)
            self._context.editing.typed.emit(self.message_id, words)

    def _finish(self, way: str) -> None:
        self.field.commit()
        if self._has_something() and not self.attached.is_reading:
            self._report()
            self._finished = True
            self._context.editing.saved.emit(self.message_id, way)

    def _choose_role(self, from_user: object) -> None:
        self._report()
        self._context.editing.role_chosen.emit(self.message_id, bool(from_user))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.update()
        return super().eventFilter(watched, event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Report the text before the field is hidden."""
        self.field.commit()
        self._report()
        super().hideEvent(event)
