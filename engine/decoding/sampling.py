"""From logits to tokens: penalties, filters, temperature and noise. One path for plain, drafted and verified tokens.

token = argmax(logprobs + noise), and the noise depends on (seed, absolute position) only. So the same logprobs at the
same position give the same token, in one forward or in many: a draft proposes what it expects the main model to draw,
and the text does not depend on the draft.

Greedy tokens are mlx-lm's: the first maximum of the log-probabilities in the model's own precision, ties of rounding
included. Sampling computes in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import mlx.core as mx

from engine.api.types import Acceptance, Sampling
from engine.decoding.accept import NO_DRAFT, Draft, integers, likeliest, rejection
from engine.decoding.guide import Guide
from engine.decoding.scores import Scores

_MASK = 2**64 - 1
# Added to the seed for XTC's coin, so that it differs from the noise at the same position.
_COIN_OF_XTC = 0xC01C01C01C01C01C
_COIN_OF_VERIFY = 0x5A5A1234A5A54321
_NOISE_OF_VERIFY = 0x0F1E2D3C4B5A6978


class DrawingLaw(NamedTuple):
    """All of a Sampler's arguments but the prefix, for one in another process that drafts for it."""

    sampling: Sampling
    seed: int
    vocabulary: int
    spared: tuple[int, ...]


class Sampler:
    """Draws the tokens of one reply. Has no random state: every draw can be repeated."""

    def __init__(
        self,
        sampling: Sampling,
        seed: int,
        vocabulary: int,
        prefix: Sequence[int],
        spared: Sequence[int] = (),
        acceptance: Acceptance = Acceptance.COUPLED,
    ) -> None:
        """`prefix`: tokens that the reply continues; `spared`: tokens that XTC never excludes (ends, line breaks)."""
        # Masks the main model's logits before sampling; applied by callers.
        self.guide: Guide | None = None
        self.scores: Scores | None = None  # set if the request asked for log-probabilities
        self._sampling = sampling
        self._seedless = replace(sampling, seed=None)
        # Whether it accepts by rejection sampling, which needs the draft's distributions.
        self.rejects = acceptance is Acceptance.REJECTION and sampling.temperature > 0
        # MEASURED: drafted tokens are accepted as often without top-p, which costs a sort for each of them.
        self._guessing = sampling if self.rejects else replace(sampling, top_p=1.0)
        self._seed = seed
        self._vocabulary = vocabulary
        self._spared = mx.array(list(spared), dtype=mx.uint32)
        self._bias = _bias(sampling, vocabulary)
        self._noises: dict[int, mx.array] = {}  # noise that this round's draft used, by position
        # How often each token occurs in the prefix (vocabulary,); None unless a penalty needs it.
        penalises = sampling.repetition_penalty != 1 or sampling.presence_penalty or sampling.frequency_penalty
        self._counts = _counted(mx.zeros(vocabulary), prefix) if penalises else None

    def draw(self, logits: mx.array, position: int, ahead: mx.array | None = None) -> mx.array:
        """The tokens at `position`, `position + 1`, …, one for each row of `logits` (rows, vocabulary).

        `ahead`: the drafted tokens before the last row. Penalties of the last row count all of them, those of the row
        above all but the last, and so on.
        """
        return likeliest(self._values(logits, position, _chain(ahead)))

    def _values(self, logits: mx.array, position: int, draft: Draft) -> mx.array:
        """(rows, vocabulary) whose argmax is the token."""
        if self._sampling.temperature == 0:
            return normalised(self._processed(logits, draft))
        return self._logprobs(logits, position, draft) + self._noise(position, logits.shape[0])

    def draft(
        self, logits: mx.array, position: int, ahead: mx.array | None, scales: Sequence[float], level: int
    ) -> Draft:
        """The token at `position` that a draft proposes from its own `logits` (1, vocabulary).

        Its log-probabilities are multiplied by `scales[level]`, which sharpens them; `Draft.guesses` holds the token of
        every scale. Where a grammar acts the token is one that it allows.
        """
        if self.guide is not None:
            logits = self.guide.masked_draft(_fit(logits, self._vocabulary), ahead)
        if self._sampling.temperature == 0:
            logprobs = normalised(self._processed(logits, _chain(ahead)))
            probability = mx.exp(mx.max(logprobs, axis=-1).astype(mx.float32))
            return Draft(mx.argmax(logprobs, axis=-1), probabilities=probability)
        sharpened, noise = self._sharpened(logits, position, ahead, scales)
        self._noises[position] = noise
        guesses = mx.argmax(sharpened + noise, axis=-1)
        token = guesses[level : level + 1]
        logprobs = sharpened[level : level + 1]
        probability = mx.exp(logprobs[0, token[0]] - mx.logsumexp(logprobs))
        return Draft(token, normalised(logprobs) if self.rejects else None, probability[None], guesses[None])

    def outcomes(
        self, logits: mx.array, position: int, ahead: mx.array | None, scale: float, count: int
    ) -> tuple[mx.array, mx.array]:
        """The `count` tokens that are drawn most probably at `position`, in any order, and their values (higher is
        likelier), by a draft's `logits` (1, vocabulary) whose log-probabilities are multiplied by `scale`.
        """
        if self._sampling.temperature == 0:
            values = self._processed(logits, _chain(ahead))[0]
        else:
            sharpened, noise = self._sharpened(logits, position, ahead, (scale,))
            values = (sharpened + noise)[0]
        best = mx.argpartition(-values, kth=count - 1)[:count]
        return best, values[best]

    def _sharpened(
        self, logits: mx.array, position: int, ahead: mx.array | None, scales: Sequence[float]
    ) -> tuple[mx.array, mx.array]:
        """A draft's log-probabilities at each scale (scales, vocabulary), and the position's noise (1, vocabulary)."""
        unscaled = self._filtered(self._processed(logits.astype(mx.float32), _chain(ahead)), position, self._guessing)
        sharpened = _column(tuple(scales), 1.0 / self._sampling.temperature) * unscaled
        return sharpened, gumbel_noise(self._seed, position, 1, self._vocabulary)

    def verify(self, logits: mx.array, position: int, draft: Draft) -> mx.array:
        """The verdicts (n + 1,) on `draft` (n,), whose first token is at `position`."""
        drafted = draft.tokens.size
        if not self.rejects or not drafted:
            return likeliest(self._values(logits, position, draft))
        logprobs = normalised(self._logprobs(logits, position, draft))
        uniforms = keyed_uniform(self._seed ^ _COIN_OF_VERIFY, position, drafted)[:, 0]
        noise = gumbel_noise(self._seed ^ _NOISE_OF_VERIFY, position, drafted + 1, self._vocabulary)
        return rejection(logprobs, draft, uniforms, noise)

    def draws_alike(self, other: Sampler) -> bool:
        """Whether the two differ only in their seed, and neither uses penalties (they depend on the prefix) or XTC."""
        special = self._counts is not None or self._bias is not None
        special |= self.guide is not None and self.guide.acts_within(2)
        special |= self.scores is not None
        special |= self._sampling.xtc_probability > 0
        return not special and self._seedless == other._seedless

    def draw_together(self, company: Sequence[Sampler], logits: mx.array, positions: Sequence[int]) -> mx.array:
        """A token (rows,) for each sampler of `company`, which are `draws_alike`, as each would draw it alone."""
        if self._sampling.temperature == 0:
            return likeliest(normalised(self._processed(logits, NO_DRAFT)))
        keys = [sampler.noise_key(position) for sampler, position in zip(company, positions, strict=True)]
        noise = _gumbel(mx.array(keys, dtype=mx.uint32), self._vocabulary)
        return likeliest(self._logprobs(logits, 0, NO_DRAFT) + noise)

    @property
    def law(self) -> DrawingLaw:
        return DrawingLaw(self._sampling, self._seed, self._vocabulary, tuple(integers(self._spared)))

    def noise_key(self, position: int) -> tuple[int, int]:
        return _key(self._seed, position)

    def note(self, logits: mx.array, position: int, drawn: mx.array) -> None:
        """Record the scores of `drawn` (rows,), drawn from these unmasked logits; the first is at `position`."""
        if self.scores is not None:
            self.scores.note(logits, position, drawn)

    def commit(self, tokens: Sequence[int]) -> None:
        """`tokens` are now part of the prefix."""
        self._noises.clear()
        if self.scores is not None:
            self.scores.commit(tokens)
        if self._counts is not None:
            self._counts = _counted(self._counts, tokens)

    def _noise(self, position: int, rows: int) -> mx.array:
        """Noise (rows, vocabulary) of these positions, reusing the draft's noise except for the last row."""
        drawn = [self._noises[at] for at in range(position, position + rows - 1) if at in self._noises]
        rest = gumbel_noise(self._seed, position + len(drawn), rows - len(drawn), self._vocabulary)
        return mx.concatenate([*drawn, rest]) if drawn else rest

    def _logprobs(self, logits: mx.array, position: int, draft: Draft) -> mx.array:
        """Log-probabilities after all filters and temperature, up to a constant for each row, which changes no draw.

        MEASURED: on a CPU normalising 150,000 of them takes as long as the draw. So the maximum is 0 instead; a row
        with NaN, or nothing but -inf, becomes all NaN.
        """
        processed = self._processed(logits.astype(mx.float32), draft)
        logprobs = processed - mx.max(processed, axis=-1, keepdims=True)
        return self._filtered(logprobs, position, self._sampling) * (1.0 / self._sampling.temperature)

    def _filtered(self, logprobs: mx.array, position: int, sampling: Sampling) -> mx.array:
        uniforms = None
        if sampling.xtc_probability > 0:
            uniforms = keyed_uniform(self._seed ^ _COIN_OF_XTC, position, logprobs.shape[0])
        return filtered(logprobs, sampling, uniforms, self._spared)

    def _processed(self, logits: mx.array, draft: Draft) -> mx.array:
        """`logits` with bias and penalties, in their own precision."""
        logits = _fit(logits, self._vocabulary)
        if self._bias is not None:
            logits = logits + self._bias.astype(logits.dtype)
        return logits if self._counts is None else self._penalised(logits, self._counts, draft)

    def _penalised(self, logits: mx.array, counts: mx.array, draft: Draft) -> mx.array:
        counts = self._counts_before_rows(counts, logits.shape[0], draft)
        seen = counts > 0
        sampling = self._sampling
        repeated = mx.where(logits < 0, logits * sampling.repetition_penalty, logits / sampling.repetition_penalty)
        logits = mx.where(seen, repeated, logits)
        taken = seen * sampling.presence_penalty + counts * sampling.frequency_penalty
        return logits - taken.astype(logits.dtype)

    def _counts_before_rows(self, counts: mx.array, rows: int, draft: Draft) -> mx.array:
        if not draft.tokens.size:
            return mx.broadcast_to(counts, (rows, self._vocabulary))
        marks = (draft.tokens[:, None] == mx.arange(self._vocabulary)).astype(mx.float32)  # (n, vocabulary)
        before = mx.concatenate([mx.zeros((1, self._vocabulary)), mx.cumsum(marks, axis=0)])
        return counts + before[-rows:]


def filtered(
    logprobs: mx.array,
    sampling: Sampling,
    uniforms: mx.array | None = None,
    spared: mx.array | None = None,
) -> mx.array:
    """`logprobs` (rows, vocabulary), -inf where excluded by top-p, min-p, XTC and top-k, in that order, as in mlx-lm.

    They may be off by a constant a row. `uniforms` (rows, 1) are uniform: XTC acts on rows whose number is below its
    probability.
    """
    if 0 < sampling.top_p < 1:
        logprobs = _top_p(logprobs, sampling.top_p)
    if sampling.min_p > 0:
        floor = mx.max(logprobs, axis=-1, keepdims=True) + mx.log(mx.array(sampling.min_p))
        logprobs = mx.where(logprobs < floor, -mx.inf, logprobs)
    if uniforms is not None:
        logprobs = mx.where(
            uniforms < sampling.xtc_probability, _without_top_choices(logprobs, sampling, spared), logprobs
        )
    if 0 < sampling.top_k < logprobs.shape[-1]:
        dropped = mx.argpartition(-logprobs, kth=sampling.top_k - 1, axis=-1)[..., sampling.top_k :]
        logprobs = mx.put_along_axis(logprobs, dropped, mx.array(-mx.inf, logprobs.dtype), axis=-1)
    return logprobs


def normalised(logits: mx.array) -> mx.array:
    return logits - mx.logsumexp(logits, axis=-1, keepdims=True)


def keyed_uniform(seed: int, position: int, rows: int) -> mx.array:
    """One uniform draw for each of `rows` consecutive absolute positions (rows, 1)."""
    return mx.vmap(lambda key: mx.random.uniform(shape=(1,), key=key))(_keys(seed, position, rows))


def gumbel_noise(seed: int, position: int, rows: int, vocabulary: int) -> mx.array:
    """Noise for `rows` consecutive absolute positions (rows, vocabulary)."""
    if rows == 1:  # MEASURED: without vmap it is built in a third of the time
        return mx.random.gumbel((1, vocabulary), key=mx.array(_key(seed, position), dtype=mx.uint32))
    return _gumbel(_keys(seed, position, rows), vocabulary)


def _chain(ahead: mx.array | None) -> Draft:
    return NO_DRAFT if ahead is None else Draft(ahead)


def _gumbel(keys: mx.array, vocabulary: int) -> mx.array:
    return mx.vmap(lambda key: mx.random.gumbel((vocabulary,), key=key))(keys)


@cache
def _column(values: tuple[float, ...], factor: float) -> mx.array:
    return mx.array([[factor * value] for value in values])


def _keys(seed: int, position: int, rows: int) -> mx.array:
    return mx.array([_key(seed, position + row) for row in range(rows)], dtype=mx.uint32)


def _key(seed: int, position: int) -> tuple[int, int]:
    """SplitMix64 of the pair, as the two words of an MLX key."""
    word = (seed + (position + 1) * 0x9E3779B97F4A7C15) & _MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    word ^= word >> 31
    return word >> 32, word & 0xFFFFFFFF


def _top_p(logprobs: mx.array, top_p: float) -> mx.array:
    ascending = mx.sort(logprobs, axis=-1)
    mass = mx.exp(ascending - ascending[..., -1:])
    above = mx.cumsum(mass, axis=-1, reverse=True, inclusive=False)  # mass above, up to a factor
    total = above[..., :1] + mass[..., :1]
    dropped = (above >= top_p * total).sum(axis=-1, keepdims=True)
    return mx.where(logprobs < mx.take_along_axis(ascending, dropped, axis=-1), -mx.inf, logprobs)


def _without_top_choices(logprobs: mx.array, sampling: Sampling, spared: mx.array | None) -> mx.array:
    """XTC: of the tokens above the threshold, keep only the least likely."""
    likely = mx.softmax(logprobs, axis=-1)
    least = mx.where(likely > sampling.xtc_threshold, likely, mx.inf).min(axis=-1, keepdims=True)
    excluded = likely > least
    if spared is not None and spared.size:
        excluded[..., spared] = False
    return mx.where(excluded, -mx.inf, logprobs)


def _fit(logits: mx.array, vocabulary: int) -> mx.array:
    """Cut or pad to `vocabulary`: output layers of models with one tokenizer are padded differently."""
    extra = vocabulary - logits.shape[-1]
    if extra > 0:
        return mx.pad(logits, [(0, 0), (0, extra)], constant_values=-mx.inf)
    return logits[:, :vocabulary]


def _bias(sampling: Sampling, vocabulary: int) -> mx.array | None:
    if not sampling.logit_bias:
        return None
    tokens, added = zip(*sampling.logit_bias, strict=True)
    return mx.zeros(vocabulary).at[mx.array(tokens)].add(mx.array(added))


def _counted(counts: mx.array, tokens: Sequence[int]) -> mx.array:
    if not tokens:
        return counts
    counts = counts.at[mx.array(list(tokens))].add(1.0)
    mx.eval(counts)
    return counts
