"""What stands between a reply and whatever drafts: nothing that a proposer does may cost the reply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import mlx.core as mx
import pytest

from engine import Sampling
from engine.decoding.accept import NO_DRAFT, Draft
from engine.decoding.sampling import Sampler
from engine.drafting.acceptance import StopRule
from engine.drafting.plans import PLAIN, Offer, Plan
from engine.drafting.proposers.base import Guarded, Proposer, Wanted, draft_together, joined, shortened
from tests.helpers.lazy_faults import refused

SAMPLER = Sampler(Sampling(temperature=0), 0, 8, ())
DRAFT = Draft(mx.array([3, 4]))


class Plain(Proposer):
    """Notes its calls; raises in the one named by `breaks`."""

    name = "plain"

    def __init__(self, breaks: str = "") -> None:
        self.breaks, self.calls = breaks, list[str]()

    def _note(self, call: str, answer: Any = None) -> Any:
        self.calls.append(call)
        if call == self.breaks:
            raise RuntimeError("broken on purpose")
        return answer

    def offer(self, tokens: Sequence[int]) -> Offer:
        return self._note("offer", Offer(self.name, len(tokens)))  # type: ignore[no-any-return]

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        return self._note("propose", DRAFT)  # type: ignore[no-any-return]

    def commit(self, emitted: Sequence[int]) -> None:
        self._note("commit")

    def close(self) -> None:
        self._note("close")


class Full(Plain):
    """All that a proposer can be."""

    layers = (1, 3)

    def receive_states(self, position: int, states: mx.array) -> None:
        self._note("receive_states")

    def propose_tokens(self, tokens: Sequence[int], most: int) -> list[int]:
        return self._note("propose_tokens", [*tokens][:most])  # type: ignore[no-any-return]

    def read_on(self) -> None:
        self._note("read_on")


CALLS: dict[str, tuple[Callable[[Guarded], Any], Any, Any]] = {
    # what is called, its answer, and that of a proposer that has failed or that cannot do it
    "offer": (lambda guarded: guarded.offer([1, 2]), Offer("plain", 2), Offer("plain", 0)),
    "propose": (lambda guarded: guarded.propose([1], Plan("plain", 2), SAMPLER), DRAFT, NO_DRAFT),
    "commit": (lambda guarded: guarded.commit([1]), None, None),
    "receive_states": (lambda guarded: guarded.receive_states(0, mx.zeros((1, 4))), None, None),
    "propose_tokens": (lambda guarded: guarded.propose_tokens([5, 6, 7], 2), [5, 6], []),
    "read_on": (lambda guarded: guarded.read_on(), None, None),
    "close": (lambda guarded: guarded.close(), None, None),
}


@pytest.mark.parametrize("call", CALLS)
def test_what_is_asked_of_it_is_asked_of_the_proposer_once(call: str) -> None:
    act, answer, _ = CALLS[call]
    proposer = Full()
    assert act(Guarded(proposer)) == answer
    assert proposer.calls == [call]


@pytest.mark.parametrize("call", ["receive_states", "propose_tokens", "read_on"])
def test_what_a_proposer_cannot_do_is_not_asked_of_it(call: str) -> None:
    act, _, without = CALLS[call]
    guarded = Guarded(Plain())
    assert act(guarded) == without
    assert not guarded.failed


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.expect_log("the proposer plain failed")
def test_one_that_failed_is_never_asked_again(call: str) -> None:
    proposer = Full(breaks=call)
    guarded = Guarded(proposer)
    assert CALLS[call][0](guarded) == CALLS[call][2]
    assert guarded.failed
    for act, _, answer in CALLS.values():
        assert act(guarded) == answer
    assert proposer.calls == [call]


@pytest.mark.expect_log("the proposer plain failed")
def test_a_draft_that_cannot_be_computed_is_its_own_failure() -> None:
    """It raises when the device is to compute it, which must not be in the forward that checks it."""
    proposer, draft = Plain(), replace(DRAFT, tokens=refused())
    proposer.propose = lambda *_: draft  # type: ignore[method-assign]
    guarded = Guarded(proposer)

    assert guarded.propose([1], Plan("plain", 2), SAMPLER) is NO_DRAFT
    assert guarded.failed


class InRows(Plain):
    drafts_in_rows = True

    def __init__(self, breaks: str = "") -> None:
        super().__init__(breaks)
        self.wanted = list[list[int]]()

    def draft_rows(self, wanted: Sequence[Wanted]) -> None:
        self.wanted.append([each.plan.length for each in wanted])
        self._note("draft_rows")


@pytest.mark.parametrize(
    ("plans", "drafted"),
    [
        ([Plan("plain", 2), Plan("plain", 3), PLAIN], [[2, 3, 0]]),
        ([Plan("plain", 2), Plan("lookup", 3)], []),
        ([Plan("plain", 2), PLAIN], []),
        ([], []),
    ],
)
def test_drafts_of_several_replies_are_made_together_by_one_of_their_proposers(
    plans: list[Plan], drafted: list[list[int]]
) -> None:
    """Those that draft nothing now, or by another proposer, are told too; one that drafts alone drafts by itself."""
    proposers = [InRows() for _ in plans]
    wanted = [Guarded(one).wanted([1], plan, SAMPLER) for one, plan in zip(proposers, plans, strict=True)]
    draft_together([each for each in wanted if each is not None])
    assert [lengths for one in proposers for lengths in one.wanted] == drafted


@pytest.mark.expect_log("the proposer plain failed")
def test_what_fails_for_all_is_a_failure_of_each() -> None:
    guarded = [Guarded(InRows(breaks="draft_rows")) for _ in range(3)]
    wanted = [each.wanted([1], Plan("plain", 2), SAMPLER) for each in guarded]
    draft_together([each for each in wanted if each is not None])
    assert all(each.failed for each in guarded)
    assert all(each.wanted([1], Plan("plain", 2), SAMPLER) is None for each in guarded)


def test_one_that_drafts_alone_wants_nothing_of_others() -> None:
    assert Guarded(Plain()).wanted([1], Plan("plain", 2), SAMPLER) is None


@pytest.mark.parametrize("tokens", [mx.array([1, 2, 3]), mx.array([[1, 2]]), mx.array(1)])
@pytest.mark.expect_log("the proposer plain failed")
def test_a_draft_that_is_longer_than_planned_or_no_row_of_tokens_is_its_own_failure(tokens: mx.array) -> None:
    proposer = Plain()
    proposer.propose = lambda *_: Draft(tokens)  # type: ignore[method-assign]
    guarded = Guarded(proposer)

    assert guarded.propose([1], Plan("plain", 2), SAMPLER) is NO_DRAFT
    assert guarded.failed


def one(token: int, *, logprobs: bool = False) -> Draft:
    return Draft(
        mx.array([token]),
        mx.full((1, 8), -float(token)) if logprobs else None,
        mx.array([token / 10]),
        mx.array([[token, token + 1]]) if logprobs else None,
    )


@pytest.mark.parametrize("logprobs", [True, False])
@pytest.mark.parametrize("with_probabilities", [True, False])
def test_drafts_of_a_token_each_make_one_in_their_order(logprobs: bool, with_probabilities: bool) -> None:
    draft = joined([one(token, logprobs=logprobs) for token in (3, 1, 2)], with_probabilities=with_probabilities)

    assert draft.tokens.tolist() == [3, 1, 2]
    assert (draft.logprobs is not None, draft.guesses is not None) == (logprobs, logprobs)
    assert (draft.probabilities is not None) == with_probabilities
    if draft.logprobs is not None and draft.guesses is not None:
        assert draft.logprobs[:, 0].tolist() == [-3, -1, -2]
        assert draft.guesses.tolist() == [[3, 4], [1, 2], [2, 3]]
    if draft.probabilities is not None:
        assert draft.probabilities.tolist() == pytest.approx([0.3, 0.1, 0.2])


WORTH = (1.0,) * 40
TO_TWO = StopRule((0.0, 2.0, 0.0, 0.0), WORTH)  # a third token is never worth its time


def test_a_draft_that_was_made_whole_is_cut_where_the_rule_would_have_ended_it() -> None:
    whole = joined([one(token, logprobs=True) for token in (3, 1, 2, 5)], with_probabilities=True)

    cut = shortened(whole, Plan("draft", 4, stop=TO_TWO))

    arrays = (cut.tokens, cut.logprobs, cut.probabilities, cut.guesses)
    assert [array.shape[0] for array in arrays if array is not None] == [2] * 4
    assert cut.tokens.tolist() == [3, 1]


@pytest.mark.parametrize("stop", [None, StopRule((), WORTH)])
def test_without_a_rule_a_draft_stays_whole(stop: StopRule | None) -> None:
    whole = joined([one(token) for token in (3, 1, 2)], with_probabilities=True)
    assert shortened(whole, Plan("draft", 3, stop=stop)) is whole


def test_a_draft_without_probabilities_stays_whole_and_one_without_logprobs_is_cut_as_well() -> None:
    untold = joined([one(token) for token in (3, 1, 2)], with_probabilities=False)
    told = joined([one(token) for token in (3, 1, 2)], with_probabilities=True)
    plan = Plan("draft", 3, stop=TO_TWO)
    assert shortened(untold, plan) is untold
    cut = shortened(told, plan)
    assert (cut.tokens.tolist(), cut.logprobs, cut.guesses) == ([3, 1], None, None)
