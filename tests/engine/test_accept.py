"""The two rules of acceptance against exact distributions: a toy model of a few tokens, enumerated and drawn from.

A round's verdicts are simulated for many seeds at once, as the engine would compute them; the distribution of what is
emitted must be the main model's own, token by token and over whole continuations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import mlx.core as mx
import pytest

from engine.decoding.accept import NO_TOKEN, Draft, likeliest, rejection
from engine.decoding.sequence import common_prefix

VOCABULARY, LENGTH, TRIALS = 4, 3, 20_000
# Honest draws of 256 continuations come out at 0.021 to 0.026 here, rules with a planted bias at 0.097 and 0.186.
BOUND = 0.045

Rule = Callable[[mx.array, Draft, mx.array, mx.array], mx.array]


def toy_logprobs(seed: int) -> mx.array:
    """Log-probabilities of the next token for every last token (vocabulary, vocabulary)."""
    mx.random.seed(seed)
    logits = 1.5 * mx.random.normal((VOCABULARY, VOCABULARY))
    return logits - mx.logsumexp(logits, axis=-1, keepdims=True)


TARGET, DRAFT = toy_logprobs(1), toy_logprobs(2)


def exact_distribution() -> dict[tuple[int, ...], float]:
    """Of each continuation of token 0 by LENGTH + 1 tokens, by enumeration."""
    logprobs: list[list[float]] = mx.exp(TARGET).tolist()  # type: ignore[assignment]
    found = {}
    for tokens in product(range(VOCABULARY), repeat=LENGTH + 1):
        probability = 1.0
        for last, token in zip((0, *tokens), tokens, strict=False):
            probability *= logprobs[last][token]
        found[tokens] = probability
    return found


def drafted_paths(noise: mx.array) -> mx.array:
    """One path of LENGTH drafted tokens a trial (trials, LENGTH)."""
    last, path = mx.zeros(TRIALS, dtype=mx.uint32), []
    for step in range(LENGTH):
        last = mx.argmax(DRAFT[last] + noise[:, step], axis=-1)
        path.append(last)
    return mx.stack(path, axis=1)


def judged(rule: Rule, couple: bool) -> list[list[int]]:
    """What rounds emit, continued by plain draws to LENGTH + 1 tokens."""
    mx.random.seed(3)
    noise = mx.random.gumbel((TRIALS, LENGTH + 1, VOCABULARY))
    other = noise if couple else mx.random.gumbel((TRIALS, LENGTH + 1, VOCABULARY))
    coins = mx.random.uniform(shape=(TRIALS, LENGTH))
    drafted = drafted_paths(noise)
    before = mx.concatenate([mx.zeros((TRIALS, 1), dtype=drafted.dtype), drafted], axis=1)
    verdicts = mx.vmap(lambda p, x, q, u, g: rule(p, Draft(x, q), u, g))(
        TARGET[before], drafted, DRAFT[before[:, :-1]], coins, other
    )
    guesses: list[list[int]] = drafted.tolist()  # type: ignore[assignment]
    answers: list[list[int]] = verdicts.tolist()  # type: ignore[assignment]
    emitted = [answer[: common_prefix(guess, answer) + 1] for guess, answer in zip(guesses, answers, strict=True)]
    return completed(emitted)


def completed(emitted: list[list[int]]) -> list[list[int]]:
    for step in range(LENGTH + 1):
        short = [tokens for tokens in emitted if len(tokens) == step]
        if not short:
            continue
        last = mx.array([tokens[-1] if tokens else 0 for tokens in short])
        drawn: list[int] = mx.random.categorical(TARGET[last]).tolist()  # type: ignore[assignment]
        for tokens, token in zip(short, drawn, strict=True):
            tokens.append(token)
    return emitted


def distance(continuations: list[list[int]]) -> float:
    """Total variation between what was emitted and the exact distribution."""
    logprobs = exact_distribution()
    counts = dict.fromkeys(logprobs, 0)
    for tokens in continuations:
        counts[tuple(tokens)] += 1
    return 0.5 * sum(abs(counts[tokens] / TRIALS - logprobs[tokens]) for tokens in logprobs)


def by_coupling(logprobs: mx.array, draft: Draft, coins: mx.array, noise: mx.array) -> mx.array:
    return likeliest(logprobs + noise)


def without_logprobs(logprobs: mx.array, draft: Draft, coins: mx.array, noise: mx.array) -> mx.array:
    return rejection(logprobs, Draft(draft.tokens), coins, noise)


@pytest.mark.parametrize(("rule", "couple"), [(by_coupling, True), (rejection, False), (without_logprobs, False)])
def test_what_is_emitted_has_the_main_models_distribution(rule: Rule, couple: bool) -> None:
    assert distance(judged(rule, couple)) < BOUND


def accepted(rule: Rule, couple: bool) -> float:
    """Share of first drafted tokens that stand."""
    mx.random.seed(4)
    noise = mx.random.gumbel((TRIALS, 2, VOCABULARY))
    other = noise if couple else mx.random.gumbel((TRIALS, 2, VOCABULARY))
    coins = mx.random.uniform(shape=(TRIALS, 1))
    drafted = mx.argmax(DRAFT[0] + noise[:, 0], axis=-1)[:, None]
    logprobs = mx.broadcast_to(TARGET[:2], (TRIALS, 2, VOCABULARY))
    q = mx.broadcast_to(DRAFT[:1], (TRIALS, 1, VOCABULARY))
    verdicts = mx.vmap(lambda p, x, q, u, g: rule(p, Draft(x, q), u, g))(logprobs, drafted, q, coins, other)
    share = (verdicts[:, 0] == drafted[:, 0]).mean().item()
    assert isinstance(share, float)
    return share


def test_acceptance_is_what_theory_says() -> None:
    """Rejection accepts with probability sum(min(p, q)); coupling at least (1 - TV) / (1 + TV) of the time."""
    p, q = mx.exp(TARGET[0]), mx.exp(DRAFT[0])
    overlap = mx.minimum(p, q).sum().item()
    assert isinstance(overlap, float)

    assert accepted(rejection, couple=False) == pytest.approx(overlap, abs=0.015)
    assert overlap / (2 - overlap) - 0.015 <= accepted(by_coupling, couple=True) <= overlap + 0.015


def test_what_the_main_model_never_says_is_never_accepted() -> None:
    """Not even by a coin of exactly 0."""
    logprobs = mx.log(mx.array([[0.0, 0.5, 0.5, 0.0]] * 2))
    draft = Draft(mx.array([0]), mx.log(mx.full((1, VOCABULARY), 0.25)))

    verdicts: list[int] = rejection(logprobs, draft, mx.zeros(1), mx.zeros((2, VOCABULARY))).tolist()  # type: ignore[assignment]
    assert set(verdicts) <= {1, 2}


@pytest.mark.parametrize(
    ("drafted", "verdicts", "accepted"),
    [([4, 5, 6], [4, 9, 6, 7], 1), ([4, 5], [4, 5, 7], 2), ([4], [3, 4], 0), ([], [3], 0)],
)
def test_tokens_are_accepted_up_to_the_first_that_differs(
    drafted: list[int], verdicts: list[int], accepted: int
) -> None:
    assert common_prefix(drafted, verdicts) == accepted


def test_only_a_row_with_a_number_is_drawn_from() -> None:
    inf, nan = math.inf, math.nan
    rows = mx.array([[1.0, 3.0, 3.0], [nan, 1.0, 2.0], [1.0, nan, 2.0], [-inf, -inf, -inf], [-inf, -5.0, -inf]])

    assert NO_TOKEN == 0xFFFFFFFF  # the largest that an array of tokens holds, and no token of any model
    assert likeliest(rows).tolist() == [1, NO_TOKEN, NO_TOKEN, NO_TOKEN, 1]


def test_rejecting_where_both_distributions_are_the_same_but_for_rounding_redraws_a_token() -> None:
    """The rest of p over q is nothing then, and no token could be drawn of that."""
    logprobs = mx.log(mx.array([[0.5, 0.25, 0.25]] * 2))
    drafted = Draft(mx.array([0]), logprobs=mx.log(mx.array([[0.5000001, 0.25, 0.25]])))
    verdicts = rejection(logprobs, drafted, mx.array([1.0]), mx.zeros((2, 3)))

    assert mx.max(verdicts).item() < 3  # type: ignore[operator]
