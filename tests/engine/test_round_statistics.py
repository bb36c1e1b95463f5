"""What a reply's statistics and the prices of rounds count of a round's time, and when a drafter reads on meanwhile."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from engine import Speculation
from engine.api.stats import StatsRecorder
from engine.decoding.round import Round
from engine.drafting.controller import FixedController, History
from engine.drafting.costs import ReplyTime, TimeInPlainRounds
from engine.drafting.planner import Drafting
from engine.drafting.plans import Plan
from engine.drafting.proposers.forced import ForcedProposer
from engine.runtime.rounds import TIMED_EVERY_ROUNDS, RoundStatistics
from tests.engine.batch_harness import Harness, asking, draft, model, prompt

DONE = Round(emitted=(1, 2), seconds=0.5)


class Counted:
    """Statistics by a clock of its own. `passes`: from when to when each priced round took."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        history = History()
        self.now, self.passes = 100.0, list[tuple[float, float]]()
        self.stats = StatsRecorder(submitted_at=self.now)
        self.drafting = Drafting((), FixedController(0, history))
        self.costs = history.costs
        self.statistics = RoundStatistics(self.stats, history.costs)
        monkeypatch.setattr("engine.runtime.rounds.time", SimpleNamespace(perf_counter=lambda: self.now))
        monkeypatch.setattr(history.costs, "observe_pass", lambda _kind, *when: self.passes.append(when))
        self.take(0.0)

    def take(self, others_s: float | None, read_s: float = 0.0, done: Round = DONE) -> None:
        self.now += 2.0
        self.drafting.reading_s += read_s
        self.statistics.take(done, self.drafting, others_s)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


def test_the_first_round_is_not_priced(counted: Counted) -> None:
    assert (counted.stats.first_token_at, counted.stats.shared_s, counted.passes) == (102.0, 0.0, [])


@pytest.mark.parametrize(
    ("others_s", "read_s", "shared_s", "begins"),
    [
        (0.0, 0.0, 0.0, 102.0),  # from the token before
        (0.75, 0.25, 0.75, 103.0),
        (1.9, 0.0, 1.9, 103.5),  # no less than the round itself
        (-0.5, -0.25, 0.0, 102.0),  # of clocks that disagree
    ],
)
def test_what_others_steps_and_reading_took_is_left_out(
    counted: Counted, others_s: float, read_s: float, shared_s: float, begins: float
) -> None:
    counted.take(others_s, read_s=read_s)
    assert (counted.stats.shared_s, counted.passes) == (shared_s, [(begins, 104.0)])
    counted.take(0.0)  # what was read before is not left out again
    assert counted.passes[1:] == [(104.0, 106.0)]


def test_another_draft_has_read_nothing_yet(counted: Counted) -> None:
    counted.take(0.0, read_s=0.25)
    former, counted.drafting = counted.drafting, Drafting((), FixedController(0, History()))
    counted.statistics.change_draft(counted.costs, former)
    counted.take(0.0, read_s=0.5)
    assert counted.passes == [(102.25, 104.0), (104.5, 106.0)]


@pytest.mark.parametrize("done", [replace(DONE, typical=False), replace(DONE, failure=ValueError())])
def test_a_round_that_says_nothing_about_others_is_not_priced(counted: Counted, done: Round) -> None:
    counted.take(0.0, done=done)
    assert counted.passes == []


def test_only_what_a_grammar_forces_counts_as_forced(counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    done = replace(DONE, drafted=2, accepted=1)
    counted.take(0.0, done=done)
    assert (counted.stats.accepted, counted.stats.forced) == (1, 0)
    monkeypatch.setattr(Drafting, "source_of", lambda _drafting, _done: ForcedProposer.name)
    counted.take(0.0, done=done)
    assert (counted.stats.accepted, counted.stats.forced, counted.stats.proposer) == (2, 1, ForcedProposer.name)


def test_a_shared_round_is_counted_and_not_priced(counted: Counted) -> None:
    counted.take(None)
    assert (counted.stats.shared_rounds, counted.stats.shared_gained, counted.stats.shared_s) == (1, 1, 2.0)
    assert counted.passes == []


def test_what_the_rounds_would_have_taken_without_a_draft_is_kept(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ReplyTime, "total", lambda _account, _reading_s: TimeInPlainRounds(3.0, 0.1, 6.6))
    counted.take(0.0)
    stats = counted.stats
    assert (stats.plain_rounds, stats.plain_rounds_error, stats.plain_passes) == (3.0, 0.1, 7)


def test_a_drafter_reads_on_except_beside_others_before_a_timed_round_and_after_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness, seen, observe = Harness(model("qwen3"), draft()), list[tuple[int, bool]](), Drafting.observe

    def watched(drafting: Drafting, plan: Plan, done: Round, *, reads_on: bool = False) -> None:
        seen.append((recorder.reply.stats.draft_rounds, reads_on))
        observe(drafting, plan, done, reads_on=reads_on)

    monkeypatch.setattr(Drafting, "observe", watched)
    recorder = harness.submit(asking(prompt(9), 60, speculation=Speculation.fixed(2)))
    harness.run_dry()
    *rounds, (_, after_the_last) = seen
    assert not after_the_last
    assert len(rounds) > 2 * TIMED_EVERY_ROUNDS
    assert all(reads_on == bool((number + 1) % TIMED_EVERY_ROUNDS) for number, reads_on in rounds)
    seen.clear()
    recorder = harness.submit(asking(prompt(9), 5, speculation=Speculation.fixed(2)))
    while not recorder.ended:
        reply = recorder.queued.reply
        if reply is None:
            harness.scheduler.step()
        else:
            reply.step(alone=False)
            if reply.ended:
                break
    assert seen
    assert not any(reads_on for _, reads_on in seen)
