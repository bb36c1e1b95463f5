"""Drafting token by token: the loop that all such drafts share, and the proposer of heads that feed on themselves.

A head reads a row for each token: the main model's state there, and the token after it. While it drafts, its own state
stands in for the main model's; rows that it makes go again with the draft, and real ones take their place next round.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from collections.abc import Sequence as Tokens
from typing import TYPE_CHECKING, Protocol

import mlx.core as mx

from engine.caches.base import CacheSet
from engine.decoding.accept import Draft
from engine.decoding.sampling import Sampler
from engine.drafting.acceptance import Sharpness
from engine.drafting.plans import Plan
from engine.drafting.proposers.base import joined
from engine.drafting.proposers.features import FeatureProposer, Reader
from engine.prefix.memory import PrefixStore

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

Step = Callable[[mx.array], mx.array]  # from a drafted token (1,) to the logits (1, vocabulary) of the next

_UNSEEN_TOKENS = 2
_SURE = 0.8
REHEARSED_TOKENS = 8
_REHEARSED_ROWS = 64


def draft_chain(
    first: mx.array, step: Step, position: int, plan: Plan, sampler: Sampler, ends: Collection[int] = ()
) -> Draft:
    """The tokens from `position` on: the first by the logits `first` (1, vocabulary), each next one by a `step`.

    Stops behind one of `ends`, and where the plan's stop rule says so.
    """
    logits, drafts = first, list[Draft]()
    seen: list[float] = []  # probabilities of the tokens that were waited for
    while len(drafts) < plan.length:
        if drafts:
            logits = step(drafts[-1].tokens)
        ahead = mx.concatenate([draft.tokens for draft in drafts]) if drafts else None
        drafts.append(sampler.draft(logits, position + len(drafts), ahead, Sharpness.LEVELS, plan.sharpness))
        mx.async_eval([drafts[-1].tokens] if plan.stop is None else [drafts[-1].tokens, drafts[-1].probabilities])
        for draft in drafts[len(seen) : len(drafts) - _unseen(plan, seen)]:
            seen.append(_probability(draft) if plan.stop is not None else 1.0)
            if draft.tokens.item() in ends:
                return joined(drafts[: len(seen)], with_probabilities=plan.stop is not None)
        if plan.stop is not None and not plan.stop.goes_on(seen, unknown=len(drafts) - len(seen)):
            break
    return joined(drafts, with_probabilities=plan.stop is not None)


def _unseen(plan: Plan, seen: Tokens[float]) -> int:
    """How many tokens may be under way before the next one is waited for, so that the device always has work.

    A draft that may well stop at the next token waits for it; on a GPU, where waiting costs more, no draft does.
    """
    if plan.stop is None or not plan.stop.floors:
        return _UNSEEN_TOKENS  # nobody asks but for an end
    return int(mx.default_device() == mx.gpu or (bool(seen) and plan.stop.chance(seen) > _SURE))


def _probability(draft: Draft) -> float:
    return draft.probabilities.item() if draft.probabilities is not None else 1.0  # type: ignore[return-value]


class Head(Reader, Protocol):
    """The network of a drafter that drafts token by token."""

    @property
    def reads(self) -> tuple[int, ...]:
        """The layers of the main model whose states it reads."""

    @property
    def reads_width(self) -> int:
        """Of a row of those states."""

    def logits(self, state: mx.array) -> mx.array:
        """What follows its own `state` (n, width), over the main model's vocabulary."""

    def step(self, token: mx.array, state: mx.array, caches: CacheSet) -> mx.array:
        """Its state (1, width) at the drafted `token` (1,), from the one before it. Commits a row, if it makes one."""


class ChainProposer(FeatureProposer):
    def __init__(self, drafter: LoadedModel, main: LoadedModel, store: PrefixStore) -> None:
        self._head: Head = drafter.network
        self._ends = main.ends
        super().__init__(drafter, main, store, self._head.reads)
        self._room = main.info.context_tokens  # heads go as far as the main model does

    def propose(self, tokens: Tokens[int], plan: Plan, sampler: Sampler) -> Draft:
        self._context.follow(tokens)
        self._context.read()
        if self._context.last_state is None:
            raise RuntimeError("no row was read in this reply")
        with _Chain(self._head, self._context.last_state, self._context.caches) as chain:
            return draft_chain(chain.first, chain.step, len(tokens), plan, sampler, self._ends)


class _Chain:
    """One draft of a head. What it fed itself is taken back at the end."""

    def __init__(self, head: Head, state: mx.array, caches: CacheSet) -> None:
        self._head, self._state, self._caches = head, state, caches
        self._position = caches.position
        self.first = head.logits(state)

    def __enter__(self) -> _Chain:
        return self

    def __exit__(self, *raised: object) -> None:
        if not self._caches.width:  # a step that broke has left the caches in doubt, and the proposer with it
            self._caches.roll_back(self._position)

    def step(self, token: mx.array) -> mx.array:
        self._state = self._head.step(token, self._state, self._caches)
        return self._head.logits(self._state)


def rehearsed(head: Head, length: int, caches: CacheSet) -> mx.array:
    """A draft of `length` tokens that nobody reads, to be timed."""
    if not caches.position:
        head.read(mx.zeros((_REHEARSED_ROWS,), mx.uint32), mx.zeros((_REHEARSED_ROWS, head.reads_width)), caches)
    state = head.read(mx.zeros((1,), mx.uint32), mx.zeros((1, head.reads_width)), caches)
    with _Chain(head, state, caches) as chain:
        logits = chain.first
        for _ in range(length - 1):
            logits = chain.step(mx.argmax(logits, axis=-1))
    return logits
