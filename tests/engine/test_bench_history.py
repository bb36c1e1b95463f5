"""Figures of the bench beside those of earlier runs."""

from __future__ import annotations

from pathlib import Path

from tests.bench.history import worse_rows
from tests.bench.rows import Row


def _rows(ratio: float, time_ms: float) -> list[Row]:
    return [Row("ratio", ratio, "ratio", "≥ 1.0", ""), Row("time", time_ms, "ms", "≤ 10", "")]


def test_a_row_that_halves_is_named_whichever_way_is_better(tmp_path: Path) -> None:
    assert worse_rows(tmp_path, _rows(2.0, 10)) == []  # nothing to compare with
    assert worse_rows(tmp_path, _rows(1.9, 11)) == []
    assert worse_rows(tmp_path, _rows(1.0, 5)) == ["ratio"]
    assert worse_rows(tmp_path, _rows(4.0, 20)) == ["time"]
    assert worse_rows(tmp_path, [Row("new", 1, "ratio", "", "")]) == []
