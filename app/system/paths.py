"""Paths of the app's files and folders. Creates the folders if possible, for the owner alone; reads nothing."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

import platformdirs

APP_NAME = "Hunch"


@dataclass(frozen=True, slots=True)
class Paths:
    data: Path
    cache: Path
    logs: Path
    of_user: bool = False  # profiles for tests must not use the user's keychain

    @classmethod
    def for_user(cls, profile_dir: Path | None = None) -> Paths:
        """The platform's folders, or everything under `profile_dir` (tests, a second instance)."""
        if profile_dir is not None:
            with contextlib.suppress(RuntimeError):  # no user of that name
                profile_dir = profile_dir.expanduser()
            profile_dir = profile_dir.absolute()  # the settings name folders in it, for starts in any other
            paths = cls(profile_dir / "data", profile_dir / "cache", profile_dir / "logs")
        else:
            known = platformdirs.PlatformDirs(APP_NAME, appauthor=False)
            paths = cls(known.user_data_path, known.user_cache_path, known.user_log_path, of_user=True)
        for folder in (paths.data, paths.cache, paths.logs):
            with contextlib.suppress(OSError):  # what needs it says what is missing, in a window
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return paths

    @property
    def database(self) -> Path:
        return self.data / "chats.db"

    @property
    def settings(self) -> Path:
        return self.data / "settings.json"

    @property
    def hub_token(self) -> Path:
        return self.data / "hub_token"

    @property
    def unsent(self) -> Path:
        """Text typed in a run that could not open the database."""
        return self.data / "unsent.txt"

    @property
    def left(self) -> Path:
        """Text that the database had not stored when the app ended."""
        return self.data / "left.json"

    @property
    def models(self) -> Path:
        return self.data / "models"

    @property
    def pairs(self) -> Path:
        """Gains of pairs on this machine."""
        return self.data / "pairs.json"

    @property
    def machines(self) -> Path:
        """This machine's key, and certificates of paired machines."""
        return self.data / "machines"

    @property
    def lock(self) -> Path:
        return self.data / "hunch.lock"
