"""Deletes an installed model, and only that: nothing outside our own folder, nothing that is no model."""

from __future__ import annotations

from pathlib import Path

from engine.api.types import DeleteRefusal
from engine.hub.staging import new_trash, remove


class CannotDelete(Exception):
    def __init__(self, reason: DeleteRefusal) -> None:
        super().__init__(reason.value)
        self.reason = reason


def delete_model(root: Path, folder: Path) -> int:
    """Gives back how many bytes were freed."""
    inside = _place_in(root.resolve(), folder)
    size_bytes = sum(path.lstat().st_size for path in inside.rglob("*") if not path.is_dir())
    trash = new_trash(root.resolve())
    trash.parent.mkdir(parents=True, exist_ok=True)
    inside.rename(trash)  # gone at once, whatever happens to the rest
    remove(trash)
    if inside.parent != root.resolve() and not any(inside.parent.iterdir()):
        inside.parent.rmdir()
    return size_bytes


def _place_in(root: Path, folder: Path) -> Path:
    resolved = folder.resolve()
    if folder.is_symlink() or not resolved.is_relative_to(root):
        raise CannotDelete(DeleteRefusal.NOT_OURS)
    parts = resolved.relative_to(root).parts
    if not 1 <= len(parts) <= 2 or parts[0].startswith(".") or not (resolved / "config.json").is_file():
        raise CannotDelete(DeleteRefusal.NO_MODEL)
    return resolved
