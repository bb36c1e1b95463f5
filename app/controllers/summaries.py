"""Summaries of what the model no longer reads of a chat, for chats that want one.

After a cut the main model writes one in the background, of the summary before it and what was left out since, in pieces
that fit its context. It becomes a message of its own where reading begins; the next request has it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.background_reply import BackgroundReply
from app.controllers.chat_options import ChatOptions
from app.controllers.models import ModelController
from app.controllers.replies import RunningReplies
from app.markup.kinds import Language, kind_of
from app.settings import comes_with_app
from app.storage import Storage, StoredMessage, Stores
from app.system.worker import ignore
from app.view_models.model_list import PairState
from app.view_models.tools import steps_of
from engine import ChatEngine, ContextTooLong, Failed, Finished, FinishReason, MessageRole

_MOST_TOKENS = 512  # of a summary
_SHARE = 8  # and at most one of so many parts of the context
_MOST_PIECES = 8  # what is older is not in it
_LEAST_PIECE = 400  # characters; a context that does not hold so many gets no summary
_ASKED: dict[str, str] = {  # by Language
    "en": "Summarise the conversation below in at most 200 words, with facts, decisions and open questions."
    " Answer with the summary only.",
    "ko": "아래 대화를 한국어로 200단어 이내로 요약해 주세요. 사실, 결정, 이름, 남은 질문을 담고, 요약만 답하세요.",
    "ja": "次の会話を日本語で400文字以内に要約してください。事実、決定、未解決の質問を含め、要約だけを答えてください。",
    "zh": "请用中文把下面的对话概括在三百字以内，包括事实、决定、名字和未解决的问题。只回答摘要。",
}
_SPEAKERS = {MessageRole.USER: "User", MessageRole.ASSISTANT: "Assistant", MessageRole.SYSTEM: "Summary so far"}


@dataclass(slots=True)
class _Job:
    chat_id: int
    first_id: int  # the message from which on the model reads
    texts: list[str]  # of what it no longer reads, the oldest first
    messages: int  # how many these are
    piece: int = 0  # characters of them in one request
    most_tokens: int = 0
    done: int = 0  # characters that the summary has
    summary: str = ""

    @property
    def text(self) -> str:
        return "\n\n".join(self.texts)


class Summaries(QObject):
    written = Signal(int)  # chat: it has a message more

    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        storage: Storage,
        models: ModelController,
        options: ChatOptions,
        replies: RunningReplies,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._storage = storage
        self._models = models
        self._options = options
        self._replies = replies
        self._waiting: list[_Job] = []  # the first is being written
        self._ready: list[_Job] = []  # written, for chats with a running reply
        self._given_up: set[int] = set()  # messages before which none could be written
        self._reply = BackgroundReply(engine, bridge, self._on_end, math.inf)
        models.pair_changed.connect(self._go_on)
        replies.stored.connect(self._on_reply)

    def close(self) -> None:
        self._waiting.clear()
        self._reply.cancel()

    def _on_reply(self, chat_id: int, _status: object) -> None:
        """A reply in this chat is on disk."""
        for job in [each for each in self._ready if each.chat_id == chat_id]:
            self._store(job)
        wants = self._options.generation(chat_id).values["long_chats"] == "summary"
        if wants and not comes_with_app(self._models.main_setting):
            self._storage.count(partial(_left_out, chat_id), self._add)

    def _add(self, job: _Job | None) -> None:
        info = self._models.main_info()
        known = {each.first_id for each in (*self._waiting, *self._ready)} | self._given_up
        if job is not None and info is not None and job.first_id not in known:
            limit = self._options.generation(job.chat_id).values["context_tokens"] or info.context_tokens
            job.piece = min(limit, info.context_tokens)
            job.most_tokens = max(1, min(_MOST_TOKENS, job.piece // _SHARE))
            self._waiting.append(job)
            self._go_on()

    def _go_on(self) -> None:
        if not self._reply.is_running and self._waiting and self._models.pair.state is PairState.READY:
            job = self._waiting[0]
            self._reply.ask(_prompt(job), job.most_tokens)

    def _on_end(self, event: Finished | Failed) -> None:
        if self._waiting:
            self._take(self._waiting[0], event)
        self._go_on()

    def _take(self, job: _Job, event: Finished | Failed) -> None:
        """The next piece; or a smaller one, where it did not fit."""
        if isinstance(event, Failed):
            job.piece //= 2
            if not isinstance(event.error, ContextTooLong) or job.piece < _LEAST_PIECE:
                self._given_up.add(self._waiting.pop(0).first_id)
        elif event.reason in (FinishReason.CANCELLED, FinishReason.MODEL_CHANGED):
            self._waiting.pop(0)
        elif not self._reply.text.strip():
            self._given_up.add(self._waiting.pop(0).first_id)
        else:
            job.summary = self._reply.text.strip()
            job.done += job.piece
            if job.done >= len(job.text):
                self._waiting.pop(0)
                self._store(job)

    def _store(self, job: _Job) -> None:
        """Not before a running reply has ended, which names the message that it was read from."""
        if job in self._ready:
            self._ready.remove(job)
        if job.chat_id in self._replies.chats():
            self._ready.append(job)
            return

        def stored(number: int | None) -> None:
            if number is not None:
                self.written.emit(job.chat_id)

        put = partial(_put, job)
        self._storage.write(put, stored, ignore)


def _put(job: _Job, stores: Stores) -> int | None:
    """Unless the messages that it is of have changed since."""
    told = stores.messages.since_summary(job.chat_id, job.first_id)
    if _texts(told[:-1]) != job.texts:
        return None
    return stores.messages.put_summary(job.first_id, job.summary, job.messages)


def _left_out(chat_id: int, stores: Stores) -> _Job | None:
    """What the latest reply was read without, from the latest summary on; None: nothing that has no summary yet."""
    left = stores.messages.left_out(chat_id)
    if not left or left[-1].is_summary or all(each.is_summary for each in left[:-1]):
        return None
    *out, first = left
    return _Job(chat_id, first.id, _texts(out), sum(not each.is_summary for each in out))


def _texts(messages: Sequence[StoredMessage]) -> list[str]:
    return [f"{_SPEAKERS[each.role]}: {said}" for each in messages if (said := _said(each))]


def _said(message: StoredMessage) -> str:
    steps, _ = steps_of(message.parts)
    return "\n\n".join(filter(None, (*(each.text for each in steps), message.text.strip())))


def _prompt(job: _Job) -> str:
    """Half of the context for a piece, at about two characters a token; what is too much is tried again with less."""
    text = job.text
    job.done = max(job.done, len(text) - _MOST_PIECES * job.piece)
    piece = text[job.done : job.done + job.piece]
    spoken = kind_of(piece).language or Language.ENGLISH
    summary = [f"{_SPEAKERS[MessageRole.SYSTEM]}: {job.summary}"] if job.summary else []
    return "\n\n".join([_ASKED[spoken], "---", *summary, piece])
