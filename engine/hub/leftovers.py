"""What an earlier run of the program left under `.downloads`: bytes to go on with, a last step to finish, rubbish."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.hub.download import FILES, RECORD, STAGING, TRASH, new_trash, publish, remove, staging_of
from engine.hub.manifest import read_manifest
from engine.hub.repository import MANIFEST, is_repository
from engine.models.model_files import CONFIG_LIMIT_BYTES, FileError, object_at, read_object


def clean_up(root: Path) -> None:
    """Finishes installations that only lacked their last step, and deletes what was on its way out."""
    for trash in root.glob(f"{STAGING}/{TRASH}*"):
        remove(trash)
    for staging, repository in unfinished(root):
        if (staging / FILES / MANIFEST).is_file():
            names = set(object_at(read_manifest(staging / FILES), "files"))
            publish(root, staging / FILES, root / repository, names)
        if not kept_bytes(root, repository):
            remove(staging)


def unfinished(root: Path) -> Iterator[tuple[Path, str]]:
    """Staging folders and their repositories."""
    for record in sorted(root.glob(f"{STAGING}/*/{RECORD}")):
        try:
            repository = read_object(record, CONFIG_LIMIT_BYTES).get("repository")
        except FileError:
            continue
        if is_repository(repository) and record.parent == staging_of(root, str(repository)):
            yield record.parent, str(repository)


def kept_bytes(root: Path, repository: str) -> int:
    folder = staging_of(root, repository) / FILES
    return sum(path.stat().st_size for path in folder.iterdir()) if folder.is_dir() else 0


def set_aside(root: Path, repository: str) -> Path | None:
    """Takes the staging folder out of the way, at once; deleting it may take longer."""
    staging = staging_of(root, repository)
    if not staging.is_dir():
        return None
    trash = new_trash(root)
    staging.rename(trash)
    return trash


def delete(trash: Path | None) -> None:
    if trash is not None:
        remove(trash)
