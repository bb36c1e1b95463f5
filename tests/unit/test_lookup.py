"""Finding what followed last time: against a search through all tokens, and on an example one can read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import MAX_DRAFT_TOKENS, Sampling
from engine.decoding.sampling import Sampler
from engine.drafting.plans import Plan
from engine.drafting.proposers.lookup import LookupProposer
from engine.drafting.proposers.predicted import PredictedProposer

SAMPLER = Sampler(Sampling(), 0, 32, [])


def drafted(proposer: LookupProposer, tokens: list[int]) -> list[int]:
    most = proposer.offer(tokens).most
    return proposer.propose(tokens, Plan("lookup", most), SAMPLER).tokens.tolist() if most else []  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("match", "most", "grade"),
    [
        (2, 0, 0),
        (4, 4, 2),
        (6, 6, 3),
        (8, 16, 4),
        (16, 32, 4),
        (40, 32, 4),
    ],
)
def test_a_longer_match_drafts_more_and_is_of_a_higher_grade(match: int, most: int, grade: int) -> None:
    """As many tokens as it is long, from eight on twice as many, up to what may be drafted."""
    text = list(range(100))
    tokens = [*text, 200, *text[:match]]
    offer = LookupProposer().offer(tokens)
    assert (offer.source, offer.most, offer.grade) == ("lookup", most, grade)


@pytest.mark.parametrize("loop", [[5], [5, 6], [5, 6, 7, 8, 9]])
def test_a_text_that_goes_round_is_drafted_round_after_round(loop: list[int]) -> None:
    """Lines of a table, say: what followed reaches the end of the text after one round, and goes on from its start."""
    assert drafted(LookupProposer(), [1, 2, 3, *loop * 40]) == (loop * 40)[:MAX_DRAFT_TOKENS]


def test_no_more_is_drafted_than_the_plan_says() -> None:
    proposer, tokens = LookupProposer(), [*range(20), 30, *range(10)]
    assert proposer.offer(tokens).most > 2
    for length in (1, 2):
        draft = proposer.propose(tokens, Plan("lookup", length), SAMPLER)
        assert draft.tokens.tolist() == list(range(10, 10 + length))
        assert (draft.logprobs, draft.probabilities) == (None, None)


def test_nothing_is_drafted_behind_an_end() -> None:
    proposer = LookupProposer(ends=frozenset({7}))

    assert drafted(proposer, [9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5]) == [6, 7]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=80), st.data())
def test_growing_token_by_token_finds_what_a_search_finds(tokens: list[int], data: st.DataObject) -> None:
    """However the tokens arrive, the draft starts where the last three tokens occurred last before."""
    proposer = LookupProposer()
    length = 1
    while length <= len(tokens):
        seen = tokens[:length]
        runs = [end for end in range(3, length) if seen[end - 3 : end] == seen[-3:]]
        found = drafted(proposer, seen)
        assert bool(found) == bool(runs)
        goes_on = list(seen)
        for at in range(len(found)):  # as if each drafted token stood
            goes_on.append(goes_on[runs[-1] + at])
        assert goes_on[length:] == found
        length += data.draw(st.integers(1, 5))


class CountingList(list[int]):
    """Counts how often something of it is looked at."""

    looks = 0

    def __getitem__(self, at: Any) -> Any:
        self.looks += 1
        return super().__getitem__(at)


def test_an_offer_looks_at_what_is_new_only() -> None:
    proposer, tokens = LookupProposer(), CountingList(range(3000))
    proposer.offer(tokens)
    tokens.looks = 0
    tokens += [5000]
    proposer.offer(tokens)
    assert tokens.looks < 20


# Drafts from a prediction: where in it the reply is.


PROMPT = [90, 91]
EXPECTED = [*range(1, 31), 5, 6, 7, 99]


def foretold(said: list[int], most: int = 4) -> list[int]:
    proposer = PredictedProposer(EXPECTED, len(PROMPT))
    offer = proposer.offer([*PROMPT, *said])
    return proposer.propose_tokens([*PROMPT, *said], min(offer.most, most))


def test_a_reply_is_expected_to_begin_as_predicted() -> None:
    assert foretold([]) == [1, 2, 3, 4]
    assert foretold([1, 2]) == [3, 4, 5, 6]


def test_after_a_difference_it_is_found_again_further_on() -> None:
    assert foretold([1, 2, 70]) == []
    assert foretold([1, 2, 70, 71, 9, 10, 11]) == [12, 13, 14, 15]
    assert foretold([*range(1, 20), 70, 5, 6, 7]) == [99]


def test_what_was_passed_may_come_again() -> None:
    assert foretold([*range(1, 31), 5, 6, 7, 98, 3, 4, 5]) == [6, 7, 8, 9]


def test_at_its_end_nothing_is_left() -> None:
    assert foretold(EXPECTED) == []


def test_a_place_that_was_just_found_is_trusted_for_a_few_tokens() -> None:
    assert len(foretold([70, 8, 9, 10], most=32)) == 6
    assert len(foretold([70, *range(8, 16)], most=32)) == 16
