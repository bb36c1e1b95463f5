"""Which way of choosing a length has brought more, and when a draft is no longer worth its time."""

from __future__ import annotations

import random
from itertools import accumulate
from operator import mul

import pytest

from engine.drafting.acceptance import AcceptRates
from engine.drafting.options import Choice, Option, Policy, Record, stop_floors
from engine.drafting.plans import PLAIN, Plan


def test_a_policy_is_judged_by_what_it_brought_lately() -> None:
    """A long spell in which it brought less is made good by a shorter one in which it brought more."""
    record, expected = Record(), Option(PLAIN, 2.0, 1.0)

    def learn(tokens: float, count: int) -> float:
        for _ in range(count):
            record.learn(Policy.STOPPING, tokens, 1.0)
        return record.rate(Policy.STOPPING, expected)

    assert record.rate(Policy.STOPPING, expected) == 2.0
    assert learn(1.0, 1) == pytest.approx((1.0 + 12 * 2.0) / 13)
    assert learn(1.0, 400) < 1.2
    assert learn(12.0, 60) > 5.0
    assert learn(1.0, 1) > 5.0  # one round does not make it bad
    assert record.rate(Policy.STEADY, expected) == 2.0


@pytest.mark.parametrize(("more", "short"), [(1.0, False), (1.01, False), (1.04, True)])
def test_a_length_changes_with_the_latest_rounds_where_that_brought_clearly_more(more: float, *, short: bool) -> None:
    """All of eight tokens stood for long, and one of late: no reason to draft fewer while that has hardly paid."""
    rates, record = AcceptRates(), Record()
    for number in range(320):
        rates.learn(8, 8 if number < 300 else 1)
        rates.end_round()
    for _ in range(2000):
        record.learn(Policy.STEADY, 2.0, 1.0)
        record.learn(Policy.RECENT, 2.0 * more, 1.0)
    choice = Choice(Plan("draft"), rates, [1 + 0.3 * drafted for drafted in range(9)], hopeful=False)

    assert (choice.fixed(record).plan.length < 4) == short


def test_floors_rise_with_the_price_of_a_token() -> None:
    """Tokens of even chances of 0.5: going on from one to two costs 0.1 s at 1 token/s and brings half a token."""
    tokens, seconds = [1.0, 1.5, 1.75], [1.0, 1.1, 1.2]

    assert stop_floors(tokens, seconds, rate=1.0) == pytest.approx((0.1 / 0.5,))
    assert stop_floors(tokens, seconds, rate=2.0) == pytest.approx((0.2 / 0.5,))


def test_a_floor_looks_beyond_a_dear_step() -> None:
    """The second token costs much and the third nothing: both together are worth it sooner than the second alone."""
    tokens, seconds = [1.0, 1.8, 2.44, 2.952], [1.0, 1.0, 1.4, 1.4]

    assert stop_floors(tokens, seconds, rate=1.5) == pytest.approx((1.5 * 0.4 / (2.952 - 1.8) * 0.8, 0.0))


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
        assert stop_floors(tokens, seconds, rate) == pytest.approx([min(0.95, floor) for floor in searched])


def test_no_floor_is_above_the_highest() -> None:
    assert stop_floors([1.0, 1.1, 1.11], [1.0, 2.0, 9.0], rate=1.0) == (0.95,)
