"""Choosing among the ways to draft that were measured, and keeping what was measured of a pair."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from app.storage.pair_records import Measured, PairRecord, PairRecords
from app.system.machine import machine_name
from app.view_models.tuning import AUTO, PLAIN, WAYS, Content, Reading, Way, best_way, gains, longer_length, mean_gains


def readings(**rates: float) -> list[Reading]:
    """The same for each kind of text: plain=10, n4=16, auto=15."""
    ways = {"plain": PLAIN, "auto": AUTO} | {f"n{way.tokens}": way for way in WAYS if way.tokens}
    return [Reading(content, ways[name], rate) for content in Content for name, rate in rates.items()]


@pytest.mark.parametrize(
    ("measured", "best", "gain"),
    [
        (readings(plain=10, n4=20, auto=15), Way("fixed", 4), 2.0),
        (readings(plain=10, n4=15.2, auto=15), AUTO, 1.5),  # a lead within the noise is none
        (readings(plain=10, n4=12, auto=15), AUTO, 1.5),
        (readings(plain=10, n4=8, auto=9.9), None, 0.99),
        (readings(plain=10, n4=10.2, auto=10.1), None, 1.01),
        (readings(plain=10), None, 0.0),
        (readings(n4=10), None, 0.0),
        ([], None, 0.0),
    ],
)
def test_the_best_way_is_kept_only_where_it_wins(measured: list[Reading], best: Way | None, gain: float) -> None:
    found, found_gain = best_way(measured)
    assert found == best
    assert found_gain == pytest.approx(gain)


def test_of_two_passes_the_faster_counts() -> None:
    measured = [*readings(plain=10, auto=2), *readings(plain=5, auto=20)]
    way, gain = best_way(measured)
    assert way == AUTO
    assert gain == pytest.approx(2.0)


def test_a_gain_is_over_the_same_kind_of_text_and_the_mean_is_geometric() -> None:
    measured = [
        Reading(Content.CODE, PLAIN, 10),
        Reading(Content.CODE, AUTO, 40),
        Reading(Content.PROSE, PLAIN, 20),
        Reading(Content.PROSE, AUTO, 20),
        Reading(Content.PROSE, Way("fixed", 4), 99),  # measured of one kind alone
    ]
    assert gains(measured, Content.CODE) == {PLAIN: 1.0, AUTO: 4.0}
    assert gains(measured, Content.LANGUAGE) == {}
    assert mean_gains(measured) == {PLAIN: 1.0, AUTO: pytest.approx(2.0)}


@pytest.mark.parametrize(
    ("measured", "longer"),
    [
        (readings(plain=10, n6=18, n8=20), 12),
        (readings(plain=10, n6=20, n8=20.3), None),  # within the noise
        (readings(plain=10, n6=20, n8=15), None),
        (readings(plain=10, n6=20), None),
        ([*readings(plain=10, n8=20), Reading(Content.CODE, Way("fixed", 12), 30)], 12),  # not on all kinds of text
        ([*readings(plain=10, n8=20), *(Reading(each, Way("fixed", 12), 30) for each in Content)], 16),
        ([*readings(plain=10, n8=20), *(Reading(each, Way("fixed", 32), 30) for each in Content)], None),
        ([], None),
    ],
)
def test_a_longer_draft_is_worth_trying_where_the_longest_was_the_fastest(
    measured: list[Reading], longer: int | None
) -> None:
    assert longer_length(measured) == longer


HERE = "Apple M3 Max, 64 GB"
RECORD = PairRecord(1.5, (Measured("code", "fixed", 4, 20.5),), "fixed", 4, 1.7)


@pytest.mark.parametrize("gain", ["0.0", "-1", "NaN", "Infinity", '"fast"', "1" * 400])
def test_a_gain_that_cannot_be_costs_no_choice(tmp_path: Path, gain: str) -> None:
    file = tmp_path / "pairs.json"
    PairRecords(file, HERE).put_off("/m", "/d", off=True)
    file.write_text(file.read_text().replace('"gain": null', f'"gain": {gain}', 1))
    record = PairRecords(file, HERE).get("/m", "/d")
    assert record.off
    assert record.gain is None


def test_records_outlive_the_program(tmp_path: Path) -> None:
    records = PairRecords(tmp_path / "pairs.json", HERE)
    records.put_tuning("/m", "/d", RECORD)
    records.put_gain("/m", "/d", 1.2)
    records.put_gain("/m", "/other", 0.9)
    again = PairRecords(tmp_path / "pairs.json", HERE)
    assert again.get("/m", "/d") == PairRecord(1.2, RECORD.measured, "fixed", 4, 1.7, machine=HERE)
    assert again.get("/m", "/other").gain == 0.9
    assert again.get("/m", "/none") == PairRecord()
    again.put_tuning("/m", "/d", RECORD)
    assert again.get("/m", "/d").gain == 1.2  # which tuning does not measure


def test_what_another_machine_measured_is_not_told_but_what_was_turned_off_is(tmp_path: Path) -> None:
    there = PairRecords(tmp_path / "pairs.json", "Apple M1, 8 GB")
    there.put_tuning("/m", "/d", RECORD)
    there.put_off("/m", "/d", True)
    here = PairRecords(tmp_path / "pairs.json", HERE)
    assert here.get("/m", "/d") == PairRecord(off=True)
    here.put_gain("/m", "/d", 1.2)
    assert PairRecords(tmp_path / "pairs.json", HERE).get("/m", "/d") == PairRecord(1.2, off=True, machine=HERE)


def test_what_an_older_version_measured_is_told(tmp_path: Path) -> None:
    old = '{"/m\\n/d": {"gain": 1.5, "measured": [], "mode": "", "tokens": 0, "tuned_gain": null, "off": false}}'
    (tmp_path / "pairs.json").write_text(old)
    assert PairRecords(tmp_path / "pairs.json", HERE).get("/m", "/d").gain == 1.5


def test_a_machine_is_called_by_its_processor_and_memory() -> None:
    assert re.fullmatch(r"\S.*, \d+ GB", machine_name())


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        "[" * 10**5,
        '{"a\\nb": 7}',
        '{"a\\nb": {"gain": "x", "measured": [], "mode": "", "tokens": 0, "tuned_gain": null}}',
        '{"a\\nb": {"gain": NaN, "measured": [], "mode": "", "tokens": 0, "tuned_gain": null}}',
        '{"a\\nb": {"gain": null, "measured": [{}], "mode": "", "tokens": 0, "tuned_gain": null}}',
        '{"a\\nb": {"gain": null, "measured": 3, "mode": "", "tokens": 1e999, "tuned_gain": null}}',
    ],
)
def test_damage_costs_what_was_measured_and_nothing_else(tmp_path: Path, content: str) -> None:
    (tmp_path / "pairs.json").write_text(content)
    records = PairRecords(tmp_path / "pairs.json", HERE)
    assert records.get("a", "b") == PairRecord()
    records.put_gain("a", "b", 2.0)
    assert PairRecords(tmp_path / "pairs.json", HERE).get("a", "b").gain == 2.0


def test_the_file_stays_small(tmp_path: Path) -> None:
    file = tmp_path / "pairs.json"
    PairRecords(file, HERE).put_gain("/m", "/d", 1.0)
    (record,) = json.loads(file.read_text()).values()
    file.write_text(json.dumps({f"/m\n/d{number}": record for number in range(230)}))
    PairRecords(file, HERE).put_gain("/m", "/last", 1.0)
    again = PairRecords(file, HERE)
    assert again.get("/m", "/last").gain == again.get("/m", "/d229").gain == 1.0
    assert again.get("/m", "/d0").gain is None
