"""The proposer whose draft is made by a station. It drafts nothing where the station is not ready, late or lost."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import mlx.core as mx

from engine.api.types import MAX_DRAFT_TOKENS
from engine.decoding.accept import NO_DRAFT, Draft
from engine.decoding.sampling import Sampler
from engine.drafting.acceptance import Sharpness
from engine.drafting.controller import History
from engine.drafting.plans import Offer, Plan
from engine.drafting.proposers.base import Proposer
from engine.station.connection import StationConnection
from engine.station.messages import Propose, Proposed
from engine.station.prices import SOURCE
from engine.vision.values import FIRST_NAME

_PATIENCE_S = 0.05  # for an answer while the time of a plain round is not known
LEAST_PATIENCE_S = 0.002
_ANSWER_SHARE = 0.8  # of the patience that the station may draft; the rest is for the way there and back


class StationProposer(Proposer):
    name = SOURCE

    def __init__(
        self, station: StationConnection, history: History, sampler: Sampler, tokens: Sequence[int], *, begins: bool
    ) -> None:
        """`begins`: the station reads the prompt now, while the main model does."""
        self._station = station
        self._history = history
        self._costs = history.costs
        self._kind = 0  # of text, in the latest round
        self._law = sampler.law
        self._sequence = 0  # its number in the station; 0: not begun
        self._generation = 0
        self._sent = 0  # tokens that the station has
        self._owed = 0  # number of an answer that was late
        self._station.prices.apply_to(self._costs)  # without a price it would not be asked
        if begins:
            self._follow(tokens)

    def offer(self, tokens: Sequence[int]) -> Offer:
        self._follow(tokens)
        loaded = self._station.loaded
        self._station.prices.apply_to(self._costs)
        ready = loaded is not None and self._station.is_caught_up(self._sequence) and not self._owes()
        room = loaded.context_tokens - len(tokens) if ready and loaded is not None else 0
        return Offer(self.name, max(0, min(MAX_DRAFT_TOKENS, room)), has_probabilities=True)

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        self._follow(tokens)
        began = perf_counter()
        self._kind = plan.grade
        patience_s = max(LEAST_PATIENCE_S, self._costs.plain_s or _PATIENCE_S)
        number = self._station.new_number()
        floors, worth = ((), ()) if plan.stop is None else (plan.stop.floors, plan.stop.worth)
        within_us = int(1e6 * _ANSWER_SHARE * patience_s)
        pace_us = int(1e6 * self._costs.plain_s)
        order = Propose(self._sequence, number, plan.length, plan.sharpness, within_us, pace_us, floors, worth)
        self._station.propose(order)
        answer = self._station.answer(number, patience_s)
        waited_s = perf_counter() - began
        if answer is None:
            self._owed = number
            self._station.prices.late += self._station.loaded is not None
            self._station.prices.observe_in_vain(waited_s)
            return NO_DRAFT
        if (problem := self._problem(answer, plan)) is not None:
            self._station.lose(problem)
            return NO_DRAFT
        if answer.tokens:
            self._station.prices.observe(waited_s, hit=answer.hit)
        else:
            self._station.prices.observe_in_vain(waited_s)
        return _draft(answer, with_probabilities=plan.stop is not None)

    def commit(self, emitted: Sequence[int]) -> None:
        """At once, so that the station prepares the next draft meanwhile."""
        if self._sequence and self._generation == self._station.generation:
            self._station.commit(self._sequence, self._sent, emitted)
            self._sent += len(emitted)

    def close(self) -> None:
        if self._sequence and self._generation == self._station.generation:
            self._station.end(self._sequence)
            self._station.drop_answer(self._owed)
            self._sequence = 0
            self._station.gain = self._history.gain_of(self.name, self._kind)
            self._station.post_state()

    def _follow(self, tokens: Sequence[int]) -> None:
        """Send the tokens committed since the last call, plain rounds included, or all to a new station."""
        if self._station.loaded is None:
            return
        if not self._sequence or self._generation != self._station.generation:
            self._generation = self._station.generation
            self._owed = 0
            self._sequence = self._station.begin(tokens, self._law) if max(tokens) < FIRST_NAME else 0
        elif self._sent < len(tokens):
            self._station.commit(self._sequence, self._sent, tokens[self._sent :])
        self._sent = len(tokens)

    def _owes(self) -> bool:
        if self._owed and self._station.answer(self._owed, 0.0) is not None:
            self._owed = 0
        return bool(self._owed)

    def _problem(self, answer: Proposed, plan: Plan) -> str | None:
        """Why this is no draft."""
        count = len(answer.tokens)
        vocabulary = self._law.vocabulary
        if count > plan.length or len(answer.probabilities) != count:
            return f"{count} tokens, {len(answer.probabilities)} probabilities"
        if len(answer.guesses) not in (0, count * len(Sharpness.LEVELS)):
            return f"{len(answer.guesses)} guesses"
        if any(token >= vocabulary for token in (*answer.tokens, *answer.guesses)):
            return "tokens beyond the vocabulary"
        if not all(0 <= each <= 1 for each in answer.probabilities):
            return "no probabilities"
        return None


def _draft(answer: Proposed, *, with_probabilities: bool) -> Draft:
    if not answer.tokens:
        return NO_DRAFT
    guesses = None
    if answer.guesses:
        guesses = mx.array(answer.guesses, dtype=mx.uint32).reshape(len(answer.tokens), -1)
    return Draft(
        mx.array(answer.tokens, dtype=mx.uint32),
        None,
        mx.array(answer.probabilities) if with_probabilities else None,
        guesses,
    )
