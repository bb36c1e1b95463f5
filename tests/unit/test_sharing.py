"""Which way of writing several replies is chosen, from known rates: a table, and a world that changes."""

from __future__ import annotations

import pytest

from engine.drafting.controller import History
from engine.drafting.costs import Calibration, RoundCosts
from engine.runtime.sharing import Sharing, _Rate

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


@pytest.mark.parametrize(("turns", "leads", "falls_behind"), [(False, 2.01, 1.99), (True, 1.66, 1.65)])
def test_a_change_must_promise_a_tenth_more(turns: bool, leads: float, falls_behind: float) -> None:
    """Two in 1.1 s are 1.818 a second: turns begin above 2.0 and end below 1.653."""
    for draft_speed, expected in ((leads, True), (falls_behind, False)):
        chooser = sharing(3.0 if turns else 0.0)
        assert chooser.choose(2, may_draft=True) is turns
        chooser.history.draft_speed = draft_speed
        for _ in range(12):
            chosen = chooser.choose(2, may_draft=True)
        assert chosen is expected


def test_it_looks_anew_every_twelve_steps_and_when_the_number_of_replies_changes() -> None:
    chooser = sharing(0.0)
    assert not chooser.choose(2, may_draft=True)
    chooser.history.draft_speed = 2.5
    assert [chooser.choose(2, may_draft=True) for _ in range(12)] == [False] * 11 + [True]
    assert [chooser.choose(4, may_draft=True) for _ in range(2)] == [False, False]
    assert [chooser.choose(2, may_draft=True) for _ in range(2)] == [True, True]


def test_a_draft_that_goes_ends_the_turns_and_one_that_comes_is_looked_at() -> None:
    chooser = sharing(9.0)
    assert [chooser.choose(2, may_draft=may) for may in (True, False)] == [True, False]
    assert chooser.choose(3, may_draft=True)


def test_turns_that_were_slow_are_tried_again_after_64_looks() -> None:
    chooser = sharing(4.0)
    assert chooser.choose(2, may_draft=True)
    chooser.observe(2, 1, 9.0)
    steps = [chooser.choose(2, may_draft=True) for _ in range(12 * 65 + 1)]
    assert steps == [True] * 11 + [False] * 12 * 64 + [True] * 2


def test_what_was_measured_counts_as_long_as_drafts_stand_as_often_as_then() -> None:
    chooser = sharing(4.0)
    chooser.choose(2, may_draft=True)
    chooser.observe(2, 30, 10.0)
    chooser.history.draft_speed = 1.0
    assert not [chooser.choose(2, may_draft=True) for _ in range(12)][-1]


def test_a_shared_step_that_was_measured_replaces_the_estimate_for_as_many_replies() -> None:
    """Two were written at 3 a second; three are still thought to be 3 in 1.2 s."""
    chooser = sharing(2.9)
    assert not chooser.choose(4, may_draft=True)
    chooser.observe(2, 30, 10.0)
    assert not chooser.choose(2, may_draft=True)
    assert chooser.choose(3, may_draft=True)


def test_the_latest_steps_weigh_most() -> None:
    rate = _Rate()
    assert rate.value == 0
    rate.observe(10, 5.0)
    assert rate.value == 2
    rate.observe(6, 1.5)
    assert rate.value == pytest.approx((9 + 6) / (4.5 + 1.5))


def test_without_a_calibration_nothing_is_promised() -> None:
    unknown = Sharing(History(costs=RoundCosts()))
    unknown.history.draft_speed = 9.0
    assert not unknown.choose(2, may_draft=True)
