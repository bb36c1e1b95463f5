"""Requests in the queue, until they become replies, are cancelled or fail. Engine thread only."""

from __future__ import annotations

import secrets
import time
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

from engine.api.errors import ContextTooLong
from engine.api.events import Failed, Finished, PromptFits, PromptProgress, PromptTruncated, Sink
from engine.api.stats import RequestStats
from engine.api.types import FinishReason, Request, RequestId, Speculation, Truncation
from engine.caches.checkpoints import needs_checkpoints
from engine.decoding.prompt import (
    Prompt,
    encode_plain,
    grammar_of,
    reply_begin,
    shared_end,
    spelling_of,
    turn_end,
    with_places,
)
from engine.decoding.sequence import Sequence
from engine.decoding.truncation import can_truncate, fitted
from engine.drafting.controller import History
from engine.models.encoding import BETWEEN_S, AwaitedThread, apart
from engine.models.loading import LoadedModel
from engine.models.watch import Question
from engine.prefix.memory import PrefixStore
from engine.runtime.reply import Reply, Submitted, logged
from engine.runtime.requests import check_tokens, context_limit, speculating
from engine.vision.seeing import ModelVision, SequencePictures
from engine.vision.values import spans_in, without_names

_AHEAD = 4  # number of requests at the head of the queue whose prompts are prepared in parallel
_LONG_SYSTEM = 1000  # characters; less is read again sooner than a checkpoint is worth its memory
_ADDED_BYTES = 16  # most bytes that a tokenizer adds: what begins and ends a text, and a space before its first word


class QueuedReply(Submitted):
    """A request in the queue, checked by `requests.check_request`.

    Its prompt is made on a thread of its own, from the first call of `is_ready` on. It becomes a reply by `start`, or
    ends by `cancel` or `fail`.
    """

    def __init__(self, request_id: RequestId, request: Request, sink: Sink) -> None:
        self.id = request_id
        self.request = request
        self.sink = sink
        self.forgotten = False  # its conversation was deleted: it runs, but its caches are not kept
        self.answers_now = False  # its thinking ends after its first token
        self.submitted_at = self.started_at = time.perf_counter()
        self.seed = request.sampling.seed if request.sampling.seed is not None else secrets.randbits(53)
        self._prompt: AwaitedThread[Prompt] | None = None  # in progress, or done
        self._fits = False  # whether PromptFits is posted, on that thread

    def is_ready(self, model: LoadedModel, patience_s: float = 0.0) -> bool:
        """Whether `start` would not wait; waits up to `patience_s` seconds for the prompt.

        Call `unprepare` before the model changes.
        """
        try:
            return self._is_made or self._prepared(model).wait(patience_s)
        except Exception:  # noqa: BLE001  `start` raises it again
            return True

    @property
    def _is_made(self) -> bool:
        """Whether the prompt needs no encoding, no grammar and no token texts."""
        asked = self.request
        return bool(asked.tokens) and asked.logprobs is None and not (asked.prediction or asked.constraint)

    def unprepare(self) -> None:
        """Drop the prompt: it was made for another model."""
        ahead = self._prompt
        self._prompt = None
        if ahead is not None:
            ahead.stop()

    def start(self, model: LoadedModel, store: PrefixStore, history: History, *, may_copy: bool = False) -> Reply:
        """Make the reply, with the kept cache that `PrefixStore.take` finds; waits until the prompt is made.

        `may_copy`: False with a drafter, which would lack the hidden states of what was copied; where the request
        has `shared_characters` it is copied nevertheless.
        """
        ahead = self._prepared(model)
        self._prompt = None
        prompt = ahead.result()
        self.started_at = time.perf_counter()
        if prompt.first:
            self.request = replace(self.request, messages=prompt.messages, kept=())
            self.sink(PromptTruncated(self.id, prompt.first))
        fresh = self.request.transient or self.request.prompt_logprobs
        tokens = prompt.tokens
        owner = self.request.owner
        take = partial(store.take, owner=owner, may_copy=may_copy or self.request.shared_characters > 0)
        sequence = Sequence(model, tokens, owner=owner) if fresh else take(model, tokens)
        sequence.conversation = self.request.conversation
        sequence.forgotten = self.forgotten
        try:
            sequence.pictures = SequencePictures(ModelVision.of(model), prompt.pictures) if prompt.pictures else None
            reply = Reply(self, sequence, prompt, store, history)
            if self.answers_now:
                reply.answer_now()
        except BaseException:
            store.put(sequence)  # unchanged
            raise
        self.sink(PromptProgress(self.id, reply.sequence.caches.position, len(tokens)))
        return reply

    def keep_only(self, conversations: Collection[str]) -> None:
        """Keep its caches only if its conversation is one of these, or it has none."""
        self.forgotten |= self.request.conversation not in {"", *conversations}

    def cancel(self, reason: FinishReason = FinishReason.CANCELLED) -> None:
        self.unprepare()
        self.sink(Finished(self.id, reason, RequestStats(), (), self.seed))

    def fail(self, error: BaseException) -> None:
        self.unprepare()
        self.sink(Failed(self.id, logged(error), RequestStats()))

    def _prepared(self, model: LoadedModel) -> AwaitedThread[Prompt]:
        if self._prompt is None:
            exact = needs_checkpoints(model.make_caches())  # other caches can be truncated anywhere
            self._prompt = AwaitedThread(partial(_prompt_of, self.request, model, exact, self._post_fit))
        return self._prompt

    def _post_fit(self) -> None:
        """Post PromptFits, once, although a prompt is made again for another model."""
        if not self._fits:
            self._fits = True
            self.sink(PromptFits(self.id))


class RequestQueue:
    """Requests in the queue, by priority. The first whose prompt is ready starts next."""

    def __init__(self) -> None:
        self._waiting: list[QueuedReply] = []

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def first_priority(self) -> int | None:
        return self._waiting[0].request.priority if self._waiting else None

    def up_to(self, priority: int) -> int:
        """Number of requests of this priority or a lower one; they come first in the queue."""
        return sum(queued.request.priority <= priority for queued in self._waiting)

    def add(self, queued: QueuedReply) -> None:
        self._waiting.insert(self.up_to(queued.request.priority), queued)

    def ready(self, model: LoadedModel | None, priority: int, *, patient: bool) -> QueuedReply | None:
        """The request of at most this priority to start next, if any; without a model the first, to fail.

        `patient`: wait a little for the first prompt, since the engine is idle.
        """
        first = self._waiting[: min(self.up_to(priority), _AHEAD)]
        if model is None or not first:
            return first[0] if first else None
        ready = [queued for queued in first if queued.is_ready(model)]
        if not ready and patient and first[0].is_ready(model, BETWEEN_S):
            return first[0]
        return ready[0] if ready else None

    def remove(self, queued: QueuedReply) -> None:
        self._waiting.remove(queued)

    def unprepare(self) -> None:
        for queued in self._waiting:
            queued.unprepare()

    def cancel(self, request: RequestId) -> None:
        for queued in self._of(request):
            self._waiting.remove(queued)
            queued.cancel()

    def cancel_all(self) -> None:
        while self._waiting:
            self._waiting.pop(0).cancel()

    def fail_all(self, error: BaseException) -> None:
        while self._waiting:
            self._waiting.pop(0).fail(error)

    def keep_only(self, conversations: Collection[str]) -> None:
        for queued in self._waiting:
            queued.keep_only(conversations)

    def answer_now(self, request: RequestId) -> None:
        for queued in self._of(request):
            queued.answers_now = True

    def set_speculation(self, request: RequestId, speculation: Speculation) -> None:
        for queued in self._of(request):
            queued.request = speculating(queued.request, speculation)

    def _of(self, request: RequestId) -> list[QueuedReply]:
        return [queued for queued in self._waiting if queued.id == request]


def _prompt_of(
    request: Request, model: LoadedModel, exact: bool, fits: Callable[[], None], aborted: Question
) -> Prompt:
    """The prompt, if it fits the model's context. `exact`: see `turn_end`; `fits`: called early, see PromptFits."""
    request = with_places(request, model, aborted)
    check_tokens("logit_bias", [token for token, _ in request.sampling.logit_bias], model.logit_width)
    limit = context_limit(request, model.info.context_tokens)

    def judge(text: str, before: int) -> None:
        pictures = any(message.pictures for message in request.messages)
        room = limit - before
        if text and not pictures and len(text) < room and _most_bytes(text) < room:
            fits()

    grammar = grammar_of(request, model, aborted)
    fit = fitted(request, model, limit, aborted, judge)
    request = fit.request
    tokens = fit.tokens
    check_tokens("tokens", request.tokens or without_names(tokens), model.logit_width)
    if len(tokens) >= limit:
        raise ContextTooLong(limit, len(tokens), can_truncate(request))
    end = turn_end(request, model, tokens, aborted, exact=exact)
    begin = reply_begin(request, model, tokens, end, aborted)
    shared = shared_end(_sharing(request), model, tokens, aborted) if exact else 0
    pictures = [picture for message in request.messages for picture in message.pictures]
    spans = []
    if pictures and model.vision is not None:
        spans = spans_in(tokens, pictures, model.vision, request.picture_detail)
    spelling = apart(partial(spelling_of, model), aborted) if request.logprobs is not None else None
    expected = encode_plain(request.prediction, model, aborted) if request.prediction else []
    expected = [token for token in expected[: limit - len(tokens)] if token < model.logit_width]
    return Prompt(tokens, end, shared, begin, tuple(spans), grammar, spelling, expected, request.messages, fit.first)


def _sharing(request: Request) -> Request:
    """A chat that may be cut shares a long system message with itself after the cut."""
    system = request.messages[0].content if request.messages else ""
    if request.truncation is Truncation.NONE or request.shared_characters or len(system) < _LONG_SYSTEM:
        return request
    return replace(request, shared_characters=len(system))


def _most_bytes(text: str) -> int:
    """An upper bound of the text's tokens: some tokenizers first write a character as several others."""
    return len(unicodedata.normalize("NFKD", text).encode(errors="surrogatepass")) + _ADDED_BYTES
