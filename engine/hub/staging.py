"""The `.downloads` folder beside the models: running downloads, a folder each, and models being deleted.

Contains: the staging folder, its lock across processes, the manifest of what was installed, reservation of disk space,
recovery after an earlier run, and deletion. Files in a staging folder may have been changed by others: anything that is
not a plain file of ours is removed, and links are never followed.
"""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
import shutil
import stat
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.api.errors import DiskFull
from engine.api.files import sync_folder, write_atomically
from engine.api.hub import NEWEST
from engine.api.types import DeleteRefusal
from engine.hub.disk_space import bytes_to_have
from engine.hub.repository import (
    MANIFEST,
    MAX_TOTAL_BYTES,
    RemoteFile,
    check_repository,
    is_checksum,
    is_revision,
    is_source,
    parts_of,
)
from engine.hub.writer import part_path
from engine.models.model_files import (
    CONFIG_LIMIT_BYTES,
    INDEX_LIMIT_BYTES,
    JsonObject,
    object_at,
    object_in,
)
from engine.models.names import is_commit

STAGING = ".downloads"
FILES = "files"
RECORD = "download.json"
FORMER = "former"  # the model that is being replaced, until the new one is in place
TRASH = "trash-"
ENDING = ".lock"  # of the file that a process locks
TMUTIL = "/usr/bin/tmutil"
_TMUTIL_S = 30
_LOCK_TRIES = 20
_BETWEEN_TRIES_S = 0.1
_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_log = logging.getLogger(__name__)
_REASONS = {
    errno.ENOENT: DeleteRefusal.GONE,
    errno.ENOTDIR: DeleteRefusal.GONE,
    errno.EACCES: DeleteRefusal.FORBIDDEN,
    errno.EPERM: DeleteRefusal.FORBIDDEN,
    errno.EROFS: DeleteRefusal.READ_ONLY,
    errno.EBUSY: DeleteRefusal.LOCKED,
    errno.ETXTBSY: DeleteRefusal.LOCKED,
}


# hunch.json: what we installed into a folder, from where, with which checksums. Not trusted when read, written
# atomically.


def write_manifest(
    folder: Path, repository: str, revision: str, files: Sequence[RemoteFile], branch: str = NEWEST
) -> None:
    listed = {file.name: {"size_bytes": file.size_bytes, "checksum": file.checksum} for file in files}
    name, inside = parts_of(repository)
    named = {"name": f"{name.partition('/')[2]}-{inside}"} if inside else {}
    known = {"repository": repository, "revision": revision, "branch": branch, "files": listed}
    write_json(folder / MANIFEST, {**named, **known})


def read_manifest(folder: Path) -> JsonObject:
    """{} if there is none, or an invalid one."""
    return object_in(folder / MANIFEST, INDEX_LIMIT_BYTES)


def listed_in(manifest: JsonObject) -> list[RemoteFile]:
    """The files of a manifest, with their sizes and checksums."""
    files = []
    for name, given in object_at(manifest, "files").items():
        size, checksum = (given.get("size_bytes"), given.get("checksum")) if isinstance(given, dict) else (None, None)
        if type(size) is int and is_checksum(checksum) and "/" not in name and name not in {"", ".", ".."}:
            files.append(RemoteFile(name, size, str(checksum)))
    return files


def repository_of(folder: Path) -> str:
    repository = read_manifest(folder).get("repository")
    return str(repository) if is_source(repository) else ""


def branch_of(folder: Path) -> str:
    """The branch or tag that an installed model was asked for by."""
    branch = read_manifest(folder).get("branch")
    return str(branch) if is_revision(branch) else NEWEST


def lists(folder: Path, revision: str, files: Sequence[RemoteFile]) -> bool:
    manifest = read_manifest(folder)
    return manifest.get("revision") == revision and object_at(manifest, "files").keys() == {file.name for file in files}


def write_json(path: Path, value: JsonObject) -> None:
    write_atomically(path, json.dumps(value, indent=1), private=False)


def staging_of(root: Path, repository: str) -> Path:
    check_repository(repository)  # what is deleted later must be a folder of our own
    return root / STAGING / repository.replace("/", "--").casefold()


def target_of(root: Path, repository: str) -> Path:
    """The installed folder. A drafter's is beside its main model's, so that updates of that do not remove it."""
    name, inside = parts_of(repository)
    return root / (f"{name}--{inside}" if inside else name)  # a name that no repository has


def new_trash(root: Path) -> Path:
    return root / STAGING / f"{TRASH}{uuid.uuid4().hex}"


def remove(path: Path | None) -> None:
    """Removes a file or folder; others may be removing it, too."""
    if path is None:
        return
    with suppress(FileNotFoundError):
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path, onerror=_ignore_missing)
        else:
            path.unlink()


def keep_from_backups(models: Path) -> None:
    """On a Mac: Time Machine and Spotlight leave out tens of gigabytes that can be downloaded again."""
    marker = models / ".metadata_never_index"
    if sys.platform == "darwin" and not marker.exists():
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run([TMUTIL, "addexclusion", models], check=False, capture_output=True, timeout=_TMUTIL_S)
            marker.touch()


def tidy(staging: Path) -> None:
    """Make it a staging folder with plain files only."""
    for folder in (staging, staging / FILES):
        if folder.is_symlink() or not folder.is_dir():
            remove(folder)
            folder.mkdir(parents=True)
    for path in (*staging.iterdir(), *(staging / FILES).iterdir()):
        if path not in (staging / FILES, staging / FORMER) and not stat.S_ISREG(path.lstat().st_mode):
            remove(path)


def keep_only(staging: Path, names: Collection[str]) -> None:
    """Remove all other files, such as those of another commit."""
    for path in (staging / FILES).iterdir():
        if path.name not in names:
            remove(path)


def kept_bytes(root: Path, repository: str) -> int:
    """Bytes that a later try need not fetch."""
    return bytes_in(staging_of(root, repository))


def bytes_in(staging: Path) -> int:
    folder = staging / FILES
    if folder.is_symlink() or not folder.is_dir():
        return 0
    total = 0
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another program is working there
            status = path.lstat()
            total += status.st_size if stat.S_ISREG(status.st_mode) else 0
    return total


def begun(staging: Path, revision: str) -> tuple[str, str]:
    """The commit that an earlier try recorded, "" if it did not get that far, and the revision that it was asked for.

    ("", `revision`) if that was another one. "main" goes on with any: after a start the app does not know which.
    """
    known = recorded(staging)
    commit = known.get("commit")
    asked = known.get("revision", revision)
    if not (revision in (NEWEST, asked) and is_revision(asked)):
        return "", revision
    return str(commit) if is_commit(commit) else "", str(asked)


def recorded_bytes(staging: Path, name: str) -> int:
    count = recorded(staging).get(name)
    return count if type(count) is int and 0 <= count < MAX_TOTAL_BYTES else 0


def recorded(staging: Path) -> JsonObject:
    """The record of the process that works there, or did last; {} if there is none, or an invalid one."""
    return object_in(staging / RECORD, CONFIG_LIMIT_BYTES)


def recover(root: Path, repository: str) -> None:
    """Recover after a killed process: the model that was being replaced, or the last step of an installation."""
    staging = staging_of(root, repository)
    target = target_of(root, repository)
    tidy(staging)
    if os.path.lexists(staging / FORMER) and not os.path.lexists(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        (staging / FORMER).rename(target)
    remove(staging / FORMER)
    if (staging / FILES / MANIFEST).is_file():  # written last: all other files exist
        publish(root, repository, object_at(read_manifest(staging / FILES), "files").keys())


def publish(root: Path, repository: str, names: Collection[str]) -> None:
    """Move the staging folder's files to the model's place. A former model is deleted only afterwards."""
    staging = staging_of(root, repository)
    target = target_of(root, repository)
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


def _ignore_missing(_: Callable[..., object], __: str, raised: tuple[object, BaseException, object]) -> None:
    if not isinstance(raised[1], FileNotFoundError):
        raise raised[1]


# Only one process works on a repository's downloads; the system releases the lock of a killed one. The lock is a file
# beside the staging folder, held by flock. It is removed while held, so a lock is valid only if the path still has the
# same file.


class Busy(Exception):
    """Another process, or another thread of this one, holds the lock."""


@contextmanager
def alone_with(root: Path, repository: str, wait: Callable[[float], object] | None = None) -> Iterator[None]:
    """Raises Busy, or OSError if a folder cannot be locked.

    Without `wait` Busy is raised at once; with it after two seconds, as many hold a lock for a moment only.
    """
    staging = staging_of(root, repository)
    with _held(staging.with_name(staging.name + ENDING), wait):
        yield


@contextmanager
def alone_with_room(root: Path, wait: Callable[[float], object]) -> Iterator[None]:
    """No other process reserves space on this disk meanwhile. Raises as `alone_with`."""
    with _held(root / STAGING / f"room{ENDING}", wait):
        yield


def under_way(root: Path) -> Iterator[Path]:
    """The staging folders in use, by this process or another."""
    for path in root.glob(f"{STAGING}/*{ENDING}"):
        with suppress(OSError):  # removed meanwhile, or not a lock
            descriptor = os.open(path, _OPEN & ~os.O_CREAT)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                yield path.with_name(path.name.removesuffix(ENDING))
            finally:
                os.close(descriptor)


def remove_unheld(root: Path) -> None:
    """Locks of killed processes."""
    for path in root.glob(f"{STAGING}/*{ENDING}"):
        try:
            descriptor = _acquire(path)
        except Busy:
            continue
        _let_go(path, descriptor)


def _make_folder(staging: Path) -> None:
    """A link in its place goes: what is in its target is not ours."""
    if staging.is_symlink():
        staging.unlink()
    staging.mkdir(parents=True, exist_ok=True)


@contextmanager
def _held(path: Path, wait: Callable[[float], object] | None) -> Iterator[None]:
    _make_folder(path.parent)
    descriptor = _acquire(path) if wait is None else _acquire_in_time(path, wait)
    try:
        yield
    finally:
        _let_go(path, descriptor)


def _let_go(path: Path, descriptor: int) -> None:
    """A file that the disk does not delete locks nothing."""
    with suppress(OSError):
        path.unlink()
    os.close(descriptor)


def _acquire_in_time(path: Path, wait: Callable[[float], object]) -> int:
    for _ in range(_LOCK_TRIES):
        with suppress(Busy):
            return _acquire(path)
        wait(_BETWEEN_TRIES_S)
    return _acquire(path)


def _acquire(path: Path) -> int:
    while True:
        if path.is_symlink() or path.is_dir():
            remove(path)
        descriptor = os.open(path, _OPEN, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(descriptor, path):
                return descriptor
        except BlockingIOError as error:
            os.close(descriptor)
            raise Busy from error
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its former holder has removed the file meanwhile


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), there)


# Disk space that running downloads, also of other programs, will still use: free space is reserved for one of them
# only. Computed from files on disk, so no process has to keep count.


def reserve_space(
    root: Path, space: SpaceNeeded, wait: Callable[[float], object], record: Callable[[int], None]
) -> None:
    """Raises DiskFull if there is no space, or others have reserved it.

    Else `record` writes the final size of the staging folder; the reservation lasts as long as its lock.
    """
    with alone_with_room(root, wait):
        others = [staging for staging in under_way(root) if staging != space.staging]
        space.check(sum(max(0, recorded_bytes(each, "promised_bytes") - bytes_in(each)) for each in others))
        record(bytes_in(space.staging) + space.needed_bytes())


class SpaceNeeded:
    """Bytes that one download has still to write into its staging folder."""

    def __init__(
        self, repository: str, staging: Path, files: Sequence[RemoteFile], factor: float, reserve_bytes: int
    ) -> None:
        self.staging = staging
        self._repository = repository
        self._folder = staging / FILES
        self._files = files
        self._factor = factor
        self._reserve_bytes = reserve_bytes

    def needed_bytes(self) -> int:
        return int(sum(map(self._missing_bytes, self._files)) * self._factor)

    def check(self, others_bytes: int) -> None:
        """Raises DiskFull if less than this plus `others_bytes` is free."""
        available_bytes = bytes_to_have(self._folder)
        if self._files and available_bytes < self._with_reserve() + others_bytes:
            raise self.disk_full(available_bytes, others_bytes)

    def disk_full(self, available_bytes: int, others_bytes: int = 0) -> DiskFull:
        return DiskFull(self._repository, self._with_reserve(), available_bytes, others_bytes)

    def _with_reserve(self) -> int:
        return self.needed_bytes() + self._reserve_bytes

    def _missing_bytes(self, file: RemoteFile) -> int:
        """A part that is too long is not continued."""
        for path in (part_path(self._folder, file), self._folder / file.name):
            with suppress(FileNotFoundError):
                here_bytes = path.stat().st_size
                return file.size_bytes - here_bytes if here_bytes <= file.size_bytes else file.size_bytes
        return file.size_bytes


# Recovery of `.downloads` after an earlier run: bytes to continue from, a last step to finish, remains. What another
# process works on is left alone.


def clean_up(root: Path) -> None:
    """Finishes installations that lacked only the last step, and deletes what was being deleted."""
    if (root / STAGING).is_symlink():
        with _logged():
            (root / STAGING).unlink()
        return
    for trash in root.glob(f"{STAGING}/{TRASH}*"):
        with _logged():
            remove(trash)
    for repository in _recorded(root):
        with _logged(), suppress(Busy), alone_with(root, repository):
            recover(root, repository)
            if target_of(root, repository).exists() and not kept_bytes(root, repository):  # it was finished
                remove(staging_of(root, repository))
    remove_unheld(root)


@contextmanager
def _logged() -> Iterator[None]:
    """Log an error, so that it does not stop the rest."""
    try:
        yield
    except OSError as error:
        _log.warning("What an earlier run left stays for now: %s", error)


def unfinished(root: Path) -> Iterator[str]:
    """Repositories whose download a later try can continue."""
    for repository in _recorded(root):
        with suppress(Busy), alone_with(root, repository):
            yield repository


def set_aside(root: Path, repository: str) -> Path | None:
    """Moves a download away, unless another process works on it; deleting it may take longer."""
    staging = staging_of(root, repository)
    trash = new_trash(root)
    if not os.path.lexists(staging):
        return None
    with suppress(Busy, FileNotFoundError), alone_with(root, repository, time.sleep):
        staging.rename(trash)
        return trash
    return None


def _recorded(root: Path) -> Iterator[str]:
    for record in sorted(root.glob(f"{STAGING}/*/{RECORD}")):
        repository = recorded(record.parent).get("repository")
        if is_source(repository) and record.parent == staging_of(root, str(repository)):
            yield str(repository)


# Deletes an installed model, and nothing else: nothing outside our own folder, nothing that is not a model.


class CannotDelete(Exception):
    def __init__(self, reason: DeleteRefusal, detail: str = "") -> None:
        super().__init__(detail or reason.value)
        self.reason = reason


def delete_model(root: Path, folder: Path) -> None:
    """Raises CannotDelete; then the model is unchanged."""
    try:
        inside = _place_in(root.resolve(), folder)
        trash = new_trash(root.resolve())
        _make_folder(trash.parent)
        inside.rename(trash)  # removed from the list at once, even if deleting fails
    except OSError as error:
        raise CannotDelete(_REASONS.get(error.errno or 0, DeleteRefusal.DISK), str(error)) from error
    _make_room(trash, inside.parent, root.resolve())


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
