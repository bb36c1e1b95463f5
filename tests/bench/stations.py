"""A station beside the local draft, where a main step takes as long as a Mac's.

The main model and the draft are small ones, each of whose forwards is followed by a pause that takes no processor, so
that two processes do not share here what two Macs would not. The line between them has a given delay.
"""

from __future__ import annotations

import os
import queue
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from engine import ModelMeasured, Sampling, Speculation, StationChanged, StationPhase, StationPlace, StationState
from engine.machines.process import end_rank
from engine.machines.wire import Wire, socket_pair
from engine.models import loading
from engine.models.networks import reading
from engine.runtime import pair
from engine.station.connection import DraftOrder
from engine.station.messages import Answer
from tests.bench.machines import late
from tests.bench.opponents import Ours
from tests.bench.rows import Measure, Row
from tests.bench.setup import BenchSetup
from tests.helpers.round_simulator import Machine
from tests.helpers.station_simulator import gain, undrafted
from tests.helpers.traces import CURVES, KINDS, TEMPERATURES, positions

STEP_S = 0.04  # of a plain round: about a model of 30 B parameters at 4 bits on an M4 Max
SHARES = (0.06, 0.12, 0.3)  # of it, in which a token is drafted
TRIPS_S = (0.0005, 0.003)
CURVE = "m4_pro"
_SEEDS = 1
_LENGTH = 64
_PROMPTS = 4  # for each run
_LEARNING = 2  # replies that do not count


def paused(network: Any, took_s: Callable[[int], float]) -> None:
    """Each forward from now on takes at least this time, by its width."""
    base: Any = type(network)

    def call(self: Any, tokens: Any, *arguments: Any, **named: Any) -> Any:
        import mlx.core as mx

        began = time.perf_counter()
        logits = base.__call__(self, tokens, *arguments, **named)
        mx.eval(logits)
        time.sleep(max(0.0, began + took_s(tokens.size) - time.perf_counter()))
        return logits

    network.__class__ = type(base.__name__, (base,), {"__call__": call})


def step_s(share: float, width: int) -> float:
    """Of a forward over so many tokens or rows, by a model that takes this share of a plain round for one."""
    return STEP_S * share * CURVES[CURVE][min(width, max(CURVES[CURVE]))]


class FarStation:
    """A station's process whose forwards pause, on the far side of a line with a delay."""

    machine = ""
    silent_s: float | None = None

    def __init__(self, share: float, trip_s: float, counted: list[int], _draft: DraftOrder) -> None:
        ours, near = socket_pair()
        far, theirs = socket_pair()
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=late, args=(_Counting(source, counted), sink, trip_s / 2), daemon=True).start()
        code = "import sys; from tests.bench.stations import run_child; sys.exit(run_child(*sys.argv[1:]))"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, str(theirs.fileno()), str(share)],
            env=os.environ | {"HUNCH_OPENBLAS": "1", "OPENBLAS_NUM_THREADS": "1"},
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        self.wire = Wire(ours, Answer, most_bytes=0)

    def end(self, patience_s: float) -> None:
        self.wire.close()
        end_rank(self._process, patience_s)


class _Counting:
    """A socket whose received bytes are counted."""

    def __init__(self, source: Any, counted: list[int]) -> None:
        self._source = source
        self._counted = counted

    def recv(self, size: int) -> bytes:
        data: bytes = self._source.recv(size)
        self._counted.append(len(data))
        return data


def run_child(descriptor: str, share: str) -> int:
    from engine.station import worker

    loaded = worker._loaded

    def slowly(path: Path, memory_bytes: int = 0) -> Any:
        part, *rest = loaded(path, memory_bytes)
        paused(part.network, partial(step_s, float(share)))
        return (part, *rest)

    worker._loaded = slowly
    return worker.run(descriptor)


@contextmanager
def slow_pair(share: float, trip_s: float, counted: list[int]) -> Iterator[None]:
    """Pairs that are loaded in this block are as slow as those of a Mac, and stations are elsewhere."""

    def slowly(info: Any, beside_bytes: int = 0, *arguments: Any) -> Any:
        part = yield from reading(info, beside_bytes, *arguments)
        paused(part.network, partial(step_s, share if beside_bytes else 1.0))
        return part

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "reading", slowly)
        patch.setattr(pair, "StationProcess", partial(FarStation, share, trip_s, counted))
        yield


@dataclass(frozen=True)
class Cell:
    """A station beside the local draft by the clock: two engines that take turns."""

    name: str
    gain: float  # over auto with the local draft
    hits: float  # share of its drafts that were prepared
    token_bytes: float  # over the line, for each token of the replies
    used: float  # share of the passes that it drafted for


def measured(setup: BenchSetup, share: float, trip_s: float, runs: int) -> Cell:
    counted: list[int] = []
    states: queue.SimpleQueue[StationState] = queue.SimpleQueue()
    rates: list[tuple[float, float]] = []
    tokens = passes = 0
    with slow_pair(share, trip_s, counted):
        pair_of = partial(Ours, setup.starter / "main", setup.draft, rests=False)
        engine, without = (pair_of(kept=kept) for kept in known(setup, share))
        engine.engine.subscribe(lambda event: states.put(event.station) if isinstance(event, StationChanged) else None)
        engine.engine.set_station(StationPlace())
        until(states, lambda state: state.phase is StationPhase.READY)
        counted.clear()
        for number in range(runs * _PROMPTS):
            prompt = setup.guide[number % len(setup.guide)]
            sampling = Sampling(temperature=0.8 * (number % 2), seed=number)
            run, other = (each.run(prompt, _LENGTH, Speculation.auto(), sampling) for each in (engine, without))
            assert run.tokens == other.tokens
            rates.append((run.rate, other.rate))
            tokens += len(run.tokens)
            passes += run.stats.rounds if run.stats is not None else 0
        for each in (engine, without):
            each.close()
    last = StationState()
    while not states.empty():
        state = states.get()
        last = state if state.drafts else last
    with_it, alone = (sum(1 / rate for rate in side) for side in zip(*rates[_LEARNING:], strict=True))
    name = f"draft {share:.2f}, {1000 * trip_s:g} ms"
    return Cell(name, alone / with_it, last.hit_rate, sum(counted) / tokens, last.drafts / passes)


def known(setup: BenchSetup, share: float) -> Iterator[Path]:
    """Two folders with what is measured of such a pair at rest: by the processor's time nothing seems to happen."""
    folder = setup.folder / f"station-{share}"
    if not folder.exists():
        done = threading.Event()
        engine = Ours(setup.starter / "main", setup.draft, rests=False, kept=folder)
        engine.engine.subscribe(lambda event: done.set() if isinstance(event, ModelMeasured) else None)
        assert done.wait(600)
        engine.close()
    for side in ("with", "without"):
        yield shutil.copytree(folder, setup.folder / side, dirs_exist_ok=True)


def until(states: queue.SimpleQueue[StationState], holds: Callable[[StationState], bool]) -> None:
    while not holds(states.get(timeout=60)):
        pass


def station_clock(setup: BenchSetup, runs: int) -> Row:
    """The median cell by the clock, over the starter pair."""
    cells = [measured(setup, share, trip_s, runs) for share, trip_s in product(SHARES, TRIPS_S)]
    gains = [cell.gain for cell in cells]
    told = "; ".join(
        f"{cell.name}: {cell.gain:.2f}, hits {cell.hits:.2f}, {cell.used:.2f} of passes, {cell.token_bytes:.0f} B/token"
        for cell in cells
    )
    return Row("engine.station.clock", statistics.median(gains), "ratio", "≥ 1.10", told, gains)


def station_traces(setup: BenchSetup, runs: int) -> Row:
    """The median cell over recorded texts, in a time of their own; each of several seeds, greedy and sampled."""
    cells: dict[str, float] = {}
    hits: list[float] = []
    bounds: list[float] = []
    for share, trip_s, kind in product(SHARES, TRIPS_S, KINDS):
        ratios, free = [], []
        for heat, seed in product(TEMPERATURES, range(_SEEDS)):
            known_texts, held_out = (positions(kind, heat, held_out=which) for which in (False, True))
            machine = Machine(CURVES[CURVE], share)
            ratio, run, alone = gain(machine, (known_texts, held_out), trip_s / STEP_S, seed)
            ratios.append(ratio)
            free.append(undrafted(machine, (known_texts, held_out), seed) / alone.speed)
            if run.drafts and kind != "edits":
                hits.append(run.hits / run.drafts)
        cells[f"{kind}, draft {share:g}, {1000 * trip_s:g} ms"] = statistics.harmonic_mean(ratios)
        bounds.append(statistics.harmonic_mean(free))
    worst = min(cells, key=lambda cell: cells[cell])
    told = f"{CURVE}: hits {statistics.median(hits):.2f}, worst {cells[worst]:.3f} ({worst}); "
    told += f"a draft that takes no time would bring {statistics.median(bounds):.2f}"
    return Row("engine.station.traces", statistics.median(cells.values()), "ratio", "≥ 1.10", told, [*cells.values()])


STATIONS: tuple[Measure, ...] = (station_traces, station_clock)
