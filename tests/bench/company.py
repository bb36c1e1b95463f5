"""Several replies at once: what the scheduler chose, beside each way of writing them throughout."""

from __future__ import annotations

import shutil
import statistics
from collections import defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

from app.controllers.library import accept_rate
from engine import Speculation
from engine.decoding.round import Round
from engine.runtime.batch import Batch
from engine.runtime.rounds import Rounds
from engine.runtime.sharing import BatchWay, Sharing
from tests.bench.drafters import inflate_drafter
from tests.bench.opponents import Ours, interleaved
from tests.bench.rows import LENGTH, Measure, Row
from tests.bench.setup import BenchSetup

_FIRST_LENGTH = 64
_FIRST_WAYS = (Speculation.auto(), Speculation.off(), Speculation.fixed(4), Speculation.fixed(7))
_Step = tuple[int, int, int]  # rows, width, drafted tokens of the longest draft


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
    with; no accept rate of its own, those of the groups before are deleted. Each way writes the same tokens in its own
    steps. A step counts as the median of its kind in all readings: on a machine with other work single ones differ by
    more than the ways do. Prefill is left out.
    """
    ratios: dict[str, list[float]] = {}
    questions = [question for question, _ in setup.questions(5)]
    for kind in ("draft", "dflash", "eagle3"):
        small = setup.starter / kind
        draft = small if kind == "draft" else inflate_drafter(small, setup.folder / kind)
        kept = setup.folder / f"kept-{kind}"
        Ours(setup.main, draft, kept=kept).close()
        groups = [[questions[(4 * number + at) % len(questions)] for at in range(4)] for number in range(4 * runs)]
        readings = [[_first_steps(setup, draft, kept, group, way) for way in _FIRST_WAYS] for group in groups]
        times: defaultdict[_Step, list[float]] = defaultdict(list)
        for step, seconds in chain.from_iterable(chain.from_iterable(readings)):
            times[step].append(seconds)
        for reading in readings:
            auto, *others = (sum(statistics.median(times[step]) for step, _ in steps) for steps in reading)
            ratios.setdefault(kind, []).append(min(others) / auto)
    each = [ratio for known in ratios.values() for ratio in known]
    near = statistics.fmean(ratio >= 0.95 for ratio in each)
    detail = f"of {len(each)} groups within 5 % of the better; median ratios " + ", ".join(
        f"{kind} {statistics.median(known):.2f}" for kind, known in ratios.items()
    )
    return Row("engine.company.first", near, "share", "≥ 0.95", detail, each)


def _first_steps(
    setup: BenchSetup, draft: Path, kept: Path, group: Sequence[str], way: Speculation
) -> list[tuple[_Step, float]]:
    """With an engine of its own: a first reply is slower than a second one, whatever drafts."""
    shutil.rmtree(kept / "calibration" / "rates", ignore_errors=True)
    accepted = accept_rate(setup.starter, str(setup.starter / "main"), "")
    engine = Ours(setup.main, draft, kept=kept, accepted=accepted)
    steps: list[tuple[_Step, float]] = []
    hand_out, run = Batch._hand_out, Rounds.run

    def handed_out(batch: Batch, drafts: Any, verdicts: Any, width: int, seconds: float, *others: Any) -> None:
        longest = max(draft.tokens.size for draft in drafts)
        steps.append(((len(drafts), width, longest), seconds))
        hand_out(batch, drafts, verdicts, width, seconds, *others)

    def ran(rounds: Rounds, **alone: bool) -> Round:
        done = run(rounds, **alone)
        steps.append(((1, done.proposed + 1, done.proposed), done.seconds))
        return done

    with patch.object(Batch, "_hand_out", handed_out), patch.object(Rounds, "run", ran):
        engine.run_together(group, _FIRST_LENGTH, way)
    engine.close()
    return steps


COMPANY: tuple[Measure, ...] = (pair2_vs_best, pair4_vs_best, batch4_windows, batch4_states, company_first)
