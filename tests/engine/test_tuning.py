"""Calibration: real forwards of a tiny pair, kept on disk, measured again when it cannot be trusted."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from engine.caches.base import CacheSet
from engine.drafting import calibration
from engine.drafting.calibration import WIDTHS, Tuner
from engine.drafting.costs import RoundCosts
from engine.models.loading import LoadedModel, load_draft, load_model
from engine.runtime.scheduler import Scheduler
from tests.engine.conftest import Zoo


@pytest.fixture(scope="module")
def main(zoo: Zoo) -> LoadedModel:
    return load_model(zoo.main)


@pytest.fixture(scope="module")
def draft(zoo: Zoo, main: LoadedModel) -> LoadedModel:
    return load_draft(zoo.drafts["other"], main)


def tuned(tuner: Tuner, main: LoadedModel, draft: LoadedModel | None) -> tuple[RoundCosts, int]:
    costs, slices = RoundCosts(), 0
    tuner.begin(main, draft, costs)
    while tuner.pending:
        tuner.step()
        slices += 1
    return costs, slices


def test_every_width_is_measured_one_forward_a_slice(main: LoadedModel, draft: LoadedModel) -> None:
    costs, slices = tuned(Tuner(), main, draft)

    assert set(costs.calibration.verify_s) == set(WIDTHS)
    assert all(seconds > 0 for seconds in costs.calibration.verify_s.values())
    assert costs.calibration.draft_s["draft"] > 0
    assert slices >= len(WIDTHS)


def test_a_second_start_knows_at_once(main: LoadedModel, draft: LoadedModel, tmp_path: Path) -> None:
    first, _ = tuned(Tuner(tmp_path), main, draft)
    again, slices = tuned(Tuner(tmp_path), main, draft)

    assert slices == 0
    assert again.calibration == first.calibration


def test_the_first_reply_after_a_start_knows_what_was_measured_before(
    main: LoadedModel, draft: LoadedModel, tmp_path: Path
) -> None:
    """Also one that was asked for while the models were loaded, so that nothing was idle before it."""
    tuned(Tuner(tmp_path), main, None)
    tuned(Tuner(tmp_path), main, draft)
    scheduler = Scheduler(Tuner(tmp_path))
    assert not scheduler.has_idle_work
    scheduler.set_main(main)
    assert not scheduler.has_idle_work  # nothing is left to measure
    scheduler.set_draft(draft)
    assert not scheduler.has_idle_work
    scheduler.set_draft(None)
    scheduler.set_main(None)
    assert not scheduler.has_idle_work


def test_another_pair_is_measured_by_itself(main: LoadedModel, draft: LoadedModel, tmp_path: Path) -> None:
    tuned(Tuner(tmp_path), main, draft)

    assert tuned(Tuner(tmp_path), main, None)[1] > 0


@pytest.mark.parametrize("package", ["mlx", "mlx-lm"])
def test_another_version_of_mlx_is_measured_anew(
    main: LoadedModel, tmp_path: Path, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its kernels may take other times."""
    tuned(Tuner(tmp_path), main, None)
    installed = importlib.metadata.version
    monkeypatch.setattr(
        "engine.drafting.calibration.version", lambda name: "99.0" if name == package else installed(name)
    )
    tuner = Tuner(tmp_path)
    tuner.begin(main, None, RoundCosts())

    assert tuner.pending


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"verify_s": {"1": -1}, "draft_s": {}}', '{"verify_s": {}, "draft_s": 3}']
)
def test_a_damaged_file_is_measured_again(main: LoadedModel, tmp_path: Path, text: str) -> None:
    tuned(Tuner(tmp_path), main, None)
    (path,) = tmp_path.iterdir()
    path.write_text(text)

    costs, slices = tuned(Tuner(tmp_path), main, None)

    assert slices > 0
    assert costs.calibration.verify_s


@pytest.mark.expect_log("could not keep the calibration")
def test_a_folder_that_cannot_be_written_costs_only_the_memory_of_it(main: LoadedModel, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    costs, _ = tuned(Tuner(tmp_path / "file" / "below"), main, None)

    assert costs.calibration.verify_s


def test_widths_that_save_nothing_are_measured_once(main: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each token costs as much as one forward, wide forwards take long, and none of them will be drafted."""
    measured: list[int] = []

    def forward_s(model: LoadedModel, caches: CacheSet, width: int) -> float:
        measured.append(width)
        caches.width = width  # a step is open
        return float(width if width != 4 else 1)

    monkeypatch.setattr(calibration, "_forward_s", forward_s)
    monkeypatch.setattr(CacheSet, "commit", lambda caches, kept: setattr(caches, "width", 0))
    costs, _ = tuned(Tuner(), main, None)

    assert costs.calibration.verify_s[4] == 1
    assert costs.calibration.verify_s[17] == 17
    assert measured.count(17) == 1
    assert measured.count(4) > measured.count(1) > 1
