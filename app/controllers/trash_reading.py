"""Reading a chat that is in the Trash. Nothing in it can be changed there; restoring and forgetting are `deletions`.

INVARIANT: while one is read, the open chat is a new one (`ChatController.chat_id` is 0), so that what acts on the open
chat cannot reach it; and it is in the Trash: one that comes back is opened, one that is forgotten leaves the screen.
"""

from __future__ import annotations

from dataclasses import replace

from app.controllers.deletions import Deletions
from app.controllers.open_chat import OpenChat
from app.storage import Deletion, Storage
from app.view_models.transcript import TranscriptMessage


class TrashReading:
    def __init__(self, chat: OpenChat, storage: Storage, deletions: Deletions) -> None:
        self._chat = chat
        self._storage = storage
        self.deletion: Deletion | None = None  # of the chat that is read
        deletions.changed.connect(self._follow)

    @property
    def chat_id(self) -> int:
        """0: none is read."""
        return 0 if self.deletion is None else self.deletion.chat_id

    def open(self, chat_id: int) -> None:
        """Shows the branch that was on the screen last. One that is not in the Trash any more is not opened."""
        deletion = self._storage.read.trash.chat(chat_id)
        if deletion is not None and chat_id != self.chat_id:
            self._chat.new_chat()
            self.deletion = deletion
            self._chat.show_read(deletion.title)

    def left(self) -> None:
        """Something else is shown now."""
        self.deletion = None

    def row(self, row: TranscriptMessage) -> TranscriptMessage:
        """Of one of its messages; a field that was open in it waits until the chat is back."""
        return replace(row, read_only=True)

    def _follow(self) -> None:
        """The Trash has changed, by whatever way."""
        chat_id = self.chat_id
        if chat_id and self._storage.read.trash.chat(chat_id) is None:
            self._chat.open_chat(chat_id)
            if self.deletion is not None:  # it was not restored, but forgotten
                self._chat.new_chat()
