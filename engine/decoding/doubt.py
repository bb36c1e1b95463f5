"""Which verdicts rounding could have turned: where a draw is nearly even, or a token nearly at a filter's border."""

from __future__ import annotations

from typing import NamedTuple

import mlx.core as mx

from engine.api.types import Sampling


class Ranked(NamedTuple):
    """Rows of log-probabilities in ascending order, and what top-p goes by. To sort them takes as long as all else."""

    ascending: mx.array
    above: mx.array  # how much of the probability is above each, up to a constant
    total: mx.array  # (rows, 1)


def ranked(logprobs: mx.array) -> Ranked:
    ascending = mx.sort(logprobs, axis=-1)
    mass = mx.exp(ascending - ascending[..., -1:])
    above = mx.cumsum(mass, axis=-1, reverse=True, inclusive=False)
    return Ranked(ascending, above, above[..., :1] + mass[..., :1])


def doubtful(values: mx.array, margin: float) -> mx.array:
    """The rows (rows,) whose second best value is so close to the best that rounding could have chosen it."""
    best = mx.argmax(values, axis=-1, keepdims=True)
    others = mx.put_along_axis(values, best, mx.array(-mx.inf, values.dtype), axis=-1)
    return mx.take_along_axis(values, best, axis=-1)[:, 0] - mx.max(others, axis=-1) < margin


def doubtful_draws(
    logprobs: mx.array,
    noise: mx.array,
    sampling: Sampling,
    coins: mx.array | None,
    spared: mx.array | None,
    rounding: float,
    order: Ranked | None = None,
) -> mx.array:
    """The rows of `logprobs`, unfiltered and not yet over temperature, whose draw with `noise` is in doubt.

    Each may be off by `rounding`. A draw is certain if no token that a filter may let through comes near the winner,
    and the winner is one that the filters keep in any case. `order` is of `logprobs`, where it is known.
    """
    slack, scale = 2 * rounding, 1.0 / sampling.temperature
    possible, certain = _kept(logprobs, sampling, coins, spared, slack, order)
    values = mx.where(possible, logprobs * scale + noise, -mx.inf)
    winner = mx.argmax(values, axis=-1, keepdims=True)
    return doubtful(values, slack * scale) | ~mx.take_along_axis(certain, winner, axis=-1)[:, 0]


def _kept(
    logprobs: mx.array,
    sampling: Sampling,
    coins: mx.array | None,
    spared: mx.array | None,
    slack: float,
    order: Ranked | None,
) -> tuple[mx.array, mx.array]:
    """What `filtered` may keep of each row, and what for certain, if two of a row may differ by `slack` more."""
    possible = certain = logprobs > -mx.inf
    if 0 < sampling.top_p < 1:
        lowest, highest_dropped = _mass_borders(order or ranked(logprobs), sampling.top_p, slack)
        possible, certain = possible & (logprobs >= lowest - slack), certain & (logprobs > highest_dropped + slack)
    if sampling.min_p > 0:
        best, second = _largest(logprobs, 1), _largest(logprobs, 2)
        floor = best + mx.log(mx.array(sampling.min_p))
        is_ahead = (logprobs == best) & (best > second + slack)
        possible, certain = possible & (logprobs >= floor - slack), certain & ((logprobs >= floor + slack) | is_ahead)
    if coins is not None:
        acts = coins < sampling.xtc_probability
        masses = [
            mx.logsumexp(mx.where(kept, logprobs, -mx.inf), axis=-1, keepdims=True) for kept in (possible, certain)
        ]
        may_stay, stays = _beside_top_choices(logprobs, masses[0], masses[1], sampling.xtc_threshold, slack)
        if spared is not None and spared.size:
            may_stay[..., spared] = stays[..., spared] = True
        possible, certain = possible & (may_stay | ~acts), certain & (stays | ~acts)
    if 0 < sampling.top_k < logprobs.shape[-1]:
        lowest = _largest(mx.where(certain, logprobs, -mx.inf), sampling.top_k)
        next_one = _largest(mx.where(possible, logprobs, -mx.inf), sampling.top_k + 1)
        possible, certain = possible & (logprobs >= lowest - slack), certain & (logprobs > next_one + slack)
    return possible, certain


def _mass_borders(order: Ranked, top_p: float, slack: float) -> tuple[mx.array, mx.array]:
    """The lowest value (rows, 1) that top-p keeps at most, and the highest that it drops at most."""
    more, fewer = (mx.exp(mx.array(sign * slack)) * top_p * order.total for sign in (1, -1))
    kept_from = (order.above >= more).sum(axis=-1, keepdims=True)
    dropped_to = (order.above >= fewer).sum(axis=-1, keepdims=True)
    highest = mx.take_along_axis(order.ascending, mx.maximum(dropped_to.astype(mx.int32) - 1, 0), axis=-1)
    return mx.take_along_axis(order.ascending, kept_from, axis=-1), mx.where(dropped_to > 0, highest, -mx.inf)


def _beside_top_choices(
    logprobs: mx.array, most: mx.array, least: mx.array, threshold: float, slack: float
) -> tuple[mx.array, mx.array]:
    """What XTC may leave, and what for certain. It drops all that is likelier than the threshold but the least.

    `most` and `least` (rows, 1) are the logarithms of what all that other filters keep may come to.
    """
    shares, border = logprobs - least, mx.log(mx.array(threshold))
    uncertainty = 2 * slack + most - least
    surely_likely, maybe_likely = shares > border + uncertainty, shares > border - uncertainty
    lowest_sure = mx.where(surely_likely, logprobs, mx.inf).min(axis=-1, keepdims=True)
    maybe = mx.where(maybe_likely, logprobs, mx.inf)
    lowest = maybe.min(axis=-1, keepdims=True)
    is_lowest = maybe == lowest
    second = mx.where(is_lowest, mx.inf, maybe).min(axis=-1, keepdims=True)
    is_alone = is_lowest.sum(axis=-1, keepdims=True) == 1
    return logprobs <= lowest_sure + slack, ~maybe_likely | (is_lowest & is_alone & (second > lowest + slack))


def _largest(values: mx.array, rank: int) -> mx.array:
    """The `rank`th largest of each row (rows, 1)."""
    return mx.min(mx.topk(values, rank, axis=-1), axis=-1, keepdims=True)
