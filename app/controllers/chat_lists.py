"""The list of chats: its folders, marks for unseen replies, and the reader's scroll position in each chat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from app.controllers.changes import Keeping, StorageChanges
from app.controllers.deletions import Deletions
from app.controllers.replies import RunningReplies
from app.storage import ChatSummary, FolderChange, Listing, ReplyStatus, Storage
from app.storage.codec import LONGEST_TITLE, storable
from app.system.worker import ignore
from app.view_models.conversation_list import ConversationListModel
from app.words.chat_groups import folder_names

# Replies stopped by the user, or by quitting, are not marked as unseen.
_NO_NEWS = (ReplyStatus.STOPPED, ReplyStatus.INTERRUPTED)


def folder_of(storage: Storage, chat_id: int) -> int | None:
    summary = storage.read.chats.summary(chat_id)
    return None if summary is None else summary.folder_id


def list_chats(storage: Storage, query: str, limit: int, done: Callable[[Listing], None]) -> None:
    """List the chats; a search runs on a thread, and ends an earlier one."""
    if query:

        def show(found: Sequence[ChatSummary], partial: bool = False) -> None:
            """The folders are included although no row shows them: found chats can be moved into them."""
            more = not partial and len(found) == limit
            done(Listing(found, storage.read.folders.all(), more, partial))

        storage.search(query, limit, show, lambda found: show(found, partial=True))
    else:
        storage.stop_search()
        done(storage.read.chats.listing(limit))


class Folders(QObject):
    """Making, naming, opening, moving, deleting them, and undoing that."""

    changed = Signal()  # their names, or what is in which
    made = Signal(int)  # folder; it is listed now, and waits for a name
    deleted = Signal(str)  # name; undo brings it back
    moved = Signal(int, int)  # several chats: how many, and into which folder (0: out of all); undo moves them back

    def __init__(
        self,
        storage: Storage,
        changes: StorageChanges,
        deletions: Deletions,
        keeping: Keeping,
        listed: ConversationListModel,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._storage = storage
        self._changes = changes
        self._deletions = deletions
        self._keeping = keeping
        self._listed = listed

    def make(self, parent_id: int | None = None, chats: Sequence[int] = ()) -> None:
        """A new folder, with these chats in it."""
        taken = {folder.name for folder in self._listed.tree.folders.values()}
        name = next(name for name in folder_names() if name not in taken)

        def made(outcome: tuple[int, FolderChange]) -> None:
            folder_id, moved = outcome
            self._listed.refresh()
            self._deletions.note_move(moved)
            self.made.emit(folder_id)

        self._changes.write(lambda stores: stores.folders.make_with(name, parent_id, chats), made)

    def rename(self, folder_id: int, name: str) -> None:
        if name := storable(name).strip()[:LONGEST_TITLE]:
            self._changes.write(
                lambda stores: stores.folders.rename(folder_id, name), self._refresh, what=("folder", folder_id)
            )

    def set_opened(self, folder_id: int, opened: bool) -> None:
        """Shown at once, whether or not the disk accepts it."""
        self._listed.set_opened(folder_id, opened)
        self._storage.write(lambda stores: stores.folders.set_opened(folder_id, opened), self._refresh, ignore)

    def folder_of(self, chat_id: int) -> int | None:
        return folder_of(self._storage, chat_id)

    def open_around(self, chat_id: int) -> None:
        """Opens every folder that a chat is in."""
        folder_id = self.folder_of(chat_id)
        while folder_id is not None and folder_id in self._listed.tree.folders:
            self.set_opened(folder_id, True)
            folder_id = self._listed.tree.parent(folder_id)

    def move_chats(self, chats: Sequence[int], folder_id: int | None) -> None:
        """Into a folder; None: out of all."""

        def stored(change: FolderChange) -> None:
            self._deletions.note_move(change)
            self._refresh(None)
            if len(change.chats) > 1:
                self.moved.emit(len(change.chats), folder_id or 0)

        self._changes.write(lambda stores: stores.folders.put_chats(chats, folder_id), stored)

    def move_folder(self, folder_id: int, parent_id: int | None) -> None:
        self._changes.write(
            lambda stores: stores.folders.move(folder_id, parent_id), self._refresh, what=("place", folder_id)
        )

    def contents(self, folder_id: int) -> tuple[int, int]:
        """Number of chats and folders in it, at any depth."""
        folders = self._storage.read.folders
        return folders.chats_below(folder_id), folders.folders_below(folder_id)

    def delete(self, folder_id: int, with_chats: bool) -> None:
        """Delete a folder. Its contents move one level up, or, `with_chats`, to the Trash."""
        folder = self._listed.tree.folders.get(folder_id)
        self._keeping.keep_due()  # undo brings back what is stored
        if folder is not None:
            self._deletions.delete_folder(folder_id, with_chats, lambda: self._on_deleted(folder.name))

    def _on_deleted(self, name: str) -> None:
        self._refresh(None)
        self.deleted.emit(name)

    def _refresh(self, _done: object) -> None:
        self._listed.refresh()
        self.changed.emit()


ScrollPlace = tuple[int, float]  # a message, and how far into it


class ScrollPlaces:
    """The reader's position in each chat, kept when the chat is left or the app quits. None: the end."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._known: dict[int, ScrollPlace | None] = {}  # positions of this run, stored or not

    def of(self, chat_id: int) -> ScrollPlace | None:
        if chat_id not in self._known:
            self._known[chat_id] = (
                None if chat_id in self._storage.new_chats else self._storage.read.states.place(chat_id)
            )
        return self._known[chat_id]

    def put(self, chat_id: int, place: ScrollPlace | None) -> None:
        """Of a chat that was opened or begun in this run. A refusal by the disk is not reported: it costs no text."""
        if chat_id not in self._storage.new_chats and place != self._known.get(chat_id):
            self._known[chat_id] = place
            self._storage.write(lambda stores: stores.states.put_place(chat_id, place), ignore, ignore)


class Visibility(NamedTuple):
    """What the user can see of Hunch."""

    is_active: bool = True  # one of its windows
    has_chat: bool = True  # the open chat is in the main window


class Unseen(QObject):
    """Chats with a reply that ended while the user did not see them: marked on disk until seen."""

    counted = Signal(int)  # chats with such a reply

    def __init__(
        self,
        storage: Storage,
        replies: RunningReplies,
        listed: ConversationListModel,
        shown: Callable[[], tuple[int, int]],
        sight: Callable[[], Visibility],
        parent: QObject,
    ) -> None:
        """`shown`: the open chat, and the one that is shown beside it."""
        super().__init__(parent)
        self._storage = storage
        self._listed = listed
        self._shown = shown
        self._sight = sight
        self._is_over = False
        replies.stored.connect(self._on_ended)

    def _on_ended(self, chat_id: int, status: ReplyStatus) -> None:
        if status not in _NO_NEWS and chat_id not in self._in_sight():
            self._mark(chat_id, True)

    def _in_sight(self) -> list[int]:
        sight = self._sight()
        open_id, beside_id = self._shown()
        if self._is_over or not sight.is_active:
            return []
        return [open_id, beside_id] if sight.has_chat or open_id == beside_id else [beside_id]

    def end(self) -> None:
        """From here on nothing is marked as seen: chats are about to be closed."""
        self._is_over = True

    def look(self) -> None:
        """Call when a window or chat comes into view."""
        for chat_id in self._in_sight():
            self.see(chat_id)

    def see(self, chat_id: int) -> None:
        """The user sees the chat now."""
        summary = self._storage.read.chats.summary(chat_id)
        if summary is not None and summary.unseen:
            self._mark(chat_id, False)

    def _mark(self, chat_id: int, unseen: bool) -> None:
        """A refusal by the disk is not reported: only a mark is lost."""

        def done(_outcome: object) -> None:
            self._listed.refresh()
            self.count()
            if unseen:
                self.look()  # the user may have come to see it meanwhile

        self._storage.write(lambda stores: stores.chats.set_unseen(chat_id, unseen), done, ignore)

    def count(self) -> None:
        self._storage.write(lambda stores: stores.chats.unseen(), self.counted.emit, ignore)
