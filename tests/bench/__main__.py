"""`make bench`: our engine beside mlx-lm in one process, interleaved; medians and ratios into build/bench/report.*"""

from __future__ import annotations

from tests.bench.openblas import put_in_front

FAST = put_in_front()  # before anything that imports MLX

import argparse  # noqa: E402
import json  # noqa: E402
import logging  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterable, Sequence  # noqa: E402
from dataclasses import asdict, replace  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402

import mlx.core as mx  # noqa: E402

from tests.bench.history import worse_rows  # noqa: E402
from tests.bench.measures import MEASURES, is_wanted  # noqa: E402
from tests.bench.natural import natural_rows  # noqa: E402
from tests.bench.record import record  # noqa: E402
from tests.bench.rows import Row  # noqa: E402
from tests.bench.setup import BenchSetup  # noqa: E402

OUT = Path("build/bench")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="rows whose id, or whose function's name, contains this")
    parser.add_argument("--runs", type=int, default=5, help="counted rounds of each comparison")
    parser.add_argument("--cell", default="", help="of natural_rows and real_pair only cells whose name contains this")
    parser.add_argument("--starter", type=Path, default=Path("resources/starter"))
    parser.add_argument("--record", action="store_true", help="write down rounds under load for a test, and no rows")
    parser.add_argument("--history", type=Path, help="folder of earlier runs: fails if a row is much worse than there")
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    if sys.platform.startswith("linux") and not FAST and mx.default_device() == mx.cpu:
        print("OpenBLAS is not in .venv: with the reference library no speculation can pay (packaging/openblas.py)")
    OUT.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        setup = BenchSetup(Path(folder), options.starter, options.cell)
        try:
            if options.record:
                record(setup)
                return 0
            for measure in MEASURES:
                if is_wanted(measure.__name__, options.only):
                    print(f"… {measure.__name__}", file=sys.stderr, flush=True)  # some take minutes
                    tell(partial(one_row, measure, setup, options.runs), rows)
            if is_wanted("natural_rows", options.only):
                tell(lambda: natural_rows(setup, options.runs), rows)
        finally:
            setup.close()
    write(rows)
    print(missed(rows))
    worse = worse_rows(options.history, rows) if options.history else []
    if worse:
        print(f"much worse than in the runs before: {', '.join(worse)}")
    return 1 if worse else 0


def missed(rows: Sequence[Row]) -> str:
    """No failure of the program: on a busy machine, or a slow one, some always are."""
    names = [row.id for row in rows if row.is_missed]
    return f"{len(names)} of {len(rows)} targets missed{': ' if names else '.'}{', '.join(names)}"


def one_row(measure: Callable[[BenchSetup, int], Row], setup: BenchSetup, runs: int) -> Iterable[Row]:
    row = measure(setup, runs)
    yield replace(row, detail=f"{row.detail}; {pace()}") if row.unit in ("ms", "µs") else row


def pace() -> str:
    """How fast the machine is just now, for figures that are no ratios: a rented one differs threefold in hours."""
    return f"a million additions took {min(_additions_ms() for _ in range(3)):.0f} ms"


def _additions_ms() -> float:
    started, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number
    return 1000 * (time.process_time() - started)


def tell(measured: Callable[[], Iterable[Row]], rows: list[Row]) -> None:
    started = time.perf_counter()
    for row in measured():
        rows.append(row)
        print(
            f"{row.id:34} {row.value:8.3f} {row.unit:6} {row.target:8} {'MISSED ' if row.is_missed else ''}{row.told}"
            f"  ({time.perf_counter() - started:.0f} s)",
            flush=True,
        )


def write(rows: list[Row]) -> None:
    (OUT / "report.json").write_text(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=2))
    lines = [missed(rows), "", "| id | value | unit | target | detail |", "|---|---|---|---|---|"]
    lines += [f"| {row.id} | {row.value:.3f} | {row.unit} | {row.target} | {row.told} |" for row in rows]
    (OUT / "report.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
