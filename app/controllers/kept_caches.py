"""What the engine keeps of a chat goes with the chat: tokens, and what a model made of them, in memory and on disk.

The engine is told which chats there are: once a main model is loaded, for earlier runs may have ended too soon,
after each deletion, and at a start that forgets chats for good.
"""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.bridge import EngineBridge
from app.controllers.deletions import Deletions
from app.controllers.reply_requests import conversation_of
from app.storage.storage import Storage
from engine import ChatEngine, Event, ModelReady, ModelRole


class KeptCaches(QObject):
    def __init__(
        self, engine: ChatEngine, bridge: EngineBridge, storage: Storage, deletions: Deletions, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._storage = storage
        bridge.event_arrived.connect(self._on_event)
        deletions.changed.connect(self.keep_all)
        deletions.message_deleted.connect(self._forget)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, ModelReady) and event.role is ModelRole.MAIN:
            self.keep_all()

    def keep_all(self) -> None:
        """Of all chats that are not in the Trash."""
        self._keep(0)

    def _forget(self, chat_id: int) -> None:
        """What was read of a chat before a message of it was deleted."""
        self._keep(chat_id)

    def _keep(self, without: int) -> None:
        if self._storage.keeps:
            chats = self._storage.read.chats.ids()
            self._engine.keep_only([conversation_of(chat_id) for chat_id in chats if chat_id != without])
