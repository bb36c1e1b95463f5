"""Which way of choosing a length has brought more, and when a draft is no longer worth its time."""

from __future__ import annotations

import random
from itertools import accumulate
from operator import mul

import pytest

from engine.drafting.acceptance import AcceptRates
from engine.drafting.controller import Choice, Policy, PricedPlan, Record, stop_floors
from engine.drafting.plans import PLAIN, Plan, RoundOutcome


def test_a_policy_is_judged_by_what_it_brought_lately() -> None:
    """A long spell in which it brought less is made good by a shorter one in which it brought more."""
    record, expected = Record(), PricedPlan(PLAIN, 2.0, 1.0)

    def learn(tokens: float, count: int) -> float:
        for _ in range(count):
            record.learn(Policy.STOPPING, tokens, 1.0)
        return record.rate(Policy.STOPPING, expected)

    assert record.rate(Policy.STOPPING, expected) == 2.0
    assert learn(1.0, 1) == pytest.approx((1.0 + 12 * 2.0) / 13)
    assert learn(1.0, 400) < 1.2
    assert learn(12.0, 60) > 5.0
    assert learn(1.0, 1) > 5.0  # one round does not make it bad
    assert record.rate(Policy.FIXED, expected) == 2.0


def test_floors_are_those_of_a_search_over_every_longer_draft() -> None:
    generator = random.Random(5)
    for _ in range(200):
        chances = [generator.uniform(0.05, 0.98) for _ in range(12)]
        tokens = [1.0, *(1 + reached for reached in accumulate(accumulate(chances, mul)))]
        seconds = list(accumulate((generator.choice((0.0, 0.05, 0.4)) for _ in range(12)), initial=1.0))
        rate = generator.uniform(0.5, 4)
        searched = [
            rate
            * (tokens[drafted] - tokens[drafted - 1])
            * min(
                (seconds[more] - seconds[drafted]) / (tokens[more] - tokens[drafted]) for more in range(drafted + 1, 13)
            )
            for drafted in range(1, 12)
        ]
        assert stop_floors(tokens, seconds, rate) == pytest.approx(searched)


@pytest.mark.parametrize(("stops", "probabilities"), [(True, ()), (False, (0.9, 0.4))])
def test_these_drafts_say_nothing_of_stopping(stops: bool, probabilities: tuple[float, ...]) -> None:
    record, unknown = Record(), PricedPlan(Plan("draft"), 1.0, 1.0)
    choice = Choice(Plan("draft"), _seen(right=1000, of=2000), [1.0, 1.5, 2.0], hopeful=False)
    if stops:
        choice.stopping(record, (0.5,) * 10, plain_s=1.0)

    choice.teach(record, RoundOutcome(drafted=2, accepted=2, probabilities=probabilities))

    assert record.rate(Policy.STOPPING, unknown) == 1.0
    assert record.rate(Policy.FIXED, unknown) != 1.0


@pytest.mark.parametrize(
    ("drafted", "accepted", "tokens", "cost"),
    [
        (7, 7, 4, 1.3),  # three of the seven would have been drafted
        (7, 2, 3, 1.3),
        (2, 2, 3, 1.2),  # the reply ended within it, and behind its end nothing is known
        (7, 1, 2, 1.3),  # two tokens, for the price of a whole round
    ],
)
def test_a_length_is_judged_by_a_round_of_it(drafted: int, accepted: int, tokens: int, cost: float) -> None:
    seconds = [1.0 + 0.1 * drafted if drafted <= 3 else 4.0 for drafted in range(8)]
    record, rates = Record(), AcceptRates()
    for _ in range(200):
        rates.learn(7, 7)
    choice = Choice(Plan("draft"), rates, seconds, hopeful=False)
    assert choice.fixed.plan.length == 3
    choice.teach(record, RoundOutcome(drafted, accepted))
    expected = Record()
    expected.learn(Policy.FIXED, tokens, cost)
    for prior in (PricedPlan(PLAIN, 0.0, 0.0), PricedPlan(PLAIN, 1.0, 1.0)):
        assert record.rate(Policy.FIXED, prior) == pytest.approx(expected.rate(Policy.FIXED, prior))


def _seen(right: int, of: int) -> AcceptRates:
    """Drafts of eight tokens, of which all stood or none."""
    rates, generator = AcceptRates(), random.Random(3)
    for _ in range(of):
        rates.learn(8, 8 if generator.random() < right / of else 0)
    return rates
