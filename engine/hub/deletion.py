"""Deletes an installed model, and only that: nothing outside our own folder, nothing that is no model."""

from __future__ import annotations

import errno
import logging
from contextlib import suppress
from pathlib import Path

from engine.api.types import DeleteRefusal
from engine.hub.staging import new_trash, remove

_REASONS = {
    errno.ENOENT: DeleteRefusal.GONE,
    errno.ENOTDIR: DeleteRefusal.GONE,
    errno.EACCES: DeleteRefusal.FORBIDDEN,
    errno.EPERM: DeleteRefusal.FORBIDDEN,
    errno.EROFS: DeleteRefusal.READ_ONLY,
    errno.EBUSY: DeleteRefusal.LOCKED,
    errno.ETXTBSY: DeleteRefusal.LOCKED,
}

_log = logging.getLogger(__name__)


class CannotDelete(Exception):
    def __init__(self, reason: DeleteRefusal, detail: str = "") -> None:
        super().__init__(detail or reason.value)
        self.reason = reason


def delete_model(root: Path, folder: Path) -> int:
    """Gives back how many bytes are freed. Raises CannotDelete; then the model is as it was."""
    try:
        inside = _place_in(root.resolve(), folder)
        size_bytes = sum(path.lstat().st_size for path in inside.rglob("*") if not path.is_dir())
        trash = new_trash(root.resolve())
        trash.parent.mkdir(parents=True, exist_ok=True)
        inside.rename(trash)  # gone at once, whatever happens to the rest
    except OSError as error:
        raise CannotDelete(_REASONS.get(error.errno or 0, DeleteRefusal.DISK), str(error)) from error
    _make_room(trash, inside.parent, root.resolve())
    return size_bytes


def _make_room(trash: Path, parent: Path, root: Path) -> None:
    try:
        remove(trash)
    except OSError as error:
        _log.warning("A deleted model takes its room until the next start: %s", error)
    if parent != root:
        with suppress(OSError):  # other models are in it
            parent.rmdir()


def _place_in(root: Path, folder: Path) -> Path:
    resolved = folder.resolve()
    if not folder.is_symlink() and not resolved.exists():
        raise CannotDelete(DeleteRefusal.GONE)
    if folder.is_symlink() or not resolved.is_relative_to(root):
        raise CannotDelete(DeleteRefusal.NOT_OURS)
    parts = resolved.relative_to(root).parts
    if not 1 <= len(parts) <= 2 or parts[0].startswith(".") or not (resolved / "config.json").is_file():
        raise CannotDelete(DeleteRefusal.NO_MODEL)
    return resolved
