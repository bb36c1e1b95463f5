"""Changes to what is stored, as the controllers ask for them: done, or refused with a call that tries again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.storage import NotStored, Storage, Stores

T = TypeVar("T")


class Changes(QObject):
    not_stored = Signal(object, object)  # NotStored, a call that tries again

    def __init__(self, storage: Storage, parent: QObject) -> None:
        super().__init__(parent)
        self._storage = storage
        self.is_asking = False  # a question is on its way to the disk

    def write(self, change: Callable[[Stores], T], done: Callable[[T], None]) -> None:
        self._storage.write(change, done, lambda problem: self._refuse(problem, lambda: self.write(change, done)))

    def ask(
        self,
        change: Callable[[Stores], T],
        done: Callable[[T], None],
        refused: Callable[[], None] = lambda: None,
        again: Callable[[], object] | None = None,
        *,
        chat_id: int = 0,
        gone: Callable[[], None] = lambda: None,
    ) -> None:
        """For what a reply follows: one at a time, so that Return pressed twice asks once.

        `gone`: `chat_id` had gone to the Trash before its turn came, so nothing was changed.
        """

        def change_it(stores: Stores) -> Callable[[], None]:
            if chat_id and stores.chats.summary(chat_id) is None:
                return gone
            outcome = change(stores)
            return lambda: done(outcome)

        def stored(tell: Callable[[], None]) -> None:
            self.is_asking = False
            tell()

        def not_stored(problem: NotStored) -> None:
            self.is_asking = False
            refused()
            self._refuse(problem, again or (lambda: self.ask(change, done, refused, chat_id=chat_id, gone=gone)))

        self.is_asking = True
        self._storage.write(change_it, stored, not_stored)

    def _refuse(self, problem: NotStored, again: Callable[[], object]) -> None:
        self.not_stored.emit(problem, again)
