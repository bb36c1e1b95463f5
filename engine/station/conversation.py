"""One conversation of a station: its tokens, the draft's caches, and the tree of what was prepared."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import mlx.core as mx

from engine.caches.base import CacheSet
from engine.caches.checkpoints import truncate
from engine.decoding.accept import Draft, integers
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import PREFILL_CHUNK_TOKENS, common_prefix
from engine.drafting.acceptance import Sharpness
from engine.models.loading import LoadedPart
from engine.station.tree import FAN, Beliefs, Prediction, Tree


@dataclass(frozen=True, slots=True)
class StationDraft:
    """A loaded draft model. `width`: of its logits; `ends`: tokens that end a reply."""

    part: LoadedPart
    width: int
    context_tokens: int
    ends: frozenset[int]


class Conversation:
    """`commit` and `tree` may be used by another thread, under the station's lock; forwards are made by one thread."""

    def __init__(
        self, draft: StationDraft, tokens: list[int], sampler: Sampler, beliefs: Beliefs, caches: CacheSet | None
    ) -> None:
        """`caches`: of a beginning of `tokens`, or None."""
        self.tokens = tokens
        self.tree = Tree(beliefs)
        self.caches = draft.part.make_caches() if caches is None else caches
        self.ended = False
        self.sharpness = 0
        self._draft = draft
        self._sampler = sampler
        self._sampled = len(tokens)  # tokens that the sampler knows
        self._held = tokens[: self.caches.position]  # what is cached
        self._outcomes = min(FAN + 1, draft.width)

    @property
    def lags(self) -> bool:
        """Whether committed tokens are still to be prefilled by themselves."""
        return len(self.tokens) - self.caches.position > PREFILL_CHUNK_TOKENS

    @property
    def has_room(self) -> bool:
        return len(self.tokens) < self._draft.context_tokens

    @property
    def caught_up(self) -> bool:
        """Whether it has drafted after its present tokens."""
        return self.tree.root.prediction is not None

    def commit(self, tokens: Sequence[int]) -> None:
        self.tokens.extend(tokens)
        self.tree.commit(tokens)

    def prefill(self) -> None:
        """A chunk of the committed tokens."""
        self._cut(common_prefix(self._held, self.tokens))
        chunk = self.tokens[self.caches.position :][:PREFILL_CHUNK_TOKENS]
        mx.eval(self._forward(chunk))
        self.caches.evaluate()
        mx.clear_cache()

    def forward(self, path: list[int]) -> Callable[[], Prediction]:
        """Begin a forward over the committed tokens and `path`; call the result, without the lock, to wait for it."""
        self._sampler.commit(self.tokens[self._sampled :])
        self._sampled = len(self.tokens)
        wanted = self.tokens + path
        self._cut(min(common_prefix(self._held, wanted), len(wanted) - 1))
        logits = self._forward(wanted[len(self._held) :])[-1:]
        ahead = mx.array(path, dtype=mx.uint32) if path else None
        levels = Sharpness.LEVELS
        draft = self._sampler.draft(logits, len(wanted), ahead, levels, self.sharpness)
        best, values = self._sampler.outcomes(logits, len(wanted), ahead, levels[self.sharpness], self._outcomes)
        return partial(_prediction, draft, best, values)

    def _forward(self, tokens: list[int]) -> mx.array:
        """Logits (n, width) after each of `tokens`, which are cached."""
        fed = mx.minimum(mx.array(tokens, dtype=mx.uint32), self._draft.width - 1)
        network = self._draft.part.network
        logits: mx.array = self.caches.forward(fed.size, lambda: network(fed[None], cache=self.caches.layers))
        self.caches.commit(fed.size)
        self._held = self._held + tokens
        return logits[0]

    def _cut(self, held: int) -> None:
        truncate(self.caches, held)
        self._held = self._held[:held]


def _prediction(draft: Draft, best: mx.array, values: mx.array) -> Prediction:
    mx.eval(*(array for array in draft.host_arrays if array is not None), best, values)
    (token,) = integers(draft.tokens)
    ranked = sorted(zip(_floats(values), integers(best), strict=True), reverse=True)
    others = [each for value, each in ranked if each != token and value > -math.inf]
    guesses = () if draft.guesses is None else tuple(integers(draft.guesses[0]))
    assert draft.probabilities is not None
    return Prediction(token, _floats(draft.probabilities)[0], tuple(others[:FAN]), guesses)


def _floats(array: mx.array) -> list[float]:
    return array.astype(mx.float32).tolist()  # type: ignore[return-value]
