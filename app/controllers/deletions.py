"""Deleting, undoing it, restoring from the Trash, and emptying it."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.asking import conversation_of
from app.controllers.changes import StorageChanges
from app.storage import (
    ChatSummary,
    Deletion,
    FolderChange,
    NotStored,
    Purged,
    Storage,
    StoredMessage,
    Stores,
)
from app.storage.trash import Trash
from engine import ChatEngine, Event, ModelReady, ModelRole


@dataclass(frozen=True, slots=True)
class Undo:
    """A deletion of this run of the app, or a move of chats."""

    mark: float | None  # None: nothing of it went to the Trash
    put_back: Callable[[Stores], None]
    chat_id: int = 0  # 0: several, or none
    opens: int = 0  # the chat that was open
    left: set[int] | None = None  # chats still in the Trash; None: a folder's, which comes back without any, too


class Deletions(QObject):
    """Deleted chats and messages stay in the Trash for 30 days. Several deleted at once are undone as one."""

    restored = Signal(int, bool)  # chat (0: several, or none), whether it is to be opened
    changed = Signal()  # what is in the Trash
    message_deleted = Signal(int)  # of this chat, also with what followed it; to the Trash
    emptied = Signal(object)  # chats deleted for good; (): messages alone
    chats_gone = Signal(object)  # chats moved to the Trash with their folder

    def __init__(self, storage: Storage, changes: StorageChanges, parent: QObject) -> None:
        super().__init__(parent)
        self._storage = storage
        self._changes = changes
        self._undo: list[Undo] = []

    def delete_chats(self, chats: Sequence[int], opened: int, done: Callable[[Sequence[ChatSummary]], None]) -> None:
        """`opened`: the one of them that is open, or 0. `done` gets those that were there to delete."""

        def change(stores: Stores) -> tuple[float, list[ChatSummary]]:
            found = [chat for chat_id in chats if (chat := stores.chats.summary(chat_id)) is not None]
            with stores.database.transaction():
                return stores.trash.put_chats([chat.id for chat in found]), found

        def stored(outcome: tuple[float, list[ChatSummary]]) -> None:
            mark, found = outcome
            if found:
                chat_id = found[0].id if len(found) == 1 else 0
                left = {chat.id for chat in found}
                self._add(Undo(mark, lambda stores: stores.trash.restore(mark), chat_id, opened, left))
                done(found)

        self._changes.write(change, stored)

    def note_move(self, moved: FolderChange) -> None:
        """A move of chats, which is undone like a deletion."""
        if moved.chats:
            self._add(Undo(None, lambda stores: stores.folders.put_back(moved)))

    def delete_message(self, message: StoredMessage, following: bool, done: Callable[[], None]) -> None:
        """Delete a message, with all that follows if `following`."""

        def change(stores: Stores) -> tuple[float, int | None] | None:
            if stores.messages.message(message.id) is None:
                return None
            end_id = stores.chats.leaf(message.chat_id)
            return stores.messages.delete(message, following=following), end_id

        def stored(outcome: tuple[float, int | None] | None) -> None:
            if outcome is not None:
                self._add(Undo(outcome[0], lambda stores: stores.trash.restore(*outcome), message.chat_id, left=set()))
                self.message_deleted.emit(message.chat_id)
                done()

        self._changes.write(change, stored)

    def delete_folder(self, folder_id: int, with_chats: bool, done: Callable[[], None]) -> None:
        def stored(deleted: FolderChange) -> None:
            if not deleted.folders:
                return
            self._add(Undo(deleted.mark, lambda stores: stores.folders.put_back(deleted)))
            if with_chats:
                self.chats_gone.emit([chat_id for chat_id, _ in deleted.chats])
            done()

        self._changes.write(lambda stores: stores.folders.delete(folder_id, with_chats), stored)

    def _add(self, undo: Undo) -> None:
        self._undo.append(undo)
        self.changed.emit()

    @property
    def last(self) -> Undo | None:
        """The last deletion of this run that can be undone."""
        return self._undo[-1] if self._undo else None

    def holds(self, undo: Undo) -> bool:
        """Whether it can still be undone."""
        return undo in self._undo

    def undo(self, which: Undo | None = None) -> None:
        """Undo the last deletion of this run, or this one."""
        undo = which or self.last
        if undo is not None and self.holds(undo):
            self._undo.remove(undo)
            self._restore(undo.put_back, undo.opens or undo.chat_id, bool(undo.opens))

    def latest(self, limit: int = 10) -> list[Deletion]:
        """Deletions in the Trash, the latest first, also of earlier runs."""
        return self._storage.read.trash.latest(limit)

    def restore(self, deletion: Deletion, open_it: bool = True) -> None:
        if deletion.whole_chat:  # others may have been deleted with it
            self._restore(lambda stores: stores.trash.restore_chat(deletion.chat_id), deletion.chat_id, open_it)
            self._forget_undo({deletion.mark}, {deletion.chat_id})
        else:
            self._restore(lambda stores: stores.trash.restore(deletion.mark), deletion.chat_id, open_it)
            self._undo = [undo for undo in self._undo if undo.mark != deletion.mark]

    def forget(self, deletions: Sequence[Deletion]) -> None:
        """Delete for good."""
        self._forget(lambda trash: trash.forget(deletions), {each.mark for each in deletions})

    def empty(self) -> None:
        marks: set[float] = set()

        def choose(trash: Trash) -> Purged:
            """On the thread that writes: later deletions stay."""
            marks.update(trash.marks())
            return trash.empty()

        self._forget(choose, marks)

    def _forget(self, choose: Callable[[Trash], Purged], marks: Set[float]) -> None:
        def done(purged: Purged) -> None:
            self._undo = [undo for undo in self._undo if undo.chat_id not in purged.chats]
            self._forget_undo(marks, set(purged.chats))
            self.changed.emit()
            self.emptied.emit(purged.chats)

        def refused(problem: NotStored) -> None:
            self._changes.not_stored.emit(problem, lambda: self._forget(choose, marks))

        self._storage.forget(choose, done, refused)

    def _forget_undo(self, marks: Set[float], chats: Set[int]) -> None:
        """A deletion cannot be undone after all of it was restored or deleted for good."""
        for undo in self._undo:
            if undo.mark in marks and undo.left is not None:
                undo.left.difference_update(chats)
        self._undo = [undo for undo in self._undo if undo.mark not in marks or undo.left is None or undo.left]

    def _restore(self, put_back: Callable[[Stores], None], chat_id: int, open_it: bool) -> None:
        def done(_stored: None) -> None:
            self.changed.emit()
            self.restored.emit(chat_id, open_it)

        self._changes.write(put_back, done)


class KeptCaches(QObject):
    """Deletes the engine's kept caches of deleted chats, in memory and on disk.

    The engine gets the list of chats once a main model is loaded (an earlier run may have ended too early), after each
    deletion, and at a start that deletes chats for good.
    """

    def __init__(
        self, engine: ChatEngine, bridge: EngineBridge, storage: Storage, deletions: Deletions, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._storage = storage
        bridge.event_arrived.connect(self._on_event)
        deletions.changed.connect(self.keep)
        deletions.message_deleted.connect(self.keep)  # caches hold the deleted message

    def _on_event(self, event: Event) -> None:
        if isinstance(event, ModelReady) and event.role is ModelRole.MAIN:
            self.keep()

    def keep(self, without: int = 0) -> None:
        """Keep caches of the chats outside the Trash, except one."""
        if self._storage.keeps:
            chats = self._storage.read.chats.ids()
            self._engine.keep_only([conversation_of(chat_id) for chat_id in chats if chat_id != without])
