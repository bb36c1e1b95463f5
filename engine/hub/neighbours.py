"""Where other programs of this person keep models: looked up in their own settings, only ever read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from engine.api.types import ModelSource
from engine.models.model_files import CONFIG_LIMIT_BYTES, FileError, JsonObject, object_at, read_object, start_of

_MOST_FOLDERS = 20
_LM_STUDIO_SETTINGS = ".lmstudio/settings.json"
_LM_STUDIO_FOLDERS = (".lmstudio/models", ".cache/lm-studio/models")
_OMLX_MOVED_TO = "Library/Application Support/oMLX/base-path"


def neighbours(home: Path) -> tuple[tuple[ModelSource, Path], ...]:
    """Folders with models, each once; some may not be there."""
    found: dict[Path, ModelSource] = {}
    for source, folder in (*_lm_studio(home), *_omlx(home)):
        if len(found) < _MOST_FOLDERS:
            found.setdefault(folder, source)
    return tuple((source, folder) for folder, source in found.items())


def _lm_studio(home: Path) -> Iterator[tuple[ModelSource, Path]]:
    moved = _settings(home / _LM_STUDIO_SETTINGS).get("downloadsFolder")
    for folder in (moved, *_LM_STUDIO_FOLDERS):
        if path := _folder(folder, home):
            yield ModelSource.LM_STUDIO, path


def _omlx(home: Path) -> Iterator[tuple[ModelSource, Path]]:
    base = _omlx_base(home)
    told = object_at(_settings(base / "settings.json"), "model")
    folders = told.get("model_dirs")
    named = list(folders) if isinstance(folders, list) and folders else [told.get("model_dir")]
    for folder in named if any(named) else [str(base / "models")]:
        if path := _folder(folder, home):
            yield ModelSource.OMLX, path


def _omlx_base(home: Path) -> Path:
    """By the same rules as oMLX: the environment, the file that its app writes, or its folder in the home."""
    try:
        moved = start_of(home / _OMLX_MOVED_TO, 4096).decode("utf-8", "replace").strip()
    except (FileError, OSError):
        moved = ""
    return _folder(os.environ.get("OMLX_BASE_PATH") or moved, home) or home / ".omlx"


def _settings(path: Path) -> JsonObject:
    try:
        return read_object(path, CONFIG_LIMIT_BYTES)
    except FileError:
        return {}


def _folder(told: object, home: Path) -> Path | None:
    """Absolute, or in the home folder; None for what is no name of a folder."""
    if not isinstance(told, str) or not told or "\0" in told or len(told) > 4096:
        return None
    return home / told.removeprefix("~/")
