"""From logits to tokens: penalties, filters, temperature and noise. One path for plain, drafted and verified tokens.

The noise of a token depends on (seed, absolute position) only, and the token is argmax(log law + noise). So whoever
computes the same law at the same position draws the same token, in one forward or in many: a draft proposes what it
expects the main model to draw, and the text does not depend on the draft.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mlx.core as mx

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.types import Sampling

_MASK = 2**64 - 1


class Sampler:
    """Draws the tokens of one reply. Holds no random state: every draw can be repeated."""

    def __init__(self, sampling: Sampling, seed: int, vocabulary: int, prefix: Sequence[int]) -> None:
        self._sampling = sampling
        self._seed = seed
        self._vocabulary = vocabulary
        self._penalised = sampling.repetition_penalty != 1.0
        # Which tokens the reply's whole prefix holds, prompt included; kept only when a penalty asks for it.
        self._seen = _marked(mx.zeros(vocabulary, dtype=mx.bool_), prefix) if self._penalised else None

    def draw(self, logits: mx.array, position: int, ahead: mx.array | None = None) -> mx.array:
        """The tokens at `position`, `position + 1`, …, one for each row of `logits` (rows, vocabulary).

        `ahead` are the drafted tokens before the last row: the last row comes after all of them, the one above it
        after all but one, and so on.
        """
        logits = _fit(logits, self._vocabulary).astype(mx.float32)
        if self._seen is not None:
            logits = self._penalise(logits, self._seen, ahead)
        if self._sampling.temperature == 0:
            return mx.argmax(logits, axis=-1)
        law = filtered(logits - mx.logsumexp(logits, axis=-1, keepdims=True), self._sampling)
        noise = gumbel_noise(self._seed, position, logits.shape[0], self._vocabulary)
        return mx.argmax(law * (1.0 / self._sampling.temperature) + noise, axis=-1)

    def commit(self, tokens: Sequence[int]) -> None:
        """`tokens` are now part of the prefix."""
        if self._seen is not None:
            self._seen = _marked(self._seen, tokens)

    def _penalise(self, logits: mx.array, seen: mx.array, ahead: mx.array | None) -> mx.array:
        rows = mx.broadcast_to(seen, logits.shape)
        if ahead is not None and ahead.size:
            marks = ahead[:, None] == mx.arange(self._vocabulary)  # (len(ahead), vocabulary)
            after = mx.cummax(marks.astype(mx.uint8), axis=0).astype(mx.bool_)
            none = mx.zeros((1, self._vocabulary), dtype=mx.bool_)
            rows = rows | mx.concatenate([none, after])[-logits.shape[0] :]
        penalty = self._sampling.repetition_penalty
        return mx.where(rows, mx.where(logits < 0, logits * penalty, logits / penalty), logits)


def filtered(law: mx.array, sampling: Sampling) -> mx.array:
    """`law` (log-probabilities) with -inf for what top-p, min-p and top-k leave out, in that order, as mlx-lm does."""
    if 0 < sampling.top_p < 1:
        law = _top_p(law, sampling.top_p)
    if sampling.min_p > 0:
        floor = mx.max(law, axis=-1, keepdims=True) + mx.log(mx.array(sampling.min_p))
        law = mx.where(law < floor, -mx.inf, law)
    if 0 < sampling.top_k < law.shape[-1]:
        dropped = mx.argpartition(-law, kth=sampling.top_k - 1, axis=-1)[..., sampling.top_k :]
        law = mx.put_along_axis(law, dropped, mx.array(-mx.inf, law.dtype), axis=-1)
    return law


def gumbel_noise(seed: int, position: int, rows: int, vocabulary: int) -> mx.array:
    """Noise for `rows` consecutive absolute positions (rows, vocabulary)."""
    keys = mx.array([_key(seed, position + row) for row in range(rows)], dtype=mx.uint32)
    return mx.vmap(lambda key: mx.random.gumbel((vocabulary,), key=key))(keys)


def _key(seed: int, position: int) -> tuple[int, int]:
    """SplitMix64 of the pair, as the two words of an MLX key."""
    word = (seed + (position + 1) * 0x9E3779B97F4A7C15) & _MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    word ^= word >> 31
    return word >> 32, word & 0xFFFFFFFF


def _top_p(law: mx.array, top_p: float) -> mx.array:
    ascending = mx.sort(law, axis=-1)
    mass = mx.exp(ascending)
    above = mx.cumsum(mass, axis=-1, reverse=True, inclusive=False)
    total = above[..., :1] + mass[..., :1]
    dropped = (above >= top_p * total).sum(axis=-1, keepdims=True)
    return mx.where(law < mx.take_along_axis(ascending, dropped, axis=-1), -mx.inf, law)


def _fit(logits: mx.array, vocabulary: int) -> mx.array:
    """Padding of the output layer differs between models that share a tokenizer."""
    extra = vocabulary - logits.shape[-1]
    if extra > 0:
        return mx.pad(logits, [(0, 0), (0, extra)], constant_values=-mx.inf)
    return logits[:, :vocabulary]


def _marked(seen: mx.array, tokens: Sequence[int]) -> mx.array:
    if not tokens:
        return seen
    seen = mx.array(seen)  # a copy: the caller may still hold a forward that reads the old one
    seen[mx.array(list(tokens))] = True
    mx.eval(seen)
    return seen
