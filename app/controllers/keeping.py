"""What is kept without being asked for: unsent words, attachments, edits. What the disk refuses is tried again.

A refusal is not told at once: sending and saving tell it, and the window does before it closes over it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QTimer

from app.storage import Storage, Stores

RETRY_INTERVAL_MS = 2000
_PATIENCE_S = 1.0  # with the disk, at the end

Change = Callable[[Stores], object]
What = tuple[str, int]  # a kind of thing, and its chat or message


class Keeping(QObject):
    """Of each thing the latest state is stored, or tried again every two seconds and at the end."""

    def __init__(self, storage: Storage, parent: QObject) -> None:
        super().__init__(parent)
        self._storage = storage
        self._latest: dict[What, Change] = {}  # on their way to the disk, or refused
        self._values: dict[What, object] = {}  # what these would store; None: nothing
        self._refused: dict[What, Change] = {}
        self._not_kept: set[What] = set()  # as the disk said last; told by the thread that writes
        self._kept: set[Change] = set()  # likewise, until this thread hears of it
        self._retry = QTimer(self, singleShot=True, interval=RETRY_INTERVAL_MS)
        self._retry.timeout.connect(self._try_again)

    @property
    def has_refused(self) -> bool:
        return bool(self._not_kept)

    def keep(self, what: What, change: Change, value: object = None) -> None:
        """`value`: what is stored by it, for `left`."""
        self._latest[what], self._values[what] = change, value
        self._refused.pop(what, None)
        self._storage.write(
            partial(self._put, what, change),
            lambda _: self._on_kept(what, change),
            lambda _: self._on_refused(what, change),
        )

    def unsent(self) -> dict[int, str]:
        """By chat, what was typed there in an earlier run and not sent."""
        return self._storage.read.unsent.all()

    def keep_unsent(self, chat_id: int, text: str) -> None:
        """What is being typed there."""
        text = text.encode("utf-8", "replace").decode("utf-8")
        self.keep(("unsent", chat_id), lambda stores: stores.unsent.put(chat_id, text), text)

    def try_now(self, timeout_s: float) -> bool:
        """Waits until all of it has been tried, so that `has_refused` knows. False: the disk takes longer."""
        tried = threading.Event()
        self._storage.write(lambda _stores: tried.set(), lambda _: None, lambda _: None)
        return tried.wait(timeout_s)

    def close(self) -> None:
        """What the disk has refused once it may take now; nobody tries again later."""
        self._retry.stop()
        self.try_now(_PATIENCE_S)
        for what in self._not_kept & self._latest.keys():
            self.keep(what, self._latest[what], self._values[what])

    def left(self) -> dict[What, object]:
        """Once the storage is closed: what was asked for and is not on the disk."""
        return {what: self._values[what] for what, change in self._latest.items() if change not in self._kept}

    def _try_again(self) -> None:
        for what, change in list(self._refused.items()):
            self.keep(what, change, self._values[what])

    def _put(self, what: What, change: Change, stores: Stores) -> None:
        try:
            change(stores)
        except Exception:
            self._not_kept.add(what)
            raise
        self._not_kept.discard(what)
        self._kept.add(change)

    def _on_kept(self, what: What, change: Change) -> None:
        self._kept.discard(change)
        if self._latest.get(what) is change:
            del self._latest[what], self._values[what]

    def _on_refused(self, what: What, change: Change) -> None:
        if self._latest.get(what) is change:
            self._refused[what] = change
            self._retry.start()
