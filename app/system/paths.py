"""Paths of the app's files and folders. Creates the folders, reads nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import platformdirs

APP_NAME = "Hunch"


@dataclass(frozen=True, slots=True)
class Paths:
    data: Path
    cache: Path
    logs: Path

    @classmethod
    def for_user(cls, profile_dir: Path | None = None) -> Paths:
        """The platform's folders, or everything under `profile_dir` (tests, a second instance)."""
        if profile_dir is not None:
            paths = cls(profile_dir / "data", profile_dir / "cache", profile_dir / "logs")
        else:
            known = platformdirs.PlatformDirs(APP_NAME, appauthor=False)
            paths = cls(known.user_data_path, known.user_cache_path, known.user_log_path)
        for folder in (paths.data, paths.cache, paths.logs):
            folder.mkdir(parents=True, exist_ok=True)
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
    def models(self) -> Path:
        return self.data / "models"

    @property
    def lock(self) -> Path:
        return self.data / "hunch.lock"
