"""What was read of models before, so that a scan opens only files that are new or have changed.

A folder is known by the names, sizes, times and inodes of its files. Only good answers are kept: what was wrong with a
model is looked at again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from engine.api.files import write_atomically
from engine.api.types import CacheSizes, DrafterInfo, DrafterKind, ModelAbout, ModelInfo
from engine.models.inspect import inspect_model
from engine.models.model_files import INDEX_LIMIT_BYTES, FileError, object_at, read_object

_READING = 3  # goes up whenever inspect_model reads more out of the same files


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """What a folder's listing tells without any file being opened."""

    identity: str
    size_bytes: int

    @classmethod
    def of(cls, stats: Mapping[str, tuple[int, int, int]]) -> FolderFiles:
        """`stats`: size, time of change in nanoseconds and inode, by name."""
        told = repr(sorted(stats.items())).encode("utf-8", "surrogatepass")
        return cls(hashlib.blake2b(told, digest_size=16).hexdigest(), sum(size for size, _, _ in stats.values()))


class Inspected:
    """Used by one thread."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ModelInfo]] = {}  # by folder
        self._changed = False

    def info(self, folder: Path, files: FolderFiles) -> ModelInfo:
        """Raises a ModelError, as inspect_model does."""
        known = self._known.get(str(folder))
        if known is not None and known[0] == files.identity:
            return known[1]
        self._known.pop(str(folder), None)
        info = inspect_model(folder)
        self._known[str(folder)] = (files.identity, info)
        self._changed = True
        return info

    def load(self, path: Path) -> None:
        """A file that is not there, not right or of another version only costs time."""
        try:
            content = read_object(path, INDEX_LIMIT_BYTES)
        except FileError:
            return
        if content.get("made_by") != _maker():
            return
        for folder, row in object_at(content, "models").items():
            info = _info(row)
            if info is not None and isinstance(row, dict) and info.folder == folder:
                self._known[folder] = (str(row.get("identity")), info)

    def save(self, path: Path, seen: set[str]) -> None:
        """Only what the last scan has `seen`."""
        if not self._changed and self._known.keys() <= seen:
            return
        self._known = {folder: known for folder, known in self._known.items() if folder in seen}
        rows = {folder: {"identity": identity, **asdict(info)} for folder, (identity, info) in self._known.items()}
        write_atomically(path, json.dumps({"made_by": _maker(), "models": rows}), private=False)
        self._changed = False


def _maker() -> str:
    """Whatever decides what is read out of a folder."""
    try:
        architectures = version("mlx-lm")
    except PackageNotFoundError:
        architectures = ""
    return f"{_READING} {architectures} {' '.join(field.name for field in fields(ModelInfo))}"


def _info(row: object) -> ModelInfo | None:
    """What asdict made of it, back again."""
    if not isinstance(row, dict):
        return None
    told: dict[str, Any] = {key: value for key, value in row.items() if key != "identity"}
    try:
        about = dict(told["about"])
        told["about"] = ModelAbout(**about | {"languages": tuple(about["languages"])})
        told["caches"] = CacheSizes(**told["caches"]) if told["caches"] is not None else None
        for part in ("drafter", "own_drafter"):
            told[part] = _drafter(told[part])
        return ModelInfo(**told)
    except (KeyError, TypeError, ValueError):
        return None


def _drafter(row: Any) -> DrafterInfo | None:
    if row is None:
        return None
    return DrafterInfo(**row | {"kind": DrafterKind(row["kind"]), "layers": tuple(row["layers"])})
