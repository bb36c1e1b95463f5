"""A model over two machines: the other one is a process here, on the far side of a line with a given delay."""

from __future__ import annotations

import queue
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import mlx.core as mx

from engine import Helping, HubSource, Speculation, plan_ranks
from engine.api.ranks import RankPlan
from engine.cluster.loading import loading_over_ranks
from engine.machines.identity import Identity
from engine.machines.lender import Lender
from engine.machines.lent import pair_machines
from engine.models.loading import LoadedModel
from tests.bench.opponents import Ours, interleaved
from tests.bench.rows import LENGTH, Measure, Row, total_rate
from tests.bench.setup import BenchSetup
from tests.helpers.loading import at_once, load_model

GB = 10**9
CONNECTED_S = 60.0
WIDTHS = (1, 2, 4, 8, 16, 32, 64)  # of forwards, in tokens


def late(source: socket.socket, sink: socket.socket, delay_s: float) -> None:
    """Passes everything on, each piece so much later."""
    pieces: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

    def send() -> None:
        with suppress(OSError):
            while True:
                at, data = pieces.get()
                time.sleep(max(0.0, at - time.monotonic()))
                if not data:
                    sink.shutdown(socket.SHUT_WR)
                    return
                sink.sendall(data)

    threading.Thread(target=send, daemon=True).start()
    data = b"-"
    while data:
        try:
            data = source.recv(1 << 16)
        except OSError:
            data = b""
        pieces.put((time.monotonic() + delay_s, data))


def line(port: int, delay_s: float, host: str = "127.0.0.1") -> socket.socket:
    """Listens for connections to `port` over a line with this delay each way; what listens there may come later."""
    listening = socket.create_server((host, 0))

    def accept() -> None:
        with suppress(OSError):
            while True:
                near = listening.accept()[0]
                far = _connected(host, port)
                for ends in ((near, far), (far, near)):
                    for end in ends:
                        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    threading.Thread(target=late, args=(*ends, delay_s), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listening


def _connected(host: str, port: int) -> socket.socket:
    until = time.monotonic() + CONNECTED_S
    while True:
        try:
            return socket.create_connection((host, port))
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


@contextmanager
def over_two(main: Path, delay_s: float) -> Iterator[RankPlan]:
    with tempfile.TemporaryDirectory() as folder:
        lender = Lender(Identity(Path(folder, "lends")), lambda: {main: HubSource()})
        with line(lender.start("127.0.0.1", 0), delay_s) as listening:
            here = Path(folder, "here")
            address = f"127.0.0.1:{listening.getsockname()[1]}"
            machine = pair_machines(here, address, lender.invite())
            yield plan_ranks(main, (8 * GB, 8 * GB), [Helping(machine, str(here))])
        lender.stop()


def _spec_gain(delay_s: float, setup: BenchSetup, runs: int) -> Row:
    """What the draft brings over two machines, beside what it brings on one."""
    off, auto = (partial(rate, setup, each) for each in (Speculation.off(), Speculation.auto()))
    gains: list[tuple[float, float]] = []
    with over_two(setup.main, delay_s) as plan:
        over = Ours(setup.main, setup.draft, plan=plan)
        for plain, drafted, plain_here, drafted_here in interleaved(
            runs, *(partial(side, engine) for engine in (over, setup.ours) for side in (off, auto))
        ):
            gains.append((drafted / plain, drafted_here / plain_here))
            last = f"{plain:.1f} → {drafted:.1f} tok/s, on one {plain_here:.1f} → {drafted_here:.1f}"
        over.engine.close()
    two, one = (statistics.median(each) for each in zip(*gains, strict=True))
    told = f"{two:.2f} times with a draft, on one machine {one:.2f}; {last}"
    return Row(
        f"cluster.spec_gain_{delay_s * 1000:.0f}ms", two / one, "ratio", "≥ 1.0", told, [a / b for a, b in gains]
    )


def cluster_spec_gain_1ms(setup: BenchSetup, runs: int) -> Row:
    return _spec_gain(0.001, setup, runs)


def cluster_spec_gain_5ms(setup: BenchSetup, runs: int) -> Row:
    return _spec_gain(0.005, setup, runs)


def cluster_overhead_ms(setup: BenchSetup, runs: int) -> Row:
    """A forward over two machines on one line without delay, less one in one process; of one token, others are told."""
    with over_two(setup.main, 0.0) as plan:
        over, here = at_once(loading_over_ranks(plan)), load_model(setup.main)
        times = {
            width: [
                1000 * (a - b)
                for a, b in interleaved(8 * runs, *(partial(_forward_s, each, width) for each in (over, here)))
            ]
            for width in WIDTHS
        }
        over.close()
    told = ", ".join(f"{width}: {statistics.median(each):.2f}" for width, each in times.items())
    return Row(
        "cluster.overhead_ms", statistics.median(times[1]), "ms", "", f"loopback and TLS; by width {told}", times[1]
    )


def _forward_s(model: LoadedModel, width: int) -> float:
    tokens, began = mx.array([[7] * width], dtype=mx.uint32), time.perf_counter()
    mx.eval(model.network(tokens))
    return time.perf_counter() - began


def rate(setup: BenchSetup, speculation: Speculation, engine: Ours) -> float:
    return total_rate([engine.run(prompt, LENGTH, speculation) for prompt in setup.guide[:3]])


MACHINES: tuple[Measure, ...] = (cluster_overhead_ms, cluster_spec_gain_1ms, cluster_spec_gain_5ms)
