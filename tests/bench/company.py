"""Several replies at once: what the scheduler chose, beside each way of writing them throughout."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from unittest.mock import patch

from engine.runtime.sharing import BatchWay, Sharing
from tests.bench.opponents import interleaved
from tests.bench.rows import LENGTH, Measure, Row
from tests.bench.setup import BenchSetup


def pair2_vs_best(setup: BenchSetup, runs: int) -> Row:
    return _replies(setup, runs, 2)


def pair4_vs_best(setup: BenchSetup, runs: int) -> Row:
    return _replies(setup, runs, 4)


def _replies(setup: BenchSetup, runs: int, count: int) -> Row:
    groups = [setup.guide[at : at + count] for at in range(0, 4 * count, count)]
    setup.ours.run_together(groups[0], LENGTH)  # how often drafts stand has to be seen once
    results = list(interleaved(runs, *(partial(_rate, setup, groups, way) for way in (None, *BatchWay))))
    chosen, *rates = (statistics.median(rates) for rates in zip(*results, strict=True))
    said = ", ".join(f"{way.name.lower()} {rate:.1f}" for way, rate in zip(BatchWay, rates, strict=True))
    detail = f"chosen {chosen:.1f}, {said} tok/s"
    best = 1 + rates.index(max(rates))
    each = [result[0] / result[best] for result in results]
    return Row(f"engine.pair{count}.vs_best", chosen / max(rates), "ratio", "≥ 0.97", detail, each)


def _rate(setup: BenchSetup, groups: Sequence[Sequence[Sequence[int]]], way: BatchWay | None) -> float:
    """Tokens per second; `way` None leaves the choice to the scheduler."""
    with patch.object(Sharing, "choose", lambda *_: way) if way is not None else nullcontext():
        return statistics.mean(setup.ours.run_together(group, LENGTH) for group in groups)


COMPANY: tuple[Measure, ...] = (pair2_vs_best, pair4_vs_best)
