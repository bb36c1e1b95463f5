"""The figures of earlier runs, one file a run: a row that has become much worse is seen the day it happens."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path

from tests.bench.rows import Row

_RUNS = 30
_WORSE = 1.5  # rented machines differ by less than this in ratios, and in times of several runs


def worse_rows(folder: Path, rows: Sequence[Row]) -> list[str]:
    """The rows that are worse than the median of the runs before by more than a half; those of this run are added."""
    runs = sorted(folder.glob("*.json"))
    earlier: dict[str, list[float]] = {}
    for run in runs:
        for name, value in json.loads(run.read_text(encoding="utf-8")).items():
            earlier.setdefault(name, []).append(value)
    found = [row.id for row in rows if row.id in earlier and _is_worse(row, statistics.median(earlier[row.id]))]
    folder.mkdir(parents=True, exist_ok=True)
    number = int(runs[-1].stem) + 1 if runs else 1
    (folder / f"{number:06}.json").write_text(json.dumps({row.id: row.value for row in rows}), encoding="utf-8")
    for old in runs[: max(0, len(runs) + 1 - _RUNS)]:
        old.unlink()
    return found


def _is_worse(row: Row, before: float) -> bool:
    if row.target.startswith("≥"):
        return row.value * _WORSE < before
    return row.value > before * _WORSE
