"""From logits to tokens: what distribution draws follow, what noise they use, and what a draft says of its guesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import mlx.core as mx
import pytest
from mlx_lm import sample_utils
from mlx_lm.generate import generate_step
from mlx_lm.sample_utils import make_logits_processors

import engine.models.loading  # noqa: F401  as in the engine, nothing is compiled at run time
from engine import Acceptance, Sampling
from engine.decoding.accept import NO_DRAFT, Draft, integers
from engine.decoding.sampling import Sampler, filtered, gumbel_noise, keyed_uniform
from tests.helpers.tiny_models import number

VOCABULARY, DRAWS = 6, 20_000
# 20,000 honest draws of 6 tokens differ by less than half of this from their distribution.
BOUND = 0.015
SCALES = (1.0, 2.0, 4.0)
SAMPLED = Sampling(temperature=1.0)


def logprobs_of(seed: int, vocabulary: int = VOCABULARY) -> mx.array:
    """Log-probabilities (1, vocabulary)."""
    mx.random.seed(seed)
    logits = 1.5 * mx.random.normal((1, vocabulary))
    return logits - mx.logsumexp(logits, axis=-1, keepdims=True)


def sampler(sampling: Sampling, prefix: Sequence[int] = (), seed: int = 7, **others: Any) -> Sampler:
    return Sampler(sampling, seed, VOCABULARY, prefix, **others)


def distance(tokens: mx.array, expected: mx.array) -> float:
    """Total variation between what was drawn and the distribution."""
    counts = (tokens[:, None] == mx.arange(expected.size)).sum(axis=0) / tokens.size
    return 0.5 * number(mx.abs(counts - expected).sum())


# Distributions.


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=1.0),
        Sampling(temperature=0.6, top_p=0.8),
        Sampling(temperature=1.3, top_k=5),
        Sampling(temperature=0.9, min_p=0.1, top_p=0.95, top_k=12),
    ],
    ids=str,
)
def test_draws_follow_mlx_lms_distribution(sampling: Sampling) -> None:
    """Over many positions the tokens drawn are distributed as mlx-lm's filters and temperature say."""
    vocabulary = 24
    mx.random.seed(5)
    logits = 2 * mx.random.normal((1, vocabulary))
    logprobs_of = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
    kept = logprobs_of
    if sampling.top_p < 1:
        kept = sample_utils.apply_top_p(kept, sampling.top_p)
    if sampling.min_p:
        kept = sample_utils.apply_min_p(kept, sampling.min_p)
    if sampling.top_k:
        kept = sample_utils.apply_top_k(kept, sampling.top_k)

    tokens = Sampler(sampling, 99, vocabulary, []).draw(mx.repeat(logits, DRAWS, axis=0), position=0)

    assert mx.array_equal(mx.isinf(filtered(logprobs_of, sampling)), mx.isinf(kept))
    # About three times what 20,000 honest draws of 24 tokens differ by.
    assert distance(tokens, mx.softmax(kept / sampling.temperature, axis=-1)[0]) < 0.02


def test_xtc_excludes_as_mlx_lm_does_where_its_coin_says_so() -> None:
    """A coin for each position: rows differ in it, and where it falls, mlx-lm's exclusion applies."""
    rows, sampling = 400, Sampling(temperature=1.0, xtc_probability=0.3, xtc_threshold=0.1)
    mx.random.seed(8)
    logprobs_of = mx.random.normal((1, 12)) * 0.7
    logprobs_of = logprobs_of - mx.logsumexp(logprobs_of, axis=-1, keepdims=True)
    excluded = sample_utils.apply_xtc(logprobs_of, 1.0, 0.1, [3])
    uniforms = keyed_uniform(5, 0, rows)

    ours = filtered(mx.repeat(logprobs_of, rows, axis=0), sampling, uniforms, mx.array([3]))

    assert not mx.array_equal(excluded, logprobs_of)
    assert mx.array_equal(ours, mx.where(uniforms < 0.3, excluded, logprobs_of))
    assert 0.2 < number((uniforms < 0.3).mean()) < 0.4


def test_draws_with_xtc_follow_both_distributions_as_often_as_its_coin_says() -> None:
    """The coin says nothing of the noise: else the mixture would be another."""
    logits = mx.log(mx.array([[0.35, 0.25, 0.2, 0.12, 0.05, 0.03]]))
    excluded = sample_utils.apply_xtc(logits, 1.0, 0.1, [])
    expected = 0.6 * mx.softmax(logits)[0] + 0.4 * mx.softmax(excluded)[0]

    tokens = sampler(replace(SAMPLED, xtc_probability=0.4, xtc_threshold=0.1)).draw(mx.repeat(logits, DRAWS, axis=0), 0)

    assert not mx.array_equal(excluded, logits)
    assert distance(tokens, expected) < BOUND


def test_xtc_leaves_alone_what_it_must_spare() -> None:
    """Ends and line breaks: without them no reply would end, and no paragraph."""
    always = replace(SAMPLED, xtc_probability=1.0, xtc_threshold=0.05)
    logits = mx.repeat(mx.log(mx.array([[0.4, 0.3, 0.2, 0.1, 1e-9, 1e-9]])), 200, axis=0)

    def drawn(spared: tuple[int, ...]) -> set[int]:
        return set(sampler(always, spared=spared).draw(logits, 0).tolist())  # type: ignore[arg-type]

    assert drawn(()) == {3}
    assert drawn((0, 2)) == {0, 2, 3}


def judged(seed: int, drafted: mx.array, by: mx.array, target: mx.array) -> mx.array:
    """Rejection's verdicts on tokens that are drawn from the log-probabilities `by`."""
    rows = drafted.size
    judge = sampler(SAMPLED, seed=seed, acceptance=Acceptance.REJECTION)
    draft = Draft(drafted, mx.repeat(by, rows, axis=0))
    return judge.verify(mx.repeat(target, rows + 1, axis=0), 0, draft)


def test_rejection_draws_by_the_main_models_distribution() -> None:
    """Drafted with the noise of the same seed and positions: what is redrawn must have other noise."""
    target, by = logprobs_of(1), logprobs_of(2)
    drafted = sampler(SAMPLED).draw(mx.repeat(by, DRAWS, axis=0), 0)

    assert distance(drafted, mx.softmax(target)[0]) > 5 * BOUND
    assert distance(judged(7, drafted, by, target)[:-1], mx.softmax(target)[0]) < BOUND


PREFIX, TRIALS = (0, 3, 3), 4000
# Honest pairs come out at 0.02 to 0.035, those of a draft that is judged by its own noise at 0.08 and more.
PAIRS_BOUND = 0.055


def pairs_exactly(sampling: Sampling, target: mx.array) -> dict[tuple[int, int], float]:
    """How likely each two tokens after PREFIX are, by enumeration; `target` are the logits after each token."""
    found: dict[tuple[int, int], float] = {}
    for first in range(VOCABULARY):
        rows = [(list(PREFIX), PREFIX[-1]), ([*PREFIX, first], first)]
        shares: list[list[float]] = [
            mx.softmax(sampler(sampling, prefix)._logprobs(target[last][None], 0, NO_DRAFT))[0].tolist()  # type: ignore[misc]
            for prefix, last in rows
        ]
        found |= {(first, second): shares[0][first] * shares[1][second] for second in range(VOCABULARY)}
    return found


def pair_drawn(sampling: Sampling, target: mx.array, drafts: mx.array, seed: int, level: int) -> tuple[int, int]:
    """Two tokens as a rejecting reply draws them: the first drafted and judged, the second plain where that failed."""
    drawing, at = sampler(sampling, PREFIX, seed=seed, acceptance=Acceptance.REJECTION), len(PREFIX)
    draft = drawing.draft(drafts[PREFIX[-1]][None], at, None, SCALES, level)
    guess = int(number(draft.tokens[0]))
    first, second = integers(drawing.verify(target[mx.array([PREFIX[-1], guess])], at, draft))
    if first != guess:
        drawing.commit([first])
        (second,) = integers(drawing.draw(target[first][None], at + 1))
    return first, second


@pytest.mark.slow
@pytest.mark.parametrize("level", [0, 2], ids=["as it is", "sharpened"])
@pytest.mark.parametrize(
    "sampling",
    [
        SAMPLED,
        Sampling(temperature=0.7, top_p=0.8),
        Sampling(temperature=1.2, top_k=3, min_p=0.05),
        Sampling(repetition_penalty=1.4, presence_penalty=0.5, frequency_penalty=0.3, temperature=1.0),
    ],
    ids=["plain", "top-p", "top-k and min-p", "penalties"],
)
def test_rejection_draws_tokens_in_a_row_as_enumeration_says(sampling: Sampling, level: int) -> None:
    """Filters and penalties of both models included; a draft's noise is that of plain draws at its position."""
    target, drafts = (mx.concatenate([logprobs_of(seed + row) for row in range(VOCABULARY)]) for seed in (10, 20))
    exact = pairs_exactly(sampling, target)
    counts = dict.fromkeys(exact, 0)
    for seed in range(TRIALS):
        counts[pair_drawn(sampling, target, drafts, seed, level)] += 1
    assert 0.5 * sum(abs(counts[pair] / TRIALS - exact[pair]) for pair in exact) < PAIRS_BOUND


# Noise.


@pytest.mark.parametrize(
    "draw", [keyed_uniform, lambda seed, at, rows: gumbel_noise(seed, at, rows, VOCABULARY)], ids=["uniforms", "noise"]
)
def test_draws_depend_on_seed_and_position_alone(draw: Callable[[int, int, int], mx.array]) -> None:
    rows = draw(7, 10, 4)

    assert rows.shape[0] == len({str(row) for row in rows.tolist()}) == 4  # type: ignore[union-attr]
    assert mx.array_equal(mx.concatenate([draw(7, 10, 1), draw(7, 11, 3)]), rows)
    assert not mx.array_equal(draw(8, 10, 4), rows)


def test_keys_are_the_published_ones_of_splitmix64() -> None:
    """So a seed still gives its text after an upgrade; these five are in every description of the generator."""
    keys = [sampler(SAMPLED, seed=1234567).noise_key(position) for position in range(5)]

    assert [(high << 32) + low for high, low in keys] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_keys_of_neighbouring_seeds_and_positions_have_nothing_to_do_with_each_other() -> None:
    """None of 4,096 comes twice, and each bit of them is as often set as not, also beside the key before."""
    keys = [[sampler(SAMPLED, seed=seed).noise_key(position) for position in range(64)] for seed in range(64)]
    words = [[(high << 32) + low for high, low in row] for row in keys]
    assert len({word for row in words for word in row}) == 64 * 64
    changes = [row[at] ^ row[at + 1] for row in words for at in range(63)]
    changes += [before[at] ^ after[at] for before, after in pairwise(words) for at in range(64)]
    for seen in ([word for row in words for word in row], changes):
        set_bits = [sum(word >> bit & 1 for word in seen) / len(seen) for bit in range(64)]
        assert min(set_bits) > 0.46
        assert max(set_bits) < 0.54


@pytest.mark.parametrize(
    "sampling",
    [
        SAMPLED,
        Sampling(temperature=0.7, top_p=0.8),
        replace(SAMPLED, xtc_probability=0.5, xtc_threshold=0.1),
    ],
    ids=str,
)
@pytest.mark.parametrize("drafted_by_it", [0, 1, 3, 6], ids="drew{}".format)
def test_one_forward_draws_what_many_would(sampling: Sampling, drafted_by_it: int) -> None:
    """Whether a draft has drawn at some of these positions before, or at more than it proposed."""
    logits = mx.concatenate([logprobs_of(seed) for seed in range(4)])
    for seed in range(10):
        plain, drawn = sampler(sampling, [1, 2], seed=seed), list[int]()
        for at in range(4):
            drawn.append(int(number(plain.draw(logits[at : at + 1], 2 + at))))
            plain.commit(drawn[-1:])

        together = sampler(sampling, [1, 2], seed=seed)
        for at in range(drafted_by_it):
            together.draft(logprobs_of(9), 2 + at, mx.array(drawn[:at], dtype=mx.uint32), SCALES, 1)
        verdicts = together.verify(logits, 2, Draft(mx.array(drawn[:3], dtype=mx.uint32)))

        assert verdicts.tolist() == drawn


@pytest.mark.parametrize(
    ("both", "other", "alike"),
    [
        ({}, {"seed": 3}, True),
        ({}, {"temperature": 0.5}, False),
        ({}, {"top_p": 0.5}, False),
        ({"repetition_penalty": 1.2}, {}, False),
        ({"presence_penalty": 0.5}, {}, False),
        ({"frequency_penalty": 0.5}, {}, False),
        ({"logit_bias": ((2, 1.0),)}, {}, False),
        ({"xtc_probability": 0.5}, {}, False),
    ],
)
def test_replies_are_drawn_together_where_only_their_seeds_differ(
    both: dict[str, Any], other: dict[str, Any], alike: bool
) -> None:
    """Not those with a past or a coin of their own."""
    sampling = replace(SAMPLED, **both)
    assert sampler(sampling).draws_alike(sampler(replace(sampling, **other), seed=8)) is alike


@pytest.mark.parametrize("sampling", [SAMPLED, Sampling(temperature=0.7, top_k=3), Sampling(temperature=0)], ids=str)
def test_replies_drawn_together_draw_what_each_would_alone(sampling: Sampling) -> None:
    company = [sampler(sampling, seed=seed) for seed in range(40)]
    logits = mx.concatenate([logprobs_of(seed) for seed in range(40)])
    positions = [3 * seed % 11 for seed in range(40)]
    alone = [one.draw(logits[row : row + 1], positions[row]).item() for row, one in enumerate(company)]

    assert company[0].draw_together(company, logits, positions).tolist() == alone


# Penalties.


# Guesses of a draft.


def test_a_greedy_draft_says_its_likeliest_token_and_how_likely_it_is() -> None:
    guess = sampler(Sampling(temperature=0)).draft(logprobs_of(3), 0, None, SCALES, 0)

    assert guess.tokens.tolist() == [mx.argmax(logprobs_of(3)).item()]
    assert guess.probabilities is not None
    assert guess.probabilities.tolist() == pytest.approx([number(mx.max(mx.softmax(logprobs_of(3))))])
    assert guess.guesses is None


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("acceptance", list(Acceptance))
def test_a_drafts_guesses_are_draws_from_its_sharpened_logprobs(level: int, acceptance: Acceptance) -> None:
    """It tells those of every scale, and of its own how likely the token was; with rejection, of all tokens."""
    sampling = Sampling(temperature=0.8)
    for seed in range(20):
        drawing = sampler(sampling, seed=seed, acceptance=acceptance)
        sharpened = [logprobs_of(3) / 0.8 * scale for scale in SCALES]
        noise = gumbel_noise(seed, 4, 1, VOCABULARY)
        guesses = [mx.argmax(one + noise).item() for one in sharpened]
        likely = mx.softmax(sharpened[level], axis=-1)[0]

        guess = drawing.draft(logprobs_of(3), 4, None, SCALES, level)

        assert guess.guesses is not None
        assert guess.probabilities is not None
        assert guess.guesses.tolist() == [guesses]
        assert guess.tokens.tolist() == [guesses[level]]
        assert guess.probabilities.tolist() == pytest.approx([number(likely[guesses[level]])], rel=1e-4)
        assert (guess.logprobs is not None) == (acceptance is Acceptance.REJECTION)
        if guess.logprobs is not None:
            assert mx.allclose(mx.exp(guess.logprobs[0]), likely, atol=1e-5)


def test_what_is_left_out_is_not_drafted_where_it_would_be_rejected() -> None:
    """Coupled guesses are right as often without top-p; rejection never lets such a token stand."""
    sampling = replace(SAMPLED, top_p=0.5)
    logits = mx.log(mx.array([[0.6, 0.4, 1e-9, 1e-9, 1e-9, 1e-9]]))

    def guessed(acceptance: Acceptance) -> set[int]:
        samplers = [sampler(sampling, seed=seed, acceptance=acceptance) for seed in range(30)]
        return {int(number(one.draft(logits, 0, None, (1.0,), 0).tokens)) for one in samplers}

    assert guessed(Acceptance.REJECTION) == {0}
    assert guessed(Acceptance.COUPLED) == {0, 1}


# Filters.


@pytest.mark.parametrize(
    ("sampling", "kept"),
    [
        ({"top_p": 0.0}, {0, 1, 2, 3, 4, 5}),  # no filter at all
        ({"top_p": 1.0}, {0, 1, 2, 3, 4, 5}),
        ({"top_p": 0.99}, {0, 1, 2, 3, 4, 5}),
        ({"top_p": 0.45}, {0, 1}),
        ({"top_p": 0.01}, {0}),
        ({"min_p": 0.0}, {0, 1, 2, 3, 4, 5}),
        ({"min_p": 0.3}, {0, 1, 2, 3}),
        ({"min_p": 1.0}, {0}),
        ({"top_k": 0}, {0, 1, 2, 3, 4, 5}),
        ({"top_k": 1}, {0}),
        ({"top_k": 5}, {0, 1, 2, 3, 4}),
        ({"top_k": 6}, {0, 1, 2, 3, 4, 5}),
        ({"top_k": 99}, {0, 1, 2, 3, 4, 5}),
        ({"top_p": 0.95, "min_p": 0.3, "top_k": 3}, {0, 1, 2}),
    ],
    ids=str,
)
@pytest.mark.parametrize("constant", [0.0, 60.0, -200.0])
def test_filters_keep_these_tokens(sampling: dict[str, Any], kept: set[int], constant: float) -> None:
    """Whatever is added to all log-probabilities."""
    logprobs = constant + mx.log(mx.array([[0.4, 0.2, 0.15, 0.13, 0.1, 0.02]]))
    left: list[float] = mx.isinf(filtered(logprobs, replace(SAMPLED, **sampling)))[0].tolist()  # type: ignore[assignment]

    assert {token for token, out in enumerate(left) if not out} == kept


@pytest.mark.parametrize("columns", [VOCABULARY - 2, VOCABULARY - 1, VOCABULARY, VOCABULARY + 1, VOCABULARY + 3])
@pytest.mark.parametrize("sampling", [Sampling(temperature=0), SAMPLED])
def test_only_tokens_that_both_know_are_drawn(columns: int, sampling: Sampling) -> None:
    """However wide the output layer: each draw is what it would be with -inf, or nothing, at the end."""
    logits = mx.concatenate([logprobs_of(seed, VOCABULARY + 3) for seed in range(50)])[:, :columns]
    known = min(columns, VOCABULARY)
    filled = mx.pad(logits[:, :known], [(0, 0), (0, VOCABULARY - known)], constant_values=-1e9)
    drawn = sampler(sampling).draw(logits, 3)
    assert drawn.tolist() == sampler(sampling).draw(filled, 3).tolist()
    assert len(set(drawn.tolist())) > 2  # type: ignore[arg-type]


def test_at_temperature_0_rejection_says_what_coupling_does() -> None:
    """There is no draw to accept or reject: the verdicts are the likeliest tokens."""
    logits = mx.concatenate([logprobs_of(seed) for seed in range(4)])
    greedy = Sampling(temperature=0)
    verdicts = []
    for acceptance in Acceptance:
        by = sampler(greedy, acceptance=acceptance)
        guess = by.draft(logits[:1], 5, None, SCALES, 0)
        assert guess.logprobs is None
        draft = Draft(mx.concatenate([guess.tokens, mx.array([1, 2], dtype=mx.uint32)]))
        verdicts.append(by.verify(logits, 5, draft).tolist())
    assert verdicts == [mx.argmax(logits, axis=-1).tolist()] * len(Acceptance)


# Greedy draws are mlx-lm's own, where several tokens are equally likely but for rounding, too.


WIDE, ROWS = 1000, 4
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
        logits = (scale * mx.random.normal((ROWS, WIDE))).astype(dtype)
        expected = mlx_lms_draws(logits)
        apart += mx.argmax(logits, axis=-1).tolist() != expected
        alone = Sampler(GREEDY, 0, WIDE, ())

        assert alone.draw(logits, 5).tolist() == expected
        assert [alone.draw(logits[row : row + 1], 5).item() for row in range(ROWS)] == expected
        assert alone.draw_together([alone] * ROWS, logits, [5] * ROWS).tolist() == expected
        drafted = [alone.draft(logits[row : row + 1], 5, None, (1.0,), 0).tokens.item() for row in range(ROWS)]
        assert drafted == expected
    assert apart, "the logits' own maximum would have passed"


def test_a_bias_counts_in_the_models_precision_as_in_mlx_lm() -> None:
    bias = {3: 1.0001, 7: 1.0002}
    (processor,) = make_logits_processors(logit_bias=bias)
    logits = mx.zeros((1, WIDE), dtype=mx.bfloat16)
    expected = mx.argmax(processor(mx.array([0]), logits), axis=-1).tolist()
    biased = Sampler(Sampling(temperature=0, logit_bias=tuple(bias.items())), 0, WIDE, ())

    assert biased.draw(logits, 0).tolist() == expected == [3]
