"""Chats that wait in a file, put into the database some at a time: each step is there as a whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.storage import portable
from app.storage.storage import Stores

STEP_CHATS = 50
STEP_BYTES = 4_000_000

ChatOf = Callable[[bytes], portable.PortableChat]


class Importing:
    """On the thread that writes, one step after another. `again`: also what is here already, as copies."""

    def __init__(self, spool: Path, chat_of: ChatOf, *, again: bool) -> None:
        self._file = spool.open("rb")
        self._chat_of = chat_of
        self._again = again
        self.ids: list[int] = []
        self.skipped = 0

    def step(self, stores: Stores) -> bool:
        """Whether there may be more. What raises has changed nothing, and can be tried again."""
        start, ids, skipped = self._file.tell(), list(self.ids), self.skipped
        try:
            with stores.database.transaction():
                return self._step(stores)
        except BaseException:
            self._file.seek(start)
            self.ids, self.skipped = ids, skipped
            raise

    def _step(self, stores: Stores) -> bool:
        taken = 0
        for _ in range(STEP_CHATS):
            line = self._file.readline()
            if not line:
                return False
            self._put(stores, line)
            taken += len(line)
            if taken >= STEP_BYTES:
                break
        return True

    def _put(self, stores: Stores, line: bytes) -> None:
        chat = self._chat_of(line)
        if not self._again and portable.is_known(stores, chat.origin):
            self.skipped += 1
        else:
            self.ids.append(portable.add(stores, chat))

    def close(self) -> None:
        self._file.close()
