"""Asking the models: a question, another version of a reply, more of one. Each is stored first, and requested then."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.controllers.changes import Changes
from app.controllers.chat_options import ChatOptions
from app.controllers.messages import storable
from app.controllers.models import ModelController
from app.controllers.open_chat import OpenChat
from app.controllers.replies import Replies
from app.controllers.reply_requests import ReplyRequests
from app.storage import Asked, Question, Storage, StoredMessage, Stores, exchange
from app.view_models.attached import AttachedRow, attachments_of
from engine import EmptyConversation, MessageRole, NoModelLoaded


class Exchanges(QObject):
    problem_raised = Signal(object)  # EngineError
    message_sent = Signal(int, str, object)  # the chat (0: a new one), text and rows of `send`, now on disk
    message_refused = Signal(int, str)  # chat and text; it is not on disk
    message_homeless = Signal(int)  # likewise, because the chat that it was written in is in the Trash

    def __init__(
        self,
        chat: OpenChat,
        storage: Storage,
        changes: Changes,
        models: ModelController,
        options: ChatOptions,
        replies: Replies,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._chat, self._models, self._changes, self._options = chat, models, changes, options
        self._messages, self._replies = storage.read.messages, replies
        self.requests = ReplyRequests(storage, models, options, replies)

    def can_reply(self) -> bool:
        if not self._models.can_reply:
            self.problem_raised.emit(NoModelLoaded())
        return self._models.can_reply

    def shown_end(self, chat_id: int) -> int | None:
        """The last message of the branch that is shown, or was last."""
        if chat_id != self._chat.chat_id:
            return self._messages.shown_end(chat_id)
        rows = self._chat.transcript.messages
        return rows[-1].id if rows else None

    def question_aside(self, text: str) -> Question | None:
        """A question in a new chat; None where no model can answer it."""
        return self.requests.question(0, None, text) if self.can_reply() else None

    def send(self, chat_id: int, text: str, attached: Sequence[AttachedRow] = ()) -> bool:
        """Asks for the message to be stored, and for a reply to it then. False: it is refused at once.

        `message_sent`, `message_refused` or `message_homeless` says what became of it.
        """
        visit = self._chat.visit
        text, attachments = storable(text), attachments_of(attached)
        if not (text or attachments) or chat_id in self._replies.chats():
            return False
        if self._changes.is_asking(chat_id) or not self.can_reply():
            return False
        question = self.requests.question(chat_id, self.shown_end(chat_id), text, attachments)
        if not chat_id:
            self._options.ask()

        def stored(asked: Asked) -> None:
            if not chat_id:
                self._options.became(asked.chat_id)
            self.message_sent.emit(chat_id, text, attached)
            if chat_id == self._chat.chat_id and (chat_id or visit == self._chat.visit):
                self._chat.show_sent(asked, question.title)
            self.begin(asked)

        self._changes.ask(
            lambda stores: exchange.ask(stores, question),
            stored,
            lambda: self._on_refused(chat_id, text),
            lambda: self._send_again(chat_id, text, attached),
            chat_id=chat_id,
            gone=lambda: self.message_homeless.emit(chat_id),
        )
        return True

    def _on_refused(self, chat_id: int, text: str) -> None:
        if not chat_id:
            self._options.refused()
        self.message_refused.emit(chat_id, text)

    def _send_again(self, chat_id: int, text: str, attached: Sequence[AttachedRow]) -> None:
        """In the chat that it was written for."""
        if chat_id != self._chat.shown_id:
            self._chat.show(chat_id)
        self.send(self._chat.chat_id, text, attached)

    def begin(self, asked: Asked) -> None:
        """Requests the reply that was stored, and shows it where its chat is on the screen."""
        self.requests.start(asked.reply_id)
        self._chat.show_reply(asked)

    def answer_now(self, message_id: int) -> None:
        """The thinking of a reply ends."""
        self._replies.answer_now(message_id)

    def regenerate(self, message_id: int) -> bool:
        """Requests another version of a reply, or another reply to a user's message. False: nothing will change."""
        message = self._replaceable(message_id)
        if message is None:
            return False
        replied_to = message.id if message.role is MessageRole.USER else message.parent_id
        if replied_to is None:
            self.problem_raised.emit(EmptyConversation())
            return False
        chat_id, names = message.chat_id, self.requests.names

        def stored(asked: Asked) -> None:
            self._replies.stop(chat_id)
            self.begin(asked)

        self._changes.ask(
            lambda stores: exchange.ask_again(stores, chat_id, replied_to, *names), stored, chat_id=chat_id
        )
        return True

    def continue_reply(self, message_id: int) -> bool:
        """Requests more text for a reply that was stopped, interrupted or cut; it is appended to the same row."""
        message = self._messages.message(message_id)
        if message is None or message.role is not MessageRole.ASSISTANT or self._chat.generating:
            return False
        if self._replaceable(message_id) is None:
            return False
        store_end = self._replies.ends.storing(message_id)

        def resume(stores: Stores) -> None:
            store_end(stores)
            stores.messages.resume_reply(message_id)

        def stored(_done: None) -> None:
            self._replies.ends.is_stored(message_id)
            self.requests.start(message_id)
            self._chat.show_branch_of(message.chat_id)

        again = partial(self.continue_reply, message_id)
        self._changes.ask(resume, stored, again=again, chat_id=message.chat_id)
        return True

    def _replaceable(self, message_id: int) -> StoredMessage | None:
        """The message, where its chat has no question on its way to the disk and a model can reply."""
        message = self._messages.message(message_id)
        free = message is not None and not self._changes.is_asking(message.chat_id) and self.can_reply()
        return message if free else None

    def stop(self, chat_id: int) -> None:
        self._replies.stop(chat_id)

    def stop_deleted(self, chat_id: int) -> None:
        """The replies of this chat whose rows were deleted."""
        self._replies.stop(chat_id, lambda message_id: self._messages.message(message_id) is None)
