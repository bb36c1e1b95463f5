"""What lies under `.downloads` beside the models: downloads under way, one folder each, and what is on its way out.

A repository's staging folder belongs to whoever holds its lock (locks.py), in whatever process. Anything in it may be
something else than we left there: what is no plain file of ours goes, and a link is never followed.
"""

from __future__ import annotations

import os
import shutil
import stat
import uuid
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from engine.hub.manifest import read_manifest
from engine.hub.repository import MANIFEST, MAX_TOTAL_BYTES, check_repository, is_commit, parts_of
from engine.hub.writer import sync_folder
from engine.models.model_files import CONFIG_LIMIT_BYTES, FileError, JsonObject, object_at, read_object

STAGING = ".downloads"
FILES = "files"
RECORD = "download.json"
FORMER = "former"  # the model that is being replaced, until its successor is in place
TRASH = "trash-"


def staging_of(root: Path, repository: str) -> Path:
    check_repository(repository)  # what is deleted later must be a folder of our own
    return root / STAGING / repository.replace("/", "--").casefold()


def target_of(root: Path, repository: str) -> Path:
    """Where it is installed. A drafter's folder lies beside its main model: no update of that one takes it away."""
    name, inside = parts_of(repository)
    return root / (f"{name}--{inside}" if inside else name)  # no repository has such a name


def new_trash(root: Path) -> Path:
    return root / STAGING / f"{TRASH}{uuid.uuid4().hex}"


def remove(path: Path | None) -> None:
    """Whatever it is; somebody else may be removing it, too."""
    if path is None:
        return
    with suppress(FileNotFoundError):
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path, onerror=_gone_is_fine)
        else:
            path.unlink()


def tidy(staging: Path) -> None:
    """A staging folder with plain files only, whatever was there."""
    for folder in (staging, staging / FILES):
        if folder.is_symlink() or not folder.is_dir():
            remove(folder)
            folder.mkdir(parents=True)
    for path in (*staging.iterdir(), *(staging / FILES).iterdir()):
        if path not in (staging / FILES, staging / FORMER) and not stat.S_ISREG(path.lstat().st_mode):
            remove(path)


def keep_only(staging: Path, names: Collection[str]) -> None:
    """All else among the files goes, such as what came of another commit."""
    for path in (staging / FILES).iterdir():
        if path.name not in names:
            remove(path)


def kept_bytes(root: Path, repository: str) -> int:
    """What a later try need not fetch."""
    return bytes_in(staging_of(root, repository))


def bytes_in(staging: Path) -> int:
    folder = staging / FILES
    if folder.is_symlink() or not folder.is_dir():
        return 0
    total = 0
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another program is at work there
            told = path.lstat()
            total += told.st_size if stat.S_ISREG(told.st_mode) else 0
    return total


def begun_commit(staging: Path) -> str:
    """What an earlier try wrote down; "" where it did not get that far."""
    commit = recorded(staging).get("commit")
    return str(commit) if is_commit(commit) else ""


def recorded_bytes(staging: Path, name: str) -> int:
    count = recorded(staging).get(name)
    return count if type(count) is int and 0 <= count < MAX_TOTAL_BYTES else 0


def recorded(staging: Path) -> JsonObject:
    """What whoever works there, or did last, wrote down; empty when there is nothing, or nothing sound."""
    try:
        return read_object(staging / RECORD, CONFIG_LIMIT_BYTES)
    except FileError:
        return {}


def recover(root: Path, repository: str) -> None:
    """Put in order what a killed program left: the model that was being replaced, or the last step of an install."""
    staging, target = staging_of(root, repository), target_of(root, repository)
    tidy(staging)
    if os.path.lexists(staging / FORMER) and not os.path.lexists(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        (staging / FORMER).rename(target)
    remove(staging / FORMER)
    if (staging / FILES / MANIFEST).is_file():  # it is written last: all the rest is there
        publish(root, repository, object_at(read_manifest(staging / FILES), "files").keys())


def publish(root: Path, repository: str, names: Collection[str]) -> None:
    """The files of the staging folder become the model. A former one goes only when they are in its place."""
    staging, target = staging_of(root, repository), target_of(root, repository)
    keep_only(staging, {*names, MANIFEST})
    sync_folder(staging / FILES)
    target.parent.mkdir(parents=True, exist_ok=True)
    remove(staging / FORMER)
    with suppress(FileNotFoundError):
        target.rename(staging / FORMER)
    try:
        (staging / FILES).rename(target)
    except OSError:
        with suppress(FileNotFoundError):
            (staging / FORMER).rename(target)
        raise
    sync_folder(target.parent)
    remove(staging / FORMER)


def _gone_is_fine(_: Callable[..., object], __: str, raised: tuple[object, BaseException, object]) -> None:
    if not isinstance(raised[1], FileNotFoundError):
        raise raised[1]
