"""The choice of source and draft length, on simulated rounds: no model, no clock."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from engine.api.types import Speculation
from engine.drafting.confidence import Confidence
from engine.drafting.controller import PLAIN, AutoController, Calibration, Offer, Plan, RoundCosts, make_controller

DRAFT = Offer("draft", 16, gated=True)


def simulate(
    agreement: Callable[[int], float], draft_cost: float, width_cost: float, rounds: int = 500
) -> tuple[float, list[int]]:
    """Tokens per plain-token time over a run, and the lengths drafted; a plain token takes 1.

    The draft is sure in a way that tells: it says 0.99 or 0.4, and the first is right far more often.
    """
    generator = random.Random(3)
    costs = RoundCosts(Calibration({1: 1.0, 17: 1.0 + 16 * width_cost}, {"draft": draft_cost}))
    confidence = Confidence()
    controller = AutoController(costs, confidence)
    tokens, seconds = 0, 0.0
    lengths = []
    for number in range(rounds):
        plan = controller.plan([DRAFT] if controller.wants("draft") else [])
        drafted, accepted = draft_round(plan.length, confidence, agreement(number), generator)
        took = 1.0 + drafted * (draft_cost + width_cost)
        controller.observe(plan, drafted, accepted, took)
        tokens, seconds = tokens + accepted + 1, seconds + took
        lengths.append(drafted)
    return tokens / seconds, lengths


def draft_round(limit: int, confidence: Confidence, agreement: float, generator: random.Random) -> tuple[int, int]:
    """How many tokens are drafted, the last of them drawn before the doubt was heard, and how many stand."""
    confidence.begin()
    drafted, accepted, standing = 0, 0, True
    doubted = False
    while drafted < limit and not doubted:
        sure = generator.random() < agreement
        right = generator.random() < (0.98 if sure else 0.3 * agreement)
        doubted = not confidence.goes_on(0.99 if sure else 0.4)
        drafted += 1
        standing = standing and right
        accepted += standing
    if drafted:
        confidence.learn([True] * accepted + [False])
    return drafted, accepted


def test_a_good_cheap_draft_is_used_at_length() -> None:
    speed, lengths = simulate(lambda _: 0.9, draft_cost=0.05, width_cost=0.02)

    assert sum(lengths[-50:]) / 50 > 6
    assert speed > 3.5


def test_a_useless_draft_is_parked_and_costs_at_most_two_percent() -> None:
    speed, lengths = simulate(lambda _: 0.02, draft_cost=0.1, width_cost=0.1)

    assert lengths[-50:].count(0) >= 46
    assert speed > 0.98


def test_a_machine_that_pays_for_width_parks_even_a_good_draft() -> None:
    """On a CPU without a fast matrix library, checking two tokens costs twice one."""
    speed, lengths = simulate(lambda _: 0.8, draft_cost=0.1, width_cost=1.0)

    assert lengths[-50:].count(0) >= 46
    assert speed > 0.97


def test_a_parked_draft_that_becomes_good_is_used_again() -> None:
    _, lengths = simulate(lambda number: 0.02 if number < 200 else 0.95, 0.05, 0.05, rounds=1500)

    assert 0 in lengths[150:200]
    assert sum(lengths[-50:]) / 50 > 6


def test_the_better_of_two_sources_is_chosen_each_round() -> None:
    """A long lookup match beats the draft; without one the draft goes on."""
    costs = RoundCosts(Calibration({1: 1.0, 17: 1.5}, {"draft": 0.2}))
    controller = AutoController(costs, Confidence())
    for _ in range(60):
        controller.observe(Plan("lookup", 8, 4), 8, 8, 1.3)
        controller.observe(Plan("draft", 16, gated=True), 4, 3, 1.9)

    assert controller.plan([DRAFT, Offer("lookup", 16, 4)]).source == "lookup"
    assert controller.plan([DRAFT, Offer("lookup", 0)]).source == "draft"


def test_a_poor_grade_of_a_source_does_not_spoil_its_good_ones() -> None:
    controller = AutoController(RoundCosts(Calibration({1: 1.0, 17: 2.0})), Confidence())
    for _ in range(60):
        controller.observe(Plan("lookup", 3, 1), 3, 0, 1.2)

    assert controller.plan([Offer("lookup", 3, 1)]) == PLAIN
    assert controller.plan([Offer("lookup", 16, 4)]).length > 4


@pytest.mark.parametrize(("speculation", "length"), [(Speculation.off(), 0), (Speculation.fixed(5), 5)])
def test_fixed_lengths_are_kept(speculation: Speculation, length: int) -> None:
    controller = make_controller(speculation, RoundCosts())
    for _ in range(50):
        plan = controller.plan([Offer("lookup", 0), DRAFT])
        controller.observe(plan, plan.length, 0, 1.0)

    assert controller.plan([DRAFT]).length == length
    assert not controller.parked


def test_costs_come_from_calibration_until_rounds_were_seen() -> None:
    costs = RoundCosts(Calibration({1: 1.0, 5: 1.4, 9: 2.2}, {"draft": 0.1}))

    assert costs.expected_s("draft", 4) == pytest.approx(1.8)
    assert costs.expected_s("lookup", 6) == pytest.approx(1.8)
    costs.observe("draft", 4, 3.6)  # the first ones warm the machine up
    assert costs.expected_s("draft", 4) == pytest.approx(1.8)
    for _ in range(2):
        costs.observe("draft", 4, 3.6)  # twice what was thought: the longer one will be, too
    assert costs.expected_s("draft", 4) == pytest.approx(3.6)
    assert costs.expected_s("draft", 8) == pytest.approx(6.0)


def test_recent_rounds_outweigh_old_ones() -> None:
    """A chat that grows long makes every round dearer; the price follows within a few rounds."""
    costs = RoundCosts()
    for seconds in [1.0] * 50 + [2.0] * 9:
        costs.observe("", 0, seconds)

    assert costs.plain_s == 2.0


def test_probes_are_counted_over_all_replies() -> None:
    """One that a plain step in flight has put off is asked for again; the next reply knows when the last one was."""
    costs = RoundCosts(Calibration({1: 0.005, 17: 0.085}, {"draft": 0.001}))  # 6 ms beside 5: every 120 rounds

    def rest(controller: AutoController, rounds: int) -> bool:
        """Whether a probe is due after so many plain rounds."""
        for _ in range(rounds):
            controller.observe(PLAIN, 0, 0, 0.005)
        return controller.plan([DRAFT]).length > 0

    first = AutoController(costs, Confidence())
    first.plan([DRAFT])
    assert not rest(first, 100)
    assert rest(first, 30)
    first.observe(PLAIN, 0, 0, None)  # put off
    assert rest(first, 0)
    first.observe(first.plan([DRAFT]), 1, 0, 0.011)
    assert not rest(first, 100)
    second = AutoController(costs, Confidence())
    second.plan([DRAFT])
    assert not rest(second, 5)
    assert rest(second, 30)


def test_a_parked_draft_does_not_read_a_long_chat_for_a_probe() -> None:
    """What it would have to read first is a part of what asking it costs."""
    costs = RoundCosts(Calibration({1: 0.02, 17: 0.04}, {"draft": 0.001}))
    costs.observe_reading("draft", 512, 0.1)
    for _ in range(30):
        costs.observe_gated("draft", 4, 1)
    controller = AutoController(costs, Confidence())
    for _ in range(100):
        controller.observe(PLAIN, 0, 0, 0.02)

    assert controller.parked
    assert not controller.lets_read(Offer("draft", 0, gated=True, behind=4000))
    assert not controller.wants("draft")  # nor is it asked again soon
    assert controller.lets_read(Offer("draft", 0, gated=True, behind=30))


def test_a_probe_that_pays_is_followed_by_another() -> None:
    """So a draft that has become good is back soon; one that is right but does not pay waits like any other."""
    for width_s, asked in ((0.01, True), (0.1, False)):
        costs = RoundCosts(Calibration({1: 0.1, 17: 0.1 + 16 * width_s}, {"draft": 0.001}))
        for _ in range(30):
            costs.observe_gated("draft", 4, 1)
        controller = AutoController(costs, Confidence())
        for _ in range(400):
            controller.observe(PLAIN, 0, 0, 0.1)
        plan = controller.plan([DRAFT])
        controller.observe(plan, plan.length, plan.length, costs.expected_s("draft", plan.length))

        assert plan.length == 1
        assert controller.wants("draft") == asked


def test_lookup_that_pays_calls_for_no_probe_of_the_draft() -> None:
    costs = RoundCosts(Calibration({1: 0.1, 17: 0.2}, {"draft": 0.01}))
    for _ in range(30):
        costs.observe_gated("draft", 4, 1)
    controller = AutoController(costs, Confidence())
    costs.observe_reading("draft", 512, 1.0)
    controller.observe(Plan("lookup", 8, 4), 8, 8, 0.15)

    assert controller.parked
    assert not controller.wants("draft")
    assert not controller.lets_read(Offer("draft", 0, gated=True, behind=4000))


def test_a_price_of_reading_that_was_too_high_is_corrected() -> None:
    """And a few tokens take as long as many."""
    costs = RoundCosts()
    costs.observe_reading("draft", 2, 0.64)
    assert costs.reading_s("draft", 512) == pytest.approx(5.12)
    costs.observe_reading("draft", 512, 0.512)
    costs.observe_reading("draft", 512, 9.0)  # something else was going on

    assert costs.reading_s("draft", 512) == pytest.approx(0.512)
    assert costs.reading_s("draft", 2) == pytest.approx(0.064)
    assert costs.reading_s("draft", 0) == 0
