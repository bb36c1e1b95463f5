"""Figures of the bench beside those of earlier runs."""

from __future__ import annotations

import re
from pathlib import Path

from tests.bench.history import worse_rows
from tests.bench.measures import MEASURES, is_wanted
from tests.bench.rows import Row

BENCH = Path(__file__).parents[1] / "bench"


def _rows(ratio: float, time_ms: float) -> list[Row]:
    return [Row("ratio", ratio, "ratio", "≥ 1.0", ""), Row("time", time_ms, "ms", "≤ 10", "")]


def test_a_row_that_halves_is_named_whichever_way_is_better(tmp_path: Path) -> None:
    assert worse_rows(tmp_path, _rows(2.0, 10)) == []  # nothing to compare with
    assert worse_rows(tmp_path, _rows(1.9, 11)) == []
    assert worse_rows(tmp_path, _rows(1.0, 5)) == ["ratio"]
    assert worse_rows(tmp_path, _rows(4.0, 20)) == ["time"]
    assert worse_rows(tmp_path, [Row("new", 1, "ratio", "", "")]) == []


_IDS = re.compile(r'"((?:app|cluster|engine|server)\.[\w.]*\w)"')


def test_a_row_is_asked_for_by_its_id_or_by_its_functions_name() -> None:
    names = [measure.__name__ for measure in MEASURES]
    rows = [row for file in BENCH.glob("*.py") for row in _IDS.findall(file.read_text("utf-8"))]
    assert len(rows) > 30
    for row in rows:
        assert row.removeprefix("engine.").replace(".", "_") in names
        assert any(is_wanted(name, row) for name in names)


def test_only_what_is_asked_for_is_measured() -> None:
    names = [measure.__name__ for measure in MEASURES]
    assert [name for name in names if is_wanted(name, "server.first_byte_ms")] == ["server_first_byte_ms"]
    assert [name for name in names if is_wanted(name, "engine.mtp.vs_plain")] == ["mtp_vs_plain"]
    assert [name for name in names if is_wanted(name, "mtp_vs")] == ["mtp_vs_plain"]
    assert not any(is_wanted(name, "engine.natural.code") for name in names)
    assert is_wanted("natural_rows", "engine.natural.code")
    assert all(is_wanted(name, "") for name in names)
