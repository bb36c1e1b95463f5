"""Which rows on disk are a model's: not those of other files, another folder, another version, or an older format."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from engine.decoding.sequence import Sequence
from engine.models.loading import LoadedModel
from engine.prefix.disk import PrefixDisk
from engine.prefix.memory import PrefixStore
from tests.engine.test_prefix_disk import CHAT, cached, files, write
from tests.helpers.loading import load_model
from tests.helpers.tiny_families import FAMILIES, save_family
from tests.helpers.tiny_models import build, save


@pytest.fixture(scope="module")
def model(models: dict[str, LoadedModel]) -> LoadedModel:
    return models["hybrid"]


@pytest.mark.parametrize("of", ["other weights", "other shapes"])
@pytest.mark.expect_log("of another model, or another version")
def test_a_kept_cache_that_was_copied_from_another_model_is_dropped(
    dense: LoadedModel, tmp_path: Path, of: str
) -> None:
    """By hand, or by a program that syncs folders: its rows would be wrong text, or no rows of this network at all."""
    changes: dict[str, Any] = {} if of == "other weights" else {"num_key_value_heads": 4}
    config = FAMILIES["dense"] | changes
    other = load_model(save(build(config, seed=1), config, tmp_path / "other"))
    write(other, PrefixDisk(tmp_path / "kept"))
    (copied,) = files(tmp_path / "kept")[:1]
    here = copied.parent.with_name(dense.identity)
    shutil.copytree(copied.parent, here)
    sequence = PrefixStore(disk=PrefixDisk(tmp_path / "kept")).take(dense, list(CHAT))

    assert sequence.caches.position == 0
    assert not list(here.iterdir())
    assert cached(other, tmp_path / "kept") == len(CHAT) - 1
    assert mx.array_equal(sequence.feed(mx.array(CHAT)), Sequence(dense, list(CHAT)).feed(mx.array(CHAT)))


@pytest.mark.expect_log("of another model, or another version")
def test_a_kept_cache_that_was_copied_from_another_version_is_dropped(
    dense: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("engine.prefix.disk._version", lambda: "hunch-4-mlx0.1")
        write(dense, PrefixDisk(tmp_path / "old"))
    PrefixDisk(tmp_path / "new")
    (now,) = (tmp_path / "new").iterdir()
    shutil.copytree(tmp_path / "old" / "hunch-4-mlx0.1", now, dirs_exist_ok=True)
    assert files(tmp_path / "new")
    assert cached(dense, tmp_path / "new") == 0
    assert not files(tmp_path / "new")


def other_file(folder: Path) -> None:
    """Other weights of the same size under the same name and time, as an update that keeps times would bring."""
    weights = folder / "model.safetensors"
    times = weights.stat()
    fresh = save_family("hybrid", folder.parent / "fresh", seed=1) / "model.safetensors"
    os.utime(fresh, ns=(times.st_atime_ns, times.st_mtime_ns))
    fresh.replace(weights)


def same_file_other_content(folder: Path) -> None:
    weights = folder / "model.safetensors"
    times = weights.stat()
    fresh = save_family("hybrid", folder.parent / "fresh", seed=1) / "model.safetensors"
    weights.write_bytes(fresh.read_bytes())
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))


def other_settings(folder: Path) -> None:
    config = folder / "config.json"
    times = config.stat()
    config.write_text(config.read_text().replace('"rope_theta": 10000.0', '"rope_theta": 20000.0'))
    os.utime(config, ns=(times.st_atime_ns, times.st_mtime_ns))


def a_copy_in_its_place(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))
    shutil.copytree(folder.with_name("moved"), folder)


def later_file(folder: Path) -> None:
    os.utime(folder / "model.safetensors")


@pytest.mark.costly
@pytest.mark.parametrize(
    "change",
    [
        other_file,
        same_file_other_content,
        other_settings,
        a_copy_in_its_place,
        later_file,
    ],
    ids=lambda change: change.__name__,
)
def test_nothing_is_reused_after_the_files_of_a_model_changed(
    folders: dict[str, Path], tmp_path: Path, change: Callable[[Path], None]
) -> None:
    """A cache of other weights would be wrong text: not even times, sizes and names need differ."""
    folder = tmp_path / "model"
    shutil.copytree(folders["hybrid"], folder)
    write(load_model(folder), PrefixDisk(tmp_path / "kept"))
    assert cached(load_model(folder), tmp_path / "kept") == len(CHAT) - 1
    change(folder)

    assert cached(load_model(folder), tmp_path / "kept") == 0


def test_a_model_that_moved_keeps_its_caches(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(folders["hybrid"], folder)
    write(load_model(folder), PrefixDisk(tmp_path / "kept"))
    moved = folder.rename(tmp_path / "moved")

    assert cached(load_model(moved), tmp_path / "kept") == len(CHAT) - 1


def test_old_versions_go_and_strangers_stay(tmp_path: Path) -> None:
    old, stranger = tmp_path / "hunch-0-mlx0.1", tmp_path / "my thesis"
    for folder in (old, stranger):
        folder.mkdir()
        (folder / "file").write_text("x")
    link = tmp_path / "hunch-0-link"
    link.symlink_to(stranger)
    PrefixDisk(tmp_path)

    assert not old.exists()
    assert link.exists()  # what cannot be deleted keeps nobody from using the rest
    assert (stranger / "file").exists()
