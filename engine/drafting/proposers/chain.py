"""Drafting token by token: the loop that such drafts share, and the proposer of heads that are fed their own states.

A head has one row a token: the main model's state there, and the next token. While drafting, its own state replaces the
main model's. Rows made so are rolled back after the draft; the next round adds rows of the main model's states.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from collections.abc import Sequence as Tokens
from typing import Protocol

import mlx.core as mx

from engine.caches.base import CacheSet
from engine.decoding.accept import NO_DRAFT, Draft
from engine.decoding.sampling import Sampler
from engine.drafting.acceptance import Sharpness
from engine.drafting.plans import Plan
from engine.drafting.proposers.base import Wanted, joined
from engine.drafting.proposers.features import FeatureProposer
from engine.drafting.proposers.in_rows import InRows
from engine.drafting.proposers.rows import HeadRows, StateNetwork
from engine.models.access import ModelAccess

# from the newest drafted token of each row (rows,) to the logits (rows, vocabulary) of the next
Step = Callable[[mx.array], mx.array]

_NO_MATTER_WHICH = mx.array([0], dtype=mx.uint32)
_UNSEEN_TOKENS = 2
_SURE = 0.8
REHEARSED_TOKENS = 8
REHEARSED_ROWS = 64


def draft_chains(first: mx.array, step: Step, growing: Sequence[Growing]) -> list[Draft]:
    """Drafts of texts, a row each: the first token by the logits `first` (rows, vocabulary), each next one by a `step`.

    While one of them goes on, a step feeds its newest token again for each that has ended: those logits are not used.
    """
    logits = first
    while any(not draft.ended for draft in growing):
        if any(draft.drafts for draft in growing):
            logits = step(mx.concatenate([draft.newest for draft in growing]))
        going_on = [(row, draft) for row, draft in enumerate(growing) if not draft.ended]
        for row, draft in going_on:
            draft.draw(logits[row : row + 1])
        mx.async_eval([array for _, draft in going_on for array in draft.read_next])
        for _, draft in going_on:
            draft.read()
    return [draft.joined for draft in growing]


class Growing:
    """The draft of one text from `position` on, token by token. Ends after one of `ends`, and by the stop rule."""

    def __init__(self, position: int, plan: Plan, sampler: Sampler, ends: Collection[int]) -> None:
        self.drafts: list[Draft] = []  # of a token each
        self.ended = not plan.length
        self._position = position
        self._plan = plan
        self._sampler = sampler
        self._ends = ends
        self._seen: list[float] = []  # probabilities that were read on the host

    @property
    def newest(self) -> mx.array:
        return self.drafts[-1].tokens if self.drafts else _NO_MATTER_WHICH

    @property
    def read_next(self) -> list[mx.array | None]:
        """The arrays of the newest token that `read` will wait for."""
        newest = self.drafts[-1]
        return [newest.tokens] if self._plan.stop is None else [newest.tokens, newest.probabilities]

    @property
    def joined(self) -> Draft:
        return joined(self.drafts, with_probabilities=self._plan.stop is not None) if self.drafts else NO_DRAFT

    def draw(self, logits: mx.array) -> None:
        ahead = mx.concatenate([draft.tokens for draft in self.drafts]) if self.drafts else None
        position = self._position + len(self.drafts)
        self.drafts.append(self._sampler.draft(logits, position, ahead, Sharpness.LEVELS, self._plan.sharpness))

    def read(self) -> None:
        """Read the tokens that may end the draft, but for the newest, which the device may still compute."""
        stop = self._plan.stop
        seen = self._seen
        for draft in self.drafts[len(seen) : len(self.drafts) - _unseen(self._plan, seen)]:
            seen.append(_probability(draft) if stop is not None else 1.0)
            if draft.tokens.item() in self._ends:
                self.drafts = self.drafts[: len(seen)]
                self.ended = True
                return
        goes_on = stop is None or stop.goes_on(seen, unknown=len(self.drafts) - len(seen))
        self.ended = len(self.drafts) == self._plan.length or not goes_on


def _unseen(plan: Plan, seen: Tokens[float]) -> int:
    """How many drafted tokens may be queued before the oldest is read, so that the device always has work.

    Fewer where a stop after the next token is likely; but not on a GPU, where waiting costs more.
    """
    if plan.stop is None or not plan.stop.floors:
        return _UNSEEN_TOKENS  # no stop rule
    return int(mx.default_device() == mx.gpu or (bool(seen) and plan.stop.chance(seen) > _SURE))


def _probability(draft: Draft) -> float:
    return draft.probabilities.item() if draft.probabilities is not None else 1.0  # type: ignore[return-value]


class Head(StateNetwork, Protocol):
    """The network of a drafter that drafts token by token."""

    reads_next_token: bool = True
    tokens: int = REHEARSED_TOKENS
    proposer: type[ChainProposer]
    _main: ModelAccess

    def logits(self, state: mx.array) -> mx.array:
        """Logits (n, vocabulary of the main model) after its own `state` (n, width)."""

    def step(self, token: mx.array, state: mx.array, caches: CacheSet) -> mx.array:
        """Its state (1, width) at the drafted `token` (1,), from the state before. Commits a row, if it adds one."""

    def rehearse(self, length: int, caches: CacheSet) -> mx.array:
        """Run a draft of `length` tokens to time it."""
        with _Chain(self, self._rehearsed_state(caches), caches) as chain:
            logits = chain.first
            for _ in range(length - 1):
                logits = chain.step(mx.argmax(logits, axis=-1))
        return logits

    def _rehearsed_state(self, caches: CacheSet) -> mx.array:
        """Its state (1, width) after one more row of a chat."""
        for rows in (1,) if caches.position else (REHEARSED_ROWS, 1):
            states = mx.zeros((rows, self.reads_width), self._main.precision)
            state = self.read(mx.zeros((rows,), mx.uint32), states, caches)
        return state


class ChainProposer(FeatureProposer):
    @property
    def _most_context(self) -> int:
        return self.context.main.info.context_tokens

    def propose(self, tokens: Tokens[int], plan: Plan, sampler: Sampler) -> Draft:
        with _Chain(self._network, self._read(tokens), self.context.caches) as chain:
            growing = Growing(len(tokens), plan, sampler, self.context.main.ends)
            return draft_chains(chain.first, chain.step, [growing])[0]

    def _read(self, tokens: Tokens[int]) -> mx.array:
        """Its own state (1, width) at the last row, when all are read."""
        self.context.follow(tokens)
        self.context.read()
        if self.context.last_state is None:
            raise RuntimeError("no row was read in this reply")
        return self.context.last_state


class RowChainProposer(ChainProposer, InRows):
    def propose(self, tokens: Tokens[int], plan: Plan, sampler: Sampler) -> Draft:
        drafted = self.drafted_in_rows()
        return super().propose(tokens, plan, sampler) if drafted is None else drafted

    def propose_together(self, rows: HeadRows, states: mx.array, wanted: Tokens[Wanted]) -> Tokens[Draft]:
        def step(drafted: mx.array) -> mx.array:
            nonlocal states
            states = rows.step(drafted, states)
            return self._network.logits(states)

        growing = [Growing(len(each.tokens), each.plan, each.sampler, self.context.main.ends) for each in wanted]
        return draft_chains(self._network.logits(states), step, growing)


class _Chain:
    """One draft of a head. Its rows are rolled back at the end."""

    def __init__(self, head: Head, state: mx.array, caches: CacheSet) -> None:
        self._head = head
        self._state = state
        self._caches = caches
        self._position = caches.position
        self.first = head.logits(state)

    def __enter__(self) -> _Chain:
        return self

    def __exit__(self, *raised: object) -> None:
        if not self._caches.width:  # if a step failed, the caches are not used again
            self._caches.roll_back(self._position)

    def step(self, token: mx.array) -> mx.array:
        self._state = self._head.step(token, self._state, self._caches)
        return self._head.logits(self._state)
