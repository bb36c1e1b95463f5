"""What the sidebar and the Chat menu ask for, connected to the controllers: chats, folders, search, the Trash."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.controllers.chat import ChatController
from app.theme import Theme
from app.views.shell.menu import MenuBar
from app.views.shell.sidebar import Sidebar
from app.views.shell.trash_menu import TrashMenu
from app.views.shell.trash_window import TrashWindow
from app.views.widgets.dialog import Dialog, DialogText
from app.words.formats import fill

_ASKS_PX = 560  # the question that has three buttons


class SidebarWiring(QObject):
    def __init__(self, chats: ChatController, sidebar: Sidebar, menu: MenuBar, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._chats = chats
        self._list = sidebar.chats
        self._menu = menu
        self._theme = theme
        self._window = window
        self._trash: TrashWindow | None = None
        sidebar.set_model(chats.conversations)
        sidebar.search_changed.connect(chats.conversations.set_query)
        self._connect_chats()
        self._connect_folders()
        self._connect_menu()
        TrashMenu(menu.deleted, chats.deletions, self.show_trash)

    def _connect_chats(self) -> None:
        listed, chats = self._list, self._chats
        listed.chat_opened.connect(chats.open_chat)
        listed.renamed.connect(chats.rename_chat)
        listed.pin_requested.connect(chats.pin_chat)
        listed.duplicate_requested.connect(chats.duplicate_chat)
        listed.delete_requested.connect(chats.delete_chat)

    def _connect_folders(self) -> None:
        listed, folders = self._list, self._chats.folders
        listed.move_requested.connect(folders.move_chat)
        listed.folder_move_requested.connect(folders.move_folder)
        listed.folder_renamed.connect(folders.rename)
        listed.folder_opened.connect(folders.set_opened)
        listed.folder_requested.connect(folders.make)
        listed.folder_delete_requested.connect(self.delete_folder)
        folders.made.connect(self._name_folder)

    def _connect_menu(self) -> None:
        menu, chats = self._menu, self._chats
        menu.duplicate.triggered.connect(lambda: chats.duplicate_chat(chats.chat_id))
        menu.delete.triggered.connect(lambda: chats.delete_chat(chats.chat_id))
        menu.new_folder.triggered.connect(lambda _checked=False: chats.folders.make())
        menu.move.aboutToShow.connect(self._fill_move_menu)

    def _fill_move_menu(self) -> None:
        number = self._chats.conversations.row_of(self._chats.chat_id)
        self._menu.move.clear()
        if number is not None:
            self._list.fill_move_menu(self._menu.move, self._chats.conversations.rows[number])

    def _name_folder(self, folder_id: int) -> None:
        row = self._chats.conversations.row_of_folder(folder_id)
        if row is not None:
            index = self._chats.conversations.index(row)
            self._list.setCurrentIndex(index)
            self._list.scrollTo(index)
            self._list.start_rename(index)

    # Deleting a folder

    def delete_folder(self, folder_id: int) -> Dialog | None:
        """The open question; None for an empty folder, which is deleted at once: that can be undone."""
        chats, folders = self._chats.folders.contents(folder_id)
        if not chats and not folders:
            self._chats.folders.delete(folder_id, with_chats=False)
            return None
        name = self._chats.conversations.tree.folders[folder_id].name

        def text() -> DialogText:
            title = fill(self.tr("Delete the folder “%1”?"), name)
            acts = self.tr("Move up what is in it"), self.tr("Cancel"), self.tr("Delete all of it")
            return DialogText(title, self._contents(chats, folders), "", *acts)

        dialog = Dialog(self._theme, self._window, text, width_px=_ASKS_PX)
        dialog.accepted.connect(lambda: self._chats.folders.delete(folder_id, with_chats=False))
        dialog.other_chosen.connect(lambda: self._chats.folders.delete(folder_id, with_chats=True))
        dialog.open()
        return dialog

    def _contents(self, chats: int, folders: int) -> str:
        within = self.tr("%Ln chat(s)", "", chats)
        if folders:
            within = fill(self.tr("%1 and %2"), within, self.tr("%Ln folder(s)", "", folders))
        sentence = fill(self.tr("It holds %1."), within)
        return f"{sentence} {self.tr('Chats that are deleted stay under Recently Deleted for 30 days.')}"

    # The Trash

    def show_trash(self) -> TrashWindow:
        if self._trash is None:
            self._trash = TrashWindow(self._theme, self._chats.deletions, self._window)
        self._trash.come_to_front()
        return self._trash
