"""An estimate of what a draft brings, from what was measured here and what is said of it."""

from __future__ import annotations

import pytest

from engine import MAX_DRAFT_TOKENS, estimated_gain

FLAT = {1: 0.1, 2: 0.1, 3: 0.1, 5: 0.1, 9: 0.1}
STEEP = {1: 0.1, 2: 0.2, 3: 0.3, 5: 0.5}


def test_it_is_the_best_length_of_the_curve() -> None:
    """Four tokens drafted at a tenth of a step each, seven in ten right: (1 - 0.7^5) / 0.3 tokens in 1.45 steps."""
    assert estimated_gain(FLAT, 0.1, 0.7) == pytest.approx((1 - 0.7**5) / 0.3 / 1.45)


@pytest.mark.parametrize("draft_share", [0.01, 0.1, 0.5])
def test_a_draft_that_is_right_more_often_never_brings_less(draft_share: float) -> None:
    found = [estimated_gain(FLAT, draft_share, acceptance / 10) for acceptance in range(10)]
    assert found == sorted(found, key=float)  # type: ignore[arg-type]


def test_one_that_does_not_pay_rests() -> None:
    assert estimated_gain(STEEP, 0.1, 0.8) == 1.0


@pytest.mark.parametrize("drafted", [1, MAX_DRAFT_TOKENS])
def test_the_shortest_and_the_longest_draft_count(drafted: int) -> None:
    assert estimated_gain({1: 0.1, drafted + 1: 0.1}, 0.01, 0.9) == pytest.approx(
        (1 - 0.9 ** (drafted + 1)) / 0.1 / (1.05 + drafted * 0.01)
    )


@pytest.mark.parametrize("verify_s", [{1: 0.1, MAX_DRAFT_TOKENS + 2: 0.1}, {1: 0.1, 2: 0.0}, {1: 0.1, 2: -0.1}])
def test_a_width_that_no_round_has_or_that_was_not_measured_says_nothing(verify_s: dict[int, float]) -> None:
    assert estimated_gain(verify_s, 0.1, 0.7) is None


@pytest.mark.parametrize(
    ("verify_s", "draft_share", "acceptance"),
    [
        ({}, 0.1, 0.7),
        ({1: 0.1}, 0.1, 0.7),
        ({2: 0.1}, 0.1, 0.7),
        (FLAT, 0.0, 0.7),
        (FLAT, 1.0, 0.7),
        (FLAT, 0.1, 1.0),
        (FLAT, 0.1, -0.1),
    ],
)
def test_without_figures_it_says_nothing(verify_s: dict[int, float], draft_share: float, acceptance: float) -> None:
    assert estimated_gain(verify_s, draft_share, acceptance) is None
