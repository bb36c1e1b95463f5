"""What is stored all or nothing: a message, the empty reply to it, and its chat if it is new; the end of a reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.storage.parts import Attachments
from app.storage.records import ReplyStatus, ReplyText, StoredMessage
from app.storage.storage import Stores
from engine import EngineError, MessageRole, RequestStats


@dataclass(frozen=True, slots=True)
class Question:
    """`chat_id` 0 makes a chat with that title."""

    chat_id: int
    parent_id: int | None
    text: str
    title: str
    main_name: str
    draft_name: str
    attachments: Attachments = ()
    options: Mapping[str, Any] = field(default_factory=dict)  # of a new chat


@dataclass(frozen=True, slots=True)
class Asked:
    chat_id: int
    user_id: int
    reply_id: int


def ask(stores: Stores, question: Question, *, aside: bool = False) -> Asked:
    """`aside`: it was written beside the open chat, and what waits to be sent there goes on waiting."""
    with stores.database.transaction():
        chat_id = question.chat_id or stores.chats.create(question.title)
        if question.options:
            stores.states.put_options(chat_id, question.options)
        user_id = stores.messages.add_user(chat_id, question.parent_id, question.text, question.attachments)
        reply_id = stores.messages.begin_reply(chat_id, user_id, question.main_name, question.draft_name)
        if not aside:
            stores.unsent.forget(question.chat_id)
    return Asked(chat_id, user_id, reply_id)


def ask_differently(stores: Stores, original: StoredMessage, question: Question) -> Asked:
    """Another version of a user's message, with a reply of its own; a first one names the chat."""
    with stores.database.transaction():
        user_id = stores.messages.add_user(original.chat_id, original.parent_id, question.text, question.attachments)
        if original.parent_id is None:
            stores.chats.set_title_from_text(original.chat_id, question.title)
        reply_id = stores.messages.begin_reply(original.chat_id, user_id, question.main_name, question.draft_name)
    return Asked(original.chat_id, user_id, reply_id)


def ask_again(stores: Stores, chat_id: int, user_id: int, main_name: str, draft_name: str) -> Asked:
    with stores.database.transaction():
        return Asked(chat_id, user_id, stores.messages.begin_reply(chat_id, user_id, main_name, draft_name))


def insert(
    stores: Stores,
    beside: StoredMessage,
    role: MessageRole,
    text: str,
    attachments: Attachments = (),
    *,
    after: bool,
) -> int:
    """A message that the user writes, before or after another one; what follows stays joined after it."""
    with stores.database.transaction():
        parent_id = beside.id if after else beside.parent_id
        return stores.messages.insert(beside.chat_id, parent_id, role, text, attachments)


def replace(stores: Stores, original: StoredMessage, text: str, attachments: Attachments | None = None) -> int:
    """Other words or attachments (None: the same) for a message; the former ones are a version of it."""
    with stores.database.transaction():
        return stores.messages.replace(original, text, attachments)


def delete_messages(stores: Stores, message: StoredMessage, *, following: bool) -> float:
    """Deletes a message, with what is `following` it or alone, and shows what is left; returns the mark."""
    with stores.database.transaction():
        other = stores.messages.sibling(message, -1) or stores.messages.sibling(message, 1)
        alone = not following and stores.messages.count_below(message) > 0
        mark = stores.messages.delete_one(message.id) if alone else stores.messages.delete_below(message.id)
        if not alone:
            leaf = stores.messages.latest_leaf(other) if other else message.parent_id
            stores.chats.set_leaf(message.chat_id, leaf)
    return mark


def end_reply(
    stores: Stores,
    reply: ReplyText,
    status: ReplyStatus,
    stats: RequestStats,
    error: EngineError | None,
    drafting: str | None,
) -> int:
    """Stores the end of a reply and its row among the requests, both or neither; returns the id of that row.

    An end that is stored once more has its row already, and 0 is returned.
    """
    with stores.database.transaction():
        under_way = stores.database.row(
            "SELECT 1 FROM messages WHERE id = ? AND status = 'streaming'", (reply.message_id,)
        )
        stores.messages.set_end(reply, status, stats, error, drafting)
        return stores.requests.add(reply, status, stats) if under_way else 0
