"""Drill: the engine's own methods raise at random, once or several times. Each request ends in exactly one event, who
ends well says what it says alone, and afterwards all is as before.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from engine import Finished, FinishReason, Request, Sampling, Speculation
from engine.api.stats import StatsRecorder
from engine.caches.base import CacheSet
from engine.caches.merging import MergedCaches
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.decoding.text import TextDecoder
from engine.drafting.planner import Drafting
from engine.prefix.memory import PrefixStore
from engine.runtime.batch import Batch
from engine.runtime.output import Output
from engine.runtime.reply import Reply
from engine.runtime.rounds import Rounds, RoundStatistics
from engine.runtime.scheduler import Writing
from tests.engine.batch_harness import Harness, Recorder, alone, asking, draft, model, prompt
from tests.helpers.samples import fair

POINTS: dict[type, tuple[Callable[..., Any], ...]] = {  # functions, since a name that is gone would not be missed
    Sampler: (
        Sampler.__init__,
        Sampler.draw,
        Sampler.draw_together,
        Sampler.verify,
        Sampler.draft,
        Sampler.commit,
        Sampler.noise_key,
        Sampler.draws_alike,
    ),
    TextDecoder: (TextDecoder.__init__, TextDecoder.push, TextDecoder.finish),
    Sequence: (
        Sequence.__init__,
        Sequence.feed,
        Sequence.commit,
        Sequence.close_step,
        Sequence.prefill_chunk,
        Sequence.discard_in_flight,
        Sequence.keep_checkpoint,
    ),
    CacheSet: (CacheSet.__init__, CacheSet.forward, CacheSet.commit, CacheSet.evaluate, CacheSet.roll_back),
    MergedCaches: (
        MergedCaches.append,
        MergedCaches.forward,
        MergedCaches.commit,
        MergedCaches.keep,
        MergedCaches.extract,
    ),
    Batch: (Batch._forward, Batch._hand_out, Batch.release, Batch.join),
    PrefixStore: (PrefixStore.take, PrefixStore.put),
    Drafting: (Drafting.plan, Drafting.propose, Drafting.observe, Drafting.close),
    StatsRecorder: (StatsRecorder.count_round, StatsRecorder.freeze),
    Output: (Output.__init__, Output.ending, Output.take, Output.finish, Output.post_text),
    RoundStatistics: (RoundStatistics.take, RoundStatistics._count),
    Rounds: (Rounds.__init__, Rounds.run, Rounds.rest, Rounds.draft, Rounds.receive, Rounds.learn, Rounds.close),
    Reply: (Reply._finish, Reply.take),
    Writing: (Writing.way, Writing.release, Writing.step),
}
FAMILIES = ("qwen3", "qwen3_5", "llama4")  # rows, states, and one that runs in turns


class Unprintable(Exception):
    """Whoever would tell it, fails too."""

    def __str__(self) -> str:
        raise ValueError("no words")


class Faults:
    """The `first`th to `last`th calls of a method raise, once `armed`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, rnd: random.Random) -> None:
        owner = rnd.choice(list(POINTS))
        whole = rnd.choice(POINTS[owner])
        self.place = whole.__qualname__
        self.raised = 0
        self._first = rnd.choice([1, 2, 3, 5, 8, 20])
        self._last = self._first + rnd.choice([0, 0, 0, 1, 2, 10])
        self._kind = rnd.choice([ValueError, RuntimeError, MemoryError, SystemExit, KeyboardInterrupt, Unprintable])
        self._calls = 0
        monkeypatch.setattr(owner, whole.__name__, self._around(getattr(owner, whole.__name__)))

    def _around(self, whole: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            self._calls += 1
            if self._first <= self._calls <= self._last:
                self.raised += 1
                raise self._kind("at random")
            return whole(*arguments, **named)

        return call


def draw_request(rnd: random.Random, salt: int) -> Request:
    sampling = Sampling(temperature=rnd.choice([0, 0.9]), seed=salt, repetition_penalty=rnd.choice([1.0, 1.2]))
    speculation = rnd.choice([Speculation.off(), Speculation.fixed(3), Speculation.auto()])
    return asking(prompt(rnd.choice([1, 6, 90]), salt), rnd.choice([1, 5, 12]), sampling, speculation)


def live(rnd: random.Random, harness: Harness) -> list[tuple[Request, Recorder]]:
    """Some submit, cancel and step; then all that is left is done."""
    asked: list[tuple[Request, Recorder]] = []
    for salt in range(rnd.randint(1, 5)):
        request = draw_request(rnd, salt)
        asked.append((request, harness.submit(request)))
        for _ in range(rnd.choice([0, 0, 3, 12])):
            step(harness)
        if rnd.random() < 0.2:
            harness.scheduler.cancel(rnd.choice(asked)[1].queued.id)
    steps = 0
    while harness.scheduler.busy:
        step(harness)
        steps += 1
        assert steps < 2000, "it never ends"
    return asked


def step(harness: Harness) -> None:
    """As the engine thread does it."""
    try:
        harness.scheduler.step()
    except BaseException as error:  # noqa: BLE001
        harness.scheduler.fail_all(error)


def check(asked: list[tuple[Request, Recorder]], family: str, places: list[str]) -> None:
    for request, heard in asked:
        assert len(heard.terminal) == 1, places
        assert heard.ended
        if isinstance(heard.events[-1], Finished) and heard.finished.reason is not FinishReason.CANCELLED:
            assert heard.tokens == alone(family, request).tokens, places
            assert heard.text == alone(family, request).text


def run(seed: int, family: str) -> None:
    rnd = random.Random(f"{family} {seed}")
    harness = Harness(model(family), draft())
    expected = [asking(prompt(9, salt), 8) for salt in range(2)]
    whole = [alone(family, request).tokens for request in expected]
    with pytest.MonkeyPatch.context() as patch:
        faults = [Faults(patch, rnd) for _ in range(rnd.choice([1, 1, 2, 3]))]
        asked = live(rnd, harness)
    places = [fault.place for fault in faults]
    check(asked, family, places)
    again = [harness.submit(request) for request in expected]
    harness.run_dry()
    assert [heard.tokens for heard in again] == whole, places


SAMPLE = 6  # lives
LOGGED = ("a reply failed", "cannot run in a batch", "proposer", "draft", "caches could not")


@pytest.mark.parametrize("family", fair(FAMILIES, "qwen3_5"))
@pytest.mark.expect_log(*LOGGED)
def test_faults_at_random_end_nothing_twice_and_nobody_else_wrongly(family: str) -> None:
    for seed in range(SAMPLE):
        run(seed, family)


@pytest.mark.drill
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.expect_log(*LOGGED)
def test_a_thousand_lives_with_faults_at_random(family: str) -> None:
    for seed in range(SAMPLE, 350):
        run(seed, family)
