"""Drafting between two rounds: which proposers are asked, what the controller is told, and the state a person sees."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest

from engine import DraftingState
from engine.decoding.accept import Draft
from engine.decoding.hidden_states import HiddenStates
from engine.decoding.round import Round
from engine.decoding.sampling import Sampler
from engine.drafting.planner import Drafting
from engine.drafting.plans import PLAIN, Offer, Plan, RoundOutcome
from engine.drafting.proposers.base import Proposer
from engine.drafting.proposers.lookup import LookupProposer
from tests.helpers.tiny_models import build, qwen3_config


@dataclass
class Recording:
    """A controller that plans what it is told to and keeps what it hears."""

    plans: list[Plan] = field(default_factory=list)
    unwanted: frozenset[str] = frozenset()
    parked: bool = False
    draft_speed: float = 0.0
    insists: bool = False
    refused: str = ""
    offered: list[list[Offer]] = field(default_factory=list)
    unused: list[tuple[str, int, int]] = field(default_factory=list)
    readings: list[tuple[str, int, float]] = field(default_factory=list)
    outcomes: list[tuple[Plan, RoundOutcome]] = field(default_factory=list)

    def share(self, replies: int, context_tokens: int) -> None:
        pass

    def refuses(self, source: str) -> bool:
        return source == self.refused

    def wants(self, source: str) -> bool:
        return source not in self.unwanted

    def may_read(self, offer: Offer) -> bool:
        return True

    def observe_reading(self, source: str, tokens: int, seconds: float) -> None:
        self.readings.append((source, tokens, seconds))

    def learn_unused(self, offer: Offer, drafted: int, accepted: int) -> None:
        self.unused.append((offer.source, drafted, accepted))

    def plan(self, offers: Sequence[Offer]) -> Plan:
        self.offered.append(list(offers))
        return self.plans.pop(0) if self.plans else PLAIN

    def observe(self, plan: Plan, outcome: RoundOutcome) -> None:
        self.outcomes.append((plan, outcome))


class Reader(Proposer):
    """A draft that reads ten tokens at a time before it can offer any."""

    name = "draft"

    def __init__(self, behind: int = 0) -> None:
        self.behind = behind
        self.committed: list[int] = []
        self.reads = 0
        self.closed = False

    def offer(self, tokens: Sequence[int]) -> Offer:
        return Offer(self.name, 0 if self.behind else 8, behind=self.behind)

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        raise AssertionError("not asked in these tests")

    def read_on(self) -> None:
        self.reads += 1
        self.behind = max(0, self.behind - 10)

    def commit(self, emitted: Sequence[int]) -> None:
        self.committed.extend(emitted)

    def close(self) -> None:
        self.closed = True


class Broken(Reader):
    def offer(self, tokens: Sequence[int]) -> Offer:
        raise ValueError("no")


REPEATING = [1, 2, 3, 4, 5, 6, 1, 2, 3]  # a lookup foresees 4 5 6


def drafting(controller: Recording, *proposers: Proposer) -> Drafting:
    return Drafting(proposers, controller)  # type: ignore[arg-type]


def drafted(tokens: Sequence[int], accepted: int, seconds: float = 1.0) -> Round:
    draft = Draft(mx.array(list(tokens)), probabilities=mx.array([0.5] * len(tokens)))
    return Round((*tokens[:accepted], 99), seconds, drafted=len(tokens), accepted=accepted, draft=draft)


def test_only_wanted_proposers_are_asked_and_none_for_more_than_there_is_room() -> None:
    controller = Recording(unwanted=frozenset({"draft"}))
    made = drafting(controller, Reader(), LookupProposer())
    made.plan(REPEATING, room=2)
    controller.unwanted = frozenset()
    made.plan(REPEATING, room=-1)

    assert [(offer.source, offer.most) for offer in controller.offered[0]] == [("lookup", 2)]
    assert [(offer.source, offer.most) for offer in controller.offered[1]] == [("draft", 0), ("lookup", 0)]


def test_a_proposer_that_is_behind_reads_a_chunk_if_it_may() -> None:
    """The controller hears how many tokens that was, and the reply how long it took in all."""
    controller, reader = Recording(), Reader(behind=25)
    made = drafting(controller, reader)
    states = []
    for _ in range(3):
        made.plan([1, 2, 3], room=8)
        states.append(made.state)

    assert [offers[0].behind for offers in controller.offered] == [15, 5, 0]
    assert [(source, tokens) for source, tokens, _ in controller.readings] == [
        ("draft", 10),
        ("draft", 10),
        ("draft", 5),
    ]
    assert all(0 <= seconds < 60 for _, _, seconds in controller.readings)
    assert made.reading_s == pytest.approx(sum(seconds for _, _, seconds in controller.readings))
    assert states == [DraftingState.CATCHING_UP, DraftingState.CATCHING_UP, DraftingState.ACTIVE]


@pytest.mark.parametrize(
    ("emitted", "learnt"),
    [
        ([4, 5, 6], [("lookup", 3, 3)]),  # all that it foresaw
        ([4, 9], [("lookup", 3, 1)]),  # wrong at the second
        ([9], [("lookup", 3, 0)]),
        ([4, 5], []),  # right so far: nothing is known of the third yet
    ],
)
def test_an_offer_that_is_not_taken_up_is_scored_by_what_is_emitted(
    emitted: list[int], learnt: list[tuple[str, int, int]]
) -> None:
    controller = Recording()
    made = drafting(controller, LookupProposer())
    made.plan(REPEATING, room=3)
    made.plan([*REPEATING, *emitted], room=3)

    assert controller.unused == learnt


def test_the_offer_that_is_taken_up_is_not_scored_twice() -> None:
    controller = Recording(plans=[Plan("lookup", 3)])
    made = drafting(controller, LookupProposer())
    made.plan(REPEATING, room=3)
    made.plan([*REPEATING, 4, 5, 6], room=3)

    assert controller.unused == []


def test_the_controller_hears_what_a_round_drafted_and_the_proposer_what_was_emitted() -> None:
    controller, reader = Recording(plans=[Plan("draft", 3)]), Reader()
    made = drafting(controller, reader)
    plan = made.plan([1, 2], room=8)
    made.observe(plan, drafted([5, 6, 7], accepted=2))
    (told, outcome) = controller.outcomes[0]

    assert told == plan
    assert (outcome.drafted, outcome.accepted, list(outcome.truths)) == (3, 2, [5, 6, 99])
    assert list(outcome.probabilities) == [0.5, 0.5, 0.5]
    assert outcome.seconds is not None
    assert 1.0 <= outcome.seconds < 60.0
    assert reader.committed == [5, 6, 99]
    assert made.source == "draft"


def test_a_plan_that_drafted_nothing_counts_as_plain() -> None:
    controller, reader = Recording(plans=[Plan("draft", 3)]), Reader()
    made = drafting(controller, reader)
    plan = made.plan([1, 2], room=8)
    made.observe(plan, Round((7,), 1.0, typical=False))

    assert controller.outcomes == [(PLAIN, RoundOutcome(probabilities=[], guesses=[], truths=(7,)))]
    assert reader.committed == [7]


@pytest.mark.parametrize(
    ("reads_on", "parked", "tokens", "reads"),
    [(True, False, 3, 1), (False, False, 3, 0), (True, True, 3, 0), (True, False, 0, 0)],
)
def test_the_next_forward_of_a_draft_starts_while_text_goes_out(
    reads_on: bool, parked: bool, tokens: int, reads: int
) -> None:
    """Unless it drafted nothing or rests from now on."""
    controller, reader = Recording(plans=[Plan("draft", 3)]), Reader()
    made = drafting(controller, reader)
    plan = made.plan([1, 2], room=8)
    controller.parked = parked
    made.observe(plan, drafted(list(range(tokens)), accepted=0), reads_on=reads_on)

    assert reader.reads == reads


@pytest.mark.expect_log("the proposer draft failed")
def test_the_state_is_about_the_draft_model_where_there_is_one() -> None:
    resting = drafting(Recording(parked=True), Reader())
    resting.plan([1, 2], room=8)
    broken = drafting(Recording(), Broken())
    broken.plan([1, 2], room=8)
    alone = drafting(Recording(plans=[PLAIN, Plan("lookup", 3)]), LookupProposer())
    alone.plan(REPEATING, room=3)
    before = alone.state
    alone.plan(REPEATING, room=3)
    alone.plan(REPEATING, room=3)

    assert resting.state is DraftingState.PARKED
    assert broken.state is DraftingState.FAILED
    assert (before, alone.state) == (DraftingState.NO_DRAFT, DraftingState.ACTIVE)


def test_a_draft_that_is_refused_has_failed() -> None:
    made = drafting(Recording(unwanted=frozenset({"draft"}), refused="draft"), Reader())
    made.plan(REPEATING, 8)
    assert made.state is DraftingState.FAILED


class Stuck(Reader):
    """It reads, and is as far behind as before."""

    def read_on(self) -> None:
        self.reads += 1


@pytest.mark.parametrize(
    ("insists", "reader", "reads"), [(True, Reader(25), 3), (False, Reader(25), 0), (True, Stuck(25), 1)]
)
def test_drafts_that_were_asked_for_are_caught_up_with_chunk_by_chunk(
    insists: bool, reader: Reader, reads: int
) -> None:
    """As long as that gets any further."""
    controller = Recording(insists=insists)
    made, sequence = drafting(controller, reader), SimpleNamespace(tokens=REPEATING, in_flight=None, hidden_states=None)
    while made.catch_up(sequence):  # type: ignore[arg-type]
        assert reader.reads < 9
    assert reader.reads == reads
    assert [tokens for _, tokens, _ in controller.readings] == ([10, 10, 5] if reads == 3 else [0] * reads)


def test_nothing_is_read_while_a_round_is_in_flight() -> None:
    reader, sequence = Reader(25), SimpleNamespace(tokens=REPEATING, in_flight=mx.array([1]), hidden_states=None)
    assert not drafting(Recording(insists=True), reader).catch_up(sequence)  # type: ignore[arg-type]
    assert reader.reads == 0


# What drafting hands on between main model and proposers: hidden states, drafts, and the wait before a reading.


DRAFT = Draft(mx.array([3, 4]))


class Listening(Reader):
    """Drafts from the states of a layer, and notes what it is asked."""

    layers: tuple[int, ...] = (1, 0)
    reads_next_token = True

    def __init__(self, behind: int = 0) -> None:
        super().__init__(behind)
        self.calls: list[str] = []
        self.heard: list[tuple[int, mx.array]] = []

    def receive_states(self, position: int, states: mx.array) -> None:
        self.heard.append((position, states))

    def offer(self, tokens: Sequence[int]) -> Any:
        self.calls.append(f"offer {len(tokens)}")
        return super().offer(tokens)

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        return DRAFT

    def close(self) -> None:
        self.calls.append("close")


class Other(Reader):
    """Drafts from tokens alone."""

    name = "other"

    def offer(self, tokens: Sequence[int]) -> Any:
        raise AssertionError("not asked in these tests")


def over(network: Any) -> Any:
    model = SimpleNamespace(network=network, first_layer=0, alone=nullcontext)
    return SimpleNamespace(model=model, hidden_states=None, discard_in_flight=lambda: None)


def test_one_that_listens_gets_the_states_of_its_layers_in_their_order() -> None:
    network, listening = build(qwen3_config()), Listening()
    sequence, made = over(network), drafting(Recording(), Other(), listening)
    made.keep_hidden_states(sequence)
    with sequence.hidden_states.step():
        network(mx.array([[1, 2, 3]]))
    sequence.hidden_states.keep(0, 3)
    made.pass_hidden_states(sequence)
    ((_, states),) = listening.heard
    assert states.shape == (3, 2 * qwen3_config()["hidden_size"])
    expected = HiddenStates(network, (1, 0))
    with expected.step():
        network(mx.array([[1, 2, 3]]))
    assert mx.array_equal(states, expected.latest()[0])


def test_where_nobody_drafts_from_states_none_are_kept() -> None:
    sequence, made = over(build(qwen3_config())), drafting(Recording(), Other())
    made.keep_hidden_states(sequence)
    made.pass_hidden_states(sequence)
    assert sequence.hidden_states is None


class Stateless(nn.Module):  # type: ignore[misc]
    """A main model that never calls its layers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Identity(), nn.Identity()]

    def __call__(self, tokens: mx.array) -> mx.array:
        return tokens


class Raising(Stateless):
    def __call__(self, tokens: mx.array) -> mx.array:
        raise TypeError("cache")


@pytest.mark.parametrize("network", [Stateless, Raising])
def test_a_main_model_without_states_has_its_drafter_fail_and_nothing_else(network: type[Stateless]) -> None:
    listening = Listening()
    sequence, made = over(network()), drafting(Recording(), listening)
    made.keep_hidden_states(sequence)
    assert sequence.hidden_states is None
    made.pass_hidden_states(sequence)
    made.plan([1, 2], room=8)
    assert made.state is DraftingState.FAILED
    assert listening.calls == []


def test_before_it_is_closed_only_who_keeps_states_is_asked_once_more() -> None:
    listening, other = Listening(), Other()
    drafting(Recording(), listening, other).close([1, 2, 3])
    assert listening.calls == ["offer 3", "close"]
    assert other.closed


@pytest.mark.parametrize(
    ("proposers", "reads"), [((), False), ((Other(),), False), ((Other(), Listening()), True), ((Listening(),), True)]
)
def test_one_is_enough_that_reads_the_next_token(proposers: tuple[Any, ...], reads: bool) -> None:
    assert drafting(Recording(), *proposers).reads_next_token is reads


def test_a_reading_is_timed_from_when_the_device_has_done_what_was_asked_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listening = Listening(behind=10)
    waited, wait = list[int](), mx.synchronize

    def noted() -> None:
        wait()
        waited.append(listening.reads)

    monkeypatch.setattr(mx, "synchronize", noted)
    drafting(Recording(), listening).plan([1, 2], 8)
    assert (waited, listening.reads) == ([0], 1)
