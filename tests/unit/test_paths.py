"""Where things are kept."""

from __future__ import annotations

from pathlib import Path

from app.system.paths import Paths


def test_profile_folder_holds_everything(tmp_path: Path) -> None:
    paths = Paths.for_user(tmp_path / "profile")
    places = [paths.database, paths.settings, paths.hub_token, paths.models, paths.lock, paths.cache, paths.logs]
    assert all(place.is_relative_to(tmp_path / "profile") for place in places)
    assert len(set(places)) == len(places)
    assert all(folder.is_dir() for folder in (paths.data, paths.cache, paths.logs))


def test_user_folders_are_the_apps_own() -> None:
    assert all("Hunch" in str(folder) for folder in (Paths.for_user().data, Paths.for_user().cache))
