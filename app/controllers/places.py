"""Where the reader was in each chat, kept when the chat is left or the app is quit. None: at its end."""

from __future__ import annotations

from app.storage import Storage

Place = tuple[int, float]  # a message, and how far into it


class Places:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._known: dict[int, Place | None] = {}  # of this run, whatever the disk has said yet

    def of(self, chat_id: int) -> Place | None:
        if chat_id not in self._known:
            self._known[chat_id] = self._storage.read.states.place(chat_id) if chat_id else None
        return self._known[chat_id]

    def put(self, chat_id: int, place: Place | None) -> None:
        """A refusal is not told: nothing that anybody wrote is lost by it."""
        if chat_id and place != self.of(chat_id):
            self._known[chat_id] = place
            self._storage.write(lambda stores: stores.states.put_place(chat_id, place), _ignore, _ignore)


def _ignore(_outcome: object) -> None:
    """For what nobody waits for."""
