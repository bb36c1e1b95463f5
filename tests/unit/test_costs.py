"""Prices of rounds: from the calibration, from what rounds took, and without either."""

from __future__ import annotations

import pytest

from engine import MAX_DRAFT_TOKENS
from engine.drafting.costs import Calibration, RoundCosts
from engine.drafting.pass_ratio import depth_of

SAW = {1: 46.0, 2: 48.9, 3: 60.9, 4: 46.0, 5: 58.9, 6: 59.8, 7: 72.6, 8: 55.4, 33: 200.0}


def costs(verify: dict[int, float] | None = None, draft: float = 2.0, rollback: float = 0.0) -> RoundCosts:
    return RoundCosts(Calibration(verify or SAW, {"draft": draft}, rollback))


@pytest.mark.parametrize(
    ("width", "padded"),
    [(1, 1), (2, 4), (3, 4), (4, 4), (5, 8), (6, 8), (7, 8), (8, 8), (33, 33), (34, 34), (512, 512)],
)
def test_a_forward_is_padded_to_a_cheaper_width(width: int, padded: int) -> None:
    """From 1 to 4 nothing is gained; 5 to 8 tokens cost less as 8. Prompts are no rounds."""
    assert costs().padded(width) == padded


def test_padding_must_gain_more_than_noise_and_its_rollback() -> None:
    """Three tokens as four: 46 + 14 instead of 60.9 is not worth it, 46 + 13 is."""
    assert [costs(rollback=seconds).padded(3) for seconds in (14.0, 13.0)] == [3, 4]
    assert costs({1: 10.0, 2: 9.75, 33: 100.0}).padded(1) == 1
    assert costs({1: 10.0, 2: 9.65, 33: 100.0}).padded(1) == 2
    for gained, padded in ((8.8, 1), (8.6, 2)):
        assert RoundCosts(Calibration({1: 10.0, 2: gained, 33: 100.0}, error=0.05)).padded(1) == padded


@pytest.mark.parametrize(
    ("source", "length", "price"),
    [
        ("", 0, 46.0),
        ("draft", 1, 46.0 + 2),  # two tokens cost as much as four
        ("draft", 3, 46.0 + 6),
        ("draft", 5, 55.4 + 10),
        ("lookup", 5, 55.4),  # a lookup costs nothing
        ("lookup", 12, 55.4 + 5 / 25 * 144.6),  # between widths that were measured
        ("draft", 32, 200.0 + 64),
    ],
)
def test_before_any_round_a_price_is_the_calibrated_one(source: str, length: int, price: float) -> None:
    assert costs().price_s(source, length) == pytest.approx(price)
    assert costs().prices_s(source, length)[length] == pytest.approx(price)
    assert len(costs().prices_s(source, length)) == length + 1


@pytest.mark.parametrize(
    ("verify", "length", "price"),
    [
        ({1: 10.0}, 0, 10.0),
        ({1: 10.0}, 9, 10.0),
        ({4: 10.0}, 0, 10.0),
        ({1: 10.0, 17: 26.0}, 32, 42.0),
        ({1: 10.0, 5: 30.0, 7: 31.0}, 2, 20.0),
        ({1: 10.0, 5: 30.0, 7: 31.0}, 10, 45.0),
    ],
)
def test_other_widths_lie_on_the_nearest_line(verify: dict[int, float], length: int, price: float) -> None:
    assert costs(verify).price_s("lookup", length) == pytest.approx(price)


@pytest.mark.parametrize("widest", [1.0, 54.0, 56.0, 200.0])
def test_beyond_the_widest_measured_forward_none_is_cheaper(widest: float) -> None:
    """The first calibration ends at 16 tokens, and each of its forwards was timed once."""
    prices = costs({1: 46.0, 2: 49.0, 4: 47.0, 8: 55.0, 16: widest}).prices_s("draft", MAX_DRAFT_TOKENS)
    assert min(prices) > 0
    assert prices[15:] == sorted(prices[15:])


@pytest.mark.parametrize(
    ("plain_rounds", "plain"),
    [
        ([92.0] * 7, 92.0),
        ([46.0, 46.0, 460.0, 46.0], 46.0),  # one slow round changes nothing
        ([46.0, 0.0, 46.0], 46.0),  # by a coarse clock
        ([46.0] * 50 + [60.0] * 4, 60.0),  # a chat that grows long is followed within a few rounds
    ],
)
def test_plain_rounds_raise_or_lower_every_price_alike(plain_rounds: list[float], plain: float) -> None:
    priced = costs()
    for seconds in plain_rounds:
        priced.observe("", 0, seconds)

    assert priced.plain_s == pytest.approx(plain)
    assert priced.price_s("draft", 3) == pytest.approx(plain * 52 / 46)


def test_rounds_of_a_length_that_take_longer_than_calibrated_cost_more() -> None:
    """Beside plain rounds of the calibrated time; other lengths are thought to be like it."""
    priced = costs()
    for _ in range(90):
        priced.observe("", 0, 46.0)
        priced.observe("", 0, 46.0)
        priced.observe("draft", 3, 78.0)

    assert priced.plain_s == pytest.approx(46.0, rel=0.02)
    assert priced.price_s("draft", 3) == pytest.approx(78.0, rel=0.03)
    assert priced.price_s("draft", 4) == pytest.approx(1.5 * (55.4 + 8), rel=0.03)
    assert priced.price_s("lookup", 3) == pytest.approx(46.0, rel=0.03)


@pytest.mark.parametrize("plain_first", [True, False])
def test_one_meeting_with_a_plain_round_moves_a_price_a_third_of_the_way(plain_first: bool) -> None:
    priced = costs()
    observed = [("", 0, 46.0), ("draft", 3, 52.0 * 1.15)]
    for source, drafted, seconds in observed if plain_first else reversed(observed):
        priced.observe(source, drafted, seconds)

    assert priced.price_s("draft", 3) / priced.plain_s == pytest.approx(52 / 46 * 1.15 ** (1 / 3))


def test_a_price_that_changes_is_followed_however_long_it_was_steady() -> None:
    """After 200 meetings at the calibrated price, 60 at another bring it nearly there."""
    priced = costs()
    for seconds in [52.0] * 200 + [52.0 * 1.4] * 60:
        priced.observe("", 0, 46.0)
        priced.observe("draft", 3, seconds)

    assert priced.price_s("draft", 3) / priced.plain_s == pytest.approx(52 / 46 * 1.4, rel=0.05)


def test_drafted_rounds_far_from_plain_ones_change_no_price() -> None:
    priced = costs()
    for _ in range(7):
        priced.observe("draft", 3, 52.0)
    before = priced.price_s("draft", 3) / priced.plain_s
    for _ in range(50):
        priced.observe("draft", 3, 99.0)

    assert priced.price_s("draft", 3) / priced.plain_s == pytest.approx(before)
    assert priced.plain_s == pytest.approx(46.0 * 99 / 52, rel=0.3)  # load is not held against drafting


def test_without_a_calibration_tokens_cost_what_they_were_seen_to_cost() -> None:
    priced = RoundCosts()
    assert priced.plain_s == 0
    assert priced.price_s("draft", 4) == 0
    priced.observe("", 0, 10.0)
    assert priced.plain_s == pytest.approx(10.0)
    assert priced.price_s("draft", 4) == pytest.approx(10.0 + 4 * 1.3)
    for _ in range(40):
        priced.observe("draft", 1, 22.0)
        priced.observe("", 0, 10.0)

    assert priced.price_s("draft", 4) / priced.plain_s == pytest.approx(1 + 4 * 1.2, rel=0.05)


@pytest.mark.parametrize(
    ("drafted", "rounds", "least", "most"),
    [
        (1, [36.0], 1.0, 1.7),  # the very first one also pays for what is done once
        (2, [3.0], 1.0, 1.1),  # a plain round that was slow by chance makes no drafted one cheaper than itself
        (1, [12.0] * 100 + [15.0] * 60, 1.4, 1.51),  # what a token costs is followed, however many have been seen
    ],
)
def test_without_calibration_rounds_price_a_draft(drafted: int, rounds: list[float], least: float, most: float) -> None:
    priced = RoundCosts()
    priced.observe("", 0, 10.0)
    for seconds in rounds:
        priced.observe("draft", drafted, seconds)
        priced.observe("", 0, 10.0)

    assert least <= priced.price_s("draft", drafted) / priced.plain_s < most


def test_without_a_calibration_longer_drafts_come_step_by_step() -> None:
    priced = RoundCosts()
    priced.observe("", 0, 10.0)
    assert priced.longest_priced("draft") == 1
    priced.observe("draft", 1, 11.0)
    assert priced.longest_priced("draft") == 2
    priced.observe("draft", 2, 11.0)
    assert priced.longest_priced("draft") == 4
    assert costs().longest_priced("draft") == MAX_DRAFT_TOKENS


def test_a_new_calibration_forgets_what_was_compared_with_the_old_one() -> None:
    priced = costs()
    for _ in range(9):
        priced.observe("", 0, 99.0)
    priced.calibrate(Calibration({1: 10.0, 33: 20.0}, {"draft": 1.0}))

    assert priced.plain_s == pytest.approx(10.0)
    assert priced.price_s("draft", 32) == pytest.approx(52.0)


def test_a_price_of_reading_that_was_too_high_is_corrected() -> None:
    """And a few tokens take as long as many."""
    priced = RoundCosts()
    assert priced.reading_s("draft", 512) == 0
    priced.observe_reading("draft", 2, 0.64)
    assert priced.reading_s("draft", 512) == pytest.approx(5.12)
    priced.observe_reading("draft", 512, 0.512)
    priced.observe_reading("draft", 512, 9.0)  # something else was going on

    assert priced.reading_s("draft", 512) == pytest.approx(0.512)
    assert priced.reading_s("draft", 2) == pytest.approx(0.064)
    assert priced.reading_s("draft", 0) == 0


@pytest.mark.parametrize(("last", "of_two", "of_eight"), [(4.1, 7.4, 27.2), (3.93, 6.9, 24.72), (0.5, 0.5, 0.5)])
def test_wider_forwards_are_priced_by_half_of_the_widest(last: float, of_two: float, of_eight: float) -> None:
    """They go on as from half of the widest: between the last two, a token apart, lies noise, or the end of a tile."""
    measured = Calibration({1: 1.0, 16: 2.4, 17: 2.5, 32: 4.0, 33: last})
    for replies, price in ((2, of_two), (8, of_eight)):
        assert RoundCosts(measured.shared_by(replies)).price_s("lookup", 32) == pytest.approx(price)


def test_a_draft_in_rows_takes_little_more_for_all_replies_than_for_one() -> None:
    """Three quarters of it grow as the main model's forwards do. One that drafts row after row takes it for each."""
    measured = Calibration({1: 1.0, 4: 1.2, 33: 3.0}, {"draft": 0.1, "head": 0.2}, round_s={"draft": 0.05, "head": 0.4})
    shared = measured.shared_by(4, {"draft"})
    assert shared.draft_s == pytest.approx({"draft": 0.19, "head": 0.8})
    assert shared.round_s == pytest.approx({"draft": 0.095, "head": 1.6})
    assert measured.shared_by(4).draft_s == pytest.approx({"draft": 0.4, "head": 0.8})
    assert Calibration().shared_by(4, {"draft"}).draft_s == {}


def test_a_round_of_which_some_is_rejected_is_expected_to_take_its_rollback_too() -> None:
    """So it says nothing of the draft's price. In company it is part of what is seen beyond the price."""
    measured = Calibration({1: 1.0, 33: 1.0}, {"draft": 0.1}, rollback_s=0.5)
    for partly in (False, True):
        costs = RoundCosts(measured)
        for _ in range(20):
            costs.observe("", 0, 2.0)
            costs.observe("draft", 4, 2 * (1.4 + 0.5 * partly), partly=partly)
        assert costs.price_s("draft", 4) == pytest.approx(2.8)
        assert costs.rollback_s == pytest.approx(1.0)
    assert RoundCosts(measured.shared_by(2), 2).rollback_s == 0


DEEP = Calibration(
    {1: 1.0, 4: 1.5, 33: 3.0}, {"draft": 0.1}, deep_s={1: 0.001, 4: 0.002, 33: 0.031}, draft_deep_s={"draft": 0.0005}
)


@pytest.mark.parametrize(
    ("source", "length", "context", "price"),
    [
        ("", 0, 0, 1.0),
        ("", 0, 1000, 2.0),
        ("draft", 3, 0, 1.8),
        ("draft", 3, 1000, 1.5 + 2.0 + 3 * 0.6),
        ("lookup", 3, 1000, 1.5 + 2.0),
        ("draft", 4, 1000, (1.5 + 1.5 / 29) + 3.0 + 4 * 0.6),
    ],
)
def test_a_price_grows_with_the_context(source: str, length: int, context: int, price: float) -> None:
    costs = RoundCosts(DEEP)
    costs.context_tokens = context
    assert costs.price_s(source, length) == pytest.approx(price)


def test_a_round_behind_a_long_context_that_took_its_price_corrects_nothing() -> None:
    costs = RoundCosts(DEEP)
    costs.context_tokens = 2000
    for length in (0, 3, 0, 3):
        costs.observe("draft" if length else "", length, costs.price_s("draft" if length else "", length))
    costs.context_tokens = 0
    assert [costs.price_s("", 0), costs.price_s("draft", 3)] == pytest.approx([1.0, 1.8])


def test_drafts_that_take_more_behind_a_long_context_are_told_so_before_any_is_timed() -> None:
    """In plain rounds of that depth: (1.5 + 3072 * .002 + 3 * (.1 + 3072 * .0005)) / (1 + 3072 * .001)."""
    took = RoundCosts(DEEP).in_plain_rounds({("draft", 3, 1): 10})
    assert took.plain_rounds == pytest.approx(10 * (1.5 + 6.144 + 3 * 1.636) / 4.072)
    assert depth_of(3072) == 1


def test_replies_that_share_a_forward_each_have_a_context() -> None:
    costs = RoundCosts(DEEP.shared_by(2))
    costs.context_tokens = 1000
    assert costs.plain_s == pytest.approx(DEEP.verify_s[1] + 0.5 / 3 + 2 * 1.0)
