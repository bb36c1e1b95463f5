"""Several replies at once: what the scheduler chose, beside each way of writing them throughout."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from unittest.mock import patch

from app.controllers.library import accept_rate
from engine import Speculation
from engine.runtime.sharing import BatchWay, Sharing
from tests.bench.drafters import inflate_drafter
from tests.bench.opponents import Ours, interleaved
from tests.bench.rows import LENGTH, Measure, Row
from tests.bench.setup import BenchSetup

_FIRST_LENGTH = 64
_READINGS = 3  # of each way


def pair2_vs_best(setup: BenchSetup, runs: int) -> Row:
    return _replies(setup, runs, 2)


def pair4_vs_best(setup: BenchSetup, runs: int) -> Row:
    return _replies(setup, runs, 4)


def batch4_windows(setup: BenchSetup, runs: int) -> Row:
    return _drafted(setup, runs, "engine.batch4.windows", setup.windowed)


def batch4_states(setup: BenchSetup, runs: int) -> Row:
    return _drafted(setup, runs, "engine.batch4.states", setup.with_states)


def _drafted(setup: BenchSetup, runs: int, name: str, engine: Ours) -> Row:
    """Four replies whose drafts are verified together, beside the better of taking turns and sharing plain steps."""
    groups = [setup.guide[at : at + 4] for at in (0, 4)]
    engine.run_together(groups[0], LENGTH)
    results = list(interleaved(runs, *(partial(_rate, engine, groups, way) for way in (None, *BatchWay))))
    chosen, *rates = (statistics.median(rates) for rates in zip(*results, strict=True))
    by_way = dict(zip(BatchWay, rates, strict=True))
    drafted = by_way.pop(BatchWay.DRAFTED)
    said = ", ".join(f"{way.name.lower()} {rate:.1f}" for way, rate in by_way.items())
    detail = f"drafted {drafted:.1f}, {said}, chosen {chosen:.1f} tok/s"
    return Row(name, drafted / max(by_way.values()), "ratio", "≥ 1.2", detail)


def _replies(setup: BenchSetup, runs: int, count: int) -> Row:
    groups = [setup.guide[at : at + count] for at in range(0, 4 * count, count)]
    setup.ours.run_together(groups[0], LENGTH)  # how often drafts stand has to be seen once
    results = list(interleaved(runs, *(partial(_rate, setup.ours, groups, way) for way in (None, *BatchWay))))
    chosen, *rates = (statistics.median(rates) for rates in zip(*results, strict=True))
    said = ", ".join(f"{way.name.lower()} {rate:.1f}" for way, rate in zip(BatchWay, rates, strict=True))
    detail = f"chosen {chosen:.1f}, {said} tok/s"
    best = 1 + rates.index(max(rates))
    each = [result[0] / result[best] for result in results]
    return Row(f"engine.pair{count}.vs_best", chosen / max(rates), "ratio", "≥ 0.97", detail, each)


def _rate(engine: Ours, groups: Sequence[Sequence[Sequence[int]]], way: BatchWay | None) -> float:
    """Tokens per second; `way` None leaves the choice to the scheduler."""
    with patch.object(Sharing, "choose", lambda *_: way) if way is not None else nullcontext():
        return statistics.mean(engine.run_together(group, LENGTH) for group in groups)


def company_first(setup: BenchSetup, runs: int) -> Row:
    """The first four replies after a start, at once: auto beside always and never drafting; 4 groups a run and draft.

    As in the app after its first start: the calibration is known, and the accept rate that the starter was measured
    with; no accept rate of its own, those of the groups before are deleted.
    """
    ratios: dict[str, list[float]] = {}
    equals: list[float] = []
    questions = [question for question, _ in setup.questions(5)]
    for kind in ("draft", "dflash", "eagle3"):
        small = setup.starter / kind
        draft = small if kind == "draft" else inflate_drafter(small, setup.folder / kind)
        kept = setup.folder / f"kept-{kind}"
        Ours(setup.main, draft, kept=kept).close()
        for number in range(4 * runs):
            group = [questions[(4 * number + at) % len(questions)] for at in range(4)]
            ratio, equal = _first_group(setup, draft, kept, group)
            ratios.setdefault(kind, []).append(ratio)
            equals.append(equal)
    each = [ratio for known in ratios.values() for ratio in known]
    near, near_if_equal = (statistics.fmean(ratio >= 0.95 for ratio in found) for found in (each, equals))
    detail = f"of {len(each)} groups within 5 % of the better ({near_if_equal:.2f} of them in a second reading of the "
    detail += "better itself); median ratios " + ", ".join(
        f"{kind} {statistics.median(known):.2f}" for kind, known in ratios.items()
    )
    return Row("engine.company.first", near, "share", "≥ 0.95", detail, each)


def _first_group(setup: BenchSetup, draft: Path, kept: Path, group: Sequence[str]) -> tuple[float, float]:
    """Auto, and a second reading of the best way, beside the best way: medians of readings in turns."""
    ways = (Speculation.auto(), Speculation.off(), Speculation.fixed(4), Speculation.fixed(7))
    rate = partial(_first_rate, setup, draft, kept, group)
    rounds = [[rate(way) for way in ways] for _ in range(_READINGS)]
    auto, *others = (statistics.median(each) for each in zip(*rounds, strict=True))
    best = max(others)
    again = statistics.median(rate(ways[1 + others.index(best)]) for _ in range(_READINGS))
    return auto / best, again / best


def _first_rate(setup: BenchSetup, draft: Path, kept: Path, group: Sequence[str], way: Speculation) -> float:
    """With an engine of its own: a first reply is slower than a second one, whatever drafts."""
    shutil.rmtree(kept / "calibration" / "rates", ignore_errors=True)
    accepted = accept_rate(setup.starter, str(setup.starter / "main"), "")
    engine = Ours(setup.main, draft, kept=kept, accepted=accepted)
    rate = engine.run_together(group, _FIRST_LENGTH, way)
    engine.close()
    return rate


COMPANY: tuple[Measure, ...] = (pair2_vs_best, pair4_vs_best, batch4_windows, batch4_states, company_first)
