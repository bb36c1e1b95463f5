"""What a round cost is charged, what it brought is learnt, also where a reply ended in it. No model, no clock."""

from __future__ import annotations

import pytest

from engine.drafting.acceptance import AcceptRates
from engine.drafting.controller import AutoController, FixedController, History
from engine.drafting.costs import Calibration, RoundCosts
from engine.drafting.options import Choice, Policy, Record
from engine.drafting.plans import PLAIN, Outcome, Plan

PLAN = Plan("draft", 4)
FORWARD = {width: 1.0 + 0.1 * (width - 1) for width in range(1, 34)}


def history() -> History:
    return History(RoundCosts(Calibration(FORWARD, {"draft": 0.05})))


def spent(outcome: Outcome) -> float:
    """Of the credit, in plain rounds, beside what a round gives back."""
    known = history()
    known.credit = 2.0
    controller = AutoController(known)
    controller.observe(PLAN, outcome)
    given = history()
    given.credit = 2.0
    AutoController(given).observe(PLAIN, Outcome())
    return given.credit - known.credit


@pytest.mark.parametrize(
    ("outcome", "cost"),
    [
        (Outcome(4, 0, proposed=4), 1.6 - 1),
        (Outcome(4, 2, proposed=4), 1.6 - 3),
        (Outcome(2, 2, proposed=4), 1.6 - 3),  # the reply ended within the draft
    ],
)
def test_a_round_is_charged_all_that_it_checked(outcome: Outcome, cost: float) -> None:
    assert spent(outcome) == pytest.approx(max(-1.0, cost), abs=0.02)  # there is no room for a larger credit


def test_the_time_of_a_round_is_that_of_all_that_it_checked() -> None:
    known, seen = history(), []
    known.costs.observe = lambda source, drafted, seconds: seen.append((source, drafted, seconds))  # type: ignore[method-assign]
    for controller in (FixedController(4, known), AutoController(known)):
        controller.observe(PLAN, Outcome(2, 2, seconds=1.6, proposed=4))
    assert seen == [("draft", 4, 1.6)] * 2


@pytest.mark.parametrize(
    ("outcome", "tokens", "seconds"),
    [(Outcome(4, 1, proposed=4), 2, 1.6), (Outcome(2, 2, proposed=4), 3, 1.3)],
)
def test_each_policy_is_told_what_such_a_round_would_have_been_to_it(
    outcome: Outcome, tokens: float, seconds: float
) -> None:
    """Behind the end of a reply nothing is known."""
    prices = history().costs.prices_s("draft", 4)
    rates = AcceptRates()
    for _ in range(100):
        rates.learn(4, 4)
    choice, record = Choice(Plan("draft"), rates, prices, hopeful=True), Record()
    choice.teach(record, outcome)
    assert record._sums[Policy.STEADY] == pytest.approx((tokens, seconds))
