"""The choice of source and length from known prices and rates: choose, park, try again. No model, no clock."""

from __future__ import annotations

import random
from itertools import accumulate
from operator import mul

import pytest

from engine.api.types import Speculation
from engine.drafting.acceptance import Sharpness, StopRule
from engine.drafting.controller import (
    PLAIN,
    AutoController,
    FixedController,
    History,
    Offer,
    Outcome,
    Plan,
    make_controller,
    stop_floors,
)
from engine.drafting.costs import Calibration, RoundCosts

FIXED_ONLY = Offer("draft", 16)
DRAFT = Offer("draft", 16, tells_probabilities=True)
FLAT = {1: 1.0, 33: 1.32}
STEEP = {1: 1.0, 33: 33.0}
STEPS = {width: 1.0 + 0.25 * ((width - 1) // 4) for width in range(1, 34)}  # four tokens cost as much as one


def history(verify: dict[int, float], draft: float = 0.05, *, rates: list[tuple[int, int]] | None = None) -> History:
    """`rates` are rounds of the draft seen before, as (drafted, accepted)."""
    made = History(RoundCosts(Calibration(verify, {"draft": draft})))
    for drafted, accepted in rates or []:
        made.learn(Plan("draft", drafted), Outcome(drafted, accepted))
    return made


def rounds(share: float, count: int = 200, length: int = 16) -> list[tuple[int, int]]:
    """Rounds in which the first token stands so often, and each next one as often."""
    generator = random.Random(1)
    seen = []
    for _ in range(count):
        accepted = 0
        while accepted < length and generator.random() < share:
            accepted += 1
        seen.append((length, accepted))
    return seen


@pytest.mark.parametrize(
    ("verify", "draft", "share", "lengths"),
    [
        (FLAT, 0.05, 0.02, {0}),
        (FLAT, 0.05, 0.9, set(range(8, 17))),
        (FLAT, 0.05, 0.5, {2, 3, 4}),
        (FLAT, 0.4, 0.5, {1}),
        (STEEP, 0.1, 0.95, {0}),
        (STEPS, 0.05, 0.7, {3}),
        (STEPS, 0.05, 0.2, {1}),
        (STEPS, 0.02, 0.92, {7, 11, 15}),
    ],
)
def test_the_length_with_the_most_tokens_per_second_is_chosen(
    verify: dict[int, float], draft: float, share: float, lengths: set[int]
) -> None:
    """With costs in steps, drafts end where a step does."""
    controller = AutoController(history(verify, draft, rates=rounds(share)))

    assert controller.plan([FIXED_ONLY]).length in lengths


def test_nothing_is_drafted_before_a_plain_round_has_a_price() -> None:
    assert AutoController(History()).plan([DRAFT]) == PLAIN


def test_the_first_draft_without_a_calibration_is_one_token() -> None:
    uncalibrated = History()
    uncalibrated.costs.observe("", 0, 1.0)

    assert AutoController(uncalibrated).plan([DRAFT]).length == 1


def test_a_draft_is_at_most_twice_its_longest_run() -> None:
    known = history(FLAT, rates=[(4, 4)] * 50)
    assert AutoController(known).plan([FIXED_ONLY]).length == 8
    known.learn(Plan("draft", 8), Outcome(8, 8))
    assert AutoController(known).plan([FIXED_ONLY]).length == 16


def test_no_more_is_planned_than_is_offered() -> None:
    controller = AutoController(history(FLAT, rates=rounds(0.9)))

    assert controller.plan([Offer("draft", 2)]).length == 2
    assert controller.plan([Offer("draft", 0)]) == PLAIN
    assert controller.plan([]) == PLAIN


def test_the_sharpness_learnt_is_a_part_of_the_plan() -> None:
    known = history(FLAT, rates=rounds(0.9))
    known.learn(Plan("draft", 1), Outcome(1, 1, guesses=[[1, 2, 3, 4]] * 1, truths=[3]))

    assert AutoController(known).plan([DRAFT]).sharpness == 2
    assert FixedController(3, known).plan([DRAFT]).sharpness == 2
    assert known.sharpness["draft"].level == Sharpness.LEVELS.index(2.5)


@pytest.mark.parametrize(("speculation", "length"), [(Speculation.off(), 0), (Speculation.fixed(5), 5)])
def test_fixed_lengths_are_kept(speculation: Speculation, length: int) -> None:
    controller = make_controller(speculation, history(STEEP, rates=rounds(0.02)))
    for _ in range(50):
        plan = controller.plan([Offer("lookup", 0), DRAFT])
        controller.observe(plan, Outcome(plan.length, 0, 10.0))

    assert controller.plan([DRAFT]) == (Plan("draft", 5) if length else PLAIN)
    assert controller.wants("draft") == (length > 0)
    assert not controller.parked


def test_a_fixed_length_teaches_what_it_shows() -> None:
    known = history(FLAT)
    controller = FixedController(3, known)
    before = known.costs.price_s("draft", 3)
    for _ in range(30):
        controller.observe(PLAIN, Outcome(seconds=1.0))
        controller.observe(Plan("draft", 3), Outcome(3, 3, seconds=3.0))
        controller.observe(Plan("draft", 3), Outcome(3, 3, seconds=None))

    assert known.costs.price_s("draft", 3) > 2 * before
    assert known.rates_of("draft", 0).by_position(hopeful=False)[0] > 0.9


# Drafts that stop by themselves.


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


def test_a_draft_that_tells_how_sure_it_is_stops_by_itself() -> None:
    known = history(FLAT, rates=rounds(0.8))
    plan = AutoController(known).plan([DRAFT])

    assert plan.stop is not None
    assert plan.length == 16
    assert plan.stop.goes_on([0.99])
    assert not plan.stop.goes_on([0.01, 0.01])


@pytest.mark.parametrize(("tokens", "stops"), [(1.5, False), (6.0, True)])
def test_stopping_by_itself_and_a_fixed_length_are_compared(tokens: float, stops: bool) -> None:
    """Rounds in which the draft stopped by itself brought this much at the price of one and a half plain ones."""
    known = history(FLAT, rates=rounds(0.8))
    known.self_stopping["draft"] = (100 * tokens, 150.0)
    plan = AutoController(known).plan([DRAFT])

    assert plan.stop is not None
    assert bool(plan.stop.floors) == stops
    assert (plan.length == 16) == stops


def test_a_fixed_length_shows_what_stopping_would_have_brought() -> None:
    """The draft doubts its second token, rightly: stopping there costs less and brings as much."""
    known = history(FLAT, rates=[(4, 1)] * 200)
    known.learn(Plan("draft", 2), Outcome(2, 1, probabilities=[0.99, 0.05]))
    controller = AutoController(known)
    controller.plan([DRAFT])
    for _ in range(60):
        controller.observe(
            Plan("draft", 4, stop=StopRule((), ())), Outcome(4, 1, 1.3, probabilities=[0.99, 0.05, 0.5, 0.5])
        )
    tokens, seconds = known.self_stopping["draft"]

    assert tokens / seconds > 2 / known.costs.price_s("draft", 2) * 0.98


# Park and try again.


def plain(controller: AutoController, count: int, seconds: float = 1.0) -> None:
    for _ in range(count):
        controller.observe(PLAIN, Outcome(seconds=seconds))


def test_a_useless_draft_is_parked_and_not_asked() -> None:
    known = history(STEEP, rates=rounds(0.05))
    controller = AutoController(known)

    assert controller.plan([DRAFT]) == PLAIN
    assert controller.parked
    assert not controller.wants("draft")
    assert controller.wants("lookup")
    assert 0 < known.draft_speed < 1


def test_drafting_begins_with_a_lead_of_two_per_cent_and_goes_on_without() -> None:
    """Of a token that always stands; going on, it may cost as much as it brings."""
    always = [(1, 1)] * 3000
    for price, begins in ((0.985, False), (0.95, True)):
        controller = AutoController(history({1: 1.0, 33: 1.0}, price, rates=always))
        assert bool(controller.plan([Offer("draft", 1)]).length) == begins
    known = history({1: 1.0, 33: 1.0}, 0.95, rates=always)
    controller = AutoController(known)
    assert controller.plan([Offer("draft", 1)]).length == 1
    known.costs.calibration = Calibration({1: 1.0, 33: 1.0}, {"draft": 0.985})
    assert controller.plan([Offer("draft", 1)]).length == 1
    known.costs.calibration = Calibration({1: 1.0, 33: 1.0}, {"draft": 1.1})
    assert controller.plan([Offer("draft", 1)]) == PLAIN


def test_a_parked_draft_is_tried_when_it_has_rested_and_the_credit_allows() -> None:
    known = history(STEEP, rates=rounds(0.05))
    controller = AutoController(known)
    controller.plan([FIXED_ONLY])
    plain(controller, 3)
    assert not controller.wants("draft")  # not in a reply's first rounds
    plain(controller, 1)
    known.credit = 0.9
    assert controller.plan([FIXED_ONLY]) == PLAIN  # a second token costs a whole round
    known.credit = 1.2
    assert controller.plan([FIXED_ONLY]).length == 1
    assert controller.parked
    controller.observe(Plan("draft", 1), Outcome(1, 0, 2.05))
    assert known.credit == pytest.approx(1.2 + 0.004 + 1 - 2.05, abs=0.05)
    known.credit = 1.2
    plain(controller, 2)
    assert not controller.wants("draft")
    plain(controller, 1)
    assert controller.wants("draft")


def test_credit_grows_slowly_with_time_and_with_what_drafting_gains() -> None:
    known = history(FLAT)
    known.credit = 0.0
    controller = AutoController(known)
    plain(controller, 100)
    assert known.credit == pytest.approx(0.4)
    controller.observe(Plan("draft", 1), Outcome(1, 1, 1.06))
    assert known.credit == pytest.approx(0.4 + 0.004 + 2 - 1.06, abs=0.02)
    controller.observe(Plan("draft", 8), Outcome(8, 8, 1.5))
    assert known.credit == 2.0  # no more than this is saved up
    for _ in range(9):
        controller.observe(Plan("draft", 8), Outcome(8, 0, 1.5))
    assert known.credit == 0.0  # what is lost is lost


def test_what_a_new_pair_may_lose_is_less_than_a_token() -> None:
    assert 0.5 < History().credit < 1.0


def test_a_draft_that_has_become_good_is_used_again() -> None:
    known = history(FLAT, rates=rounds(0.01))
    controller = AutoController(known)
    plans = []
    for _ in range(60):
        plan = controller.plan([FIXED_ONLY] if controller.wants("draft") else [])
        controller.observe(plan, Outcome(plan.length, plan.length, 1.0 + 0.06 * plan.length))
        plans.append(plan.length)

    assert plans[0] == 0
    assert sum(plans[-10:]) > 60
    assert not controller.parked


def test_the_next_reply_knows_what_the_last_one_learnt() -> None:
    known = history(STEEP, rates=rounds(0.05))
    AutoController(known).plan([DRAFT])
    second = AutoController(known)

    assert second.parked
    assert not second.may_read(Offer("draft", 0, tells_probabilities=True, behind=100))
    assert second.plan([DRAFT]) == PLAIN
    good = history(FLAT, rates=rounds(0.9))
    AutoController(good).plan([DRAFT])
    assert not AutoController(good).parked


# Several sources.


def test_the_better_of_two_sources_is_chosen_each_round() -> None:
    known = history(FLAT, 0.2, rates=rounds(0.7))
    for _ in range(60):
        known.learn(Plan("lookup", 8, 4), Outcome(8, 8))
        known.learn(Plan("lookup", 3, 1), Outcome(3, 0))
    controller = AutoController(known)

    assert controller.plan([DRAFT, Offer("lookup", 16, 4)]).source == "lookup"
    assert controller.plan([DRAFT, Offer("lookup", 0)]).source == "draft"
    assert controller.plan([DRAFT, Offer("lookup", 3, 1)]).source == "draft"
    assert controller.plan([Offer("lookup", 3, 1)]) == PLAIN


def test_a_lookup_that_does_not_pay_parks_no_draft() -> None:
    known = history(STEEP, rates=rounds(0.9))
    controller = AutoController(known)
    controller.plan([Offer("lookup", 8, 1)])

    assert not controller.parked
    assert known.draft_speed == 0


def test_an_offer_not_taken_up_teaches_all_the_same() -> None:
    known = history(FLAT)
    controller = AutoController(known)
    for _ in range(40):
        controller.learn_unused(Offer("lookup", 4, 2), 4, 0)

    assert controller.plan([Offer("lookup", 4, 2)]) == PLAIN
    assert controller.plan([Offer("lookup", 4, 3)]).length > 0


# Reading.


@pytest.mark.parametrize(
    ("behind", "reads"),
    [(512, True), (2_000, True), (6_000, False), (200_000, False)],
)
def test_a_draft_reads_a_chat_only_if_that_saves_time(behind: int, reads: bool) -> None:
    """Reading takes 2 ms a token; 200 tokens of 50 ms each are expected, and drafting to be more than twice as fast."""
    known = history({1: 0.05, 33: 0.06}, 0.002, rates=rounds(0.8))
    known.costs.observe_reading("draft", 512, 0.512 * 2)
    controller = AutoController(known)

    assert controller.may_read(Offer("draft", 0, tells_probabilities=True, behind=behind)) is reads


def test_a_long_reply_makes_reading_worth_it() -> None:
    known = history({1: 0.05, 33: 0.06}, 0.002, rates=rounds(0.8))
    known.costs.observe_reading("draft", 512, 0.512 * 2)
    controller = AutoController(known)
    offer = Offer("draft", 0, tells_probabilities=True, behind=10_000)
    assert not controller.may_read(offer)
    plain(controller, 2000, 0.05)
    assert controller.may_read(offer)


def test_a_parked_draft_reads_only_what_the_credit_covers() -> None:
    known = history(STEEP, rates=rounds(0.05))
    known.costs.observe_reading("draft", 512, 0.512)
    controller = AutoController(known)
    controller.plan([DRAFT])
    plain(controller, 10)
    known.credit = 1.0

    assert controller.may_read(Offer("draft", 0, behind=800))
    assert not controller.may_read(Offer("draft", 0, behind=4000))
    assert not controller.wants("draft")  # nor is it asked again soon
