"""A storage whose calls are made on the test's thread, as the GUI thread does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

from app.storage import ChatSummary, Storage, Stores


class Owner:
    def __init__(self, path: Path) -> None:
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.storage = Storage(path, self._calls.put)
        self.outcome: object = None

    def done(self, outcome: object) -> None:
        self.outcome = outcome

    def settle(self) -> object:
        """What is delivered is done; the latest outcome."""
        while self.storage.pending:
            self._calls.get(timeout=60)()
        return self.outcome

    def open(self) -> object:
        self.storage.open(self.done, self.done)
        return self.settle()

    def write(self, change: Callable[[Stores], object]) -> object:
        self.storage.write(change, self.done, self.done)
        return self.settle()

    def search(self, query: str) -> list[ChatSummary]:
        found: list[ChatSummary] = []
        self.storage.search(query, -1, found.extend)
        self.settle()
        return found
