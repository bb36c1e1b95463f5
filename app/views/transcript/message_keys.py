"""The focused message: keys for moving and acting, and its description for screen readers.

Left and right show versions, Return opens thinking, F2 edits, Delete deletes, the menu key opens the menu.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QObject, QPoint, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
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
from app.words.formats import sentences, spoken

_TOLD_CHARS = 2000


class Highlights(QObject):
    """The hovered and the focused message, whose icons are shown."""

    changed = Signal()

    def __init__(self, layout: Layout, viewport: QWidget) -> None:
        super().__init__(viewport)
        self.focused: int | None = None  # rows
        self._hovered: int | None = None
        self._before: tuple[int | None, int | None] = (None, None)  # what was focused and hovered when rows went
        self._layout = layout
        self._column = layout.column
        self._viewport = viewport

    def follow_pointer(self) -> None:
        """The pointer may leave a message for its menu, without losing the icons."""
        menu = QApplication.activePopupWidget()
        if isinstance(menu, QMenu) and menu.isVisible():
            menu.aboutToHide.connect(self.follow_pointer, Qt.ConnectionType.QueuedConnection)
            return
        pointed = QApplication.widgetAt(QCursor.pos())
        inside = pointed is not None and (pointed is self._viewport or self._viewport.isAncestorOf(pointed))
        y_px = self._viewport.mapFromGlobal(QCursor.pos()).y() + self._layout.top_px()
        self.hover(self._column.row_at(y_px) if inside else None)

    def hover(self, row: int | None) -> None:
        self._before = (self._before[0], None)
        if row != self._hovered:
            before = self._hovered
            self._hovered = row
            self._show(before, row)

    def focus(self, row: int | None) -> None:
        self._before = (None, self._before[1])
        if row != self.focused:
            before = self.focused
            self.focused = row
            self._show(before, row)

    def focused_message(self) -> int | None:
        return None if self.focused is None else self._column.items[self.focused].message.id

    def forget(self) -> None:
        """The rows are of another chat or branch."""
        self._before = (self.focused, self._hovered)
        self.focused = self._hovered = None

    def shift(self, count: int) -> None:
        """Rows were prepended."""
        self._before = _shifted(self._before[0], count), _shifted(self._before[1], count)
        self.focused = _shifted(self.focused, count)
        self._hovered = _shifted(self._hovered, count)

    def make_room(self, row: int) -> None:
        """A row was inserted: focus and pointer stay with their messages."""
        self.focused = _below(self.focused, row)
        self._hovered = _below(self._hovered, row)
        if self.focused is not None:
            self.changed.emit()

    def go_on(self, first: int, count: int) -> None:
        """Rows were removed: keep the focus on its message, or on the one in its place."""
        focused = self._before[0]
        rows = len(self._column.items)
        if focused is not None and self.focused is None and rows:
            gone = min(count, focused - first) if focused >= first else 0
            self.focus(min(focused - gone, rows - 1))

    def restore(self, row: int) -> None:
        """A row was inserted: if it replaces a removed one, as a version does, it gets the focus."""
        focused, hovered = self._before
        if row == focused and row < len(self._column.items):
            self.focus(row)
        if row == hovered and row < len(self._column.items):
            self.hover(row)

    def _show(self, *rows: int | None) -> None:
        for row in rows:
            if row is not None and row < len(self._column.items):
                item = self._column.items[row]
                item.highlighted = row in (self._hovered, self.focused)
                if item.is_read:
                    item.sync(self._layout.column_px())
        self.changed.emit()


def _shifted(row: int | None, count: int) -> int | None:
    return None if row is None else row + count


def _below(row: int | None, inserted: int) -> int | None:
    """Where a row is once another was inserted."""
    return row if row is None or row < inserted else row + 1


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
        # Queued: the view makes the item first.
        self._model.messages_removed.connect(highlights.go_on, Qt.ConnectionType.QueuedConnection)
        self._model.message_inserted.connect(highlights.restore, Qt.ConnectionType.QueuedConnection)
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
        row = self.highlights.focused
        return None if row is None or row >= len(self._model.messages) else self._model.messages[row]

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

    def focus(self, row: int) -> None:
        self.highlights.focus(row)

    def describe(self) -> None:
        """Names the transcript by the message in focus and its words."""
        row = self.highlights.focused
        usual = QCoreApplication.translate("TranscriptView", "Messages")
        self._view.setAccessibleName(usual if row is None else self._name(row))
        self._view.setAccessibleDescription("" if row is None else self._words(row))

    def announce(self, words: str) -> None:
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._view, words))

    def _name(self, row: int) -> str:
        return message_name(self._model, self._model.messages[row].id)

    def _words(self, row: int) -> str:
        return self._model.messages[row].text[:_TOLD_CHARS]

    def _in_sight(self, *, last: bool) -> int:
        rows = self._layout.rows_in_sight()
        return rows[-1] if last else rows[0]
