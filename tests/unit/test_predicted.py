"""Drafts from a prediction: where in it the reply is."""

from __future__ import annotations

from engine.drafting.proposers.predicted import PredictedProposer

PROMPT = [90, 91]
EXPECTED = [*range(1, 31), 5, 6, 7, 99]


def drafted(said: list[int], most: int = 4) -> list[int]:
    proposer = PredictedProposer(EXPECTED, len(PROMPT))
    offer = proposer.offer([*PROMPT, *said])
    return proposer.propose_tokens([*PROMPT, *said], min(offer.most, most))


def test_a_reply_is_expected_to_begin_as_predicted() -> None:
    assert drafted([]) == [1, 2, 3, 4]
    assert drafted([1, 2]) == [3, 4, 5, 6]


def test_after_a_difference_it_is_found_again_further_on() -> None:
    assert drafted([1, 2, 70]) == []
    assert drafted([1, 2, 70, 71, 9, 10, 11]) == [12, 13, 14, 15]
    assert drafted([*range(1, 20), 70, 5, 6, 7]) == [99]


def test_what_was_passed_may_come_again() -> None:
    assert drafted([*range(1, 31), 5, 6, 7, 98, 3, 4, 5]) == [6, 7, 8, 9]


def test_at_its_end_nothing_is_left() -> None:
    assert drafted(EXPECTED) == []


def test_a_place_that_was_just_found_is_trusted_for_a_few_tokens() -> None:
    assert len(drafted([70, 8, 9, 10], most=32)) == 6
    assert len(drafted([70, *range(8, 16)], most=32)) == 16
