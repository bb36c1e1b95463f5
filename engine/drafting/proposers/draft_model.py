"""Drafting with a small model of the same vocabulary, which reads the chat lazily.

It reads nothing until the first speculative round, then catches up chunk by chunk while the reply goes on plainly.
"""

from __future__ import annotations

from collections.abc import Sequence as Tokens
from typing import TYPE_CHECKING

import mlx.core as mx

from engine.api.types import MAX_DRAFT_TOKENS
from engine.decoding.accept import NO_TOKENS, Draft
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.drafting.acceptance import Sharpness
from engine.drafting.plans import Offer, Plan
from engine.drafting.proposers.base import joined
from engine.prefix.memory import PrefixStore

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

# After a round that was accepted whole the draft lacks two tokens. Reading more than that in the drafting forward
# itself would compute logits that nobody wants.
_TAIL_TOKENS = 2
_UNSEEN_TOKENS = 2
_SURE = 0.8


class DraftModelProposer:
    name = "draft"

    def __init__(self, model: LoadedModel, store: PrefixStore, turn_end: int = 0) -> None:
        self._model = model
        self._ends = model.ends
        self._store = store
        self._turn_end = turn_end
        self._logits = NO_TOKENS  # behind the last token that was read
        self._before_tail = 0  # the position before that forward
        self._sequence: Sequence | None = None

    def offer(self, tokens: Tokens[int]) -> Offer:
        sequence = self._follow(tokens)
        room = self._model.info.context_tokens - len(tokens)
        behind = sequence.unread - 1 if sequence.unread > _TAIL_TOKENS and room > 0 else 0
        most = 0 if behind else max(0, min(MAX_DRAFT_TOKENS, room))
        return Offer(self.name, most, tells_probabilities=True, behind=behind)

    def read_on(self) -> None:
        """A chunk; or, of the last tokens, what the next draft starts with: started, but not waited for."""
        sequence = self._following
        if sequence.unread > _TAIL_TOKENS:
            sequence.prefill_chunk()
        else:
            self._read_tail(sequence)
            mx.async_eval(self._logits)

    def propose(self, tokens: Tokens[int], plan: Plan, sampler: Sampler) -> Draft:
        """Stops early behind an end token, and where the plan's stop rule says so."""
        sequence = self._follow(tokens)
        self._read_tail(sequence)
        sequence.caches.keep_rollback_points()
        logits, drafts = self._logits, list[Draft]()
        seen: list[float] = []  # probabilities of the tokens that were waited for
        while len(drafts) < plan.length:
            if drafts:
                logits = sequence.feed(drafts[-1].tokens)
                sequence.caches.commit(1)
            ahead = mx.concatenate([draft.tokens for draft in drafts]) if drafts else None
            position = len(tokens) + len(drafts)
            drafts.append(sampler.draft(logits, position, ahead, Sharpness.LEVELS, plan.sharpness))
            mx.async_eval([drafts[-1].tokens] if plan.stop is None else [drafts[-1].tokens, drafts[-1].probabilities])
            for draft in drafts[len(seen) : len(drafts) - _unseen(plan, seen)]:
                seen.append(_probability(draft) if plan.stop is not None else 1.0)
                if draft.tokens.item() in self._ends:
                    return joined(drafts[: len(seen)], with_probabilities=plan.stop is not None)
            if seen and plan.stop is not None and not plan.stop.goes_on(seen):
                break
        return joined(drafts, with_probabilities=plan.stop is not None)

    def commit(self, emitted: Tokens[int]) -> None:
        """The draft has read all that it drafted but the last token; what was rejected goes."""
        sequence = self._following
        sequence.caches.roll_back(min(sequence.caches.position, len(sequence.tokens) + len(emitted) - 1))
        sequence.tokens.extend(emitted)

    def close(self) -> None:
        if self._sequence is not None:
            caches = self._sequence.caches  # go back to where any next turn goes on
            caches.roll_back(caches.position if self._sequence.unread else self._before_tail)
            self._store.put(self._sequence)
            self._sequence = None

    def _read_tail(self, sequence: Sequence) -> None:
        """The last tokens, in one forward, unless that has been done already."""
        if unread := sequence.unread:
            self._before_tail = sequence.caches.position
            sequence.caches.keep_rollback_points()
            self._logits = sequence.feed(mx.array(sequence.tokens[-unread:]))[-1:]
            sequence.caches.commit(unread)

    @property
    def _following(self) -> Sequence:
        if self._sequence is None:
            raise RuntimeError("an offer comes first")
        return self._sequence

    def _follow(self, tokens: Tokens[int]) -> Sequence:
        """Take in what was committed since the last look, plain rounds included."""
        if self._sequence is None:
            self._sequence = self._store.take(self._model, list(tokens))
            self._sequence.turn_end = self._turn_end
        self._sequence.tokens.extend(tokens[len(self._sequence.tokens) :])
        return self._sequence


def _unseen(plan: Plan, seen: Tokens[float]) -> int:
    """How many tokens may be under way before the next one is waited for, so that the device always has work.

    A draft that may well stop at the next token waits for it; on a GPU, where waiting costs more, no draft does.
    """
    if plan.stop is None or not plan.stop.floors:
        return _UNSEEN_TOKENS  # nobody asks but for an end
    return int(mx.default_device() == mx.gpu or (bool(seen) and plan.stop.chance(seen) > _SURE))


def _probability(draft: Draft) -> float:
    return draft.probabilities.item() if draft.probabilities is not None else 1.0  # type: ignore[return-value]
