"""Asking the models: a question, another version of a reply, more of one, and Quick Ask's questions.

What is asked is stored first, then shown, then requested; what the disk refuses changes nothing, and can be tried
again. `replies` has what is written then.
"""

from __future__ import annotations

import logging
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.controllers.changes import StorageChanges
from app.controllers.chat_options import ChatOptions
from app.controllers.messages import PixelsOf, conversation_of, request_messages, storable, title_from, title_of
from app.controllers.models import ModelController
from app.controllers.open_chat import OpenChat
from app.controllers.replies import RunningReplies
from app.documents.picture_values import rgb_of
from app.storage import (
    Asked,
    Attachment,
    Attachments,
    NotStored,
    Pictures,
    Question,
    Storage,
    StoredMessage,
    Stores,
)
from app.system.energy import Slowdown
from app.system.worker import ignore
from app.view_models.attached import AttachedRow, attachments_of
from engine import (
    EmptyConversation,
    Message,
    MessageRole,
    NoModelLoaded,
    Picture,
    Request,
    Speculation,
    SpeculationMode,
)

UNSAVED = "unsaved"  # conversations of a run whose chats are not stored
_ASIDE = -1  # in place of a chat's number: what is asked beside the open chat; 0 stands for a new one
T = TypeVar("T")

_log = logging.getLogger(__name__)


class Asking(QObject):
    problem_raised = Signal(object)  # EngineError
    message_sent = Signal(int, str, object)  # the chat (0: a new one), text and rows of `send`, now on disk
    message_refused = Signal(int, str)  # chat and text; it is not on disk
    message_homeless = Signal(int)  # likewise, because the chat that it was written in is in the Trash
    requested = Signal(int)  # a reply, in this chat

    def __init__(
        self,
        chat: OpenChat,
        storage: Storage,
        changes: StorageChanges,
        models: ModelController,
        options: ChatOptions,
        replies: RunningReplies,
    ) -> None:
        super().__init__(chat)
        self._chat = chat
        self._storage = storage
        self._messages = storage.read.messages
        self._changes = changes
        self._models = models
        self._options = options
        self._replies = replies
        self._storing: set[int] = set()  # the chats with a question on its way to the disk
        self._waiting: defaultdict[int, list[Callable[[], object]]] = defaultdict(list)  # until that is answered
        for signal in (options.changed, models.pair_changed, replies.slowdown_changed):
            signal.connect(self._speculate)

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

    # What is asked

    def send(self, chat_id: int, text: str, attached: Sequence[AttachedRow] = ()) -> bool:
        """Asks for the message to be stored, and for a reply to it then. False: it is refused at once.

        `message_sent`, `message_refused` or `message_homeless` says what became of it.
        """
        text = storable(text)
        attachments = attachments_of(attached)
        if not (text or attachments) or chat_id in self._replies.chats():
            return False
        if self.is_storing(chat_id) or not self.can_reply():
            return False
        question = self._question(chat_id, self.shown_end(chat_id), text, attachments)
        if not chat_id:
            self._options.ask()

        def again() -> None:
            """In the chat that it was written for."""
            if chat_id != self._chat.chat_id:
                self._chat.show(chat_id)
            self.send(self._chat.chat_id, text, attached)

        self.store(
            lambda stores: stores.ask(question),
            partial(self._on_sent, question, attached, self._chat.visit),
            lambda: self._on_refused(question),
            again,
            chat_id=chat_id,
            gone=lambda: self.message_homeless.emit(chat_id),
        )
        return True

    def _on_sent(self, question: Question, attached: Sequence[AttachedRow], visit: int, asked: Asked) -> None:
        """`visit`: of the open chat, when it was asked; another new chat may be open now."""
        chat_id = question.chat_id
        if not chat_id:
            self._options.became(asked.chat_id)
        self.message_sent.emit(chat_id, question.text, attached)
        if chat_id == self._chat.chat_id and (chat_id or visit == self._chat.visit):
            self._chat.show_question(asked, question.title)
        self._request(asked)

    def _on_refused(self, question: Question) -> None:
        if not question.chat_id:
            self._options.refused()
        self.message_refused.emit(question.chat_id, question.text)

    def ask_quickly(self, text: str, done: Callable[[Asked], None], refused: Callable[[], None]) -> bool:
        """A question in a new chat that is not opened. False: it is refused at once, or one more is on its way."""
        text = storable(text)
        if not text or self.is_storing(_ASIDE) or not self.can_reply():
            return False
        question = self._question(0, None, text)

        def stored(asked: Asked) -> None:
            self._request(asked)
            done(asked)

        self.store(lambda stores: stores.ask(question, aside=True), stored, refused, chat_id=_ASIDE)
        return True

    def ask_differently(
        self,
        message: StoredMessage,
        text: str,
        attachments: Attachments,
        done: Callable[[Asked], None],
        again: Callable[[], object],
    ) -> None:
        """Another version of a user's message, with a reply of its own; what is written there stops."""
        question = self._question(message.chat_id, message.parent_id, text, attachments)

        def stored(asked: Asked) -> None:
            self._replies.stop(message.chat_id)
            done(asked)
            self._request(asked)

        self.store(
            lambda stores: stores.ask_differently(message, question),
            stored,
            again=again,
            chat_id=message.chat_id,
        )

    def regenerate(self, message_id: int) -> bool:
        """Requests another version of a reply, or another reply to a user's message. False: nothing will change."""
        message = self._replaceable(message_id)
        if message is None:
            return False
        replied_to = message.id if message.role is MessageRole.USER else message.parent_id
        if replied_to is None:
            self.problem_raised.emit(EmptyConversation())
            return False
        chat_id = message.chat_id
        pair = self._models.pair

        def change(stores: Stores) -> Asked:
            return stores.ask_again(chat_id, replied_to, pair.main_name, pair.draft_name)

        def stored(asked: Asked) -> None:
            self._replies.stop(chat_id)
            self._request(asked)

        self.store(change, stored, chat_id=chat_id)
        return True

    def continue_reply(self, message_id: int) -> bool:
        """Requests more text for a reply that was stopped, interrupted or cut; it is appended to the same row."""
        message = self._messages.message(message_id)
        if message is None or message.role is not MessageRole.ASSISTANT or message.chat_id in self._replies.chats():
            return False
        if self._replaceable(message_id) is None:
            return False
        store_end = self._replies.ends.storing(message_id)

        def resume(stores: Stores) -> None:
            store_end(stores)
            stores.messages.resume_reply(message_id)

        def stored(_done: None) -> None:
            self._replies.ends.is_stored(message_id)
            self._begin(message_id)
            self._chat.update_branch(message.chat_id)

        self.store(resume, stored, again=partial(self.continue_reply, message_id), chat_id=message.chat_id)
        return True

    def stop_deleted(self, chat_id: int) -> None:
        """The replies of this chat whose rows were deleted."""
        self._replies.stop(chat_id, lambda message_id: self._messages.message(message_id) is None)

    def _question(self, chat_id: int, parent_id: int | None, text: str, attached: Attachments = ()) -> Question:
        """A message to be stored with an empty reply to it; a new chat takes the options that were set for it."""
        options = {} if chat_id else self._options.own_of(0)
        title = title_from(text or title_of(attached))
        pair = self._models.pair
        return Question(chat_id, parent_id, text, title, pair.main_name, pair.draft_name, attached, options)

    def _replaceable(self, message_id: int) -> StoredMessage | None:
        """The message, where its chat has no question on its way to the disk and a model can reply."""
        message = self._messages.message(message_id)
        free = message is not None and not self.is_storing(message.chat_id) and self.can_reply()
        return message if free else None

    # Storing

    def is_storing(self, chat_id: int) -> bool:
        """Whether a question of that chat is on its way to the disk."""
        return chat_id in self._storing

    def store(
        self,
        change: Callable[[Stores], T],
        done: Callable[[T], None],
        refused: Callable[[], None] = lambda: None,
        again: Callable[[], object] | None = None,
        *,
        chat_id: int,
        gone: Callable[[], None] = lambda: None,
    ) -> None:
        """For what a reply follows: one at a time in each chat, so that Return pressed twice asks once.

        `again` is offered to the user where the disk refuses it; it waits until no other question is on its way.
        `gone`: `chat_id` was in the Trash before its turn came, so nothing was changed.
        """

        def change_it(stores: Stores) -> Callable[[], None]:
            if chat_id > 0 and stores.chats.summary(chat_id) is None:
                return gone
            outcome = change(stores)
            return lambda: done(outcome)

        def stored(answer: Callable[[], None]) -> None:
            self._storing.discard(chat_id)
            answer()
            self._go_on(chat_id)

        def not_stored(problem: NotStored) -> None:
            self._storing.discard(chat_id)
            refused()
            try_again = again or partial(self.store, change, done, refused, chat_id=chat_id, gone=gone)
            self._changes.not_stored.emit(problem, lambda: self._when_free(chat_id, try_again))
            self._go_on(chat_id)

        self._storing.add(chat_id)
        self._storage.write(change_it, stored, not_stored)

    def _when_free(self, chat_id: int, act: Callable[[], object]) -> None:
        """Calls it, now or when the chat's question has come to the disk."""
        self._waiting[chat_id].append(act)
        self._go_on(chat_id)

    def _go_on(self, chat_id: int) -> None:
        while self._waiting[chat_id] and chat_id not in self._storing:
            self._waiting[chat_id].pop(0)()

    # Requesting

    def request_of(self, reply_id: int, done: Callable[[Request | None], None]) -> None:
        """What would be asked for another version of a reply, or None; of a long chat it comes later."""
        reply = self._messages.message(reply_id)
        if reply is None:
            done(None)
        else:
            self._read(reply, done, with_reply=False)

    def _request(self, asked: Asked) -> None:
        """Has the reply that was stored written, and shows it where its chat is on the screen."""
        self._begin(asked.reply_id)
        self._chat.show_message(asked.chat_id, asked.reply_id)
        self.requested.emit(asked.chat_id)

    def _begin(self, reply_id: int) -> None:
        reply = self._messages.message(reply_id)
        if reply is None:  # it was deleted before it could be asked for
            self._storage.write(lambda stores: stores.messages.mark_stopped(reply_id), ignore, ignore)
        else:
            self._replies.begin(reply)
            self._read(reply, partial(self._submit, reply))

    def _submit(self, reply: StoredMessage, request: Request | None) -> None:
        """Where it was not stopped while a long branch was being read."""
        if request is None:
            self._replies.stop(reply.chat_id, lambda message_id: message_id == reply.id)
        elif self._replies.awaits_request(reply.id):
            self._models.wake()
            pair = self._models.pair
            chat = self._storage.read.chats.summary(reply.chat_id)
            names = f"{pair.main_name} ← {pair.draft_name}" if pair.draft_name else pair.main_name
            self._replies.submit(reply.id, request, chat.title if chat else "", names)

    def _read(self, reply: StoredMessage, done: Callable[[Request | None], None], *, with_reply: bool = True) -> None:
        """A long branch, or one with pictures, is read by the storage's thread.

        None: it cannot be read, or nothing comes before the reply.
        """
        system_prompt = self._options.generation(reply.chat_id).system_prompt
        seen = self._pixels(reply.chat_id)

        def read(stores: Stores) -> tuple[Message, ...] | None:
            branch = _branch(stores, reply.id, with_reply)
            return request_messages(branch, system_prompt, seen) if branch else None

        def answer(messages: tuple[Message, ...] | None) -> None:
            done(None if messages is None else self._request_with(reply.chat_id, messages))

        if self._messages.is_long(reply.chat_id) or self._has_pictures(reply.id):
            self._storage.count(read, answer)
        else:
            answer(read(self._storage.read))

    def _has_pictures(self, reply_id: int) -> bool:
        branch = _branch(self._storage.read, reply_id, with_reply=True)
        return any(each.is_picture for stored in branch for each in stored.attachments)

    def _pixels(self, chat_id: int) -> PixelsOf:
        """What reads the pictures of a chat; nothing where it goes on without them."""
        if self._options.goes_without_pictures(chat_id):
            info = self._models.main_info()
            if info is None or not info.sees:
                return lambda _attachment: None
        return partial(_picture, self._storage.pictures)

    def _request_with(self, chat_id: int, messages: tuple[Message, ...]) -> Request:
        conversation = conversation_of(chat_id) if self._storage.keeps else UNSAVED
        return self._options.generation(chat_id).request(messages, conversation, self._speculation(chat_id))

    def _speculate(self) -> None:
        """How a chat wants to draft counts for its running replies as well."""
        self._replies.speculate(self._speculation)

    def _speculation(self, chat_id: int) -> Speculation:
        wanted = self._options.generation(chat_id).speculation()
        off = self._models.pair.off_for_pair or self._replies.slowdown is Slowdown.BATTERY
        return replace(wanted, mode=SpeculationMode.OFF) if off else wanted


def _branch(stores: Stores, reply_id: int, with_reply: bool) -> list[StoredMessage]:
    """Nothing of what cannot be read."""
    try:
        branch = stores.messages.branch(reply_id)
    except sqlite3.Error as error:
        _log.warning("a chat could not be read for a reply: %s", type(error).__name__)
        return []
    return branch if with_reply else branch[:-1]


def _picture(pictures: Pictures, attachment: Attachment) -> Picture | None:
    data = pictures.get(attachment.digest)
    found = None if data is None else rgb_of(data)
    return None if found is None else Picture(*found, attachment.digest)
