"""Where things are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.system.paths import Paths


def test_profile_folder_holds_everything(tmp_path: Path) -> None:
    paths = Paths.for_user(tmp_path / "profile")
    places = [paths.database, paths.settings, paths.hub_token, paths.models, paths.lock, paths.cache, paths.logs]
    assert all(place.is_relative_to(tmp_path / "profile") for place in places)
    assert len(set(places)) == len(places)
    assert all(folder.is_dir() for folder in (paths.data, paths.cache, paths.logs))


def test_profile_folder_may_be_in_the_home_or_in_the_present_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a shell leaves `--profile-dir=~/profile`; what is kept names folders in it, for starts from elsewhere."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert Paths.for_user(Path("~/profile")).models == tmp_path / "home" / "profile" / "data" / "models"
    assert Paths.for_user(Path("profile")).models == tmp_path / "profile" / "data" / "models"
    assert not (tmp_path / "~").exists()


def test_user_folders_are_the_apps_own() -> None:
    assert all("Hunch" in str(folder) for folder in (Paths.for_user().data, Paths.for_user().cache))
