"""Offers, plans and outcomes that say nothing more than they must."""

from __future__ import annotations

from engine.drafting.plans import PLAIN, Offer, Outcome, Plan


def test_an_offer_that_says_only_how_much_is_ready_uncertain_and_costs_time() -> None:
    offer = Offer("draft", 5)
    assert offer == Offer("draft", 5, grade=0, tells_probabilities=False, behind=0, free=False)


def test_the_plain_plan_drafts_nothing() -> None:
    assert (PLAIN.source, PLAIN.length, PLAIN.stop) == ("", 0, None)


def test_a_plan_of_some_tokens_drafts_all_of_them_as_sharply_as_the_draft_is() -> None:
    """Grade and sharpness are places in tables: the first."""
    plan = Plan("draft", 4)
    assert (plan.length, plan.grade, plan.stop, plan.sharpness) == (4, 0, None, 0)


def test_a_round_of_which_nothing_is_told_drafted_nothing() -> None:
    outcome = Outcome()
    assert (outcome.drafted, outcome.accepted, outcome.seconds) == (0, 0, None)
    assert (*outcome.probabilities, *outcome.guesses, *outcome.truths) == ()
    assert (outcome.proposed, outcome.checked) == (0, 0)


def test_tokens_behind_the_end_of_a_reply_took_time() -> None:
    assert Outcome(2, 2, proposed=5).checked == 5
