"""Chats that wait in a file, put into the database some at a time: each step is there as a whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.storage import portable
from app.storage.origins import Grown, Known, grow
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
        self._known: Known | None = None
        self.ids: list[int] = []
        self.grown: list[Grown] = []  # chats that were here without some of their messages
        self.skipped = 0

    def step(self, stores: Stores) -> bool:
        """Whether there may be more. What raises has changed nothing, and can be tried again."""
        start, ids, grown, skipped = self._file.tell(), list(self.ids), list(self.grown), self.skipped
        try:
            with stores.database.transaction():
                return self._step(stores)
        except BaseException:
            self._file.seek(start)
            self._known, self.ids, self.grown, self.skipped = None, ids, grown, skipped
            raise

    def _step(self, stores: Stores) -> bool:
        taken = 0
        self._known = self._known or Known(stores)
        for _ in range(STEP_CHATS):
            line = self._file.readline()
            if not line:
                return False
            self._put(stores, self._known, line)
            taken += len(line)
            if taken >= STEP_BYTES:
                break
        return True

    def _put(self, stores: Stores, known: Known, line: bytes) -> None:
        chat = self._chat_of(line)
        if not self._again and known.has(chat):
            self.skipped += 1
            return
        number = None if self._again else known.number(chat)
        if number is not None:
            self.grown.append(grow(stores, number, chat, portable.add_message))
        else:
            number = portable.add(stores, chat)
            self.ids.append(number)
        known.add(chat, number)

    @property
    def done(self) -> int:
        return len(self.ids) + len(self.grown) + self.skipped

    def close(self) -> None:
        self._file.close()
