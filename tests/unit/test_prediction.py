"""An estimate of what a draft brings, from what was measured here and what is said of it."""

from __future__ import annotations

import pytest

from engine import MAX_DRAFT_TOKENS, ForwardTimes
from engine.drafting.costs import acceptance_of, estimated_gain, times_like


def times(by_width: dict[int, float], weight_bytes: int = 4_000, *, sparse: bool = False) -> ForwardTimes:
    return ForwardTimes(weight_bytes, sparse, tuple(by_width.items()))


FLAT = times({1: 0.1, 2: 0.1, 3: 0.1, 5: 0.1, 9: 0.1})
STEEP = times({1: 0.1, 2: 0.2, 3: 0.3, 5: 0.5})


def test_a_block_costs_one_forward_however_long_it_is() -> None:
    assert estimated_gain(FLAT, 0.1, 0.7, by_block=True) == pytest.approx((1 - 0.7**9) / 0.3 / 1.15)


@pytest.mark.parametrize("draft_share", [0.01, 0.1, 0.5])
def test_a_draft_that_is_right_more_often_never_brings_less(draft_share: float) -> None:
    found = [estimated_gain(FLAT, draft_share, acceptance / 10) for acceptance in range(10)]
    assert found == sorted(found, key=float)  # type: ignore[arg-type]


def test_one_that_does_not_pay_rests() -> None:
    assert estimated_gain(STEEP, 0.1, 0.8) == 1.0
    assert estimated_gain(FLAT, 2.0, 0.7) == 1.0  # a draft that takes longer than its main model


def test_no_draft_is_longer_than_the_longest() -> None:
    longest, beyond = ({1: 0.1, width: 0.1} for width in (MAX_DRAFT_TOKENS + 1, MAX_DRAFT_TOKENS + 2))
    assert estimated_gain(times(longest), 0.001, 0.99) == pytest.approx((1 - 0.99**33) / 0.01 / 1.082)
    assert estimated_gain(times(beyond), 0.001, 0.99) is None


@pytest.mark.parametrize(
    ("measured", "draft_share", "acceptance"),
    [
        (times({}), 0.1, 0.7),
        (times({1: 0.1}), 0.1, 0.7),
        (times({2: 0.1}), 0.1, 0.7),
        (times({1: 0.0, 2: 0.0}), 0.1, 0.7),
        (FLAT, 0.0, 0.7),
        (FLAT, 0.1, 1.0),
        (FLAT, 0.1, -0.1),
    ],
)
def test_without_figures_it_says_nothing(measured: ForwardTimes, draft_share: float, acceptance: float) -> None:
    assert estimated_gain(measured, draft_share, acceptance) is None


def test_only_a_model_of_about_that_size_and_sort_tells_of_another() -> None:
    small, large, experts = times({1: 1.0}, 1_000), times({1: 1.0}, 10_000), times({1: 1.0}, 4_000, sparse=True)
    measured = [small, large, experts]
    assert times_like(measured, 2_000, sparse=False) is small
    assert times_like(measured, 6_000, sparse=False) is large
    assert times_like(measured, 4_000, sparse=False) is None
    assert times_like(measured, 4_000, sparse=True) is experts
    assert times_like([], 4_000, sparse=True) is None


@pytest.mark.parametrize(("share", "drafted"), [(0.3, 1), (0.51, 2), (0.85, 7), (0.97, 15)])
def test_tokens_a_pass_tell_how_often_a_drafted_token_stands(share: float, drafted: int) -> None:
    tokens = sum(share**at for at in range(drafted + 1))
    assert acceptance_of(tokens, drafted) == pytest.approx(share)
    assert acceptance_of(tokens, 0) <= share
    assert [acceptance_of(told, drafted) for told in (0.5, 99.0)] == pytest.approx([0.0, 1.0], abs=1e-9)
