"""Questions beside the open chat, as Quick Ask has them: each in a chat of its own, which is not opened."""

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
    looked_at = Signal(int)  # a chat that is on the screen from now on

    def __init__(
        self, asking: Asking, replies: RunningReplies, storage: Storage, keeping: Keeping, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._asking = asking
        self._replies = replies
        self._storage = storage
        self._keeping = keeping
        self.shown_id = 0  # the chat that is on the screen beside the open one

    def ask(self, text: str, show: TranscriptModel, done: Callable[[int], None]) -> bool:
        """Stores the question and has `show` show it with its reply; `done` gets the chat, or 0: it is not on disk.

        False: it is refused at once, with a notice, or one more is on its way.
        """

        def stored(asked: Asked) -> None:
            self.show(asked.chat_id, show)
            done(asked.chat_id)

        return self._asking.ask_quickly(text, stored, lambda: done(0))

    def show(self, chat_id: int, show: TranscriptModel) -> None:
        """Fills a transcript beside that of the open chat, and keeps it up to date while the reply is written."""
        if show not in self._replies.transcripts:
            self._replies.transcripts.append(show)
        branch = self._storage.read.messages.shown_branch(chat_id)
        show.set_messages([self._replies.row(stored) for stored in branch])

    def look_at(self, chat_id: int) -> None:
        """This chat is on the screen from now on, beside the open one; 0: none is."""
        self.shown_id = chat_id
        if chat_id:
            self.looked_at.emit(chat_id)

    def stop(self, chat_id: int) -> None:
        self._replies.stop(chat_id)

    def words_of(self, chat_id: int, message_id: int) -> tuple[str, str]:
        """The chat's title and the text of one of its messages; "" for what is not there."""
        summary = self._storage.read.chats.summary(chat_id)
        message = self._storage.read.messages.message(message_id)
        text = self._replies.row(message).text if message is not None else ""
        return summary.title if summary is not None else "", text

    def writing(self) -> int:
        """In how many chats a reply is being written."""
        return len(self._replies.chats())

    def unsent(self) -> str:
        """What was typed in an earlier run and not asked."""
        return self._storage.read.unsent.in_quick_ask()

    def keep_unsent(self, text: str) -> None:
        """Stores what is being typed."""
        self._keeping.keep_unsent(QUICK_ASK, text)

    def latest(self, limit: int) -> Sequence[ChatSummary]:
        """The chats as the sidebar has them, whatever is searched for there."""
        return self._storage.read.chats.find("", limit)
