"""Asks the models: a question, another version of a reply, more of one, and Quick Ask's questions.

A question is stored first, then shown, then requested. If the disk refuses it nothing changes, and it can be tried
again. `replies` has the running replies.
"""

from __future__ import annotations

import logging
import sqlite3
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.controllers.changes import StorageChanges
from app.controllers.chat_options import Generation
from app.controllers.models import ModelController
from app.controllers.replies import LiveReply, RunningReplies
from app.controllers.shared_text import SharedText
from app.controllers.tools import ToolsController
from app.documents.picture_values import rgb_of
from app.markup.fences import fenced
from app.storage import (
    Asked,
    Attachment,
    AttachmentKind,
    Attachments,
    NotStored,
    Pictures,
    Question,
    ReadMessages,
    ReplyStatus,
    Storage,
    StoredMessage,
    Stores,
)
from app.storage.codec import storable
from app.storage.parts import Text, all_parts, of_kind, settled
from app.system.energy import Slowdown
from app.system.worker import ignore
from app.tools.citing import CITING
from app.tools.definitions import Tool, by_flat_name
from app.view_models.attached import AttachedRow, attachments_of
from app.view_models.model_list import PairState, PairView
from app.view_models.tools import CallState, CallView, CanCall, steps_of
from app.view_models.typed import as_message
from engine import (
    EmptyConversation,
    Message,
    MessageRole,
    NoModelLoaded,
    Picture,
    Request,
    Speculation,
    SpeculationMode,
    ToolCall,
)

UNSAVED = "unsaved"  # the conversation of chats that are not stored
_ASIDE = -1  # in place of a chat's id, for questions beside the open chat
TITLE_LENGTH = 60
_READ_FOR_TITLE = 10_000  # characters; blanks count as one in a title
_PASTED = "pasted text"  # part of the prompt, which is not translated
_SUMMARY = "[Summary of the conversation so far]"
_BROKE_OFF = "[This reply was stopped before it was finished.]"  # a template wants an answer before the next question
_WITHOUT_RESULT = {  # what the model is given of a call without a result
    CallState.DECLINED: "The user declined this call. It did not run.",
    CallState.STOPPED: "The user stopped this call. It did not run, or not to its end.",
    CallState.UNKNOWN: "It is not known whether this call ran.",
    CallState.WAITS: "This call did not run.",
    CallState.RUNNING: "It is not known whether this call ran.",
}
T = TypeVar("T")
PixelsOf = Callable[[Attachment], Picture | None]  # a picture's pixels; None: it is not here

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Told:
    """What a request has of a chat; each message with the stored one that it begins with, 0 for the system prompt."""

    messages: tuple[Message, ...]
    sources: tuple[int, ...]
    kept: tuple[int, ...]  # messages by index that stay when others are left out
    reads_from: int | None  # the stored message from which on nothing is left out; None: the branch's first


@dataclass(frozen=True, slots=True)
class Made:
    request: Request
    told: Told


class Asking(QObject):
    problem_raised = Signal(object)  # EngineError
    message_sent = Signal(int, object, object)  # the chat, text and rows of `send`, now on disk
    message_refused = Signal(int, object, object)  # the chat, NotStored, a call that tries again; it is not on disk
    message_homeless = Signal(int)  # refused because its chat is in the Trash
    still_storing = Signal()  # why something was refused
    requested = Signal(int, int)  # chat, message of the reply

    def __init__(
        self,
        storage: Storage,
        changes: StorageChanges,
        models: ModelController,
        shared: SharedText,
        replies: RunningReplies,
        tools: ToolsController,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._storage = storage
        self._messages = storage.read.messages
        self._new_chats = storage.new_chats
        self._changes = changes
        self._models = models
        self._options = options = shared.options
        self._replies = replies
        self._tools = tools
        self._shared = shared
        self._offered: dict[int, dict[str, Tool]] = {}  # to the latest request of each running reply, by its name there
        self._with_files: set[int] = set()  # chats whose latest prompt began with files of their project
        self._storing: set[int] = set()  # chats with a question that is being stored
        self._waiting: defaultdict[int, list[Callable[[], object]]] = defaultdict(list)  # calls until that is done
        for signal in (options.changed, models.pair_changed, replies.slowdown_changed):
            signal.connect(self._speculate)
        replies.begun.connect(self._name_writer)
        replies.ended.connect(lambda _chat_id, message_id, _status: self._offered.pop(message_id, None))

    def can_reply(self) -> bool:
        if not self._models.can_reply:
            self.problem_raised.emit(NoModelLoaded())
        return self._models.can_reply

    def send(
        self,
        chat_id: int,
        parent_id: int | None,
        text: str,
        attached: Sequence[AttachedRow],
        done: Callable[[Asked], None],
        again: Callable[[], object],
    ) -> bool:
        """Asks for the message to be stored, and for a reply to it then. False: it is refused at once.

        `message_sent`, `message_refused` or `message_homeless` says what became of it.
        """
        words = as_message(storable(text))
        attachments = attachments_of(attached)
        if not (words or attachments) or chat_id in self._replies.chats():
            return False
        if not self.is_free(chat_id) or not self.can_reply():
            return False
        question = self._question(chat_id, parent_id, words, attachments)
        if chat_id in self._new_chats:
            question = replace(
                question, options=self._options.own_of(chat_id), folder_id=self._options.folder_of(chat_id), is_new=True
            )

        def stored(asked: Asked) -> None:
            if question.is_new:
                self._new_chats.end(chat_id)
                self._options.is_stored(chat_id, question.options)
            self.message_sent.emit(chat_id, text, attached)
            done(asked)
            self._request(asked.chat_id, asked.reply_id)

        def refused(problem: NotStored, try_again: Callable[[], None]) -> None:
            if question.is_new:
                self._new_chats.put_last(chat_id)
            self.message_refused.emit(chat_id, problem, try_again)

        def ask(whole: Question) -> None:
            self.store(
                lambda stores: stores.ask(whole),
                stored,
                refused,
                again,
                chat_id=chat_id,
                gone=lambda: self.message_homeless.emit(chat_id),
            )

        self._with_passages(question, ask)
        return True

    def ask_quickly(self, text: str, done: Callable[[Asked], None], refused: Callable[[], None]) -> bool:
        """A question in a new chat that is not opened. False: it is refused at once, or one more is on its way."""
        text = as_message(storable(text))
        if not text or self.is_storing(_ASIDE) or not self.can_reply():
            return False
        self._models.leave_eyes()
        question = replace(self._question(0, None, text), options=self._options.own_of(self._new_chats.latest))

        def stored(asked: Asked) -> None:
            self._request(asked.chat_id, asked.reply_id)
            done(asked)

        def not_stored(problem: NotStored, try_again: Callable[[], None]) -> None:
            refused()
            self._changes.not_stored.emit(problem, try_again)

        self.store(lambda stores: stores.ask(question, aside=True), stored, not_stored, chat_id=_ASIDE)
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
            self._request(asked.chat_id, asked.reply_id)

        def ask(whole: Question) -> None:
            change = partial(Stores.ask_differently, original=message, question=whole)
            self.store(change, stored, again=again, chat_id=message.chat_id)

        self._with_passages(question, ask)

    def _with_passages(self, question: Question, done: Callable[[Question], None]) -> None:
        """With what of the documents fits its words, for a model that cannot search; the chat is busy meanwhile."""
        own = tuple(each for each in question.attachments if each.kind is not AttachmentKind.PASSAGES)

        def found(passages: Attachments) -> None:
            done(replace(question, attachments=(*passages, *own)))

        self._storing.add(question.chat_id)
        self.find_passages(question.chat_id, question.text, found)

    def find_passages(self, chat_id: int, text: str, done: Callable[[Attachments], None]) -> None:
        """What a message with this text will have of the chat's documents; later, or () at once.

        Of a chat that cannot be read now it has none: storing the message says what is wrong with the disk.
        """
        try:
            limit = self._context_limit(chat_id)
        except sqlite3.Error as error:
            _log.warning("no documents are searched for a question: %s", type(error).__name__)
            done(())
            return
        self._tools.passages(chat_id, text, limit, done)

    def regenerate(self, message_id: int) -> bool:
        """Requests another version of a reply, or another reply to a user's message. False: nothing will change."""
        message = self._replaceable(message_id)
        if message is None or message.is_summary:
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
            self._request(asked.chat_id, asked.reply_id)

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
            self._request(message.chat_id, message_id)

        self.store(resume, stored, again=partial(self.continue_reply, message_id), chat_id=message.chat_id)
        return True

    def stop_deleted(self, chat_id: int) -> None:
        """The replies of this chat whose rows were deleted."""
        self._replies.stop(chat_id, lambda message_id: self._messages.message(message_id) is None)

    def _question(self, chat_id: int, parent_id: int | None, text: str, attached: Attachments = ()) -> Question:
        """A message to be stored with an empty reply to it."""
        title = title_from(text or title_of(attached))
        pair = self._models.pair
        return Question(chat_id, parent_id, text, title, pair.main_name, pair.draft_name, attached)

    def _replaceable(self, message_id: int) -> StoredMessage | None:
        """The message, where its chat has no question on its way to the disk and a model can reply."""
        message = self._messages.message(message_id)
        free = message is not None and self.is_free(message.chat_id) and self.can_reply()
        return message if free else None

    def is_free(self, chat_id: int) -> bool:
        """Whether no question of that chat is on its way to the disk; says so where one is."""
        if self.is_storing(chat_id):
            self.still_storing.emit()
        return not self.is_storing(chat_id)

    def is_storing(self, chat_id: int) -> bool:
        """Whether a question of that chat is on its way to the disk."""
        return chat_id in self._storing

    def store(
        self,
        change: Callable[[Stores], T],
        done: Callable[[T], None],
        refused: Callable[[NotStored, Callable[[], None]], None] | None = None,
        again: Callable[[], object] | None = None,
        *,
        chat_id: int,
        gone: Callable[[], None] = lambda: None,
    ) -> None:
        """Store a change that a reply follows: one at a time in each chat, so that a double Return asks once.

        `refused` gets a callback that tries `again`, or else the same once more, when no other question of the chat is
        being stored; without `refused` the user is offered that by `not_stored`. `gone` is called instead of `done` if
        the chat is in the Trash by then: nothing was changed.
        """
        may_be_new = chat_id == _ASIDE or chat_id in self._new_chats

        def change_it(stores: Stores) -> Callable[[], None]:
            if not may_be_new and stores.chats.summary(chat_id) is None:
                return gone
            outcome = change(stores)
            return lambda: done(outcome)

        def stored(answer: Callable[[], None]) -> None:
            self._storing.discard(chat_id)
            answer()
            self._go_on(chat_id)

        def not_stored(problem: NotStored) -> None:
            self._storing.discard(chat_id)
            try_again = again or partial(self.store, change, done, refused, chat_id=chat_id, gone=gone)
            report = refused or self._changes.not_stored.emit
            report(problem, lambda: self._when_free(chat_id, try_again))
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

    def request_of(self, reply_id: int, done: Callable[[Request | None], None]) -> None:
        """What would be asked for another version of a reply, or None; of a long chat it comes later."""
        reply = self._messages.message(reply_id)
        if reply is None:
            done(None)
        else:
            self._read(reply, lambda made: done(None if made is None else made.request), with_reply=False)

    def can_leave_out(self, reply: LiveReply) -> bool:
        """Whether messages before the exchange of a running reply can still be left out of its next prompt."""
        stored = self._messages.message(reply.message_id)
        asked = None if stored is None or stored.parent_id is None else self._messages.message(stored.parent_id)
        may = self._options.generation(reply.chat_id).values["long_chats"] != "ask"
        return may and asked is not None and asked.parent_id is not None and reply.reads_from != asked.id

    def go_on(self, message_id: int, *, may_call: bool) -> None:
        """Request the next step of a reply that called tools, as it is stored."""
        reply = self._messages.message(message_id)
        if reply is None:
            self._replies.end(message_id, ReplyStatus.STOPPED)
        elif not self._models.can_reply:
            self._replies.end(message_id, ReplyStatus.MODEL_CHANGED)
        else:
            self._read(reply, partial(self._submit, reply), may_call=may_call)

    def begins_with_files(self, chat_id: int) -> bool:
        """Whether the chat's latest prompt began with files of its project."""
        return chat_id in self._with_files

    def offered_to(self, message_id: int) -> dict[str, Tool]:
        """The tools of a running reply's latest request, by their names there."""
        return dict(self._offered.get(message_id, {}))

    def _request(self, chat_id: int, reply_id: int) -> None:
        """Has the reply that was stored written."""
        reply = self._messages.message(reply_id)
        if reply is None:  # it was deleted before it could be asked for
            self._storage.write(lambda stores: stores.messages.mark_stopped(reply_id), ignore, ignore)
        else:
            self._replies.begin(reply)
            self._read(reply, partial(self._submit, reply))
        self.requested.emit(chat_id, reply_id)

    def _submit(self, reply: StoredMessage, made: Made | None) -> None:
        """Where it was not stopped while a long branch was being read."""
        if made is None:
            self._replies.stop(reply.chat_id, lambda message_id: message_id == reply.id)
        elif self._replies.awaits_request(reply.id):
            self._models.wake()
            chat = self._storage.read.chats.summary(reply.chat_id)
            told = made.told
            self._replies.read_from(reply.id, told.reads_from, told.sources)
            self._replies.submit(reply.id, made.request, chat.title if chat else "", _names(self._models.pair))

    def _name_writer(self, message_id: int) -> None:
        """The model that it was asked of may not have been loaded, or another was chosen before it was requested."""
        pair = self._models.pair
        if pair.state is PairState.READY:
            self._replies.name_writer(message_id, pair.main_name, pair.draft_name, _names(pair))

    def _read(
        self,
        reply: StoredMessage,
        done: Callable[[Made | None], None],
        *,
        with_reply: bool = True,
        may_call: bool = True,
    ) -> None:
        """Make the request, with the tools that the chat may use: their servers may have to start first.

        None: the branch cannot be read, or nothing comes before the reply.
        """

        def read(tools: tuple[Tool, ...]) -> None:
            if with_reply:
                self._offered[reply.id] = by_flat_name(tools)
            read_branch = partial(self._read_branch, reply, done, tools, with_reply=with_reply, may_call=may_call)
            self._shared.get(self._options.folder_of(reply.chat_id), read_branch, reply.chat_id)

        self._tools.offered(reply.chat_id, read)

    def _read_branch(
        self,
        reply: StoredMessage,
        done: Callable[[Made | None], None],
        tools: tuple[Tool, ...],
        shared: str,
        *,
        with_reply: bool,
        may_call: bool,
    ) -> None:
        """A long branch, or one with pictures, is read by the storage's thread."""
        if with_reply:
            has_files = self._shared.whole_files(self._options.folder_of(reply.chat_id)).ids
            (self._with_files.add if has_files else self._with_files.discard)(reply.chat_id)
        system_prompt = self._generation(reply.chat_id, shared).system_prompt
        seen = self._pixels(reply.chat_id)
        info = self._models.main_info()
        of_results = seen if info is not None and info.sees else _unseen
        with_calls = self._tools.can_call() is CanCall.YES
        room = self._context_limit(reply.chat_id)

        def told(read: ReadMessages) -> Told | None:
            if not read.rest:
                return None
            branch = [*read.pinned, *read.rest]
            said = messages_with_sources(
                branch, system_prompt, seen, of_results, with_calls=with_calls, with_thinking=bool(tools)
            )
            first = read.rest[0]
            return _told(said, branch, None if first.parent_id is None else first.id)

        def answer(found: Told | None) -> None:
            if found is None:
                done(None)
                return
            request = replace(self._request_with(reply.chat_id, found.messages, shared), kept=found.kept)
            done(Made(with_tools(request, tools, may_call=may_call) if tools else request, found))

        if not self._messages.is_long(reply.chat_id):
            read = _read_for(self._storage.read, reply.id, room, with_reply)
            branch = (*read.pinned, *read.rest)
            if not any(each.is_picture for stored in branch for each in stored.attachments):
                answer(told(read))
                return
        self._storage.count(
            lambda stores: told(_read_for(stores, reply.id, room, with_reply)), answer, lambda: answer(None)
        )

    def _context_limit(self, chat_id: int) -> int:
        """That the chat may have with the model that is asked; 0: not known."""
        info = self._models.main_info()
        limit = self._options.generation(chat_id).values["context_tokens"]
        return 0 if info is None else min(info.context_tokens, limit or info.context_tokens)

    def _pixels(self, chat_id: int) -> PixelsOf:
        """What reads the pictures of a chat; nothing where it goes on without them."""
        if self._options.goes_without_pictures(chat_id):
            info = self._models.main_info()
            if info is None or not info.sees:
                return _unseen
        return partial(_picture, self._storage.pictures)

    def _generation(self, chat_id: int, shared: str) -> Generation:
        return replace(self._options.generation(chat_id), shared=shared)

    def _request_with(self, chat_id: int, messages: tuple[Message, ...], shared: str) -> Request:
        conversation = conversation_of(chat_id) if self._storage.keeps else UNSAVED
        return self._generation(chat_id, shared).request(messages, conversation, self._speculation(chat_id))

    def _speculate(self) -> None:
        """How a chat wants to draft counts for its running replies as well."""
        self._replies.speculate(self._speculation)

    def _speculation(self, chat_id: int) -> Speculation:
        wanted = self._options.generation(chat_id).speculation()
        off = self._models.pair.off_for_pair or self._replies.slowdown is Slowdown.BATTERY
        return replace(wanted, mode=SpeculationMode.OFF) if off else wanted


def _names(pair: PairView) -> str:
    """For the table of requests."""
    return f"{pair.main_name} ← {pair.draft_name}" if pair.draft_name else pair.main_name


def with_tools(request: Request, tools: Sequence[Tool], *, may_call: bool) -> Request:
    """`may_call` False: the tools stay in the prompt, which goes on, but the model has to answer."""
    names = tuple(tool.flat_name for tool in tools)
    definitions = tuple(tool.definition() for tool in tools)
    return replace(request, tools=definitions, strict_tools=names, may_call=may_call)


def _told(said: Sequence[tuple[Message, int]], branch: Sequence[StoredMessage], reads_from: int | None) -> Told:
    place = {stored.id: at for at, stored in enumerate(branch)}
    begins = [place.get(source, -1) for _, source in said]
    kept = {bisect_right(begins, at) - 1 for at, stored in enumerate(branch) if stored.pinned}
    messages, sources = zip(*said, strict=True) if said else ((), ())
    return Told(messages, sources, tuple(sorted(kept - {-1})), reads_from)


def _read_for(stores: Stores, reply_id: int, context_tokens: int, with_reply: bool) -> ReadMessages:
    """Nothing of what cannot be read."""
    try:
        read = stores.messages.read_for(reply_id, context_tokens)
    except sqlite3.Error as error:
        _log.warning("a chat could not be read for a reply: %s", type(error).__name__)
        return ReadMessages()
    return read if with_reply else replace(read, rest=read.rest[:-1])


def _unseen(_picture: Attachment) -> None:
    """In place of its pixels."""


def _picture(pictures: Pictures, attachment: Attachment) -> Picture | None:
    data = pictures.get(attachment.digest)
    found = None if data is None else rgb_of(data)
    return None if found is None else Picture(*found, attachment.digest)


def prompt_of(text: str, attachments: Iterable[Attachment]) -> str:
    """The attachments, each with its name and between fences that its text does not have, then the message."""
    return "\n\n".join([*(block_of(each) for each in attachments), *([text] if text else [])])


def block_of(attachment: Attachment) -> str:
    if attachment.is_picture:
        return f"Picture that is not shown: {_name(attachment, 'without a name')}"
    if attachment.kind is AttachmentKind.SEARCHED:
        return f"Document that can be searched: {_name(attachment)}"
    if attachment.kind is AttachmentKind.PASSAGES:
        return f"Passages of the documents. {CITING}\n{fenced(attachment.text)}"
    if attachment.kind is AttachmentKind.NOTE:
        return f"Attachment that is not here: {_name(attachment)}"
    return f"Attachment: {_name(attachment)}\n{fenced(attachment.text)}"


def title_of(attachments: Iterable[Attachment]) -> str:
    """For a chat that begins without words: the name of a file, or how a pasted text begins."""
    first = next(iter(attachments), None)
    return "" if first is None else first.name or first.text.strip()[:500]


def _name(attachment: Attachment, nameless: str = _PASTED) -> str:
    """On one line, whatever the file is called."""
    return " ".join("".join(filter(str.isprintable, attachment.name)).split()) or nameless


def messages_with_sources(
    branch: Iterable[StoredMessage],
    system_prompt: str,
    seen: PixelsOf,
    of_results: PixelsOf = _unseen,
    *,
    with_calls: bool,
    with_thinking: bool,
) -> list[tuple[Message, int]]:
    """The system prompt and the branch as chat templates require them: no empty message, and alternating roles.

    Each with the stored message that it begins with; 0: the system prompt.

    Calls of tools are left out, unless the model is one that can call: other templates have no place for them. Each has
    a result then, and the thinking before it. Other thinking is left out, because models are trained to see only their
    earlier answers, unless `with_thinking`: then the template decides. Of a picture without pixels the prompt says that
    there was one. `of_results`: pixels of pictures in results, which a model that does not see goes without.
    """
    said = [(Message(MessageRole.SYSTEM, system_prompt.strip()), 0)] if system_prompt.strip() else []
    for stored in branch:
        for each in _said(stored, seen, of_results, with_calls=with_calls, with_thinking=with_thinking):
            if not (each.content.strip() or each.pictures or each.tool_calls or each.role is MessageRole.TOOL):
                continue
            former, source = said[-1] if said else (None, 0)
            if each.role is MessageRole.USER and former is not None and former.role is MessageRole.TOOL:
                said.append((Message(MessageRole.ASSISTANT, _BROKE_OFF), source))
            if former is not None and source and _joins(former, each):
                said[-1] = _joined(former, each), source
            else:
                said.append((each, stored.id))
    return said


def _said(
    stored: StoredMessage, seen: PixelsOf, of_results: PixelsOf, *, with_calls: bool, with_thinking: bool
) -> list[Message]:
    if stored.is_summary:
        return [Message(MessageRole.USER, f"{_SUMMARY}\n\n{stored.text.strip()}")]
    if stored.role is not MessageRole.ASSISTANT:
        shown, written = _parted(stored.attachments, seen)
        text = "\n\n".join(each.text for each in of_kind(Text, all_parts(stored)))
        return [Message(stored.role, prompt_of(text, written), pictures=shown)]
    steps, files = steps_of(settled(all_parts(stored)))
    said: list[Message] = []
    text = prompt_of("", files)  # templates have no place for pictures in a reply
    for step in steps:
        text = "\n\n".join(filter(None, (text, step.text)))
        if step.calls and with_calls:
            calls = tuple(ToolCall(each.id, each.name, each.arguments) for each in step.calls)
            said.append(Message(stored.role, text, reasoning=step.thinking, tool_calls=calls))
            said += (_answered(each, of_results) for each in step.calls)
            text = ""
    goes_on = stored.status is ReplyStatus.STREAMING
    thinking = stored.thinking if with_thinking and not goes_on else ""
    return [*said, Message(stored.role, text, reasoning=thinking)]


def _parted(attachments: Attachments, seen: PixelsOf) -> tuple[tuple[Picture, ...], list[Attachment]]:
    """Pictures with pixels, and all else."""
    pictures = {each: seen(each) for each in attachments if each.is_picture}
    shown = tuple(found for each in attachments if (found := pictures.get(each)) is not None)
    return shown, [each for each in attachments if pictures.get(each) is None]


def _answered(call: CallView, seen: PixelsOf) -> Message:
    shown, written = _parted(call.pictures, seen)
    text = call.result if call.state in (CallState.DONE, CallState.FAILED) else _WITHOUT_RESULT[call.state]
    text = "\n\n".join(filter(None, (text, *(block_of(each) for each in written))))
    return Message(MessageRole.TOOL, text, tool_call_id=call.id, name=call.name, pictures=shown)


def _joins(former: Message, latter: Message) -> bool:
    return former.role is latter.role is not MessageRole.TOOL and not former.tool_calls


def _joined(former: Message, latter: Message) -> Message:
    text = "\n\n".join(filter(None, (former.content, latter.content)))
    thinking = "\n\n".join(filter(None, (former.reasoning, latter.reasoning)))
    return replace(latter, content=text, reasoning=thinking, pictures=former.pictures + latter.pictures)


def title_from(text: str) -> str:
    """The first line, cut to TITLE_LENGTH, at a word boundary if there is one."""
    lines = text.lstrip()[:_READ_FOR_TITLE].splitlines()
    first = " ".join(lines[0].split()) if lines else ""
    if len(first) <= TITLE_LENGTH:
        return first
    start, _, last_word = first[:TITLE_LENGTH].rpartition(" ")
    return (start if start and len(last_word) < TITLE_LENGTH // 2 else first[:TITLE_LENGTH]).rstrip() + "…"


def conversation_of(chat_id: int) -> str:
    """A chat's name to the engine."""
    return str(chat_id)
