"""Requesting a reply: what is sent to the engine for a reply whose row is stored, and under which names it runs."""

from __future__ import annotations

from app.controllers.attached_text import title_of
from app.controllers.chat_options import ChatOptions
from app.controllers.messages import request_messages, title_from
from app.controllers.models import ModelController
from app.controllers.replies import Replies
from app.storage import Attachments, Question, Storage, StoredMessage
from engine import Request

UNSAVED = "unsaved"  # conversations of a run whose chats are not stored


class ReplyRequests:
    def __init__(self, storage: Storage, models: ModelController, options: ChatOptions, replies: Replies) -> None:
        self._storage = storage
        self._models = models
        self._options = options
        self._replies = replies
        for signal in (options.changed, models.pair_changed):
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
        branch = self._storage.read.messages.branch(reply_id)
        if not branch:  # it was deleted before it could be asked for
            self._storage.write(lambda stores: stores.messages.mark_stopped(reply_id), _ignore, _ignore)
            return
        self._models.wake()
        main, draft = self.names
        summary = self._storage.read.chats.summary(branch[-1].chat_id)
        names = f"{main} ← {draft}" if draft else main
        self._replies.start(branch[-1], self.request(branch), summary.title if summary else "", names)

    def request_of(self, reply_id: int) -> Request | None:
        """What would be asked for another version of a reply."""
        branch = self._storage.read.messages.branch(reply_id)[:-1]
        return self.request(branch) if branch else None

    def request(self, branch: list[StoredMessage]) -> Request:
        generation = self._options.generation(branch[-1].chat_id)
        return Request(
            messages=request_messages(branch, generation.system_prompt),
            sampling=generation.sampling(),
            speculation=generation.speculation(),
            max_tokens=generation.max_tokens,
            context_tokens=generation.context_tokens,
            thinking=generation.thinking,
            conversation=conversation_of(branch[-1].chat_id) if self._storage.keeps else UNSAVED,
        )

    def _speculate(self) -> None:
        """How a chat wants to draft counts for its replies under way as well."""
        self._replies.speculate(lambda chat_id: self._options.generation(chat_id).speculation())


def conversation_of(chat_id: int) -> str:
    """A chat's name to the engine."""
    return str(chat_id)


def _ignore(_outcome: object) -> None:
    """For what nobody waits for."""
