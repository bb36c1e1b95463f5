"""A draw that is not in doubt is the same whatever rounding does, through every filter; and few are in doubt."""

from __future__ import annotations

import mlx.core as mx
import pytest

from engine import Sampling
from engine.decoding.accept import likeliest
from engine.decoding.doubt import doubtful_draws, ranked
from engine.decoding.sampling import filtered

VOCABULARY, ROWS, TRIALS = 40, 64, 40
SPARED = 3  # by XTC
ROUNDING = 0.05
SAMPLINGS = {
    "top_k 1": Sampling(temperature=0.8, top_k=1),
    "top_k 2": Sampling(temperature=0.8, top_k=2),
    "top_k 20": Sampling(temperature=0.8, top_k=20),
    "top_p": Sampling(temperature=0.8, top_p=0.9),
    "small top_p": Sampling(temperature=1.3, top_p=0.3),
    "min_p 1": Sampling(temperature=0.8, min_p=1.0),
    "min_p": Sampling(temperature=0.8, min_p=0.05),
    "xtc": Sampling(temperature=0.8, xtc_probability=0.5, xtc_threshold=0.08),
    "all": Sampling(temperature=0.9, top_p=0.9, min_p=0.02, xtc_probability=0.6, xtc_threshold=0.1, top_k=12),
}


def rows(seed: int) -> mx.array:
    logits = 2.5 * mx.random.normal((ROWS, VOCABULARY), key=mx.random.key(seed))
    logits[: ROWS // 2, SPARED] += 5.0  # often among the likeliest
    return logits - mx.max(logits, axis=-1, keepdims=True)


def noise(seed: int) -> mx.array:
    return mx.random.gumbel((ROWS, VOCABULARY), key=mx.random.key(1000 + seed))


def coins(sampling: Sampling, seed: int) -> mx.array | None:
    return mx.random.uniform(shape=(ROWS, 1), key=mx.random.key(2000 + seed)) if sampling.xtc_probability else None


def drawn(logprobs: mx.array, sampling: Sampling, seed: int) -> list[int]:
    spared = mx.array([SPARED])
    kept = filtered(logprobs, sampling, coins(sampling, seed), spared) * (1.0 / sampling.temperature)
    tokens: list[int] = likeliest(kept + noise(seed)).tolist()  # type: ignore[assignment]
    return tokens


def in_doubt(logprobs: mx.array, sampling: Sampling, seed: int, rounding: float) -> list[bool]:
    doubts = doubtful_draws(logprobs, noise(seed), sampling, coins(sampling, seed), mx.array([SPARED]), rounding)
    listed: list[bool] = doubts.tolist()  # type: ignore[assignment]
    return listed


@pytest.mark.parametrize("name", SAMPLINGS)
def test_what_is_not_in_doubt_stays_however_logits_are_rounded(name: str) -> None:
    sampling, turned = SAMPLINGS[name], 0
    for seed in range(6):
        logprobs = rows(seed)
        tokens, doubts = drawn(logprobs, sampling, seed), in_doubt(logprobs, sampling, seed, ROUNDING)
        for trial in range(TRIALS):
            key = mx.random.key(100 * seed + trial)
            error = mx.random.uniform(-1, 1, (ROWS, VOCABULARY), key=key)
            error = mx.sign(error) if trial % 2 else error  # the worst, by turns
            again = drawn(logprobs + ROUNDING * error, sampling, seed)
            differ = [before != after for before, after in zip(tokens, again, strict=True)]
            assert not any(differs and not doubt for differs, doubt in zip(differ, doubts, strict=True))
            turned += sum(differ)
    assert turned > 20, "nothing was there to be told"


@pytest.mark.parametrize(("distance", "doubted"), [(1.9, True), (2.1, False)])
@pytest.mark.parametrize("sampling", [Sampling(temperature=0.5, top_k=2), Sampling(temperature=0.5, top_p=0)], ids=str)
def test_what_is_more_than_twice_the_rounding_apart_is_not_in_doubt(
    sampling: Sampling, distance: float, doubted: bool
) -> None:
    """A top-p of 0 filters nothing."""
    logprobs, still = mx.array([[0.0, -distance * ROUNDING, -50.0, -60.0]]), mx.zeros((1, 4))
    assert doubtful_draws(logprobs, still, sampling, None, None, ROUNDING).tolist() == [doubted]


@pytest.mark.parametrize(("top_p", "doubted"), [(1.0, False), (0.921, True), (0.5, False)])
def test_a_token_that_top_p_may_drop_wins_in_doubt(top_p: float, doubted: bool) -> None:
    """The last of three, which has 0.922 of the probability above it: without top-p it is certain."""
    logprobs, noise_for_it = mx.array([[0.0, -0.5, -2.0]]), mx.array([[0.0, 0.0, 9.0]])
    sampling = Sampling(temperature=1.0, top_p=top_p, top_k=3)
    assert doubtful_draws(logprobs, noise_for_it, sampling, None, None, ROUNDING).tolist() == [doubted]


def test_the_order_of_tokens_tells_what_is_above_each() -> None:
    order = ranked(mx.log(mx.array([[0.5, 0.2, 0.3]])))
    assert mx.allclose(mx.exp(order.ascending), mx.array([0.2, 0.3, 0.5]))
    assert mx.allclose(order.above / order.total, mx.array([0.8, 0.5, 0.0]))


@pytest.mark.parametrize("name", SAMPLINGS)
def test_few_draws_are_in_doubt_where_rounding_is_small(name: str) -> None:
    doubts = [doubt for seed in range(6) for doubt in in_doubt(rows(seed), SAMPLINGS[name], seed, 0.0005)]
    assert sum(doubts) / len(doubts) < 0.02
