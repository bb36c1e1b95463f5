"""How much faster drafting made a reply, from what its rounds took; on real ones: test_recorded_rounds."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.stats import RequestStats
from engine.drafting.costs import Calibration, ReplyTime, RoundCosts, TimeInPlainRounds
from engine.drafting.pass_ratio import depth_of


def test_about_1_it_is_as_fast_as_without() -> None:
    par = RequestStats(generated_tokens=101, rounds=51, drafted=100, accepted=50, plain_rounds=98.0, plain_passes=9)

    assert par.speed_up == pytest.approx(100 / 98)
    assert replace(par, plain_rounds_error=0.02).speed_up == 1
    assert replace(par, plain_rounds_error=0.02).is_speed_up_certain
    assert replace(par, plain_rounds_error=0.08).speed_up == 1
    assert not replace(par, plain_rounds_error=0.08).is_speed_up_certain
    assert replace(par, plain_rounds=85.0, plain_rounds_error=0.08).speed_up is None  # a gain of a sixth, perhaps
    assert replace(par, plain_rounds_error=0.3).speed_up is None
    assert replace(par, plain_rounds_error=0.2).speed_up is None  # between a third less and a third more


def test_a_gain_that_is_far_from_none_is_said_though_it_is_roughly_known() -> None:
    """The second reply after a start: one plain pass was measured."""
    gain = RequestStats(generated_tokens=101, rounds=31, drafted=100, accepted=70, plain_rounds=35.0, plain_passes=1)
    rough = replace(gain, plain_rounds_error=0.26)
    assert rough.speed_up == pytest.approx(100 / 35)
    assert rough.speed_up_interval is not None
    assert rough.speed_up_interval[0] > 1.8
    assert not rough.is_speed_up_certain
    assert replace(gain, plain_rounds=60.0, plain_rounds_error=0.26).speed_up is None
    assert replace(gain, plain_rounds_error=0.4).speed_up is None


def test_the_interval_says_how_certain_it_is() -> None:
    gain = RequestStats(generated_tokens=101, rounds=51, drafted=100, accepted=50, plain_rounds=50.0, plain_passes=40)
    sure, rough, unknown = (replace(gain, plain_rounds_error=error) for error in (0.05, 0.12, 0.3))
    assert sure.speed_up == rough.speed_up == pytest.approx(2.0)
    assert (sure.is_speed_up_certain, rough.is_speed_up_certain) == (True, False)
    assert sure.speed_up_interval == pytest.approx((2 * math.exp(-0.082), 2.0))  # no gain is above the tokens a pass
    assert (unknown.speed_up, unknown.speed_up_interval, unknown.is_speed_up_certain) == (None, None, False)
    assert replace(gain, drafted=0).speed_up_interval is None


def test_nothing_is_said_while_nothing_is_known() -> None:
    account = ReplyTime(RoundCosts())
    account.time(account.count("draft", 4), 0.0, 1.0)
    assert account.total(0.0) == TimeInPlainRounds()
    assert RequestStats(generated_tokens=101, rounds=51, drafted=100, accepted=50).speed_up is None
    assert RequestStats(generated_tokens=101, rounds=51, drafted=100, accepted=50).break_even is None


def test_what_others_shared_is_neither_a_gain_nor_a_loss() -> None:
    """A reply that was written alone for a tenth of its time is not faster by what that tenth was."""
    alone = RequestStats(generated_tokens=13, rounds=5, drafted=8, accepted=8, plain_rounds=8.0, decode_s=0.2)
    stats = replace(alone, generated_tokens=13 + 33, rounds=5 + 33, shared_rounds=33, shared_s=1.8, decode_s=2.0)
    assert alone.speed_up == pytest.approx(1.5)
    assert stats.speed_up == pytest.approx(1.05)
    assert stats.saved_s == pytest.approx(0.1) == alone.saved_s
    assert stats.tokens_per_pass is not None
    assert stats.break_even == pytest.approx(stats.tokens_per_pass / 1.05)
    assert stats.plain_tokens_per_second == pytest.approx(45 / 2.1)


@given(
    st.integers(1, 40), st.integers(1, 40), st.integers(0, 200), st.integers(0, 200), st.floats(0, 1), st.floats(0.5, 3)
)
def test_no_speed_up_is_above_the_tokens_per_pass(
    own: int, shared: int, own_more: int, shared_more: int, share: float, price: float
) -> None:
    """Also where what others shared went much faster than what it wrote by itself."""
    stats = RequestStats(
        generated_tokens=1 + own + own_more + shared + shared_more,
        rounds=1 + own + shared,
        drafted=own_more + 1,
        accepted=own_more,
        plain_rounds=own * price,
        shared_rounds=shared,
        shared_gained=shared_more,
        shared_s=share * 2.0,
        decode_s=2.0,
    )
    assert stats.tokens_per_pass is not None
    assert stats.break_even is not None
    assert stats.break_even >= 1 - 1e-9
    if stats.speed_up is not None:
        assert stats.speed_up <= stats.tokens_per_pass + 1e-9
        own_ratio = (own + own_more) / own / max(1.0, price)
        assert (stats.speed_up - 1) * (own_ratio - 1) >= 0  # a gain stays one, and a loss


def test_a_drafted_round_is_no_cheaper_than_a_plain_one() -> None:
    """Where it seems to take less, it was the machine."""
    cheap = RoundCosts(Calibration({1: 1.0, 33: 0.5}, {}))
    assert cheap.in_plain_rounds({("draft", 4, 0): 10}).plain_rounds == pytest.approx(10.0)


class Passes:
    """Of one pair, one after the other."""

    def __init__(self, costs: RoundCosts) -> None:
        self.costs, self._now_s = costs, 0.0

    def see(self, source: str, drafted: int, seconds: float, *, count: int = 1, depth: int = 0) -> None:
        for _ in range(count):
            self.costs.observe(source, drafted, seconds)
            self.costs.observe_pass((source, drafted, depth), self._now_s, self._now_s + seconds)
            self._now_s += seconds

    def took(self, depth: int = 0) -> TimeInPlainRounds:
        return self.costs.in_plain_rounds({("draft", 2, depth): 10})


def test_a_race_corrects_what_passes_have_told() -> None:
    """It is known better than they are; what cannot be, or is of another source, changes nothing."""
    passes = Passes(RoundCosts(Calibration({1: 1.0, 33: 1.0}, {"draft": 0.1})))
    for _ in range(4):
        passes.see("", 0, 1.0)
        passes.see("draft", 2, 1.4)
    before = passes.took()
    for source, longer in (("other", 1.2), ("draft", 0.0), ("draft", 90.0)):
        passes.costs.ratios.correct(source, longer)
        assert passes.took() == before
    passes.costs.ratios.correct("draft", 1.2)
    after = passes.took()
    assert before.plain_rounds * 1.1 < after.plain_rounds < before.plain_rounds * 1.2
    assert after.error < before.error


def test_without_a_calibration_passes_of_both_kinds_bring_certainty() -> None:
    account = ReplyTime(RoundCosts())
    errors = []
    for _ in range(7):
        for source, drafted, seconds in (("", 0, 1.0), ("draft", 2, 1.2)):
            account.time(account.count(source, drafted), 0.0, seconds)
        took = account.total(0.0)
        errors.append(took.error)
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 0.15
    assert errors[-1] < 0.07
    assert (took.plain_rounds, took.plain_passes) == pytest.approx((7 * 2.2, 7))
    assert account.total(0.5).plain_rounds == pytest.approx(7 * 2.2 + 0.5)


def test_what_is_measured_is_more_certain_than_a_guess_and_passes_of_both_kinds_make_it_more_so() -> None:
    """By round: plain ones are the measure itself, and a mixture is as uncertain as its drafted part."""
    passes = Passes(RoundCosts(Calibration({1: 1.0, 33: 1.0}, {"draft": 0.5})))
    costs, unmet = passes.costs, passes.took()
    assert unmet.plain_rounds == pytest.approx(20.0)
    assert unmet.plain_passes == 0
    assert 0.15 < unmet.error < 0.25
    assert costs.in_plain_rounds({("", 0, 0): 10}) == TimeInPlainRounds(10.0)
    mixed = costs.in_plain_rounds({("", 0, 0): 20, ("draft", 2, 0): 10})
    assert (mixed.plain_rounds, mixed.error) == pytest.approx((40.0, unmet.error / 2))
    assert costs.in_plain_rounds({}) == TimeInPlainRounds()
    for _ in range(10):
        passes.see("", 0, 1.0)
        passes.see("draft", 2, 2.4)

    assert passes.took().error < unmet.error / 3
    assert passes.took().plain_rounds == pytest.approx(24, rel=0.03)


def test_a_single_plain_pass_moves_the_figure_by_little_and_leaves_it_uncertain() -> None:
    """What was seen once: one slow plain pass among many drafted ones, and a gain of 3.4 that was none."""
    passes = Passes(RoundCosts(Calibration({1: 1.0, 33: 1.0}, {"draft": 0.5})))
    passes.see("draft", 2, 2.0, count=20)
    passes.see("", 0, 1.7)
    passes.see("draft", 2, 2.0, count=20)

    assert passes.took().plain_rounds == pytest.approx(20.0, rel=0.25)
    assert 1.64 * passes.took().error > 0.1


def test_a_plain_pass_before_the_machine_became_busy_is_not_compared_with_drafts_after_that() -> None:
    passes = Passes(RoundCosts(Calibration({1: 1.0, 33: 1.0}, {"draft": 0.5})))
    passes.see("", 0, 1.0, count=5)
    passes.see("draft", 2, 2.0, count=5)
    before = passes.took()
    passes.see("draft", 2, 2.4, count=60)  # too little more to be taken for an outlier

    assert passes.took().plain_rounds == pytest.approx(before.plain_rounds, rel=0.05)


def test_each_depth_has_its_own_and_a_new_one_begins_with_what_the_nearest_knows() -> None:
    passes = Passes(RoundCosts(Calibration({1: 1.0, 33: 1.0}, {"draft": 0.5})))
    for _ in range(30):
        passes.see("", 0, 1.0)
        passes.see("draft", 2, 2.5)
    near, far = passes.took(depth=1), passes.took(depth=4)
    assert near.plain_rounds == pytest.approx(25, rel=0.03) == far.plain_rounds
    assert passes.took().error < near.error < far.error
    for _ in range(30):
        passes.see("", 0, 3.0, depth=4)
        passes.see("draft", 2, 6.0, depth=4)

    assert passes.took(depth=4).plain_rounds == pytest.approx(20, rel=0.03)
    assert passes.took().plain_rounds == pytest.approx(25, rel=0.03)
    assert [depth_of(tokens) for tokens in (0, 2048, 2049, 4096, 4097, 8193)] == [0, 0, 1, 1, 2, 3]


def test_old_passes_are_forgotten() -> None:
    passes = Passes(RoundCosts(Calibration({1: 1.0, 33: 1.0}, {"draft": 0.5})))
    for _ in range(200):
        passes.see("", 0, 1.0)
        passes.see("draft", 2, 2.6)
    for _ in range(200):
        passes.see("", 0, 1.0)
        passes.see("draft", 2, 2.0)

    assert passes.took().plain_rounds == pytest.approx(20, rel=0.05)


def test_a_calibration_whose_times_did_not_agree_is_relied_on_less() -> None:
    sure, unsure = (
        RoundCosts(Calibration({1: 1.0, 33: 1.0}, {"draft": 0.5}, error=error)).in_plain_rounds({("draft", 2, 0): 10})
        for error in (0.01, 0.2)
    )
    assert (sure.plain_rounds, unsure.plain_rounds) == pytest.approx((20.0, 20.0))
    assert unsure.error > 2 * sure.error


def test_a_reply_whose_only_drafted_round_drew_the_end_has_no_verdict() -> None:
    stats = RequestStats(generated_tokens=1, rounds=2, draft_rounds=1, drafted=3, plain_rounds=1.4)
    assert (stats.speed_up, stats.saved_s, stats.plain_tokens_per_second) == (None, None, None)


def test_rounds_before_a_change_of_draft_keep_their_price() -> None:
    """What was read, too. Until the new prices are known nothing is said of rounds that have them."""
    free = RoundCosts(Calibration({1: 0.5, 33: 0.5}, {"draft": 0.0}))
    dear = RoundCosts(Calibration({1: 0.5, 33: 0.5}, {"draft": 0.5}))
    account = ReplyTime(free)
    assert account.total(0.0) == TimeInPlainRounds()
    account.count("", 0)
    account.count("draft", 2)
    before = account.total(1.0)
    assert before.plain_rounds == pytest.approx(4.0)
    assert before == free.in_plain_rounds({("", 0, 0): 1, ("draft", 2, 0): 1}, 1.0)
    account.change_draft(dear, 1.0)
    assert account.total(0.0) == before
    account.count("draft", 2)
    after = account.total(0.5)
    assert after.plain_rounds == pytest.approx(4.0 + 3.0 + 1.0)
    alone = dear.in_plain_rounds({("draft", 2, 0): 1}, 0.5)
    sums = before.error * before.plain_rounds + alone.error * alone.plain_rounds
    assert after.error * after.plain_rounds == pytest.approx(sums)
    account.change_draft(RoundCosts(), 0.5)
    assert account.total(0.0) == after
    account.count("draft", 2)
    assert account.total(0.0) == TimeInPlainRounds()


def test_rounds_of_which_no_price_was_known_are_priced_later() -> None:
    account = ReplyTime(RoundCosts())
    account.count("draft", 2)
    account.change_draft(RoundCosts(Calibration({1: 0.5, 33: 0.5}, {"draft": 0.5})), 0.0)
    assert account.total(0.0).plain_rounds == pytest.approx(3.0)


def test_what_was_read_is_priced_for_the_reply_that_read_it() -> None:
    """Not for one that was planned since."""
    costs = RoundCosts(Calibration({1: 1.0, 33: 1.0}, {"draft": 0.1}, deep_s={1: 0.001, 33: 0.001}))
    account = ReplyTime(costs)
    account.count("", 0, context_tokens=1000)
    costs.context_tokens = 9000
    assert account.total(4.0).plain_rounds == pytest.approx(1 + 4.0 / 2.0)
