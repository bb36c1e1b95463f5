"""Which way of writing several replies is chosen, from known rates: a table, and a world that changes."""

from __future__ import annotations

import pytest

from engine.drafting.controller import History
from engine.drafting.costs import Calibration, RoundCosts
from engine.runtime.sharing import Sharing

FORWARD_S = {1: 1.0, 2: 1.1, 3: 1.2, 4: 1.3, 8: 2.0, 33: 8.0}


def sharing(draft_speed: float) -> Sharing:
    history = History(costs=RoundCosts(Calibration(FORWARD_S)))
    history.draft_speed = draft_speed
    return Sharing(history)


@pytest.mark.parametrize(
    ("replies", "draft_speed", "turns"),
    [
        (2, 0.0, False),  # nothing is known of a draft
        (2, 1.7, False),  # two in 1.1 s are 1.8 a second
        (2, 2.5, True),
        (4, 2.5, False),  # four in 1.3 s are 3.1 a second
        (4, 4.0, True),
        (8, 4.0, False),
    ],
)
def test_what_is_not_measured_yet_is_estimated(replies: int, draft_speed: float, turns: bool) -> None:
    assert sharing(draft_speed).choose(replies, may_draft=True) is turns


def test_without_a_draft_forwards_are_shared() -> None:
    assert not sharing(9.0).choose(2, may_draft=False)


def run(chooser: Sharing, steps: int, turns_rate: float, shared_rate: float) -> float:
    """Tokens a second over so many steps of two replies in a world with these rates."""
    tokens, seconds = 0, 0.0
    for _ in range(steps):
        if chooser.choose(2, may_draft=True):
            step, took = 3, 3 / turns_rate
        else:
            step, took = 2, 2 / shared_rate
        chooser.observe(2, step, took)
        tokens, seconds = tokens + step, seconds + took
    return tokens / seconds


@pytest.mark.parametrize("promised", [0.5, 1.5, 2.2, 4.0])
@pytest.mark.parametrize("turns_rate", [0.8, 1.5, 1.9, 2.6, 4.0])
def test_what_is_measured_counts(promised: float, turns_rate: float) -> None:
    """Near the better of the two where the promise is about true, and never far below sharing where it is not."""
    shared_rate = 1.8
    reached = run(sharing(promised), 2000, turns_rate, shared_rate)

    assert reached >= 0.93 * shared_rate
    if promised >= 1.2 * shared_rate and turns_rate >= 1.2 * shared_rate:
        assert reached >= 0.97 * turns_rate


def test_turns_end_when_drafts_no_longer_pay() -> None:
    chooser = sharing(3.0)
    run(chooser, 100, 3.0, 1.8)
    assert chooser.takes_turns
    run(chooser, 100, 1.0, 1.8)
    assert not chooser.takes_turns
