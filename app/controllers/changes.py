"""Changes to what is stored: those requested by the user (`StorageChanges`), and automatic saving (`Keeping`).

A requested change is done, or refused with a callback that tries it again. Unsent text, attachments and edits are saved
automatically; a refusal by the disk is retried, and reported when the user sends, saves or closes the window.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from app.controllers.replies import RunningReplies
from app.storage import Attachments, NotStored, Storage, Stores
from app.storage.left_words import Left
from app.storage.new_chats import NewChats
from app.system.worker import RETRY_INTERVAL_MS, ignore

KEEP_DELAY_MS = 400  # typed text is saved this long after the last key
_PATIENCE_S = 1.0  # the longest wait for the disk at the end

StoreChange = Callable[[Stores], object]
What = tuple[str, int]  # a kind of thing, and its chat or message
T = TypeVar("T")


@dataclass(eq=False, slots=True)
class _Latest:
    """The latest state of a thing, on its way to the disk or refused."""

    change: StoreChange
    value: object  # what it stores; None: nothing
    is_refused: bool = False
    is_kept: bool = False  # set by the thread that writes, before this one gets the answer


class Keeping(QObject):
    """Saves the latest state of each thing, at once or a moment after its last change; a refused one is tried again
    every two seconds and at the end.
    """

    def __init__(self, storage: Storage, parent: QObject) -> None:
        super().__init__(parent)
        self._storage = storage
        self._due: dict[What, tuple[StoreChange, object]] = {}  # to be saved in a moment
        self._moment = QTimer(self, singleShot=True, interval=KEEP_DELAY_MS)
        self._moment.timeout.connect(self.keep_due)
        self._latest: dict[What, _Latest] = {}
        self._not_kept: set[What] = set()  # as the disk said last; set by the thread that writes
        self._retry = QTimer(self, singleShot=True, interval=RETRY_INTERVAL_MS)
        self._retry.timeout.connect(self.try_again)

    @property
    def has_refused(self) -> bool:
        return bool(self._not_kept)

    def keep_soon(self, what: What, change: StoreChange, value: object) -> None:
        """Of what is being typed or chosen."""
        self._due[what] = change, value
        self._moment.start()

    def keep_due(self) -> None:
        """What is saved in a moment, at once."""
        self._moment.stop()
        for what, (change, value) in list(self._due.items()):
            self.keep(what, change, value)

    def keep(self, what: What, change: StoreChange, value: object = None) -> None:
        """`value`: what `change` stores, for `left`."""
        self._due.pop(what, None)
        latest = self._latest[what] = _Latest(change, value)

        def put(stores: Stores) -> None:
            try:
                change(stores)
            except Exception:
                self._not_kept.add(what)
                raise
            self._not_kept.discard(what)
            latest.is_kept = True

        def kept(_done: None) -> None:
            if self._latest.get(what) is latest:
                del self._latest[what]

        def refused(_problem: NotStored) -> None:
            latest.is_refused = True
            if self._latest.get(what) is latest:
                self._retry.start()

        self._storage.write(put, kept, refused)

    def unsent(self) -> dict[int, str]:
        """Text that was typed and not sent in an earlier run, by chat."""
        return self._storage.read.unsent.all()

    def keep_unsent(self, chat_id: int, text: str) -> None:
        """Save the text that is being typed."""
        text = text.encode("utf-8", "replace").decode("utf-8")
        self._keep_in_chat("unsent", chat_id, lambda stores: stores.unsent.put(chat_id, text), text)

    def keep_attachments(self, chat_id: int, attached: Attachments) -> None:
        """Save what waits to be sent with it."""
        self._keep_in_chat(
            "attachments", chat_id, lambda stores: stores.unsent.put_attachments(chat_id, attached), attached
        )

    def _keep_in_chat(self, kind: str, chat_id: int, change: StoreChange, value: object) -> None:
        def put(stores: Stores) -> None:
            if stores.unsent.can_wait_in(chat_id, self._storage.new_chats):
                change(stores)

        self.keep((kind, chat_id), put, value)

    def try_now(self, timeout_s: float) -> bool:
        """Waits until all of it has been tried, so that `has_refused` knows. False: the disk takes longer."""
        self.keep_due()
        tried = threading.Event()
        self._storage.write(lambda _stores: tried.set(), ignore, ignore)
        return tried.wait(timeout_s)

    def try_again(self) -> None:
        """Try again what the disk has refused; what is due in a moment is newer, and comes before."""
        self.keep_due()
        for what, latest in list(self._latest.items()):
            if latest.is_refused:
                self.keep(what, latest.change, latest.value)

    def close(self) -> None:
        """Save all, and try refused changes a last time."""
        self._retry.stop()
        self.try_now(_PATIENCE_S)
        for what in self._not_kept & self._latest.keys():
            self.keep(what, self._latest[what].change, self._latest[what].value)

    def left(self) -> dict[What, object]:
        """Once the storage is closed: the requested changes that are not on the disk."""
        return {what: latest.value for what, latest in self._latest.items() if not latest.is_kept}


class StorageChanges(QObject):
    not_stored = Signal(object, object)  # NotStored, a call that tries again

    def __init__(self, storage: Storage, parent: QObject) -> None:
        super().__init__(parent)
        self._storage = storage
        self._latest: dict[What, StoreChange] = {}  # changes on their way to the disk, or refused

    def write(
        self,
        change: Callable[[Stores], T],
        done: Callable[[T], None],
        *,
        what: What | None = None,
        again: Callable[[], None] | None = None,
        refused: Callable[[], None] = lambda: None,
    ) -> None:
        """What is refused is tried again by `again`, or by the same once more, unless `what` it sets was set since."""
        if what is not None:
            self._latest[what] = change

        def stored(outcome: T) -> None:
            if what is not None and self._latest.get(what) is change:
                del self._latest[what]
            done(outcome)

        def once_more() -> None:
            if what is None or self._latest.get(what) is change:
                self.write(change, done, what=what)

        def not_stored(problem: NotStored) -> None:
            refused()
            self.not_stored.emit(problem, again or once_more)

        self._storage.write(change, stored, not_stored)


def left_words(keeping: Keeping, replies: RunningReplies, new_chats: NewChats) -> Left:
    """Text that is only on the screen: typed, attached, or written by a reply. Call it once the storage is closed."""
    kinds = ("unsent", "attachments", "edit", "attached", "project")
    of_kind: dict[str, dict[int, Any]] = {kind: {} for kind in kinds}
    for (kind, number), value in keeping.left().items():
        if value is not None:
            of_kind[kind][number] = value
    typed = of_kind["edit"]
    attached = of_kind["attached"]
    edits = attached | {
        number: replace(edit, attachments=attached.get(number, edit).attachments) for number, edit in typed.items()
    }
    new = [number for number in {*of_kind["unsent"], *of_kind["attachments"]} if number in new_chats]
    return Left(of_kind["unsent"], of_kind["attachments"], edits, replies.ends.left(), of_kind["project"], new)
