"""Requesting a reply: what is sent to the engine for a reply whose row is stored, and under which names it runs."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from app.controllers.chat_options import ChatOptions
from app.controllers.messages import Seen, request_messages, title_from, title_of
from app.controllers.models import ModelController
from app.controllers.replies import Replies
from app.documents.picture_values import rgb_of
from app.storage import Attachment, Attachments, Pictures, Question, Storage, StoredMessage, Stores
from app.system.energy import Strain
from app.system.worker import ignore
from engine import Message, Picture, Request, Speculation, SpeculationMode

log = logging.getLogger(__name__)

UNSAVED = "unsaved"  # conversations of a run whose chats are not stored


class ReplyRequests:
    def __init__(self, storage: Storage, models: ModelController, options: ChatOptions, replies: Replies) -> None:
        self._storage = storage
        self._models = models
        self._options = options
        self._replies = replies
        for signal in (options.changed, models.pair_changed, replies.strained):
            signal.connect(self._speculate)

    @property
    def names(self) -> tuple[str, str]:
        """Of the models that are to write."""
        pair = self._models.pair
        return pair.main_name, pair.draft_name

    def question(self, chat_id: int, parent_id: int | None, text: str, attached: Attachments = ()) -> Question:
        """A message to be stored with an empty reply to it; a new chat takes the options that were set for it."""
        options = {} if chat_id else self._options.own_of(0)
        title = title_from(text or title_of(attached))
        return Question(chat_id, parent_id, text, title, *self.names, attached, options)

    def start(self, reply_id: int) -> None:
        reply = self._storage.read.messages.message(reply_id)
        if reply is None:  # it was deleted before it could be asked for
            self._storage.write(lambda stores: stores.messages.mark_stopped(reply_id), ignore, ignore)
            return
        self._models.wake()

        def submit(request: Request | None) -> None:
            if request is None:
                self._replies.stop(reply.chat_id, lambda message_id: message_id == reply.id)
            elif self._replies.awaits(reply.id):
                self._submit(reply, request)

        self._replies.put_off(reply)
        self._read(reply, submit)

    def request_of(self, reply_id: int, done: Callable[[Request | None], None]) -> None:
        """What would be asked for another version of a reply, or None; of a long chat it comes later."""
        reply = self._storage.read.messages.message(reply_id)
        if reply is None:
            done(None)
        else:
            self._read(reply, done, with_reply=False)

    def _read(self, reply: StoredMessage, done: Callable[[Request | None], None], *, with_reply: bool = True) -> None:
        """A long branch, or one with pictures, is read by the storage's thread.

        None: it cannot be read, or nothing comes before the reply.
        """
        system_prompt, seen = self._options.generation(reply.chat_id).system_prompt, self._pixels(reply.chat_id)

        def read(stores: Stores) -> tuple[Message, ...] | None:
            branch = _branch(stores, reply.id, with_reply)
            return request_messages(branch, system_prompt, seen) if branch else None

        def answer(messages: tuple[Message, ...] | None) -> None:
            done(None if messages is None else self._request(reply.chat_id, messages))

        if self._storage.read.messages.is_long(reply.chat_id) or self._has_pictures(reply.id):
            self._storage.count(read, answer)
        else:
            answer(read(self._storage.read))

    def _has_pictures(self, reply_id: int) -> bool:
        branch = _branch(self._storage.read, reply_id, with_reply=True)
        return any(each.is_picture for stored in branch for each in stored.attachments)

    def _pixels(self, chat_id: int) -> Seen:
        """What reads the pictures of a chat; nothing where it goes on without them."""
        info = self._models.main_info()
        if self._options.goes_without_pictures(chat_id) and not (info is not None and info.sees):
            return lambda _attachment: None
        return partial(_picture, self._storage.pictures)

    def _submit(self, reply: StoredMessage, request: Request) -> None:
        self._models.wake()  # again: it may have made way for a program's model while a long branch was being read
        main, draft = self.names
        summary = self._storage.read.chats.summary(reply.chat_id)
        names = f"{main} ← {draft}" if draft else main
        self._replies.start(reply, request, summary.title if summary else "", names)

    def _request(self, chat_id: int, messages: tuple[Message, ...]) -> Request:
        generation = self._options.generation(chat_id)
        return Request(
            messages=messages,
            sampling=generation.sampling(),
            speculation=self._speculation(chat_id),
            max_tokens=generation.max_tokens,
            context_tokens=generation.context_tokens,
            thinking=generation.thinking,
            thinking_tokens=generation.thinking_tokens,
            picture_detail=generation.picture_detail,
            template_variables=generation.template_variables,
            conversation=conversation_of(chat_id) if self._storage.keeps else UNSAVED,
        )

    def _speculate(self) -> None:
        """How a chat wants to draft counts for its running replies as well."""
        self._replies.speculate(self._speculation)

    def _speculation(self, chat_id: int) -> Speculation:
        wanted = self._options.generation(chat_id).speculation()
        off = self._models.pair.off_for_pair or self._replies.strain is Strain.BATTERY
        return replace(wanted, mode=SpeculationMode.OFF) if off else wanted


def _branch(stores: Stores, reply_id: int, with_reply: bool) -> list[StoredMessage]:
    """Nothing of what cannot be read."""
    try:
        branch = stores.messages.branch(reply_id)
    except sqlite3.Error as error:
        log.warning("a chat could not be read for a reply: %s", type(error).__name__)
        return []
    return branch if with_reply else branch[:-1]


def _picture(pictures: Pictures, attachment: Attachment) -> Picture | None:
    data = pictures.get(attachment.digest)
    found = None if data is None else rgb_of(data)
    return None if found is None else Picture(*found, attachment.digest)


def conversation_of(chat_id: int) -> str:
    """A chat's name to the engine."""
    return str(chat_id)
