"""What tries are paid from: what a parked draft reads, and drafts that lose all that they had gained."""

from __future__ import annotations

import pytest

from engine.drafting.controller import AutoController, History
from engine.drafting.plans import Offer, Outcome, Plan
from tests.unit.test_controller import DRAFT, FIXED_ONLY, FLAT, STEEP, history, plain, rounds


def test_a_parked_draft_does_not_read_where_no_try_could_follow() -> None:
    """Reading 200 tokens takes a fifth of a plain round, and a token after that more than a whole one."""
    known = history(STEEP, rates=rounds(0.05))
    known.costs.observe_reading("draft", 512, 0.512)
    controller = AutoController(known)
    controller.plan([DRAFT])
    plain(controller, 10)
    for credit, reads in ((0.3, False), (1.2, False), (1.3, True)):
        known.credit = credit
        assert controller.may_read(Offer("draft", 0, behind=200)) is reads


def test_what_a_parked_draft_reads_is_paid_from_the_credit() -> None:
    """And it is not behind any more. Reading at the start of a reply is no try."""
    known = history(STEEP, rates=rounds(0.05))
    known.last_drafted["draft"] = 0
    controller = AutoController(known)
    controller.observe_reading("draft", 512, 0.512)
    assert known.credit == History().credit
    controller.plan([DRAFT])
    plain(controller, 10)
    known.credit = 2.0
    assert controller.may_read(Offer("draft", 0, behind=600))
    controller.observe_reading("draft", 512, 0.512)
    controller.observe_reading("draft", 88, 5.0)  # something else went on
    assert known.credit == pytest.approx(2 - 0.6, abs=0.01)
    known.credit = 0.1
    assert controller.wants("draft")


def test_reading_before_the_very_first_try_leaves_the_credit_for_it() -> None:
    """Measured on a small pair: a token seems to bring 1 % too little, reading takes .45 of a plain round, a try .6."""
    known = history({1: 0.0021, 2: 0.00255, 4: 0.0026, 8: 0.00342, 16: 0.00412, 33: 0.007}, 0.00085)
    controller = AutoController(known)
    controller.plan([FIXED_ONLY])
    assert controller.parked
    plain(controller, 4, 0.0021)
    assert controller.may_read(Offer("draft", 0, behind=17))
    controller.observe_reading("draft", 17, 0.45 * 0.0021)

    assert controller.plan([FIXED_ONLY]).length > 0


def test_drafts_that_gain_all_of_the_credit_and_lose_it_are_doubted_once() -> None:
    """Of that source, whatever the grade; not where a plain round finds the credit gone."""
    known = history(FLAT, rates=rounds(0.9))
    for _ in range(100):
        known.learn(Plan("lookup", 4, 2), Outcome(4, 4))

    def rate(source: str, grade: int = 0) -> float:
        return known.rates_of(source, grade).by_position(hopeful=False)[0]

    def play(credit: float, accepted: int = 0) -> float:
        """How far the rate falls in a round of this credit."""
        known.credit = credit
        before = rate("draft")
        AutoController(known).observe(Plan("draft", 16), Outcome(16, accepted, 1.9))
        return before - rate("draft")

    assert play(0.5) < 0.01  # nothing had been gained
    assert play(1.5, accepted=16) < 0.01
    assert play(2.0) < 0.01  # not all of it is lost
    known.credit = 0.0
    plain(AutoController(known), 1)
    lookup = rate("lookup", 2)
    assert play(0.5) > 0.1
    assert rate("lookup", 2) == pytest.approx(lookup, abs=0.01)
    trusted = rate("draft")
    assert play(0.5) < 0.2 * trusted  # once is enough


@pytest.mark.parametrize(("credit", "tried"), [(0.5, False), (0.7, True)])
def test_a_try_may_cost_the_credit_in_plain_rounds(credit: float, tried: bool) -> None:
    """However long such a round is: here 50 ms, and a try takes six tenths of one more."""
    known = history({1: 0.05, 33: 0.05 * 13.8}, 0.01, rates=rounds(0.05))
    controller = AutoController(known)
    controller.plan([DRAFT])
    plain(controller, 10, 0.05)
    known.credit = credit

    assert bool(controller.plan([FIXED_ONLY]).length) is tried


def test_while_no_plain_round_has_a_price_nothing_more_is_read() -> None:
    known = History()
    known.costs.observe_reading("draft", 512, 0.5)

    assert not AutoController(known).may_read(Offer("draft", 0, behind=512))
