"""Which way of choosing a length has brought more, and when a draft is no longer worth its time."""

from __future__ import annotations

import random
from itertools import accumulate
from operator import mul

import pytest

from engine.drafting.acceptance import AcceptRates
from engine.drafting.options import Choice, Option, Policy, Record, stop_floors
from engine.drafting.plans import PLAIN, Outcome, Plan


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


@pytest.mark.parametrize(("error", "floor"), [(0.0, 0.95), (0.05, 0.95), (0.07, 26 / 30), (0.1, 0.8), (0.5, 0.8)])
def test_nearly_sure_tokens_stop_for_no_price_within_the_error(error: float, floor: float) -> None:
    """The second token takes 40 s where a token takes 30; both prices may be wrong by the error."""
    tokens, seconds = [1.0, 2.0, 3.0], [1.0, 60.0, 100.0]

    assert stop_floors(tokens, seconds, 1 / 30, error) == pytest.approx((floor,))


def test_a_floor_of_doubtful_tokens_heeds_no_error() -> None:
    tokens, seconds = [1.0, 1.5, 1.75], [1.0, 1.1, 1.2]

    assert stop_floors(tokens, seconds, rate=2.0, error=0.5) == stop_floors(tokens, seconds, rate=2.0)


@pytest.mark.parametrize(("error", "length"), [(0.0, 4), (0.01, 4), (0.02, 5), (0.05, 6), (0.5, 8)])
def test_of_sure_tokens_as_many_are_drafted_as_the_error_of_prices_allows(error: float, length: int) -> None:
    rates = _seen(right=2000, of=2000)
    seconds = [1.0, 1.4, 1.6, 1.8, 2.0, 2.44, 2.91, 3.7, 4.4]

    assert _fixed_length(rates, seconds, error) == length


def test_no_doubtful_token_is_drafted_for_the_error_of_prices() -> None:
    rates = _seen(right=1000, of=2000)
    seconds = [1.0 + 0.6 * drafted for drafted in range(9)]

    assert _fixed_length(rates, seconds, error=0.5) == _fixed_length(rates, seconds, error=0.0)


def test_a_draft_that_told_no_probabilities_says_nothing_of_stopping() -> None:
    record = Record()
    choice = Choice(Plan("draft"), _seen(right=1000, of=2000), [1.0, 1.5, 2.0], hopeful=False)
    choice.stopping(record, (0.5,) * 10, plain_s=1.0)
    before = record.rate(Policy.STOPPING, Option(Plan("draft"), 1.0, 1.0))

    choice.teach(record, Outcome(drafted=2, accepted=2))

    assert record.rate(Policy.STOPPING, Option(Plan("draft"), 1.0, 1.0)) == before
    assert record.rate(Policy.STEADY, Option(Plan("draft"), 1.0, 1.0)) != 1.0


def test_a_draft_that_was_never_to_stop_by_itself_says_nothing_of_stopping() -> None:
    record = Record()
    choice = Choice(Plan("draft"), _seen(right=1000, of=2000), [1.0, 1.5, 2.0], hopeful=False)

    choice.teach(record, Outcome(drafted=2, accepted=2, probabilities=(0.9, 0.4)))

    assert record.rate(Policy.STOPPING, Option(Plan("draft"), 1.0, 1.0)) == 1.0


@pytest.mark.parametrize(
    ("accepted", "cost"),
    [
        (7, 2 * 1.3),  # eight tokens: two rounds of three drafted ones and one more
        (5, 1.5 * 1.3),  # six of them: the second round goes on with what comes next
        (3, 1.3),
        (1, 1.3),  # two tokens, for the price of a whole round
    ],
)
def test_a_length_is_judged_by_what_the_same_tokens_would_have_cost(accepted: int, cost: float) -> None:
    """A round of seven that all stood is no merit of seven beside three, which would have had two such rounds."""
    seconds = [1.0 + 0.1 * drafted if drafted <= 3 else 4.0 for drafted in range(8)]
    record, rates = Record(), AcceptRates()
    for _ in range(200):
        rates.learn(7, 7)
    choice = Choice(Plan("draft"), rates, seconds, hopeful=False)
    assert choice.fixed(record).plan.length == 3
    choice.teach(record, Outcome(drafted=7, accepted=accepted))
    assert record._sums[Policy.STEADY] == pytest.approx((accepted + 1, cost))


def _seen(right: int, of: int) -> AcceptRates:
    """Drafts of eight tokens, of which all stood or none."""
    rates, generator = AcceptRates(), random.Random(3)
    for _ in range(of):
        rates.learn(8, 8 if generator.random() < right / of else 0)
    return rates


def _fixed_length(rates: AcceptRates, seconds: list[float], error: float) -> int:
    choice = Choice(Plan("draft"), rates, seconds, hopeful=False, error=error)
    return choice.fixed(Record()).plan.length
