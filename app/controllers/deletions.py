"""Deleting, undoing that, and bringing back what is in the Trash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.controllers.changes import Changes
from app.storage import ChatSummary, Deletion, Storage, StoredMessage, exchange


@dataclass(frozen=True, slots=True)
class _Undo:
    """A deletion of this run of the app."""

    mark: float
    chat_id: int
    open_it: bool


class Deletions(QObject):
    """What is deleted stays in the Trash for 30 days."""

    restored = Signal(int, bool)  # chat, whether it is to be opened

    def __init__(self, storage: Storage, changes: Changes, parent: QObject) -> None:
        super().__init__(parent)
        self._storage = storage
        self._changes = changes
        self._undo: list[_Undo] = []

    def delete_chat(self, chat: ChatSummary, was_open: bool, done: Callable[[], None]) -> None:
        def stored(mark: float) -> None:
            self._undo.append(_Undo(mark, chat.id, was_open))
            done()

        self._changes.write(lambda stores: stores.trash.put_chat(chat.id), stored)

    def delete_message(self, message: StoredMessage, following: bool, done: Callable[[], None]) -> None:
        """Alone, or with all that is `following` it."""

        def stored(mark: float) -> None:
            self._undo.append(_Undo(mark, message.chat_id, open_it=False))
            done()

        self._changes.write(lambda stores: exchange.delete_messages(stores, message, following=following), stored)

    @property
    def can_undo(self) -> bool:
        return bool(self._undo)

    def undo(self) -> None:
        """Brings back what was deleted last in this run; again, what was deleted before it."""
        if self._undo:
            undo = self._undo.pop()
            self._restore(undo.mark, undo.chat_id, undo.open_it)

    def latest(self) -> list[Deletion]:
        """What can be brought back, the latest first; also what earlier runs deleted."""
        return self._storage.read.trash.latest()

    def restore(self, deletion: Deletion) -> None:
        self._undo = [undo for undo in self._undo if undo.mark != deletion.mark]
        self._restore(deletion.mark, deletion.chat_id, open_it=True)

    def _restore(self, mark: float, chat_id: int, open_it: bool) -> None:
        self._changes.write(lambda stores: stores.trash.restore(mark), lambda _: self.restored.emit(chat_id, open_it))
