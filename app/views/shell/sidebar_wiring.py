"""What the sidebar and the Chat menu ask for, connected to the controllers: chats, folders, search, the Trash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, Signal
from PySide6.QtGui import QGuiApplication, QWindow

from app.controllers.chat import ChatController
from app.theme import Theme
from app.view_models.conversation_list import ConversationRow
from app.views.shell.menu import MenuBar
from app.views.shell.sidebar import Sidebar
from app.views.shell.trash_menu import TrashMenu
from app.views.shell.trash_window import TrashWindow
from app.views.widgets.dialog import Dialog, DialogText
from app.words.formats import fill, sentences

if TYPE_CHECKING:
    from app.views.shell.main_window import MainWindow

_ASKS_PX = 560  # the question that has three buttons


class SidebarWiring(QObject):
    sidebar_wanted = Signal()

    def __init__(
        self, chats: ChatController, sidebar: Sidebar, menu: MenuBar, theme: Theme, window: MainWindow
    ) -> None:
        super().__init__(window)
        self._chats = chats
        self._sidebar, self._list = sidebar, sidebar.chats
        self._to_rename = 0  # a chat, as soon as it is listed
        self._menu = menu
        self._theme = theme
        self._window = window
        self._trash: TrashWindow | None = None
        sidebar.set_model(chats.conversations)
        sidebar.search_changed.connect(chats.conversations.set_query)
        window.closed.connect(sidebar.stop_search)
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.focusWindowChanged.connect(self._on_looked)
        self._connect_chats()
        self._connect_folders()
        self._connect_menu()
        TrashMenu(menu.deleted, chats.deletions, self.show_trash)

    def _on_looked(self, window: QWindow | None) -> None:
        """Somebody is back, perhaps on another day; not where the app is ending."""
        if window is not None and self._window.isVisible():
            self._chats.conversations.follow_day()

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
        menu.rename.triggered.connect(self._rename)
        chats.conversations.refreshed.connect(self._rename_when_listed)
        menu.pin.triggered.connect(lambda: chats.pin_chat(chats.chat_id, not chats.pinned))
        menu.menus["chat"].aboutToShow.connect(self._name_pin)
        menu.duplicate.triggered.connect(lambda: chats.duplicate_chat(chats.chat_id))
        menu.delete.triggered.connect(lambda: chats.delete_chat(chats.chat_id))
        menu.new_folder.triggered.connect(lambda: chats.folders.make())  # noqa: PLW0108  without Qt's own argument
        menu.move.aboutToShow.connect(self._fill_move_menu)

    def _fill_move_menu(self) -> None:
        """Of the open chat, wherever it is listed."""
        chat_id = self._chats.chat_id
        self._menu.move.clear()
        if chat_id:
            row = ConversationRow(chat_id=chat_id, inside=self._chats.folders.folder_of(chat_id))
            self._list.fill_move_menu(self._menu.move, row)

    def _name_pin(self) -> None:
        self._menu.pin.setText(self.tr("Unpin Chat") if self._chats.pinned else self.tr("Pin Chat"))

    def _rename(self) -> None:
        """The open chat, in its row. What hides that is opened first: the sidebar, a search, folders."""
        self._to_rename = self._chats.chat_id
        self.sidebar_wanted.emit()
        if self._chats.conversations.row_of(self._to_rename) is None:
            self._sidebar.leave_search()
            self._chats.folders.open_around(self._to_rename)
        self._rename_when_listed()

    def _rename_when_listed(self) -> None:
        listed = self._chats.conversations
        if not self._to_rename or self._to_rename != self._chats.chat_id:
            self._to_rename = 0
            return
        row = listed.row_of(self._to_rename)
        if row is not None:
            self._to_rename = 0
            self._list.scrollTo(listed.index(row))
            self._list.start_rename(listed.index(row))
        elif listed.canFetchMore(QModelIndex()):
            listed.fetchMore(QModelIndex())

    def _name_folder(self, folder_id: int) -> None:
        self.sidebar_wanted.emit()
        if self._chats.conversations.row_of_folder(folder_id) is None:
            self._sidebar.leave_search()
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
        kept = self.tr("Chats that are deleted stay under Recently Deleted for 30 days.")
        return sentences(fill(self.tr("It holds %1."), within), kept)

    # The Trash

    def show_trash(self) -> TrashWindow:
        if self._trash is None:
            self._trash = TrashWindow(self._theme, self._chats.deletions, self._window)
            self._trash.read_requested.connect(self._read)
        self._trash.come_to_front()
        return self._trash

    def _read(self, chat_id: int) -> None:
        """In the main window, which the other one must not cover."""
        self._chats.reading.open(chat_id)
        if self._trash is not None:
            self._trash.close()
        self._window.activateWindow()
