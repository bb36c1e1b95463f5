"""One request from its first look at the prompt to its last event: prefill, rounds, text, statistics, endings.

Knows its own model pair only; which reply runs when is `scheduler.py`'s business.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence as Tokens
from itertools import groupby
from typing import TYPE_CHECKING

from engine.api.errors import ContextTooLong, EngineError
from engine.api.events import Event, Failed, Finished, PromptProgress, Sink, TextDelta
from engine.api.stats import StatsRecorder
from engine.api.types import DraftingState, FinishReason, Request, RequestId, SpeculationMode
from engine.caches.checkpoints import needs_checkpoints
from engine.decoding.round import Round, decode_round
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.decoding.text import ReplyText, Span, goes_on, prompt_tokens, spared_tokens, turn_end
from engine.drafting.controller import RoundCosts
from engine.drafting.planner import Drafting
from engine.drafting.proposers.base import Proposer
from engine.runtime.requests import check_request, check_tokens

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel
    from engine.prefix.memory import PrefixStore

# Timing the parts of a round needs one more wait for the device, so only one round in this many pays it.
_TIMED_EVERY_ROUNDS = 8


class Reply:
    def __init__(self, request_id: RequestId, request: Request, sink: Sink) -> None:
        self.id = request_id
        self.request = request
        self.cancelled = False
        self.out_of_memory = False
        self._sink = sink
        self._stats = StatsRecorder(submitted_at=time.perf_counter())
        self._spans: list[Span] = []
        self._emitted: list[int] = []
        self._reason: FinishReason | None = None
        self._drafting: Drafting | None = None
        self._soon = False  # the next round is to draft
        self._seed = request.sampling.seed if request.sampling.seed is not None else secrets.randbits(53)

    def start(self, model: LoadedModel, store: PrefixStore, costs: RoundCosts) -> None:
        """Turn the request into tokens and take what the store already has of them."""
        check_request(self.request)
        prompt = prompt_tokens(self.request, model)
        check_tokens("tokens", prompt, model.logit_width)
        check_tokens("logit_bias", [token for token, _ in self.request.sampling.logit_bias], model.logit_width)
        limit = model.info.context_tokens
        if len(prompt) >= limit:
            raise ContextTooLong(limit, len(prompt))
        self._stats.started_at = time.perf_counter()
        self._store = store
        self._costs = costs
        self._sequence = store.take(model, prompt)
        exact = needs_checkpoints(self._sequence.caches)  # others go back to anywhere
        self._sequence.turn_end = turn_end(self.request, model, prompt) if exact else len(prompt) - 1
        self._text = ReplyText(model, prompt, self.request.stop, within=goes_on(self.request))
        self._ends = model.ends
        self._room = min(self.request.max_tokens or limit, limit - len(prompt))
        acceptance = self.request.speculation.acceptance
        self._sampler = Sampler(
            self.request.sampling, self._seed, model.logit_width, prompt, spared_tokens(model), acceptance
        )
        self._stats.prompt_tokens = self._stats.context_tokens = len(prompt)
        self._stats.cached_tokens = self._sequence.caches.position
        self._stats.context_limit_tokens = limit
        self._post(PromptProgress(self.id, self._stats.cached_tokens, len(prompt)))

    def draft_with(self, drafting: Drafting | None) -> None:
        """Draft like this from the next round on, or not at all."""
        self._drop_drafting()
        self._drafting = drafting if drafting is not None and self.may_draft else None
        self._sequence.taps = None
        if self._drafting is not None:
            self._drafting.tap(self._sequence)

    @property
    def may_draft(self) -> bool:
        return self.request.speculation.mode is not SpeculationMode.OFF and self._sequence.caches.can_roll_back

    @property
    def sequence(self) -> Sequence:
        return self._sequence

    @property
    def sampler(self) -> Sampler:
        return self._sampler

    @property
    def reading(self) -> bool:
        """Whether its caches still lack some of the prompt; one of a single token is read by the first round."""
        return self._sequence.unread > 1 or self._sequence.caches.position == 0

    @property
    def room(self) -> int:
        """How many more tokens it may have."""
        return self._room - len(self._emitted)

    @property
    def interrupted(self) -> bool:
        """Whether its next step is its last, whatever it has written."""
        return self.cancelled or self.out_of_memory

    @property
    def ended(self) -> bool:
        return self._reason is not None

    def step(self, *, alone: bool = True) -> bool:
        """One prefill chunk or one round; True when the reply has come to its end.

        Unless it is `alone` nothing is left in flight, which the steps of others would hold up.
        """
        if self.cancelled:
            self._finish(FinishReason.CANCELLED)
        elif self.out_of_memory:
            self._finish(FinishReason.MEMORY)
        elif not (self._sequence.ready and alone) and self._sequence.unread > 1:
            self._read_on()
        else:
            self._decode(alone)
        return self.ended

    def begin_shared_round(self) -> None:
        """A step of a batch that this reply is in begins."""
        self._stats.drafting = self._undrafted_state() if self._drafting is None else DraftingState.BATCHED

    def receive(self, token: int) -> None:
        """What a step of a batch drew for this reply. Its caches are the batch's business; `take` is to follow."""
        self._ending([token])
        self._sequence.tokens.append(token)
        self._sampler.commit([token])

    def fail(self, error: EngineError) -> None:
        """End with an error. Its caches are in doubt, so they go."""
        self._drafting = None
        self._post(Failed(self.id, error, self._stats.freeze()))

    def finish_unstarted(self) -> None:
        self._post(Finished(self.id, FinishReason.CANCELLED, self._stats.freeze(), (), self._seed))

    def _read_on(self) -> None:
        self._sequence.prefill_chunk()
        self._post(PromptProgress(self.id, self._sequence.caches.position, self._stats.prompt_tokens))

    def _decode(self, alone: bool) -> None:
        proposer, length = self._plan()
        done = decode_round(
            self._sequence,
            self._sampler,
            proposer,
            length,
            self._ending,
            look_ahead=alone and length == 0 and self._goes_on_plainly(),
            timed=length > 0 and self._stats.draft_rounds % _TIMED_EVERY_ROUNDS == 0,
        )
        if self._drafting is not None:
            timed_next = (self._stats.draft_rounds + 1) % _TIMED_EVERY_ROUNDS == 0  # with all that belongs to it
            self._drafting.observe(done, reads_on=alone and self._reason is None and not timed_next)
        elif done.typical:
            self._costs.observe("", 0, done.seconds)
        self.take(done, others_s=0.0 if alone else self._since_last_token_s() - done.seconds)

    def take(self, done: Round, *, others_s: float | None = None) -> None:
        """A round of this reply is done: count it, tell it, and end if it was the last.

        `others_s` is what steps of other replies took since the round before; None: this round was shared with them.
        """
        if self._emitted:
            self._stats.shared_rounds += others_s is None
            self._stats.shared_s += self._since_last_token_s() if others_s is None else max(0.0, others_s)
        self._count(done)
        self._emitted.extend(done.emitted)
        if self._reason is not None:
            self._finish(self._reason)
        else:
            self._tell()

    def _plan(self) -> tuple[Proposer | None, int]:
        """Who drafts how many tokens now. Neither the first token nor a step in flight waits for a draft."""
        if self._drafting is None:
            self._stats.drafting = self._undrafted_state()
            return None, 0
        if not self._emitted:
            self._stats.drafting = DraftingState.CATCHING_UP
            return None, 0
        self._drafting.hear(self._sequence)
        proposer, length = self._drafting.plan(self._sequence.tokens, self.room - 1)
        self._stats.drafting = self._drafting.state
        self._soon = length > 0
        if length and self._sequence.in_flight is not None:
            self._drafting.put_off()
            return None, 0
        return proposer, length

    def _undrafted_state(self) -> DraftingState:
        if self.request.speculation.mode is SpeculationMode.OFF:
            return DraftingState.OFF
        return DraftingState.NO_DRAFT if self._sequence.caches.can_roll_back else DraftingState.UNSUPPORTED

    def _goes_on_plainly(self) -> bool:
        """Whether the next round will be plain too, so that it may take off before this one's token is read.

        Not before the first token, which on a CPU would wait for both.
        """
        drafting_soon = self._soon or self._stats.drafting in (DraftingState.ACTIVE, DraftingState.CATCHING_UP)
        goes_on = bool(self._emitted) and self.room > 1
        return goes_on and not drafting_soon and self._sequence.caches.can_roll_back

    def _ending(self, emitted: Tokens[int]) -> int:
        """Turn a round's tokens into text; how many stand before the reply ends, all if it goes on."""
        for count, token in enumerate(emitted, start=1):
            if token in self._ends:
                self._reason = FinishReason.STOP
                return count
            self._spans.extend(self._text.push(token))
            if self._text.stopped:
                self._reason = FinishReason.STOP
                return count
            if len(self._emitted) + count >= self._room:
                self._reason = FinishReason.LENGTH if self._room == self.request.max_tokens else FinishReason.CONTEXT
                return count
        return len(emitted)

    def _since_last_token_s(self) -> float:
        return time.perf_counter() - self._stats.last_token_at

    def _count(self, done: Round) -> None:
        stats = self._stats
        stats.last_token_at = time.perf_counter()
        if not stats.rounds:
            stats.first_token_at = stats.last_token_at
        stats.count_round(done.drafted, done.accepted, len(done.emitted), done.seconds)
        if done.draft_s:
            stats.count_times(done.draft_s, done.verify_s, done.seconds)
        stats.plain_token_s = self._costs.plain_s
        stats.draft_speed = self._costs.draft_speed if stats.drafting is DraftingState.PARKED else 0.0
        stats.proposer = self._drafting.source if self._drafting is not None and done.drafted else stats.proposer
        stats.context_tokens += len(done.emitted)

    def _finish(self, reason: FinishReason) -> None:
        self._reason = reason
        self._spans.extend(self._text.finish())
        self._tell()
        self._drop_drafting()
        self._sequence.discard_in_flight()
        self._store.put(self._sequence)
        self._post(Finished(self.id, reason, self._stats.freeze(), tuple(self._emitted), self._seed))

    def _drop_drafting(self) -> None:
        self._soon = False
        if self._drafting is not None:
            self._drafting.close()
            self._drafting = None

    def _tell(self) -> None:
        stats = self._stats.freeze() if self._spans else None
        for kind, spans in groupby(self._spans, key=lambda span: span.kind):
            assert stats is not None
            self._post(TextDelta(self.id, kind, "".join(span.text for span in spans), stats))
        self._spans.clear()

    def _post(self, event: Event) -> None:
        self._sink(event)
