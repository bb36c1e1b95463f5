"""Greedy draws are mlx-lm's own, where several tokens are equally likely but for rounding, too."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import pytest
from mlx_lm.generate import generate_step
from mlx_lm.sample_utils import make_logits_processors

from engine import Sampling
from engine.decoding.sampling import Sampler

VOCABULARY, ROWS = 1000, 4
GREEDY = Sampling(temperature=0)


class Table:
    """What mlx-lm takes for a model: after token t, the logits of row t."""

    layers: tuple[Any, ...] = ()

    def __init__(self, rows: mx.array) -> None:
        self._rows = rows

    def make_cache(self) -> list[Any]:
        return []

    def __call__(self, tokens: mx.array, cache: list[Any]) -> mx.array:
        return self._rows[tokens % ROWS]


def mlx_lms_draws(logits: mx.array) -> list[int]:
    model = Table(logits)
    return [int(next(generate_step(mx.array([row]), model, max_tokens=1))[0]) for row in range(ROWS)]


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16], ids=str)
def test_ties_of_rounding_fall_as_in_mlx_lm(dtype: mx.Dtype) -> None:
    """Flat distributions: the logits differ, their log-probabilities, far from zero, hardly do."""
    apart = 0
    for seed, scale in enumerate(10.0**-power for power in range(1, 9)):
        mx.random.seed(seed)
        logits = (scale * mx.random.normal((ROWS, VOCABULARY))).astype(dtype)
        expected = mlx_lms_draws(logits)
        apart += mx.argmax(logits, axis=-1).tolist() != expected
        alone = Sampler(GREEDY, 0, VOCABULARY, ())

        assert alone.draw(logits, 5).tolist() == expected
        assert [alone.draw(logits[row : row + 1], 5).item() for row in range(ROWS)] == expected
        assert alone.draw_together([alone] * ROWS, logits, [5] * ROWS).tolist() == expected
        drafted = [alone.draft(logits[row : row + 1], 5, None, (1.0,), 0).tokens.item() for row in range(ROWS)]
        assert drafted == expected
    assert apart, "the logits' own maximum would have passed"


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16], ids=str)
def test_of_equal_tokens_the_first_is_drawn(dtype: mx.Dtype) -> None:
    mx.random.seed(1)
    logits = mx.round(mx.random.normal((ROWS, VOCABULARY))).astype(dtype)

    assert Sampler(GREEDY, 0, VOCABULARY, ()).draw(logits, 0).tolist() == mlx_lms_draws(logits)


def test_a_bias_counts_in_the_models_precision_as_in_mlx_lm() -> None:
    bias = {3: 1.0001, 7: 1.0002}
    (processor,) = make_logits_processors(logit_bias=bias)
    logits = mx.zeros((1, VOCABULARY), dtype=mx.bfloat16)
    expected = mx.argmax(processor(mx.array([0]), logits), axis=-1).tolist()
    biased = Sampler(Sampling(temperature=0, logit_bias=tuple(bias.items())), 0, VOCABULARY, ())

    assert biased.draw(logits, 0).tolist() == expected == [3]
