"""Drafting for one reply: asks its proposers for offers, has the controller plan, and reports why it drafts or not."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mlx.core as mx

from engine.api.types import DraftingState
from engine.decoding.accept import Draft
from engine.decoding.hidden_states import HiddenStates, NoHiddenStates
from engine.decoding.round import Round
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence as TokenSequence
from engine.decoding.sequence import common_prefix
from engine.drafting.controller import Controller, PricedPlan
from engine.drafting.plans import PLAIN, Offer, Plan, RoundOutcome
from engine.drafting.proposers.base import Guarded, Proposer, Wanted

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Unused:
    """An offer that was not used, with the tokens that it would have drafted at `position`."""

    offer: Offer
    proposed: list[int]
    position: int


class Drafting:
    """Between two rounds: `plan`; within the round, if the plan drafts, `propose`; then `observe`.

    Without proposers every round is plain, and the state is `without`.
    """

    def __init__(
        self,
        proposers: Sequence[Proposer],
        controller: Controller,
        without: DraftingState = DraftingState.NO_DRAFT,
        kind_of: Callable[[Sequence[int]], int] = lambda _tokens: 0,
    ) -> None:
        """At most one of `proposers` drafts from hidden states.

        `kind_of`: the kind of text that the reply's tokens are, by which accept rates of a draft are learnt.
        """
        self.state = self._without = without
        self.source = ""  # of the latest draft
        self.reading_s = 0.0  # seconds of draft prefill in this reply
        self._proposers = {proposer.name: Guarded(proposer) for proposer in proposers}
        self._of_states = next((proposer for proposer in self._proposers.values() if proposer.layers), None)
        self._controller = controller
        self.kind_of = kind_of
        self._unused: list[_Unused] = []

    def steer(self, controller: Controller) -> None:
        """Use another controller from the next round on. The proposers keep their caches."""
        self._controller = controller

    @property
    def insists(self) -> bool:
        """Whether a draft model or a drafter was requested and can still draft.

        Lookups alone do not count: they may find nothing.
        """
        drafting = any(not (proposer.free or proposer.failed) for proposer in self._proposers.values())
        return drafting and self._controller.insists

    @property
    def draft_speed(self) -> float:
        """Predicted speed with drafts in rounds like the latest, as a multiple of plain speed; 0 while unknown."""
        return self._controller.draft_speed

    def plan(self, tokens: Sequence[int], room: int, replies: int = 1) -> Plan:
        """Which proposer drafts how many tokens next, at most `room`; `replies` is the number of replies that share the
        forward that verifies them.

        Not called for the first token of a reply.
        """
        self._controller.share(replies, len(tokens))
        if not self._proposers:
            return PLAIN
        offers = [
            self._offer(proposer, tokens, room)
            for name, proposer in self._proposers.items()
            if proposer.free or self._controller.wants(name)
        ]
        self._score_unused(tokens)
        plan = self._controller.plan(offers)
        if not self._unused:
            rest = [offer for offer in offers if offer.source != plan.source]
            proposed = [(offer, self._proposers[offer.source].propose_tokens(tokens, offer.most)) for offer in rest]
            self._unused = [_Unused(offer, ahead, len(tokens)) for offer, ahead in proposed if ahead]
        self.state = self._state({offer.source for offer in offers if not offer.behind})
        self.source = plan.source or self.source
        return plan

    def expected(self, plan: Plan, length: int) -> PricedPlan | None:
        return self._controller.expected(plan, length)

    def begin(self, tokens: Sequence[int], replies: int) -> DraftingState:
        """Called in place of `plan` before the first token of a reply, which does not wait for a draft."""
        self._controller.share(replies, len(tokens))
        return self.put_off(DraftingState.CATCHING_UP)

    def put_off(self, state: DraftingState) -> DraftingState:
        """Called in place of `plan`: the next round is plain. Returns the reason (`state`) if there are proposers."""
        self.state = state if self._proposers else self._without
        return self.state

    def wanted(self, plan: Plan, tokens: Sequence[int], sampler: Sampler) -> Wanted | None:
        """For `draft_together`, in a step of a batch before `propose`; None: all its proposers draft alone."""
        wanted = (proposer.wanted(tokens, plan, sampler) for proposer in self._proposers.values())
        return next((each for each in wanted if each is not None), None)

    def propose(self, plan: Plan, tokens: Sequence[int], sampler: Sampler, *, wait: bool = False) -> Draft:
        """`wait` for the device where other proposers use it too, so that each gets its own failure."""
        started = time.perf_counter()
        draft = self._proposers[plan.source].propose(tokens, plan, sampler, wait=wait)
        if not draft.tokens.size:
            self.reading_s += time.perf_counter() - started  # in vain
        return draft

    def observe(self, plan: Plan, done: Round, *, reads_on: bool = False) -> None:
        """`plan`: of the round; PLAIN if it was put off.

        `reads_on`: the proposer that drafted starts its next forward now, while this round's text is posted.
        """
        started = time.perf_counter()
        if plan.source:
            proposer = self._proposers[plan.source]
            if done.failure is not None:
                proposer.fail(done.failure)
            proposer.commit(done.emitted)
            if reads_on and done.drafted and not self._controller.parked:
                proposer.read_on()
        seconds = done.seconds + time.perf_counter() - started
        self._controller.observe(plan if done.proposed else PLAIN, _outcome(done, seconds))

    def source_of(self, done: Round) -> str:
        """Which proposer drafted in the latest round, which is `done`; "" if it was plain."""
        return self.source if done.proposed else ""

    def settle(self) -> None:
        """Wait for the proposers' forwards in flight: a failure would be raised in the next user of the device."""
        for proposer in self._proposers.values():
            proposer.settle()

    def close(self, tokens: Sequence[int]) -> None:
        """End drafting. `tokens`: the whole reply. Who keeps hidden states reads those of the last rounds."""
        if self._of_states is not None:
            self._of_states.offer(tokens)
        for proposer in self._proposers.values():
            proposer.close()

    @property
    def reads_next_token(self) -> bool:
        """Whether a proposer's row for a token depends on the token after it.

        Where a chat departs from the cached one, the last row is dropped, and its hidden state is needed once more.
        """
        return any(proposer.reads_next_token for proposer in self._proposers.values())

    def keep_hidden_states(self, sequence: TokenSequence) -> None:
        """Record the hidden states that a proposer drafts from. If they cannot be recorded it fails."""
        proposer = self._of_states
        sequence.hidden_states = None
        main = sequence.model
        if proposer is None:
            return
        sequence.discard_in_flight()  # a step started before has recorded no states
        try:
            kept = HiddenStates(main.network, proposer.layers, main.first_layer)
            with main.alone():
                kept.check(main.network)
            sequence.hidden_states = kept
        except Exception as refusal:  # noqa: BLE001  a network may raise anything; the reply can do without drafts
            expected = isinstance(refusal, NoHiddenStates)
            _log.info("%s cannot draft: %s", proposer.name, refusal, exc_info=None if expected else refusal)
            proposer.failed = True

    def pass_hidden_states(self, sequence: TokenSequence) -> None:
        """Give the proposer that drafts from them the states since the last call."""
        if sequence.hidden_states is None:
            return
        position, states = sequence.hidden_states.take()
        if self._of_states is None or self._of_states.failed:
            sequence.hidden_states = None
        elif states is not None:
            self._of_states.receive_states(position, states)

    def catch_up(self, sequence: TokenSequence) -> bool:
        """Have a proposer prefill a chunk of its uncached tokens, if the request fixed the draft; False if none did."""
        for proposer, offer in self.lagging(sequence):
            if self._read(proposer, offer, sequence.tokens).behind < offer.behind:
                return True
        return False

    def lagging(self, sequence: TokenSequence) -> list[tuple[Guarded, Offer]]:
        """The proposers for which `catch_up` would prefill anything, with their offers."""
        if not self._controller.insists or sequence.in_flight is not None:
            return []
        self.pass_hidden_states(sequence)
        reading = [proposer for proposer in self._proposers.values() if not proposer.free]
        return [(proposer, offer) for proposer in reading if (offer := proposer.offer(sequence.tokens)).behind]

    def _offer(self, proposer: Guarded, tokens: Sequence[int], room: int) -> Offer:
        offer = self._graded(proposer.offer(tokens), tokens)
        if offer.behind and self._controller.may_read(offer):
            offer = self._graded(self._read(proposer, offer, tokens), tokens)
        return offer if 0 <= offer.most <= room else replace(offer, most=max(0, min(offer.most, room)))

    def _graded(self, offer: Offer, tokens: Sequence[int]) -> Offer:
        """A lookup grades its offers itself; those of a draft have the kind of text."""
        return offer if offer.free else replace(offer, grade=self.kind_of(tokens))

    def _read(self, proposer: Guarded, offer: Offer, tokens: Sequence[int]) -> Offer:
        """Have a proposer prefill a chunk; its next offer."""
        proposer.wait()  # a forward already in flight is not part of the time
        started = time.perf_counter()
        proposer.read_on()
        seconds = time.perf_counter() - started
        self.reading_s += seconds
        now = proposer.offer(tokens)
        self._controller.observe_reading(offer.source, offer.behind - now.behind, seconds)
        return now

    def _score_unused(self, tokens: Sequence[int]) -> None:
        """Teach the controller how many tokens of unused offers would have been accepted."""
        for unused in list(self._unused):
            since = tokens[unused.position :]
            accepted = common_prefix(unused.proposed, since)
            if accepted < len(since) or accepted == len(unused.proposed):
                self._controller.learn_unused(unused.offer, len(unused.proposed), accepted)
                self._unused.remove(unused)

    def _state(self, offering: set[str]) -> DraftingState:
        """The draft state that is reported, if a draft is loaded."""
        drafts = {proposer.name: proposer for proposer in self._proposers.values() if not proposer.free}
        if not drafts:
            return DraftingState.ACTIVE if self.source else self._without
        if all(draft.failed or self._controller.refuses(name) for name, draft in drafts.items()):
            return DraftingState.FAILED
        if self._controller.parked:
            return DraftingState.PARKED
        return DraftingState.ACTIVE if offering & drafts.keys() else DraftingState.CATCHING_UP


def evened(plans: Sequence[tuple[Drafting, Plan]]) -> Sequence[Plan]:
    """The plans of a batch's replies, cut to the length that brings most tokens a second: all rows are as wide as the
    widest.

    As they are where they are alike, a request fixed one, or a draft stops by itself.
    """
    best = [plan for _, plan in plans]
    best_rate = 0.0
    lengths = {plan.length for plan in best}
    for longest in range(1, 1 + max(lengths)) if len(lengths) > 1 else ():
        cut = [each for drafting, plan in plans if (each := drafting.expected(plan, longest)) is not None]
        if len(cut) < len(plans):
            break
        rate = sum(each.tokens for each in cut) / max(each.seconds for each in cut)
        if rate > best_rate:
            best = [each.plan for each in cut]
            best_rate = rate
    return best


def _outcome(done: Round, seconds: float) -> RoundOutcome:
    draft = done.draft
    drafted = done.drafted
    probabilities: list[float] = _listed(draft.probabilities)
    guesses: list[list[int]] = _listed(draft.guesses)
    return RoundOutcome(
        drafted,
        done.accepted,
        seconds if done.typical else None,
        probabilities[:drafted],
        guesses[:drafted],
        done.emitted,
        done.proposed,
    )


def _listed(array: mx.array | None) -> Any:
    return array.tolist() if array is not None else []
