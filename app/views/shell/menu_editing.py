"""The Edit menu: its entries act on whatever has the focus, and are enabled only where they can act."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from app.controllers.deletions import Deletions
from app.views.shell.menu import MenuBar
from app.views.widgets.held_keys import deletes_all

# Entry → the slot of the focused widget that it calls. Undo may mean a deletion; `kept_words.py` decides.
_SLOTS = {"redo": "redo", "cut": "cut", "copy": "copy", "paste": "paste", "select_all": "selectAll"}
_TEXTS = (QPlainTextEdit, QTextEdit)


class EditEntries(QObject):
    """All entries are enabled while the menu is closed, since a shortcut is checked when it is pressed."""

    def __init__(self, menu: MenuBar, pastes_into: QWidget) -> None:
        """`pastes_into`: a field that gets pasted text while the focus is on something that takes no text."""
        super().__init__(menu)
        self._menu = menu
        self._deletions: Deletions | None = None
        self._pastes_into = pastes_into
        for name, slot in _SLOTS.items():
            menu.actions[name].triggered.connect(partial(self._act, name, slot))
        menu.paste_plain.triggered.connect(lambda: _paste_plain(self._for("paste_plain")))
        menu.menus["edit"].aboutToShow.connect(self.judge)
        menu.menus["edit"].aboutToHide.connect(self.release)

    def bind(self, deletions: Deletions) -> None:
        self._deletions = deletions

    def judge(self) -> None:
        for name in (*_SLOTS, "paste_plain"):
            self._menu.actions[name].setEnabled(can_act(name, self._for(name)))
        has_deletion = self._deletions is not None and self._deletions.last is not None
        self._menu.undo.setEnabled(can_act("undo", _focused()) or has_deletion)

    def _act(self, name: str, slot: str, _checked: bool = False) -> None:
        _call(slot, self._for(name))

    def _for(self, name: str) -> QWidget | None:
        """The widget that an entry acts on."""
        field = _focused()
        other = self._pastes_into
        is_paste = name in ("paste", "paste_plain")
        if not is_paste or field is None or isinstance(field, (QLineEdit, *_TEXTS)):
            return field
        return other if other.isVisible() and field.window() is other.window() else field

    def release(self) -> None:
        for name in ("undo", *_SLOTS, "paste_plain"):
            self._menu.actions[name].setEnabled(True)


class FieldKeys(QObject):
    """Deleting keys and Undo act on a focused field rather than the menus, unless Undo restores a deletion."""

    typed = Signal()

    def __init__(self, undoes_deletion: Callable[[], bool], parent: QObject) -> None:
        super().__init__(parent)
        self._undoes_deletion = undoes_deletion
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._follow)
        self._follow(None, QApplication.focusWidget())

    def _follow(self, before: QWidget | None, field: QWidget | None) -> None:
        if isinstance(before, (QLineEdit, *_TEXTS)):
            before.removeEventFilter(self)
        if isinstance(field, (QLineEdit, *_TEXTS)):
            field.installEventFilter(self)

    def eventFilter(self, _field: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.InputMethod or (event.type() == QEvent.Type.KeyPress and _types(event)):
            self.typed.emit()
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        is_undo = event.matches(QKeySequence.StandardKey.Undo) and self._undoes_deletion()
        event.setAccepted(deletes_all(event))
        return is_undo or event.isAccepted()


def _types(event: QEvent) -> bool:
    assert isinstance(event, QKeyEvent)
    removes = event.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)
    return removes or (bool(event.text()) and event.text().isprintable())


def selected_in_field() -> str:
    """Selected text of the focused field, unless it is a secret."""
    field = _focused()
    if isinstance(field, QLineEdit):
        return field.selectedText() if field.echoMode() is QLineEdit.EchoMode.Normal else ""
    return field.textCursor().selection().toPlainText() if isinstance(field, _TEXTS) else ""


def _focused() -> QWidget | None:
    """The focused field; of a spin box its line edit."""
    field = QApplication.focusWidget()
    return field.findChild(QLineEdit) if isinstance(field, QAbstractSpinBox) else field


def can_act(name: str, field: QWidget | None) -> bool:
    """Whether an entry of the Edit menu would change or copy anything in `field`."""
    if isinstance(field, QLineEdit):
        return _can_act_in_line(name, field)
    if isinstance(field, _TEXTS):
        return _can_act_in_text(name, field)
    return hasattr(field, _SLOTS.get(name, "insertPlainText"))


def _can_act_in_line(name: str, field: QLineEdit) -> bool:
    writable = not field.isReadOnly()
    selected = field.hasSelectedText()
    return {
        "undo": writable and field.isUndoAvailable(),
        "redo": writable and field.isRedoAvailable(),
        "cut": writable and selected,
        "copy": selected,
        "select_all": bool(field.text()),
    }.get(name, writable and _has_words())


def _has_words() -> bool:
    """Whether the clipboard does; where nothing was ever copied, Qt may have no data at all for it."""
    data: QMimeData | None = QGuiApplication.clipboard().mimeData()
    return data is not None and data.hasText()


def _can_act_in_text(name: str, field: QPlainTextEdit | QTextEdit) -> bool:
    writable = not field.isReadOnly()
    selected = field.textCursor().hasSelection()
    return {
        "undo": writable and field.document().isUndoAvailable(),
        "redo": writable and field.document().isRedoAvailable(),
        "cut": writable and selected,
        "copy": selected,
        "select_all": not field.document().isEmpty(),
    }.get(name, field.canPaste())


def _call(slot: str, field: QWidget | None) -> None:
    """Call a slot such as `copy` of `field`, if it has one; pasting moves the focus there."""
    act = getattr(field, slot, None)
    if act is not None:
        act()
    if field is not None and slot == "paste":
        field.setFocus(Qt.FocusReason.OtherFocusReason)


def _paste_plain(field: QWidget | None) -> None:
    """Paste plain text. Our fields take nothing else, but Mac users know the key."""
    words = QGuiApplication.clipboard().text()
    if isinstance(field, QLineEdit) and not field.isReadOnly():
        field.insert(words)
    elif isinstance(field, _TEXTS) and not field.isReadOnly():
        _call("paste", field)


def undo_in_focused_field() -> bool:
    """Takes back what was typed last in the focused field; False when there is nothing."""
    field = _focused()
    can = can_act("undo", field)
    if can:
        _call("undo", field)
    return can
