"""Which chats have a reply that ended while another chat was open: marked on disk, until the chat is opened."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.controllers.replies import Replies
from app.storage import ReplyStatus, Storage
from app.view_models.conversation_list import ConversationListModel

# What the person or the end of the app has cut short is not news.
_NO_NEWS = (ReplyStatus.STOPPED, ReplyStatus.INTERRUPTED)


class Unseen(QObject):
    def __init__(
        self,
        storage: Storage,
        replies: Replies,
        listed: ConversationListModel,
        is_in_sight: Callable[[int], bool],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._storage = storage
        self._listed = listed
        self._is_in_sight = is_in_sight
        replies.stored_end.connect(self._on_ended)

    def _on_ended(self, chat_id: int, status: ReplyStatus) -> None:
        if status not in _NO_NEWS and not self._is_in_sight(chat_id):
            self._mark(chat_id, True)

    def see(self, chat_id: int) -> None:
        """The chat is open now."""
        summary = self._storage.read.chats.summary(chat_id)
        if summary is not None and summary.unseen:
            self._mark(chat_id, False)

    def _mark(self, chat_id: int, unseen: bool) -> None:
        """A refusal is not told: it is a mark, no word is lost, and the next chance comes."""
        self._storage.write(
            lambda stores: stores.chats.set_unseen(chat_id, unseen),
            lambda _done: self._listed.refresh(),
            lambda _problem: None,
        )
