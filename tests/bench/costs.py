"""Rows about what a round costs beyond its forwards, and about replies that share them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import mlx.core as mx

from engine import Event, Finished, Request, RequestId, RequestStats, Sampling, Speculation, TextDelta
from engine.decoding.sequence import Sequence as TokenSequence
from engine.models.loading import LoadedModel
from engine.runtime.queued import QueuedReply
from engine.runtime.scheduler import Scheduler
from tests.bench.opponents import interleaved
from tests.bench.rows import Compared, Measure, Row
from tests.bench.setup import BenchSetup
from tests.helpers.loading import load_draft, load_model

_DRAFTED = 4
_LENGTH = 160


def batch4_vs_mlx_lm(setup: BenchSetup, runs: int) -> Row:
    prompts = setup.guide[:4]
    pairs = interleaved(runs, lambda: setup.ours.run_together(prompts, 96), lambda: setup.theirs.together(prompts, 96))
    return Compared(list(pairs)).row("engine.batch4.vs_mlx_lm", "≥ 0.98", ", four questions at once")


def hybrid_rollback_share(setup: BenchSetup, runs: int) -> Row:
    """Rolling two of five tokens back, of a hybrid's round of drafting, verifying and rolling back."""
    main, draft = (load_model(setup.hybrid_folder / name) for name in ("main", "draft"))
    sequence = TokenSequence(main, list(setup.noise[0]))
    while sequence.uncached > 1:
        sequence.prefill_chunk()
    forwards, rollbacks = [], []
    for _ in range(8 * runs):
        started = time.perf_counter()
        mx.eval(sequence.feed(mx.array([5, 6, 7, 8, 9])))
        fed = time.perf_counter()
        sequence.caches.commit(3)
        sequence.caches.evaluate()
        rolled = time.perf_counter()
        forwards.append(fed - started)
        rollbacks.append(rolled - fed)
        sequence.tokens[-1:] = [5, 6, 7, 8]
    drafting = _DRAFTED * statistics.median(bare_forwards(draft, 1, runs))
    rollback, forward = statistics.median(rollbacks), statistics.median(forwards)
    share = rollback / (rollback + forward + drafting)
    detail = f"{rollback * 1e3:.2f} of {(rollback + forward + drafting) * 1e3:.1f} ms"
    return Row("engine.hybrid.rollback_share", share, "share", "≤ 0.03", detail)


def bare_forwards(model: LoadedModel, width: int, runs: int) -> list[float]:
    """Seconds of forwards over `width` tokens and nothing else, behind a short context."""
    sequence = TokenSequence(model, list(range(20, 84)))
    while sequence.uncached > 1:
        sequence.prefill_chunk()
    seconds = []
    for _ in range(8 * runs):
        started = time.perf_counter()
        mx.eval(mx.argmax(sequence.feed(mx.array(list(range(30, 30 + width)))), axis=-1))
        seconds.append(time.perf_counter() - started)
        sequence.caches.commit(0)
    return seconds


def overhead_share(setup: BenchSetup, runs: int) -> Row:
    whole, bare = round_and_bare_s(setup.main, setup, runs)
    detail = f"{(whole - bare) * 1e6:.0f} µs of {whole * 1e3:.2f} ms a round of {_DRAFTED} drafted tokens"
    return Row("engine.overhead_share", (whole - bare) / whole, "share", "≤ 0.03", detail)


def round_and_bare_s(main: Path, setup: BenchSetup, runs: int) -> tuple[float, float]:
    """What a round takes, text and events included, and the forwards in it alone: by turns, on the same networks."""
    scheduler = Scheduler()
    scheduler.set_main(load_model(main))
    assert scheduler.main is not None
    scheduler.set_draft(load_draft(setup.draft, scheduler.main))
    assert scheduler.draft is not None
    forwards = BareForwards(scheduler.main, scheduler.draft, setup.guide[0])
    whole, beyond = [], []
    for prompt in setup.guide[: 4 * runs]:
        rounds = _rounds_s(scheduler, prompt)
        mx.synchronize()
        whole.append(statistics.median(rounds))
        beyond.append(whole[-1] - statistics.median(forwards.seconds() for _ in rounds))
    seconds = statistics.median(whole)
    return seconds, seconds - statistics.median(beyond)


def _rounds_s(scheduler: Scheduler, prompt: Sequence[int]) -> list[float]:
    """Seconds of the rounds of a reply that drafted in full; not of the first two, which read the prompt."""
    told: list[RequestStats] = []
    rounds = []
    scheduler.add(QueuedReply(RequestId(1), _request(prompt), lambda event: _note(event, told)))
    while scheduler.busy:
        before = told[-1].drafted if told else 0
        started = time.perf_counter()
        scheduler.step()
        seconds = time.perf_counter() - started
        if told and told[-1].rounds > 2 and told[-1].drafted - before == _DRAFTED:
            rounds.append(seconds)
    return rounds


def _request(prompt: Sequence[int]) -> Request:
    sampling = Sampling(temperature=1.3, seed=2)
    return Request(tokens=tuple(prompt), sampling=sampling, max_tokens=_LENGTH, speculation=Speculation.fixed(_DRAFTED))


def _note(event: Event, told: list[RequestStats]) -> None:
    if isinstance(event, TextDelta | Finished):
        told.append(event.stats)


class BareForwards:
    """The forwards of a round as a plain loop would run them, and nothing else."""

    def __init__(self, main: LoadedModel, draft: LoadedModel, prompt: Sequence[int]) -> None:
        self._main, self._draft = TokenSequence(main, list(prompt)), TokenSequence(draft, list(prompt))
        for sequence in (self._main, self._draft):
            while sequence.uncached > 1:
                sequence.prefill_chunk()

    def seconds(self) -> float:
        started = time.perf_counter()
        token = mx.array(self._main.tokens[-1:], dtype=mx.uint32)
        tokens = [token]
        self._draft.caches.keep_rollback_points()
        for _ in range(_DRAFTED):
            token = mx.argmax(self._draft.feed(token), axis=-1)
            mx.async_eval(token)
            self._draft.caches.commit(1)
            tokens.append(token)
        mx.eval(mx.argmax(self._main.feed(mx.concatenate(tokens)), axis=-1))
        seconds = time.perf_counter() - started
        self._main.caches.commit(0)
        self._draft.caches.roll_back(len(self._draft.tokens) - 1)
        return seconds


COSTS: tuple[Measure, ...] = (batch4_vs_mlx_lm, hybrid_rollback_share, overhead_share)
