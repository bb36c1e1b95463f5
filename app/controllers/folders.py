"""Folders of chats: making, naming, opening, moving, deleting, and undoing that."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.controllers.changes import Changes
from app.controllers.chat_lists import folder_of
from app.controllers.deletions import Deletions
from app.controllers.messages import storable
from app.storage import Storage
from app.storage.codec import LONGEST_TITLE
from app.view_models.conversation_list import ConversationListModel
from app.words.chat_groups import folder_names


class Folders(QObject):
    made = Signal(int)  # folder; it is listed now, and waits for a name
    deleted = Signal(str)  # name; undo brings it back

    def __init__(
        self,
        storage: Storage,
        changes: Changes,
        deletions: Deletions,
        listed: ConversationListModel,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._storage = storage
        self._changes = changes
        self._deletions = deletions
        self._listed = listed

    def make(self, parent_id: int | None = None, chat_id: int = 0) -> None:
        """A new folder, with a chat in it if one is named."""
        taken = {folder.name for folder in self._listed.tree.folders.values()}
        name = next(name for name in folder_names() if name not in taken)

        def made(folder_id: int) -> None:
            self._listed.refresh()
            self.made.emit(folder_id)

        self._changes.write(lambda stores: stores.folders.make(name, parent_id, chat_id), made)

    def rename(self, folder_id: int, name: str) -> None:
        if name := storable(name)[:LONGEST_TITLE]:
            self._changes.write(lambda stores: stores.folders.rename(folder_id, name), self._refresh)

    def set_opened(self, folder_id: int, opened: bool) -> None:
        """Shown at once: looking needs no room on the disk."""
        self._listed.set_opened(folder_id, opened)
        self._storage.write(
            lambda stores: stores.folders.set_opened(folder_id, opened), self._refresh, lambda _problem: None
        )

    def folder_of(self, chat_id: int) -> int | None:
        return folder_of(self._storage, chat_id)

    def open_around(self, chat_id: int) -> None:
        """Opens every folder that a chat stands in."""
        folder_id = self.folder_of(chat_id)
        while folder_id is not None and folder_id in self._listed.tree.folders:
            self.set_opened(folder_id, True)
            folder_id = self._listed.tree.parent(folder_id)

    def move_chat(self, chat_id: int, folder_id: int | None) -> None:
        self._changes.write(lambda stores: stores.folders.put_chat(chat_id, folder_id), self._refresh)

    def move_folder(self, folder_id: int, parent_id: int | None) -> None:
        self._changes.write(lambda stores: stores.folders.move(folder_id, parent_id), self._refresh)

    def contents(self, folder_id: int) -> tuple[int, int]:
        """How many chats and how many folders are in it, at any depth."""
        folders = self._storage.read.folders
        return folders.chats_below(folder_id), folders.folders_below(folder_id)

    def delete(self, folder_id: int, with_chats: bool) -> None:
        """What is in it goes one level up, or, `with_chats`, to the Trash."""
        folder = self._listed.tree.folders.get(folder_id)
        if folder is not None:
            self._deletions.delete_folder(folder_id, with_chats, lambda: self._on_deleted(folder.name))

    def _on_deleted(self, name: str) -> None:
        self._listed.refresh()
        self.deleted.emit(name)

    def _refresh(self, _done: None) -> None:
        self._listed.refresh()
