"""What is kept of a pair: what its draft gained here, and that it was turned off."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest

from app.settings import as_setting
from app.storage.pair_records import PairRecord, PairRecords
from app.system.machine import machine_name

HERE = "Apple M3 Max, 64 GB"


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
    records.put_off("/m", "/d", off=True)
    records.put_gain("/m", "/d", 1.2)
    records.put_gain("/m", "/other", 0.9)
    again = PairRecords(tmp_path / "pairs.json", HERE)
    assert again.get("/m", "/d") == PairRecord(1.2, off=True, machine=HERE)
    assert again.get("/m", "/other").gain == 0.9
    assert again.get("/m", "/none") == PairRecord()


def test_a_gain_is_a_mean_in_which_a_race_counts_for_several_replies(tmp_path: Path) -> None:
    records = PairRecords(tmp_path / "pairs.json", HERE)
    for gain in (2.0, 2.0, 0.5):
        records.put_gain("/m", "/d", gain)
    assert records.get("/m", "/d").gain == pytest.approx(2 ** (1 / 3))
    assert not records.get("/m", "/d").loses
    for _ in range(20):
        records.put_gain("/m", "/d", 0.5)
    assert not records.get("/m", "/d").loses, "no number of replies on a busy machine is a proof"
    for _ in range(3):
        records.put_race("/m", "/d", 0.8)
    record = PairRecords(tmp_path / "pairs.json", HERE).get("/m", "/d")
    assert record.gain == pytest.approx(0.8, rel=0.05)
    assert record.loses
    for _ in range(60):
        records.put_gain("/m", "/d", 1.5)
    assert records.get("/m", "/d").gain == pytest.approx(1.5, rel=0.01), "what was long ago fades"


def test_what_another_machine_measured_is_not_told_but_what_was_turned_off_is(tmp_path: Path) -> None:
    there = PairRecords(tmp_path / "pairs.json", "Apple M1, 8 GB")
    there.put_gain("/m", "/d", 1.5)
    there.put_off("/m", "/d", True)
    here = PairRecords(tmp_path / "pairs.json", HERE)
    assert here.get("/m", "/d") == PairRecord(off=True)
    here.put_gain("/m", "/d", 1.2)
    assert PairRecords(tmp_path / "pairs.json", HERE).get("/m", "/d") == PairRecord(1.2, off=True, machine=HERE)


def test_what_an_older_version_measured_is_told(tmp_path: Path) -> None:
    old = '{"/m\\n/d": {"gain": 1.5, "measured": [], "mode": "fixed", "tokens": 4, "tuned_gain": null, "off": true}}'
    (tmp_path / "pairs.json").write_text(old)
    assert PairRecords(tmp_path / "pairs.json", HERE).get("/m", "/d") == PairRecord(1.5, off=True)


def test_the_choice_about_the_apps_own_pair_stays_when_an_update_moves_the_app(tmp_path: Path) -> None:
    """Also one that an earlier version stored by its folders, from where the app was then."""

    def records(app: str) -> PairRecords:
        return PairRecords(tmp_path / "pairs.json", HERE, named=partial(as_setting, starter=Path(app) / "main"))

    PairRecords(tmp_path / "pairs.json", HERE).put_off("/old/main", "/old/draft", off=True)
    records("/old").put_gain("/old/main", "/m", 1.5)
    assert records("/new").get("/new/main", "/new/draft").off
    assert records("/new").get("/new/main", "/m").gain == 1.5
    assert list(json.loads((tmp_path / "pairs.json").read_text())) == ["starter\nstarter/draft", "starter\n/m"]


def test_a_machine_is_called_by_its_processor_and_memory() -> None:
    assert re.fullmatch(r"\S.*, \d+ GB", machine_name())


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[" * 10**5,
        '{"a\\nb": 7}',
        '{"a\\nb": {"gain": "x"}}',
        '{"a\\nb": {"gain": 1e999, "off": 1}}',
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
    file.write_text(json.dumps({f"/m\n/d{number}": record | {"off": number == 0} for number in range(230)}))
    PairRecords(file, HERE).put_gain("/m", "/last", 1.0)
    again = PairRecords(file, HERE)
    assert again.get("/m", "/last").gain == again.get("/m", "/d229").gain == 1.0
    assert again.get("/m", "/d1").gain is None
    assert again.get("/m", "/d0").off, "a choice is no measurement"
