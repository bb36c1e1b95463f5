"""Tensor mode over two processes here, each sum slowed down; what a round sends; a rank's memory."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import mlx.core as mx

from engine import RankMode, Speculation, plan_ranks
from engine.api.ranks import RankPlan
from engine.cluster import loading
from engine.cluster.fabric import RING, ring_links
from engine.cluster.operations import Join, LoadPart
from engine.cluster.rank import Rank
from engine.machines.messages import Pong
from engine.machines.wire import Wire
from tests.bench.machines import line, rate
from tests.bench.opponents import Ours, interleaved
from tests.bench.rows import LENGTH, Measure, Row
from tests.bench.setup import BenchSetup

GB = 10**9
HOPS = 2  # of a sum in a ring of two
SUM_S = 0.001


def plan(main: Path) -> RankPlan:
    return plan_ranks(main, (8 * GB, 8 * GB), mode=RankMode.TENSOR)


@contextmanager
def slow_sums(sum_s: float) -> Iterator[None]:
    """Ranks that join a ring in this block reach each other over lines that take so long for each sum."""
    with ExitStack() as opened:

        def links(_plan: RankPlan) -> tuple[str, Any]:
            real = ring_links(2)
            ends = [link.rpartition(":") for link in real]
            late = [opened.enter_context(line(int(port), sum_s / HOPS, host)) for host, _, port in ends]
            lines = ["{}:{}".format(*each.getsockname()) for each in late]
            return RING, lambda place: tuple(link if at == place else lines[at] for at, link in enumerate(real))

        with patch.object(loading, "_links", links):
            yield


def cluster_tensor_spec_gain(setup: BenchSetup, runs: int) -> Row:
    """What the draft brings where each sum takes a millisecond more."""
    with slow_sums(SUM_S):
        over = Ours(setup.main, setup.draft, plan=plan(setup.main))
    choice = over.engine.state().choice
    assert choice is not None
    sides = (partial(rate, setup, each, over) for each in (Speculation.off(), Speculation.auto()))
    rates = list(interleaved(runs, *sides))
    over.engine.close()
    plain, drafted = (statistics.median(each) for each in zip(*rates, strict=True))
    detail = f"{plain:.1f} → {drafted:.1f} tok/s; all sums of a forward {choice.sums_s * 1000:.1f} ms"
    return Row("cluster.tensor.spec_gain", drafted / plain, "ratio", "≥ 1.3", detail, [b / a for a, b in rates])


def cluster_tensor_messages(setup: BenchSetup, runs: int) -> Row:
    """To each rank and from it, in a round with a draft; pings apart."""
    over = Ours(setup.main, setup.draft, plan=plan(setup.main))
    sent: Counter[str] = Counter()
    send, receive = Wire.send, Wire.receive

    def sending(wire: Wire, value: Any, data: Any = b"") -> None:
        sent[type(value).__name__] += 1
        send(wire, value, data)

    def receiving(wire: Wire) -> Any:
        word = receive(wire)
        sent[type(word[0]).__name__] += not isinstance(word[0], Pong)
        return word

    with patch.object(Wire, "send", sending), patch.object(Wire, "receive", receiving):
        stats = over.run(setup.guide[0], LENGTH, Speculation.fixed(4)).stats
    assert stats is not None
    over.engine.close()
    kinds = {name: round(count / 2 / stats.rounds, 2) for name, count in sent.items() if name != "Ping" and count}
    told = f"{stats.rounds} rounds with prompt and checkpoints; of each kind: {kinds}"
    return Row("cluster.tensor.messages", sum(kinds.values()), "a round", "≤ 3.3", told)


def cluster_tensor_peak(setup: BenchSetup, runs: int) -> Row:
    """The most memory that a rank takes while it loads, beside what it holds afterwards."""
    links = ring_links(2)
    ranks = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.bench.tensor", str(setup.main), str(place), *links], stdout=subprocess.PIPE
        )
        for place in range(2)
    ]
    told = [json.loads(rank.communicate()[0]) for rank in ranks]
    peaks = [each["peak"] / each["held"] for each in told]
    return Row("cluster.tensor.peak", max(peaks), "ratio", "≤ 1.1", f"of {told[0]['held'] / 1e6:.0f} MB", peaks)


def _load(folder: str, place: str, *links: str) -> None:
    rank = Rank(lambda *_: None)
    rank.carry_out(Join(int(place), RING, links), bytearray())
    mx.reset_peak_memory()
    rank.carry_out(LoadPart(folder, 1 + int(place), ()), bytearray())
    json.dump({"peak": mx.get_peak_memory(), "held": mx.get_active_memory()}, sys.stdout)


TENSOR: tuple[Measure, ...] = (cluster_tensor_spec_gain, cluster_tensor_messages, cluster_tensor_peak)

if __name__ == "__main__":
    _load(*sys.argv[1:])
