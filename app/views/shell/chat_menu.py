"""The menus of the chat list: of a chat, of a folder, of the space below, and where something can be moved to."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QMenu, QWidget

from app.theme import Theme
from app.view_models.conversation_rows import ConversationRow, FolderTree
from app.views.widgets.held_keys import Menu
from app.words.formats import in_menu

Move = Callable[[int | None], None]  # into a folder; None: out of all

_INDENT = "    "


def list_menu(theme: Theme, parent: QWidget) -> Menu:
    menu = Menu(parent)
    menu.setFont(theme.ui_font())
    return menu


def fill_move_menu(
    menu: QMenu, tree: FolderTree, row: ConversationRow, move: Move, move_to_new: Callable[[], None] | None
) -> None:
    """Every folder, but those that it cannot go into: the one that it is in, itself, and what is in it."""
    menu.clear()
    top = menu.addAction(QCoreApplication.translate("ChatMenu", "No Folder"))
    top.setEnabled(row.inside is not None)
    top.triggered.connect(lambda: move(None))
    if tree.depths:
        menu.addSeparator()
    for folder in tree.in_order():
        action = menu.addAction(_INDENT * tree.depths[folder.id] + in_menu(folder.name))
        action.setEnabled(folder.id != row.inside and not (row.folder_id and tree.holds(row.folder_id, folder.id)))
        action.triggered.connect(lambda _checked=False, number=folder.id: move(number))
    if move_to_new is not None:
        menu.addSeparator()
        menu.addAction(QCoreApplication.translate("ChatMenu", "New Folder…")).triggered.connect(move_to_new)
