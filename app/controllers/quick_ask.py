"""Quick Ask's questions, each in a chat of its own beside the open one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from app.controllers.asking import Asking
from app.controllers.changes import Keeping
from app.controllers.replies import RunningReplies
from app.storage import Asked, ChatSummary, Storage
from app.storage.chats import QUICK_ASK
from app.view_models.transcript import TranscriptModel


class QuickQuestions(QObject):
    looked_at = Signal(int)  # the chat shown in Quick Ask

    def __init__(
        self, asking: Asking, replies: RunningReplies, storage: Storage, keeping: Keeping, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._asking = asking
        self._replies = replies
        self._storage = storage
        self._keeping = keeping
        self.shown_id = 0  # the chat shown beside the open one; 0: none

    def ask(self, text: str, show: TranscriptModel, done: Callable[[int], None]) -> bool:
        """Store a question; `show` shows it and its reply; `done` gets the chat, or 0 if storing failed.

        False: refused at once with a notice, or another question is being stored.
        """

        def stored(asked: Asked) -> None:
            self.show(asked.chat_id, show)
            done(asked.chat_id)

        return self._asking.ask_quickly(text, stored, lambda: done(0))

    def show(self, chat_id: int, show: TranscriptModel) -> None:
        """Show a chat in a transcript of its own, which follows the running reply."""
        if show not in self._replies.transcripts:
            self._replies.transcripts.append(show)
        branch = self._storage.read.messages.shown_branch(chat_id)
        show.set_messages([self._replies.row(stored) for stored in branch])

    def look_at(self, chat_id: int) -> None:
        """Set the chat that is shown beside the open one; 0: none."""
        self.shown_id = chat_id
        if chat_id:
            self.looked_at.emit(chat_id)

    def stop(self, chat_id: int) -> None:
        self._replies.stop(chat_id)

    def answer_now(self, message_id: int) -> None:
        self._replies.answer_now(message_id)

    def words_of(self, chat_id: int, message_id: int) -> tuple[str, str]:
        """The chat's title and the text of one of its messages; "" if missing."""
        summary = self._storage.read.chats.summary(chat_id)
        message = self._storage.read.messages.message(message_id)
        text = self._replies.row(message).text if message is not None else ""
        return summary.title if summary is not None else "", text

    def writing(self) -> int:
        """Number of chats with a running reply."""
        return len(self._replies.chats())

    def unsent(self) -> str:
        """Text that was typed and not sent in an earlier run."""
        return self._storage.read.unsent.in_quick_ask()

    def keep_unsent(self, text: str) -> None:
        """Store the typed text."""
        self._keeping.keep_unsent(QUICK_ASK, text)

    def latest(self, limit: int) -> Sequence[ChatSummary]:
        """The latest chats, regardless of the sidebar's search."""
        return self._storage.read.chats.find("", limit)
