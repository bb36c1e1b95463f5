"""The rounds of one reply, alone or as a row of a batch: draft, verify, learn and count.

`output.py` decides which tokens end the reply. Engine thread only.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

from engine.api.stats import StatsRecorder
from engine.api.types import MAX_DRAFT_TOKENS, DraftingState, Request, SpeculationMode
from engine.decoding.accept import NO_DRAFT, Draft
from engine.decoding.round import Round, cut_at_end, plain_round, speculative_round
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.drafting.controller import FixedController, History, make_controller
from engine.drafting.costs import ReplyTime, RoundCosts
from engine.drafting.planner import Drafting
from engine.drafting.plans import PLAIN, Plan
from engine.drafting.proposers.base import Wanted
from engine.drafting.proposers.forced import ForcedProposer
from engine.runtime.output import Output

# Timing the parts of a round costs a wait for the device, so only one round in this many is timed.
TIMED_EVERY_ROUNDS = 8


class RoundStatistics:
    """Adds each round to a reply's statistics."""

    def __init__(self, stats: StatsRecorder, costs: RoundCosts) -> None:
        self._stats = stats
        self._account = ReplyTime(costs)
        self._read_s = 0.0  # draft prefill seconds up to the latest round
        self._paused_at = 0.0

    @property
    def since_last_token_s(self) -> float:
        return time.perf_counter() - self._stats.last_token_at

    def change_draft(self, costs: RoundCosts, former: Drafting) -> None:
        """Use the prices `costs` for later rounds; earlier ones keep those of the `former` drafting."""
        self._account.change_draft(costs, former.reading_s)
        self._read_s = 0.0

    def pause(self) -> None:
        self._paused_at = time.perf_counter()

    def resume(self) -> None:
        """Leave out the time since `pause`."""
        paused_s = time.perf_counter() - self._paused_at
        self._stats.submitted_at += paused_s
        self._stats.started_at += paused_s
        self._stats.first_token_at += paused_s
        self._stats.last_token_at += paused_s

    def take(self, done: Round, drafting: Drafting, others_s: float | None) -> None:
        """`others_s`: seconds of other replies' steps since the last round; None: this round was shared with them."""
        stats = self._stats
        if stats.rounds and others_s is None:
            stats.shared_rounds += 1
            stats.shared_gained += len(done.emitted) - 1
            stats.shared_s += self.since_last_token_s
        elif others_s is not None and stats.rounds:
            stats.shared_s += max(0.0, others_s)
            self._account_for(done, drafting, others_s)
        self._count(done, drafting)

    def _account_for(self, done: Round, drafting: Drafting, others_s: float) -> None:
        """Count the time of an unshared round after the first, without draft prefill and other replies' steps.

        The time is counted from token to token, like the pass times in `costs.py`.
        """
        kind = self._account.count(drafting.source_of(done), done.proposed, self._stats.context_tokens)
        read_s = drafting.reading_s - self._read_s
        self._read_s = drafting.reading_s
        if done.typical and done.failure is None:
            ended_at = time.perf_counter()
            aside_s = max(0.0, read_s) + max(0.0, others_s)
            self._account.time(kind, min(ended_at - done.seconds, self._stats.last_token_at + aside_s), ended_at)

    def _count(self, done: Round, drafting: Drafting) -> None:
        stats = self._stats
        source = drafting.source_of(done)
        stats.last_token_at = time.perf_counter()
        if not stats.rounds:
            stats.first_token_at = stats.last_token_at
        stats.count_round(done.drafted, done.accepted, len(done.emitted), done.seconds, done.proposed)
        if source == ForcedProposer.name:
            stats.forced += done.accepted
        if done.draft_s:
            stats.count_times(done.draft_s, done.verify_s, done.seconds)
        took = self._account.total(drafting.reading_s)
        stats.plain_rounds = took.plain_rounds
        stats.plain_rounds_error = took.error
        stats.plain_passes = round(took.plain_passes)
        stats.draft_speed = drafting.draft_speed if stats.drafting is DraftingState.PARKED else 0.0
        stats.proposer = source or stats.proposer
        stats.context_tokens += len(done.emitted)


class Rounds:
    """The rounds of one reply; each commits its tokens to `sequence`. Without a draft all are plain.

    A reply alone calls `run`. For a step of a batch call `rest`, or `plan_draft` and `draft`, then `receive` and
    `learn`, then count it in `statistics`.
    """

    def __init__(
        self,
        request: Request,
        sequence: Sequence,
        sampler: Sampler,
        output: Output,
        stats: StatsRecorder,
        history: History,
    ) -> None:
        self._request = request
        self._sequence = sequence
        self._sampler = sampler
        self._output = output
        self._stats = stats
        self._history = history
        self.statistics = RoundStatistics(stats, history.costs)
        self.drafting = self._undrafted()
        self.shared_plan: Plan | None = None  # for the current step of a batch with drafts

    def draft_with(self, drafting: Drafting, history: History, *, reading: bool) -> None:
        """Use this drafting of a pair from the next round on, if the request may draft.

        `reading`: the prompt is not prefilled yet.
        """
        self.statistics.change_draft(history.costs, self.drafting)
        self.close()
        self._history = history
        self.drafting = drafting if self.may_draft else self._undrafted()
        self._sequence.hidden_states = None
        if reading and self.drafting.reads_next_token:
            self._sequence.uncache_last()
        self.drafting.keep_hidden_states(self._sequence)

    def steer(self, request: Request, history: History) -> bool:
        """Speculate as in this version of the request from the next round on; False if `draft_with` has to follow."""
        drafted = self.may_draft
        self._request = request
        if drafted and self.may_draft:
            self.drafting.steer(make_controller(request.speculation, history))
        return drafted and self.may_draft

    def close(self) -> None:
        """End drafting; the proposers' caches are kept for the next turn."""
        self.pass_hidden_states()
        self.drafting.close(self._sequence.tokens)
        self.forget()

    def forget(self) -> None:
        """End drafting, and drop all caches: they may be wrong."""
        self.drafting = Drafting((), FixedController(0, self._history))

    def pass_hidden_states(self) -> None:
        """Pass on hidden states after a forward that no round follows."""
        self.drafting.pass_hidden_states(self._sequence)

    @property
    def kind(self) -> int:
        """The kind of text that the reply is writing."""
        return self.drafting.kind_of(self._sequence.tokens)

    @property
    def lags(self) -> bool:
        """Whether a fixed draft has uncached tokens, once the first token is posted."""
        return bool(self._output.tokens and self.drafting.lagging(self._sequence))

    def catch_up(self) -> bool:
        """Have the fixed draft prefill a chunk; False if it has no uncached tokens."""
        return bool(self._output.tokens) and self.drafting.catch_up(self._sequence)

    def run(self, *, alone: bool) -> Round:
        """Run one round of this reply alone. Unless `alone`, no forward is left in flight."""
        sequence = self._sequence
        sampler = self._sampler
        ending = self._output.ending
        plan = self._plan()
        plain_first = sequence.in_flight is not None
        if plan.length and not plain_first:
            propose = partial(self.drafting.propose, plan, sequence.tokens, sampler)
            timed = self._stats.draft_rounds % TIMED_EVERY_ROUNDS == 0
            done = speculative_round(sequence, sampler, propose, ending, timed=timed)
            if not done.proposed:  # waited for a draft that did not come: no price of a plain round
                done = replace(done, typical=False)
        else:
            look_ahead = alone and not plan.length and self._next_is_plain()
            done = plain_round(sequence, sampler, ending, look_ahead=look_ahead)
        timed_next = (self._stats.draft_rounds + 1) % TIMED_EVERY_ROUNDS == 0  # a round with prefill is not timed
        reads_on = alone and self._output.reason is None and not timed_next
        self.drafting.observe(PLAIN if plain_first else plan, done, reads_on=reads_on)
        return done

    def rest(self) -> None:
        """Called before a step of a batch without drafts."""
        self.shared_plan = None
        self._stats.drafting = self.drafting.put_off(DraftingState.BATCHED)
        self.pass_hidden_states()

    def plan_draft(self, replies: int, most: int) -> None:
        """Called first in a step of a batch with drafts: plan at most `most` tokens; the batch has `replies`."""
        self.shared_plan = self._plan(replies, most)

    @property
    def wanted(self) -> Wanted | None:
        """For `draft_together`, after `plan_draft`."""
        return self.drafting.wanted(self.shared_plan or PLAIN, self._sequence.tokens, self._sampler)

    def draft(self) -> Draft:
        """As `plan_draft` has planned."""
        plan = self.shared_plan
        if plan is None or not plan.length:
            return NO_DRAFT
        return self.drafting.propose(plan, self._sequence.tokens, self._sampler, wait=True)

    def receive(
        self, draft: Draft, verdicts: list[int], seconds: float, draft_s: float, failure: Exception | None = None
    ) -> Round:
        """Commit tokens and sampler after a step of a batch, which commits the caches. Then call `learn`.

        `seconds`: of the whole step; `draft_s`: of the drafts in it.
        """
        emitted, drafted, accepted = cut_at_end(draft, verdicts, self._sequence, self._sampler, self._output.ending)
        self._sequence.tokens.extend(emitted)
        self._sampler.commit(emitted)
        return Round(
            tuple(emitted),
            seconds,
            drafted,
            accepted,
            draft_s=draft_s if drafted else 0.0,
            verify_s=seconds - draft_s if drafted else 0.0,
            typical=False,
            draft=draft,
            failure=failure,
        )

    def learn(self, done: Round) -> None:
        """Learn from the round that `receive` returned."""
        if self.shared_plan is not None:
            self.drafting.observe(self.shared_plan, done)

    def _plan(self, replies: int = 1, most: int = MAX_DRAFT_TOKENS) -> Plan:
        """Which proposer drafts how many tokens; `replies` share the forward. The first token waits for no draft."""
        if not self._output.tokens:
            self._stats.drafting = self.drafting.begin(self._sequence.tokens, replies)
            return PLAIN
        self.pass_hidden_states()
        plan = self.drafting.plan(self._sequence.tokens, min(self._output.room - 1, most), replies)
        self._stats.drafting = self.drafting.state
        return plan

    def _next_is_plain(self) -> bool:
        """Whether the next round is plain too; not before the first token, which on a CPU would wait for both."""
        drafting = self._stats.drafting in (DraftingState.ACTIVE, DraftingState.CATCHING_UP)
        goes_on = bool(self._output.tokens) and self._output.room > 1
        caches = self._sequence.caches  # over several ranks a forward waits for them: nothing would overlap
        return goes_on and not drafting and caches.can_roll_back and caches.others is None

    @property
    def may_draft(self) -> bool:
        """Whether the request wants it, and its caches can take back what is not accepted."""
        drafts = self._request.speculation.mode is not SpeculationMode.OFF and not self._request.transient
        return drafts and self._sequence.caches.can_roll_back

    def _undrafted(self) -> Drafting:
        """All rounds are plain from here on."""
        state = DraftingState.NO_DRAFT if self._sequence.caches.can_roll_back else DraftingState.UNSUPPORTED
        if self._request.speculation.mode is SpeculationMode.OFF:
            state = DraftingState.OFF
        return Drafting((), FixedController(0, self._history), state)
