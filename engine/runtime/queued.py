"""A request that waits for its turn, until it is a reply, is cancelled or fails."""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection
from typing import TYPE_CHECKING

from engine.api.errors import ContextTooLong
from engine.api.events import Failed, Finished, PromptProgress, Sink
from engine.api.stats import RequestStats
from engine.api.types import FinishReason, Request, RequestId
from engine.decoding.sequence import Sequence
from engine.decoding.text import prompt_tokens
from engine.drafting.controller import History
from engine.models.watch import Question, never
from engine.runtime.faults import logged
from engine.runtime.reply import Reply
from engine.runtime.requests import check_tokens, context_limit

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel
    from engine.prefix.memory import PrefixStore


class QueuedReply:
    """A request that waits for its turn, checked by `requests.check_request`.

    It becomes a reply by `start`, or ends by `cancel` or `fail`.
    """

    def __init__(self, request_id: RequestId, request: Request, sink: Sink, aborted: Question = never) -> None:
        """`aborted`: whether its start is not wanted any more, asked while that goes on."""
        self.id = request_id
        self.request = request
        self.sink = sink
        self.aborted = aborted
        self.forgotten = False  # its conversation was deleted: it is written, and nothing of it is kept
        self.submitted_at = self.started_at = time.perf_counter()
        self.seed = request.sampling.seed if request.sampling.seed is not None else secrets.randbits(53)

    def start(self, model: LoadedModel, store: PrefixStore, history: History, *, may_copy: bool = False) -> Reply:
        """Turn the request into tokens and take what the store already has of them, as `PrefixStore.take` says.

        `may_copy`: not for a drafter of states, which may lack those of what was copied.

        Raises Aborted when it was aborted meanwhile; it is as before, and may start again.
        """
        prompt = prompt_tokens(self.request, model, self.aborted)
        check_tokens("tokens", prompt, model.logit_width)
        check_tokens("logit_bias", [token for token, _ in self.request.sampling.logit_bias], model.logit_width)
        limit = context_limit(self.request, model.info.context_tokens)
        if len(prompt) >= limit:
            raise ContextTooLong(limit, len(prompt))
        self.started_at = time.perf_counter()
        fresh = self.request.transient
        sequence = Sequence(model, prompt) if fresh else store.take(model, prompt, may_copy=may_copy)
        sequence.conversation, sequence.forgotten = self.request.conversation, self.forgotten
        reply = Reply(self, sequence, prompt, store, history)
        self.sink(PromptProgress(self.id, reply.sequence.caches.position, len(prompt)))
        return reply

    def keep_only(self, conversations: Collection[str]) -> None:
        """Leave nothing behind once it is written, unless its conversation is one of these, or none."""
        self.forgotten |= self.request.conversation not in {"", *conversations}

    def cancel(self) -> None:
        self.sink(Finished(self.id, FinishReason.CANCELLED, RequestStats(), (), self.seed))

    def fail(self, error: BaseException) -> None:
        self.sink(Failed(self.id, logged(error), RequestStats()))
