"""A reply from its prompt to its last event: prefill, rounds, text, statistics. Engine thread only.

Knows its own model pair only; `scheduler.py` decides which reply runs when.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Sequence as Tokens
from dataclasses import replace
from enum import Enum, auto
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from engine.api.errors import EngineError, as_engine_error
from engine.api.events import Event, Failed, Finished, PromptProgress, Sink, TextDelta, TokensScored, ToolCalled
from engine.api.stats import RequestStats, StatsRecorder
from engine.api.types import (
    MAX_DRAFT_TOKENS,
    DraftingState,
    FinishReason,
    Request,
    RequestId,
    RoundTrace,
    SpeculationMode,
    TokenScore,
)
from engine.decoding.accept import NO_DRAFT, Draft, integers
from engine.decoding.round import Round, Times, cut_at_end, plain_round, timed_round
from engine.decoding.sampling import Sampler
from engine.decoding.scores import Score, Scores
from engine.decoding.sequence import Sequence
from engine.decoding.text import Prompt, ReplyText, Span, goes_on, spared_tokens
from engine.decoding.tool_calls import ToolSyntax
from engine.drafting.controller import Controller, History
from engine.drafting.costs import Account
from engine.drafting.planner import Drafting
from engine.drafting.plans import PLAIN, Plan
from engine.drafting.proposers.base import Proposer
from engine.drafting.proposers.forced import ForcedProposer
from engine.drafting.proposers.predicted import PredictedProposer
from engine.runtime.draft_marks import DraftMarks
from engine.runtime.requests import context_limit
from engine.vision.values import without_names

if TYPE_CHECKING:
    import mlx.core as mx

    from engine.models.loading import LoadedModel
    from engine.prefix.memory import PrefixStore

_log = logging.getLogger(__name__)

# Timing the parts of a round costs a wait for the device, so only one round in this many is timed.
TIMED_EVERY_ROUNDS = 8


class ReplyState(Enum):
    READING = auto()  # prefill: its caches lack some of the prompt
    WRITING = auto()
    INTERRUPTED = auto()  # cancelled or ended from outside: its next step is the last
    COMPLETE = auto()  # its last token is drawn; that round's text is not posted yet
    ENDED = auto()  # its last event is posted


class Submitted:
    """A request as its reply takes it over from the queue; seconds are those of `time.perf_counter`."""

    id: RequestId
    request: Request
    sink: Sink
    seed: int
    submitted_at: float
    started_at: float


class Reply:
    """A running reply. Posts exactly one Finished or Failed, and nothing after it."""

    def __init__(
        self, submitted: Submitted, sequence: Sequence, prompt: Prompt, store: PrefixStore, history: History
    ) -> None:
        self.id = submitted.id
        self.request = request = submitted.request
        self._sink = submitted.sink
        self._seed = submitted.seed
        self._store = store
        self._costs = history.costs
        self._account = Account(history.costs)
        self._read_s = 0.0  # seconds of prefill of the present draft, up to the latest round
        self._spans: list[Span] = []
        self._emitted: list[int] = []
        self._trace: list[RoundTrace] = []  # filled if the request has `trace`
        self._reason: FinishReason | None = None  # set with INTERRUPTED or COMPLETE
        self._drafting: Drafting | None = None
        self._shared_plan: Plan | None = None  # for the current step of a batch with drafts
        self._sequence, model = sequence, sequence.model
        self._sequence.padded_width = history.costs.padded
        self._sequence.turn_end, tokens = prompt.turn_end, prompt.tokens
        self._expected = prompt.prediction
        self._text = _text_of(request, model, prompt)
        self._marks = DraftMarks(model)
        self._ends = model.ends
        limit = context_limit(request, model.info.context_tokens)
        self._room = min(request.max_tokens or limit, limit - len(tokens))
        self._sampler = _sampler_of(request, self._seed, model, prompt, self._text)
        self._scores = ReplyScores(model.ends, prompt, request) if prompt.spelling is not None else None
        if self._scores is not None:
            self._sampler.scores = self._scores.scores
            self._sequence.read = self._scores.read if request.prompt_logprobs else None
        self._stats = StatsRecorder(
            submitted_at=submitted.submitted_at,
            started_at=submitted.started_at,
            prompt_tokens=len(tokens),
            cached_tokens=self._sequence.caches.position,
            context_tokens=len(tokens),
            context_limit_tokens=limit,
        )
        self._paused_at = 0.0
        self._state = ReplyState.READING  # until `draft_with` has decided whether its last token is prefilled again

    def draft_with(self, drafting: Drafting | None, history: History | None = None) -> None:
        """Use this drafting from the next round on; None: none. `history`: of another pair.

        Called once before the first step.
        """
        self._costs = history.costs if history is not None else self._costs
        self._account.change_draft(self._costs, self._reading_s)
        self._read_s = 0.0
        self._drop_drafting()
        self._drafting = drafting if drafting is not None and self.may_draft else None
        self._sequence.hidden_states = None
        if self._drafting is not None:
            if self.reading and self._drafting.reads_next_token:
                self._sequence.read_last_again()
            self._drafting.keep_hidden_states(self._sequence)
        self._look_past_the_prompt()

    def steer(self, controller: Controller) -> bool:
        """Plan by this controller from the next round on; False if the reply has no drafting, or may not draft."""
        if self._drafting is not None and self.may_draft:
            self._drafting.steer(controller)
        return self._drafting is not None and self.may_draft

    @property
    def may_draft(self) -> bool:
        drafts = self.request.speculation.mode is not SpeculationMode.OFF and not self.request.transient
        return drafts and self._sequence.caches.can_roll_back

    def predicted(self) -> list[Proposer]:
        """What drafts from the request's prediction, if it has one."""
        return [PredictedProposer(self._expected, self._stats.prompt_tokens)] if self._expected else []

    @property
    def insists(self) -> bool:
        """Whether the request fixed the loaded draft, and it can still draft."""
        return self._drafting is not None and self._drafting.insists

    def settle_draft(self) -> None:
        """Called before another reply begins: waits for a draft's forward in flight."""
        if self._drafting is not None:
            self._drafting.settle()

    def pause(self) -> None:
        """No step until `resume`. Leaves nothing in flight."""
        self._paused_at = time.perf_counter()
        self.settle_draft()
        self._sequence.discard_in_flight()

    def resume(self) -> None:
        """Continue; statistics leave out the pause."""
        paused_s = time.perf_counter() - self._paused_at
        self._stats.submitted_at += paused_s
        self._stats.started_at += paused_s
        self._stats.first_token_at += paused_s
        self._stats.last_token_at += paused_s

    def answer_now(self) -> None:
        """End its thinking at the next token that is not drawn yet."""
        if self._sampler.guide is not None:
            self._sampler.guide.end_thinking()

    def keep_only(self, conversations: Collection[str]) -> None:
        """As `QueuedReply.keep_only`."""
        self._sequence.forgotten |= self.request.conversation not in {"", *conversations}

    @property
    def sequence(self) -> Sequence:
        return self._sequence

    @property
    def sampler(self) -> Sampler:
        return self._sampler

    @property
    def reading(self) -> bool:
        return self._state is ReplyState.READING

    @property
    def room(self) -> int:
        """Tokens that may still be emitted."""
        return self._room - len(self._emitted)

    @property
    def interrupted(self) -> bool:
        return self._state is ReplyState.INTERRUPTED

    @property
    def complete(self) -> bool:
        return self._state is ReplyState.COMPLETE

    @property
    def ended(self) -> bool:
        return self._state is ReplyState.ENDED

    def interrupt(self, reason: FinishReason) -> None:
        """Make the next step the last. The first reason counts."""
        if self._state in (ReplyState.READING, ReplyState.WRITING):
            self._state, self._reason = ReplyState.INTERRUPTED, reason

    def step(self, *, alone: bool = True) -> bool:
        """One prefill chunk, of the draft perhaps, or one round; True when the reply has ended.

        Unless `alone`, nothing is left in flight: it would delay the steps of other replies.
        """
        if self._state is ReplyState.INTERRUPTED:
            self._finish()
        elif not (self._sequence.ready and alone) and self._sequence.uncached > 1:
            self._read_on()
        elif not self._catches_up():
            self._decode(alone)
        self._look_past_the_prompt()
        return self.ended

    def _look_past_the_prompt(self) -> None:
        """A prompt of a single token needs no prefill: the first round feeds it."""
        if self._state is ReplyState.READING and self._sequence.uncached == 1 and self._sequence.caches.position:
            self._state = ReplyState.WRITING

    def begin_shared_round(self) -> None:
        """Called before a step of a batch in which nothing is drafted."""
        self._shared_plan = None
        self._stats.drafting = self._undrafted_state() if self._drafting is None else DraftingState.BATCHED
        if self._drafting is not None:
            self._drafting.pass_hidden_states(self._sequence)

    def draft_shared(self, replies: int, most: int) -> Draft:
        """Called before a step of a batch with drafts: a draft of at most `most` tokens; `replies` are in the batch."""
        self._shared_plan = plan = self._plan(replies, most)
        if self._drafting is None or not plan.length:
            return NO_DRAFT
        return self._drafting.propose(plan, self._sequence.tokens, self._sampler, wait=True)

    def receive(self, draft: Draft, verdicts: list[int], times: Times, failure: Exception | None = None) -> Round:
        """The round that a step of a batch gives this reply. The batch commits the caches.

        Commits tokens and sampler; `take_shared` follows.
        """
        emitted, drafted, accepted = cut_at_end(draft, verdicts, self._sequence, self._ending)
        self._sequence.tokens.extend(emitted)
        self._sampler.commit(emitted)
        parts = times[1:] if drafted else (0.0, 0.0)
        done = Round(tuple(emitted), times.seconds, drafted, accepted, *parts, typical=False)
        return replace(done, draft=draft, verdicts=tuple(verdicts), failure=failure)

    def take_shared(self, done: Round) -> None:
        if self._drafting is not None and self._shared_plan is not None:
            self._drafting.observe(self._shared_plan, done)
        self.take(done)

    def fail(self, error: BaseException) -> None:
        """End with an error, unless it has ended. Its caches are dropped: they may be wrong."""
        if self._state is not ReplyState.ENDED:
            self._state = ReplyState.ENDED
            self._drafting = None
            self._post(Failed(self.id, logged(error), self._last_stats()))

    def _last_stats(self) -> RequestStats:
        """Empty statistics if computing them fails."""
        try:
            return self._stats.freeze()
        except BaseException:  # noqa: BLE001  see above
            return RequestStats()

    def _read_on(self) -> None:
        self._sequence.prefill_chunk()
        if self._drafting is not None:
            self._drafting.pass_hidden_states(self._sequence)
        self._post(PromptProgress(self.id, self._sequence.caches.position, self._stats.prompt_tokens))

    @property
    def looking_bytes(self) -> int:
        """What the look at a picture that begins next takes; 0: none does."""
        view = self._sequence.pictures
        return 0 if view is None else view.looking_bytes(self._sequence.caches.position)

    @property
    def draft_lags(self) -> bool:
        """Whether a fixed draft has uncached tokens, once the first token is posted."""
        return self._drafting is not None and bool(self._emitted) and self._drafting.has_to_catch_up(self._sequence)

    def _catches_up(self) -> bool:
        """Whether this step was a prefill of that draft."""
        return self._drafting is not None and bool(self._emitted) and self._drafting.catch_up(self._sequence)

    def _decode(self, alone: bool) -> None:
        plan = self._plan()
        plain_first = self._sequence.in_flight is not None
        if self._drafting is not None and plan.length and not plain_first:
            done = self._speculative_round(plan, self._drafting)
        else:
            done = self._plain_round(alone and not plan.length)
        if self._drafting is not None:
            timed_next = (self._stats.draft_rounds + 1) % TIMED_EVERY_ROUNDS == 0  # prefill is part of the time then
            reads_on = alone and not self.complete and not timed_next
            self._drafting.observe(PLAIN if plain_first else plan, done, reads_on=reads_on)
        elif done.typical:
            self._costs.observe("", 0, done.seconds)
        self.take(done, others_s=0.0 if alone else self._since_last_token_s() - done.seconds)

    def _plain_round(self, may_look_ahead: bool) -> Round:
        look_ahead = may_look_ahead and self._next_is_plain()
        return plain_round(self._sequence, self._sampler, self._ending, look_ahead=look_ahead)

    def _speculative_round(self, plan: Plan, drafting: Drafting) -> Round:
        timed = self._stats.draft_rounds % TIMED_EVERY_ROUNDS == 0
        propose = partial(drafting.propose, plan, self._sequence.tokens, self._sampler)
        return timed_round(self._sequence, self._sampler, propose, self._ending, timed=timed)

    def take(self, done: Round, *, others_s: float | None = None) -> None:
        """Finish a round: count it, post its text, and end the reply if it was the last.

        `others_s`: seconds of other replies' steps since the last round; None: this round was shared with them.
        """
        if self._emitted:
            if others_s is None:
                self._stats.shared_rounds += 1
                self._stats.shared_gained += len(done.emitted) - 1
            self._stats.shared_s += self._since_last_token_s() if others_s is None else max(0.0, others_s)
            if others_s is not None:
                self._account_for(done, others_s)
        self._count(done)
        if done.drafted:
            ahead = self._sequence.tokens[done.accepted - len(done.emitted) - 1]
            self._marks.note(done, len(self._emitted), self._stats.rounds, ahead)
        if self.request.trace:
            self._trace.append(self._traced(done))
        self._emitted.extend(done.emitted)
        if self._scores is not None:
            for event in self._scores.events(self.id):
                self._post(event)
        if self.complete:
            self._finish()
        else:
            self._post_text()

    def _account_for(self, done: Round, others_s: float) -> None:
        """Count the time of an unshared round after the first, without draft prefill and other replies' steps.

        From token to token, as the reader sees it, and as a race counts it.
        """
        kind = self._account.count(self._source(done), done.proposed, self._stats.context_tokens)
        read_s, self._read_s = self._reading_s - self._read_s, self._reading_s
        if done.typical and done.failure is None:
            ended_at = time.perf_counter()
            aside_s = max(0.0, read_s) + max(0.0, others_s)
            self._account.time(kind, min(ended_at - done.seconds, self._stats.last_token_at + aside_s), ended_at)

    def _traced(self, done: Round) -> RoundTrace:
        drafted = tuple(integers(done.draft.tokens)[: done.drafted])
        return RoundTrace(len(self._sequence.tokens) - len(done.emitted), drafted, done.accepted, self._source(done))

    def _plan(self, replies: int = 1, most: int = MAX_DRAFT_TOKENS) -> Plan:
        """Which proposer drafts how many tokens; `replies` share the forward. The first token does not wait for a
        draft.
        """
        if self._drafting is None:
            self._stats.drafting = self._undrafted_state()
            return PLAIN
        if not self._emitted:
            self._stats.drafting = DraftingState.CATCHING_UP
            return PLAIN
        self._drafting.pass_hidden_states(self._sequence)
        plan = self._drafting.plan(self._sequence.tokens, min(self.room - 1, most), replies)
        self._stats.drafting = self._drafting.state
        return plan

    def _undrafted_state(self) -> DraftingState:
        if self.request.speculation.mode is SpeculationMode.OFF:
            return DraftingState.OFF
        return DraftingState.NO_DRAFT if self._sequence.caches.can_roll_back else DraftingState.UNSUPPORTED

    def _next_is_plain(self) -> bool:
        """Whether the next round is plain too; not before the first token, which on a CPU would wait for both."""
        drafting = self._stats.drafting in (DraftingState.ACTIVE, DraftingState.CATCHING_UP)
        goes_on = bool(self._emitted) and self.room > 1
        caches = self._sequence.caches  # over several ranks a forward waits for them: nothing would overlap
        return goes_on and not drafting and caches.can_roll_back and caches.others is None

    def _ending(self, emitted: Tokens[int]) -> int:
        """Turn a round's tokens into text; returns how many of them to keep (fewer at the reply's end)."""
        for count, token in enumerate(emitted, start=1):
            if (reason := self._ending_at(token, count)) is not None:
                self._state, self._reason = ReplyState.COMPLETE, reason
                return count
        return len(emitted)

    def _ending_at(self, token: int, count: int) -> FinishReason | None:
        """Why `token`, the round's `count`th, is the reply's last; None if it is not."""
        if token in self._ends:
            return FinishReason.STOP
        self._spans.extend(self._text.push(token))
        if self._text.stopped:
            return FinishReason.STOP
        if len(self._emitted) + count < self._room:
            return None
        return FinishReason.LENGTH if self._room == self.request.max_tokens else FinishReason.CONTEXT

    def _source(self, done: Round) -> str:
        return self._drafting.source if self._drafting is not None and done.proposed else ""

    @property
    def _reading_s(self) -> float:
        return self._drafting.reading_s if self._drafting is not None else 0.0

    def _since_last_token_s(self) -> float:
        return time.perf_counter() - self._stats.last_token_at

    def _count(self, done: Round) -> None:
        stats = self._stats
        stats.last_token_at = time.perf_counter()
        if not stats.rounds:
            stats.first_token_at = stats.last_token_at
        stats.count_round(done.drafted, done.accepted, len(done.emitted), done.seconds, done.proposed)
        if self._source(done) == ForcedProposer.name:
            stats.forced += done.accepted
        if done.draft_s:
            stats.count_times(done.draft_s, done.verify_s, done.seconds)
        took = self._account.total(self._reading_s)
        stats.plain_rounds, stats.plain_rounds_error = took.plain_rounds, took.error
        stats.plain_passes = round(took.plain_passes)
        resting = self._drafting if stats.drafting is DraftingState.PARKED else None
        stats.draft_speed = resting.draft_speed if resting is not None else 0.0
        stats.proposer = self._source(done) or stats.proposer
        stats.context_tokens += len(done.emitted)

    def _finish(self) -> None:
        if self._reason is None:
            raise RuntimeError("nothing has ended this reply")
        self._spans.extend(self._text.finish())
        self._post_text()
        self._drop_drafting()
        self._sequence.discard_in_flight()
        self._sequence.read = None
        self._sequence.pictures = None  # its caches are enough, and pixels are large
        if not self.request.transient:
            self._store.put(self._sequence)
        finished = Finished(
            self.id,
            self._reason,
            self._stats.freeze(),
            tuple(self._emitted),
            self._seed,
            tuple(self._trace),
            self._text.stop,
            self._text.unread_calls,
        )
        self._state = ReplyState.ENDED
        self._post(finished)

    def _drop_drafting(self) -> None:
        if self._drafting is not None:
            self._drafting.pass_hidden_states(self._sequence)
            self._drafting.close(self._sequence.tokens)
            self._drafting = None

    def _post_text(self) -> None:
        spans, self._spans = self._spans, []
        if spans:
            stats = self._stats.freeze()
            for (kind, call), same in groupby(spans, key=lambda span: (span.kind, span.call)):
                if call is not None:
                    self._post(ToolCalled(self.id, call))
                    continue
                spans_of_kind = list(same)
                text, marks = "".join(span.text for span in spans_of_kind), self._marks.place(kind, spans_of_kind)
                self._post(TextDelta(self.id, kind, text, stats, marks))

    def _post(self, event: Event) -> None:
        self._sink(event)


def _text_of(request: Request, model: LoadedModel, prompt: Prompt) -> ReplyText:
    return ReplyText(
        model,
        prompt.tokens,
        request.stop,
        within=goes_on(request) or bool(request.tokens),
        begin=prompt.begin,
        tools=ToolSyntax(model, request.tools) if request.tools else None,
        several_calls=request.several_calls,
    )


def _sampler_of(request: Request, seed: int, model: LoadedModel, prompt: Prompt, text: ReplyText) -> Sampler:
    given = without_names(prompt.tokens), spared_tokens(model), request.speculation.acceptance
    sampler = Sampler(request.sampling, seed, model.logit_width, *given)
    sampler.guide = text.guide(prompt.grammar, may_open=request.thinking, most_thinking=request.thinking_tokens)
    return sampler


def logged(error: BaseException) -> EngineError:
    """As a typed error; an unexpected one is logged with its traceback."""
    if not isinstance(error, EngineError):
        _log.error("a reply failed", exc_info=error)
    return as_engine_error(error)


class ReplyScores:
    """A reply's log-probabilities as events: which token is which, spelled."""

    def __init__(self, ends: Collection[int], prompt: Prompt, request: Request) -> None:
        """The prompt has a spelling, and the request says how many tokens of each place are wanted."""
        assert prompt.spelling is not None
        assert request.logprobs is not None
        self.scores = Scores(request.logprobs, len(prompt.tokens))
        self._ends = ends
        self._spell = prompt.spelling
        self._prompt = [TokenScore(prompt.tokens[0], self._spell(prompt.tokens[0]), None)]
        self._reads = request.prompt_logprobs

    def read(self, logits: mx.array, position: int, following: list[int]) -> None:
        """`following`: the prompt's tokens after those that were fed, from `position` on, perhaps once more."""
        del self._prompt[position + 1 :]
        self._prompt.extend(self._spelled(self.scores.of_prompt(logits, following)))

    def events(self, request: RequestId) -> Iterator[TokensScored]:
        """Of the latest round; before the first one of all, the prompt's."""
        if self._reads:
            self._reads = False
            yield TokensScored(request, tuple(self._prompt), of_prompt=True)
        yield TokensScored(request, tuple(self._spelled(self.scores.take())))

    def _spelled(self, scores: Iterable[Score]) -> Iterator[TokenScore]:
        for score in scores:
            likeliest = (TokenScore(token, self._spell(token), logprob) for token, logprob in score.likeliest)
            text = b"" if score.token in self._ends else self._spell(score.token)
            yield TokenScore(score.token, text, score.logprob, tuple(likeliest))
