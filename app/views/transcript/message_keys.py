"""The focused message: keys for moving and acting, and its description for screen readers.

Left and right show versions, Return opens thinking, F2 edits, Delete deletes, the menu key opens the menu.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QObject, QPoint, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QCursor,
    QKeyEvent,
    QKeySequence,
    QShortcut,
)
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QMenu, QWidget

from app.view_models.transcript import TranscriptMessage
from app.views.transcript.layout import Layout
from app.views.transcript.message_footer import can_change, message_menu
from app.views.transcript.message_item import message_name
from app.views.transcript.part_context import PartContext
from app.views.widgets.held_keys import RETURN_KEYS, asks_for_menu, is_held, modifiers_of
from app.views.widgets.roles import announce
from app.words.formats import sentences, spoken

_TOLD_CHARS = 2000


class Highlights(QObject):
    """The hovered and the focused message, whose icons are shown."""

    changed = Signal()

    def __init__(self, layout: Layout, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._focused: int | None = None  # messages, which may have been removed
        self._hovered: int | None = None
        self._layout = layout
        self._model = layout.model
        self._viewport = viewport

    @property
    def focused(self) -> int | None:
        """The row of the message in focus."""
        return None if self._focused is None else self._model.row_of(self._focused)

    def focused_message(self) -> int | None:
        return None if self.focused is None else self._focused

    def follow_pointer(self) -> None:
        """The pointer may leave a message for its menu, without losing the icons."""
        menu = QApplication.activePopupWidget()
        if isinstance(menu, QMenu) and menu.isVisible():
            menu.aboutToHide.connect(self.follow_pointer, Qt.ConnectionType.QueuedConnection)
            return
        pointed = QApplication.widgetAt(QCursor.pos())
        inside = pointed is not None and (pointed is self._viewport or self._viewport.isAncestorOf(pointed))
        y_px = self._viewport.mapFromGlobal(QCursor.pos()).y() + self._layout.top_px()
        self.hover(self._layout.column.message_at(y_px) if inside else None)

    def hover(self, message_id: int | None) -> None:
        before = self._hovered
        self._hovered = message_id
        self._show(before, message_id)

    def focus(self, row: int | None) -> None:
        before = self._focused
        self._focused = None if row is None else self._model.messages[row].id
        self._show(before, self._focused)

    def forget(self) -> None:
        """The messages are of another chat or branch."""
        self._focused = self._hovered = None

    def go_on(self, first: int) -> None:
        """Rows were removed from there on: the focus goes to what is there now, and icons to another version."""
        messages = self._model.messages
        if self._focused is not None and self.focused is None and messages:
            self.focus(min(first, len(messages) - 1))
        if self._hovered is not None and self._model.row_of(self._hovered) is None:
            versions = (each.id for each in messages[first : first + 1] if each.siblings > 1)
            self.hover(next(versions, None))

    def _show(self, before: int | None, now: int | None) -> None:
        if before == now:
            return
        for message_id in (before, now):
            item = None if message_id is None else self._layout.item(message_id)
            if item is not None:
                item.highlighted = message_id in (self._hovered, self._focused)
                if item.is_read:
                    item.sync(self._layout.column_px())
        self.changed.emit()


class MessageKeys(QObject):
    def __init__(self, context: PartContext, view: QAbstractScrollArea, layout: Layout, highlights: Highlights) -> None:
        super().__init__(view)
        self._context = context
        self._view = view
        self._layout = layout
        self._model = layout.model
        self._column = layout.column
        self.highlights = highlights
        highlights.changed.connect(self.describe)
        # Queued: first the view has its items, and what comes in place of those that were removed is there.
        self._model.messages_removed.connect(highlights.go_on, Qt.ConnectionType.QueuedConnection)
        for counted in (self._model.messages_removed, self._model.message_inserted, self._model.messages_prepended):
            counted.connect(self.describe)
        for keys, delta in (("Ctrl+Up", -1), ("Ctrl+Down", 1)):
            shortcut = QShortcut(QKeySequence(keys), view)
            shortcut.activated.connect(lambda delta=delta: self.step(delta))
        self.describe()

    def takes(self, event: QKeyEvent) -> bool:
        """Act on the focused message; False if there is none or the key has no meaning."""
        message = self._focused()
        if message is not None and asks_for_menu(event):
            self._open_menu(message)
            return True
        return message is not None and not modifiers_of(event) and self._act(message, event)

    def takes_menu(self, event: QContextMenuEvent) -> bool:
        """Opens the menu of the message in focus, if a key asked for one."""
        message = self._focused()
        if message is None or event.reason() is not QContextMenuEvent.Reason.Keyboard:
            return False
        self._open_menu(message)
        return True

    def _focused(self) -> TranscriptMessage | None:
        message_id = self.highlights.focused_message()
        return None if message_id is None else self._model.message(message_id)

    def _act(self, message: TranscriptMessage, event: QKeyEvent) -> bool:
        context = self._context
        key = event.key()
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and message.siblings > 1:
            context.sibling_requested.emit(message.id, -1 if key == Qt.Key.Key_Left else 1)
        elif key == Qt.Key.Key_F2 and can_change(message):
            context.edit_requested.emit(message.id)
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            if not event.isAutoRepeat():  # a key that is held would delete all of them
                context.delete_requested.emit(message.id)
        elif key in (*RETURN_KEYS, Qt.Key.Key_Space):
            if not is_held(event):
                context.fold_requested.emit(message.id)
        else:
            return False
        return True

    def _open_menu(self, message: TranscriptMessage) -> None:
        item = self._column.items[self._model.messages.index(message)]
        top = item.top_px - self._layout.top_px() + item.height_px
        menu = message_menu(self._context, message, self._view)
        place = QPoint(self._layout.left_px, min(max(0, top), self._layout.page_px()))
        menu.popup(self._view.viewport().mapToGlobal(place))

    def step(self, delta: int) -> None:
        """Moves the focus to the message before (-1) or after (+1) and brings it into sight."""
        count = len(self._column.items)
        focused = self.highlights.focused
        if not count:
            return
        row = self._in_sight(last=delta < 0) if focused is None else max(0, min(count - 1, focused + delta))
        self.show(row)

    def show(self, row: int) -> None:
        """Moves the focus to a message, brings it into sight and has it read."""
        self._view.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.highlights.focus(row)
        self._layout.show_message(self._column.items[row])
        self.announce(sentences(spoken(self._name(row)), self._words(row)))

    def describe(self) -> None:
        """Names the transcript by the message in focus and its words."""
        row = self.highlights.focused
        usual = QCoreApplication.translate("TranscriptView", "Messages")
        self._view.setAccessibleName(usual if row is None else self._name(row))
        self._view.setAccessibleDescription("" if row is None else self._words(row))

    def announce(self, words: str) -> None:
        announce(self._view, words)

    def _name(self, row: int) -> str:
        return message_name(self._model, self._model.messages[row].id)

    def _words(self, row: int) -> str:
        return self._model.messages[row].text[:_TOLD_CHARS]

    def _in_sight(self, *, last: bool) -> int:
        rows = self._layout.rows_in_sight()
        return rows[-1] if last else rows[0]
