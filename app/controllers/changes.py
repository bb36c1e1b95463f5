"""Changes to what is stored, as the controllers ask for them: done, or refused with a call that tries again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.storage import NotStored, Storage, Stores

T = TypeVar("T")

ASIDE = -1  # in place of a chat's number: what is asked beside the open chat; 0 stands for a new one


class Changes(QObject):
    not_stored = Signal(object, object)  # NotStored, a call that tries again

    def __init__(self, storage: Storage, parent: QObject) -> None:
        super().__init__(parent)
        self._storage = storage
        self._asking: set[int] = set()  # the chats with a question on its way to the disk
        self._waiting: defaultdict[int, list[Callable[[], object]]] = defaultdict(list)  # until that is answered

    def write(self, change: Callable[[Stores], T], done: Callable[[T], None]) -> None:
        self._storage.write(change, done, lambda problem: self._refuse(problem, lambda: self.write(change, done)))

    def is_asking(self, chat_id: int) -> bool:
        """Whether a question of that chat is on its way to the disk."""
        return chat_id in self._asking

    def when_free(self, chat_id: int, act: Callable[[], object]) -> None:
        """Calls it, now or when the chat's question has come to the disk."""
        self._waiting[chat_id].append(act)
        self._go_on(chat_id)

    def _go_on(self, chat_id: int) -> None:
        while self._waiting[chat_id] and chat_id not in self._asking:
            self._waiting[chat_id].pop(0)()

    def ask(
        self,
        change: Callable[[Stores], T],
        done: Callable[[T], None],
        refused: Callable[[], None] = lambda: None,
        again: Callable[[], object] | None = None,
        *,
        chat_id: int,
        gone: Callable[[], None] = lambda: None,
    ) -> None:
        """For what a reply follows: one at a time in each chat, so that Return pressed twice asks once.

        `gone`: `chat_id` had gone to the Trash before its turn came, so nothing was changed.
        """

        def change_it(stores: Stores) -> Callable[[], None]:
            if chat_id > 0 and stores.chats.summary(chat_id) is None:
                return gone
            outcome = change(stores)
            return lambda: done(outcome)

        def stored(tell: Callable[[], None]) -> None:
            self._asking.discard(chat_id)
            tell()
            self._go_on(chat_id)

        def not_stored(problem: NotStored) -> None:
            self._asking.discard(chat_id)
            refused()
            try_again = again or partial(self.ask, change, done, refused, chat_id=chat_id, gone=gone)
            self._refuse(problem, lambda: self.when_free(chat_id, try_again))
            self._go_on(chat_id)

        self._asking.add(chat_id)
        self._storage.write(change_it, stored, not_stored)

    def _refuse(self, problem: NotStored, again: Callable[[], object]) -> None:
        self.not_stored.emit(problem, again)
