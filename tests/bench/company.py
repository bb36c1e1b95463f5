"""Several replies at once: what the scheduler chose, beside sharing every forward and taking turns throughout."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from unittest.mock import patch

from engine.runtime.batch import Batch
from engine.runtime.sharing import Sharing
from tests.bench.opponents import interleaved
from tests.bench.rows import LENGTH, Measure, Row
from tests.bench.stage import Stage


def pair2_vs_best(stage: Stage, runs: int) -> Row:
    return _replies(stage, runs, 2)


def pair4_vs_best(stage: Stage, runs: int) -> Row:
    return _replies(stage, runs, 4)


def _replies(stage: Stage, runs: int, count: int) -> Row:
    groups = [stage.guide[at : at + count] for at in range(0, 4 * count, count)]
    stage.ours.run_together(groups[0], LENGTH)  # both ways have to be seen once
    sides = (partial(_rate, stage, groups, choice) for choice in (None, False, True))
    rates: list[list[float]] = [[], [], []]
    for results in interleaved(runs, *sides):
        for kept, result in zip(rates, results, strict=True):
            kept.append(result)
    chosen, shared, turns = (statistics.median(kept) for kept in rates)
    detail = f"chosen {chosen:.1f}, shared {shared:.1f}, in turns {turns:.1f} tok/s"
    return Row(f"engine.pair{count}.vs_best", chosen / max(shared, turns), "ratio", "≥ 0.97", detail)


def batch3_padded_vs_bare(stage: Stage, runs: int) -> Row:
    """Three replies that share each forward: with a row more where that is faster, beside never."""
    groups = [stage.guide[at : at + 3] for at in range(0, 12, 3)]
    stage.ours.run_together(groups[0], LENGTH)

    def bare() -> float:
        with patch.object(Batch, "_pad", lambda _batch, *, wanted: None):
            return _rate(stage, groups, turns=False)

    results = list(interleaved(runs, partial(_rate, stage, groups, False), bare))
    padded, never = (statistics.median(rates) for rates in zip(*results, strict=True))
    return Row("engine.batch3.padded_vs_bare", padded / never, "ratio", "≥ 0.99", f"{padded:.1f} / {never:.1f} tok/s")


def _rate(stage: Stage, groups: Sequence[Sequence[Sequence[int]]], turns: bool | None) -> float:
    """Tokens per second; `turns` None leaves the choice to the scheduler."""

    def forced(sharing: Sharing, *_: object, **__: object) -> bool:
        sharing.takes_turns = bool(turns)
        return bool(turns)

    with patch.object(Sharing, "choose", forced) if turns is not None else nullcontext():
        return statistics.mean(stage.ours.run_together(group, LENGTH) for group in groups)


COMPANY: tuple[Measure, ...] = (pair2_vs_best, pair4_vs_best, batch3_padded_vs_bare)
