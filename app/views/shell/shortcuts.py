"""The sheet of keyboard shortcuts: those of menu entries, and those that depend on the focus."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAccessible, QAction, QKeySequence
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QWidget

from app.theme import Theme
from app.views.shell.menu import IS_MAC, MenuBar
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.held_keys import MENU_KEY
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.scrolling import ThinScrollBars, keep_room_for_bar

_WIDTH_PX = 480
_MOST_HEIGHT_PX = 460
_DELETE = "Backspace" if IS_MAC else "Delete"  # either does


def shortcut_text(action: QAction) -> str:
    return action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)


def plain_words(action: QAction) -> str:
    """The text without mnemonic and ellipsis."""
    return action.text().replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("…")


def show_shortcuts(theme: Theme, menu: MenuBar, parent: QWidget) -> Dialog:
    dialog = Dialog(theme, parent, _words, width_px=_WIDTH_PX)
    table = ShortcutTable(theme, menu)
    dialog.content.addWidget(table)
    dialog.open()
    table.setFocus(Qt.FocusReason.OtherFocusReason)  # so that arrow and page keys scroll it; Return still closes
    return dialog


def _words() -> DialogText:
    title = QCoreApplication.translate("Shortcuts", "Keyboard Shortcuts")
    return DialogText(title, act=QCoreApplication.translate("Shortcuts", "Close"))


class ShortcutTable(QScrollArea):
    """Each menu as a heading, its entries with a key below it; scrolls by arrow keys."""

    accessible_role = QAccessible.Role.Document

    def __init__(self, theme: Theme, menu: MenuBar) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(QCoreApplication.translate("Shortcuts", "Keyboard Shortcuts"))
        self.viewport().setAutoFillBackground(False)
        keep_room_for_bar(self)
        ThinScrollBars(self, theme)
        self._theme = theme
        content = QWidget()
        self._grid = QGridLayout(content)
        self._grid.setContentsMargins(0, 0, 8, 0)
        self._grid.setColumnStretch(0, 1)
        for heading, rows in _groups(menu):
            self._add_group(heading, rows)
        self.setWidget(content)
        content.setAutoFillBackground(False)  # which it sets itself
        self.setFixedHeight(min(content.sizeHint().height(), theme.px(_MOST_HEIGHT_PX)))

    def _add_group(self, heading: str, rows: list[tuple[str, str]]) -> None:
        row = self._grid.rowCount()
        title = TextLabel(self._theme, TextStyle.HEADING)
        title.setText(heading)
        title.setContentsMargins(0, 8, 0, 0)
        self._grid.addWidget(title, row, 0, 1, 2)
        for number, texts in enumerate(rows, row + 1):
            for column, text in enumerate(texts):
                label = TextLabel(self._theme, TextStyle.SECONDARY if column else TextStyle.BODY)
                label.setText(text)
                label.setWordWrap(column == 0)
                label.setAlignment(Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft)
                self._grid.addWidget(label, number, column)


def _groups(menu: MenuBar) -> list[tuple[str, list[tuple[str, str]]]]:
    groups = []
    for each in menu.menus.values():
        rows = [(plain_words(action), shortcut_text(action)) for action in each.actions() if shortcut_text(action)]
        if rows:
            groups.append((each.title(), rows))
    return [*groups, _of_the_chat(), _of_a_message(), _of_the_list()]


def _of_the_chat() -> tuple[str, list[tuple[str, str]]]:
    """Keys that are in no menu, because they depend on the focus."""
    return QCoreApplication.translate("Shortcuts", "In a chat"), [
        (QCoreApplication.translate("Shortcuts", "New line"), _native("Shift+Return")),
        (QCoreApplication.translate("Shortcuts", "Use a prompt or preset"), "/"),
        (QCoreApplication.translate("Shortcuts", "Stop reply or cancel editing"), _native("Esc")),
        (QCoreApplication.translate("Shortcuts", "Previous message"), _native("Ctrl+Up")),
        (QCoreApplication.translate("Shortcuts", "Next message"), _native("Ctrl+Down")),
        (QCoreApplication.translate("Shortcuts", "Select text"), _native("Shift+Left", "Shift+Right")),
    ]


def _of_a_message() -> tuple[str, list[tuple[str, str]]]:
    return QCoreApplication.translate("Shortcuts", "On the focused message"), [
        (QCoreApplication.translate("Shortcuts", "Edit"), _native("F2")),
        (QCoreApplication.translate("Shortcuts", "Delete"), _native(_DELETE)),
        (QCoreApplication.translate("Shortcuts", "Previous or next version"), _native("Left", "Right")),
        (QCoreApplication.translate("Shortcuts", "Show or hide thinking"), _native("Return")),
        (QCoreApplication.translate("Shortcuts", "Open menu"), _native(MENU_KEY)),
    ]


def _of_the_list() -> tuple[str, list[tuple[str, str]]]:
    return QCoreApplication.translate("Shortcuts", "In the chat list"), [
        (QCoreApplication.translate("Shortcuts", "Open chat or folder"), _native("Return")),
        (QCoreApplication.translate("Shortcuts", "Select several chats"), _native("Shift+Up", "Shift+Down")),
        (QCoreApplication.translate("Shortcuts", "Rename"), _native("F2")),
        (QCoreApplication.translate("Shortcuts", "Delete"), _native(_DELETE)),
        (QCoreApplication.translate("Shortcuts", "Open or close folder"), _native("Left", "Right")),
        (QCoreApplication.translate("Shortcuts", "Open menu"), _native(MENU_KEY)),
    ]


def _native(*keys: str) -> str:
    return " / ".join(QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText) for key in keys)
