"""What a station says is checked before it becomes a draft; one that is late, lost or lies costs a plain round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine import Sampling
from engine.decoding.accept import NO_DRAFT
from engine.decoding.sampling import Sampler
from engine.drafting.controller import AutoController, History
from engine.drafting.costs import Calibration, RoundCosts
from engine.drafting.plans import PLAIN, Plan, RoundOutcome
from engine.station import proposer as proposer_module
from engine.station.messages import DraftLoaded, Propose, Proposed
from engine.station.prices import SOURCE, StationPrices
from engine.station.proposer import StationProposer
from engine.vision.values import FIRST_NAME

VOCABULARY = 300
TOKENS = [5, 6, 7]
PLAN = Plan(SOURCE, 3)
ROUNDS = 400
PLAIN_S = 0.04
GOOD = Proposed(1, (1, 2), (0.5, 1.0), (1, 1, 1, 1, 2, 2, 2, 3), hit=True, worked_us=9)
EMPTY = replace(GOOD, tokens=(), probabilities=(), guesses=())


class Scripted:
    """Stands for a StationConnection: answers with `says`, and notes what it is told."""

    def __init__(self, says: Proposed | None) -> None:
        self.says = says
        self.loaded: DraftLoaded | None = DraftLoaded(4096)
        self.prices = StationPrices()
        self.generation = 1
        self.gain = 0.0
        self.lost: list[str] = []
        self.dropped: list[int] = []
        self.begun: list[list[int]] = []
        self.committed: list[tuple[int, list[int]]] = []
        self.asked: list[Propose] = []

    def begin(self, tokens: list[int], _law: Any) -> int:
        self.begun.append([*tokens])
        return len(self.begun)

    def commit(self, _sequence: int, position: int, tokens: list[int]) -> None:
        self.committed.append((position, [*tokens]))

    def is_caught_up(self, sequence: int) -> bool:
        return 0 < sequence <= len(self.begun)

    def new_number(self) -> int:
        return 1

    def propose(self, order: Propose) -> None:
        self.asked.append(order)

    def answer(self, _number: int, _within_s: float) -> Proposed | None:
        return self.says

    def lose(self, why: str) -> None:
        self.lost.append(why)

    def end(self, _sequence: int) -> None: ...

    def drop_answer(self, number: int) -> None:
        self.dropped.append(number)

    def post_state(self) -> None: ...


def proposer(says: Proposed | None, tokens: list[int] = TOKENS) -> tuple[StationProposer, Scripted, Sampler]:
    station = Scripted(says)
    sampler = Sampler(Sampling(temperature=0.8), 3, VOCABULARY, ())
    made = StationProposer(station, History(), sampler, tokens, begins=True)  # type: ignore[arg-type]
    return made, station, sampler


def test_a_draft_is_what_the_station_says() -> None:
    made, station, sampler = proposer(GOOD)
    assert made.offer(TOKENS).most == 32
    draft = made.propose(TOKENS, PLAN, sampler)
    assert draft.tokens.tolist() == [1, 2]
    assert draft.guesses is not None
    assert draft.guesses.tolist() == [[1, 1, 1, 1], [2, 2, 2, 3]]
    assert (station.begun, station.lost, station.prices.hits) == ([TOKENS], [], 1)


@pytest.mark.parametrize(
    "lie",
    [
        {"tokens": (1, 2, 3, 4), "probabilities": (0.5,) * 4},
        {"tokens": (1, VOCABULARY)},
        {"tokens": (1, 1 << 40)},
        {"probabilities": (0.5,)},
        {"probabilities": (0.5, 1.5)},
        {"probabilities": (-0.1, 0.5)},
        {"guesses": (1, 2, 3)},
        {"guesses": (1, 1, 1, 1, 2, 2, 2, VOCABULARY)},
    ],
    ids=str,
)
def test_what_is_no_draft_is_none_and_ends_the_station(lie: dict[str, Any]) -> None:
    made, station, sampler = proposer(replace(GOOD, **lie))
    assert made.propose(TOKENS, PLAN, sampler) is NO_DRAFT
    assert len(station.lost) == 1


def test_one_that_is_late_is_not_asked_before_it_has_answered() -> None:
    made, station, sampler = proposer(None)
    assert made.propose(TOKENS, PLAN, sampler) is NO_DRAFT
    assert made.offer(TOKENS).most == 0
    assert station.prices.late == 1
    station.says = GOOD
    assert made.offer(TOKENS).most == 32
    assert station.lost == []


def test_an_answer_that_a_reply_ends_without_is_dropped() -> None:
    made, station, sampler = proposer(None)
    made.propose(TOKENS, PLAN, sampler)
    made.close()
    assert station.dropped == [1]


class Vain(Scripted):
    """Its answers come once nobody waits for them, or at once and empty."""

    waited_s = 0.0

    def answer(self, number: int, within_s: float) -> Proposed | None:
        self.waited_s += within_s
        return super().answer(number, within_s) if self.says is EMPTY or not within_s else None


@pytest.mark.parametrize("says", ["late", "nothing"])
def test_one_that_brings_nothing_is_soon_asked_no_more(says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round that waits for it takes as long as two."""
    station = Vain(GOOD if says == "late" else EMPTY)
    monkeypatch.setattr(proposer_module, "perf_counter", lambda: station.waited_s)
    history = History(RoundCosts(Calibration(dict.fromkeys(range(1, 34), PLAIN_S))))
    controller = AutoController(history)
    sampler = Sampler(Sampling(temperature=0.8), 3, VOCABULARY, ())
    made = StationProposer(station, history, sampler, TOKENS, begins=True)  # type: ignore[arg-type]
    for _ in range(ROUNDS):
        plan = controller.plan([made.offer(TOKENS)])
        if plan.source:
            assert made.propose(TOKENS, plan, sampler) is NO_DRAFT
        controller.observe(PLAIN, RoundOutcome(0, 0, None if plan.source else PLAIN_S))
    assert len(station.asked) < ROUNDS / 50


def test_a_new_process_gets_the_whole_conversation_again() -> None:
    made, station, _ = proposer(GOOD)
    made.commit([8, 9])
    made.offer([*TOKENS, 8, 9, 10])
    assert station.committed == [(3, [8, 9]), (5, [10])]
    station.generation = 2
    made.offer([*TOKENS, 8, 9, 10])
    made.commit([11])
    assert station.begun == [TOKENS, [*TOKENS, 8, 9, 10]]
    assert station.committed[2:] == [(6, [11])]


def test_one_that_is_lost_is_not_waited_for() -> None:
    made, station, sampler = proposer(None)
    station.loaded = None
    assert made.offer(TOKENS).most == 0
    assert made.propose(TOKENS, PLAN, sampler) is NO_DRAFT  # it was lost in between
    assert station.prices.late == 0
    station.generation = 2
    made.commit([8])
    assert station.committed == []


def test_a_chat_with_pictures_is_not_sent() -> None:
    made, station, _ = proposer(GOOD, [5, FIRST_NAME + 1, 6])
    assert station.begun == []
    assert made.offer([5, FIRST_NAME + 1, 6]).most == 0
