"""What lies under `.downloads` beside the models: downloads under way, one folder each, and models being deleted.

Here: the staging folder, the lock that says whose it is, in whatever process, the manifest of what was installed, room
on the disk, what an earlier run left, and deleting. Anything in a staging folder may be something else than we left
there: what is no plain file of ours is removed, and a link is never followed.
"""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
import shutil
import stat
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.api.errors import DiskFull
from engine.api.files import write_atomically
from engine.api.types import DeleteRefusal
from engine.hub.repository import (
    MANIFEST,
    MAX_TOTAL_BYTES,
    RemoteFile,
    check_repository,
    is_commit,
    is_source,
    parts_of,
)
from engine.hub.writer import part_path, sync_folder
from engine.models.model_files import (
    CONFIG_LIMIT_BYTES,
    INDEX_LIMIT_BYTES,
    FileError,
    JsonObject,
    object_at,
    read_object,
)

STAGING = ".downloads"
FILES = "files"
RECORD = "download.json"
FORMER = "former"  # the model that is being replaced, until its successor is in place
TRASH = "trash-"


# hunch.json: what we installed into a folder, from where, with which checksums. Read with suspicion, written whole.


def write_manifest(folder: Path, repository: str, revision: str, files: Sequence[RemoteFile]) -> None:
    listed = {file.name: {"size_bytes": file.size_bytes, "checksum": file.checksum} for file in files}
    name, inside = parts_of(repository)
    named = {"name": f"{name.partition('/')[2]}-{inside}"} if inside else {}
    write_json(folder / MANIFEST, {**named, "repository": repository, "revision": revision, "files": listed})


def read_manifest(folder: Path) -> JsonObject:
    """Empty when there is none, or a bad one."""
    try:
        return read_object(folder / MANIFEST, INDEX_LIMIT_BYTES)
    except FileError:
        return {}


def repository_of(folder: Path) -> str:
    repository = read_manifest(folder).get("repository")
    return str(repository) if is_source(repository) else ""


def lists(folder: Path, revision: str, files: Sequence[RemoteFile]) -> bool:
    manifest = read_manifest(folder)
    return manifest.get("revision") == revision and object_at(manifest, "files").keys() == {file.name for file in files}


def write_json(path: Path, value: JsonObject) -> None:
    write_atomically(path, json.dumps(value, indent=1), private=False)


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


# One process at a time works on a repository's downloads; a killed one gives its lock back by itself.
#
# The lock is a file beside the staging folder, held by flock. It is removed while it is held, so a lock counts only
# if its file is still the one of that name.


ENDING = ".lock"
_TRIES = 20
_BETWEEN_S = 0.1
_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class Busy(Exception):
    """Somebody else is at work there: another process, or another thread of this one."""


@contextmanager
def alone_with(root: Path, repository: str, wait: Callable[[float], object] | None = None) -> Iterator[None]:
    """Raises Busy, or OSError where a folder cannot be locked.

    Busy at once without `wait`; with it only after two seconds, as many look at a folder for a moment.
    """
    staging = staging_of(root, repository)
    with _held(staging.with_name(staging.name + ENDING), wait):
        yield


@contextmanager
def alone_with_room(root: Path, wait: Callable[[float], object]) -> Iterator[None]:
    """Meanwhile nobody else promises room on the disk of this folder. Raises as `alone_with`."""
    with _held(root / STAGING / f"room{ENDING}", wait):
        yield


def under_way(root: Path) -> Iterator[Path]:
    """The staging folders that somebody works on, in this process or another."""
    for path in root.glob(f"{STAGING}/*{ENDING}"):
        with suppress(OSError):  # it is gone, or no lock
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
        path.unlink(missing_ok=True)
        os.close(descriptor)


@contextmanager
def _held(path: Path, wait: Callable[[float], object] | None) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = _acquire(path) if wait is None else _acquire_in_time(path, wait)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _acquire_in_time(path: Path, wait: Callable[[float], object]) -> int:
    for _ in range(_TRIES):
        with suppress(Busy):
            return _acquire(path)
        wait(_BETWEEN_S)
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


# Room on the disk that downloads under way will still take: what is free is promised to one of them only.
#
# They may be another program's. What is still to come is read from the disk, so nobody has to keep count.


def promise(root: Path, ahead: Ahead, wait: Callable[[float], object], record: Callable[[int], None]) -> None:
    """Raises DiskFull where others need the room, or there is none.

    Else `record` writes down how large the staging folder will be, which holds for as long as its lock is held.
    """
    with alone_with_room(root, wait):
        ahead.check(sum(_to_come(staging) for staging in under_way(root) if staging != ahead.staging))
        record(bytes_in(ahead.staging) + ahead.needed_bytes())


def _to_come(staging: Path) -> int:
    return max(0, recorded_bytes(staging, "promised_bytes") - bytes_in(staging))


class Ahead:
    """What one download has still to write into its staging folder."""

    def __init__(
        self, repository: str, staging: Path, files: Sequence[RemoteFile], factor: float, reserve_bytes: int
    ) -> None:
        self.staging = staging
        self._repository, self._folder, self._files = repository, staging / FILES, files
        self._factor, self._reserve_bytes = factor, reserve_bytes

    def needed_bytes(self) -> int:
        return int(sum(map(self._missing_bytes, self._files)) * self._factor)

    def check(self, others_bytes: int) -> None:
        """Raises DiskFull where there is less than this and `others_bytes`."""
        if self._files and shutil.disk_usage(self._folder).free < self._with_reserve() + others_bytes:
            raise self.disk_full(others_bytes)

    def disk_full(self, others_bytes: int = 0) -> DiskFull:
        free_bytes = shutil.disk_usage(self._folder).free
        return DiskFull(self._repository, self._with_reserve(), free_bytes, others_bytes)

    def _with_reserve(self) -> int:
        return self.needed_bytes() + self._reserve_bytes

    def _missing_bytes(self, file: RemoteFile) -> int:
        """A part that is too long is not gone on with."""
        for path in (part_path(self._folder, file), self._folder / file.name):
            with suppress(FileNotFoundError):
                here_bytes = path.stat().st_size
                return file.size_bytes - here_bytes if here_bytes <= file.size_bytes else file.size_bytes
        return file.size_bytes


# What an earlier run of the program left under `.downloads`: bytes to go on with, a last step to finish, rubbish.
#
# What another process is at work on is none of that, and is left alone.


_log = logging.getLogger(__name__)


def clean_up(root: Path) -> None:
    """Finishes installations that only lacked their last step, and deletes what was on its way out."""
    for trash in root.glob(f"{STAGING}/{TRASH}*"):
        with _told():
            remove(trash)
    for repository in _recorded(root):
        with _told(), suppress(Busy), alone_with(root, repository):
            recover(root, repository)
            if target_of(root, repository).exists() and not kept_bytes(root, repository):  # it was finished
                remove(staging_of(root, repository))
    remove_unheld(root)


@contextmanager
def _told() -> Iterator[None]:
    """What cannot be put in order does not keep the rest from it."""
    try:
        yield
    except OSError as error:
        _log.warning("What an earlier run left stays for now: %s", error)


def unfinished(root: Path) -> Iterator[str]:
    """Repositories that a later try can go on with."""
    for repository in _recorded(root):
        with suppress(Busy), alone_with(root, repository):
            yield repository


def known_total_bytes(root: Path, repository: str) -> int:
    """What the hub told of a download's size, when it was asked."""
    return recorded_bytes(staging_of(root, repository), "total_bytes")


def set_aside(root: Path, repository: str) -> Path | None:
    """Takes a download out of the way, unless somebody else goes on with it; deleting it may take longer."""
    staging, trash = staging_of(root, repository), new_trash(root)
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


# Deletes an installed model, and only that: nothing outside our own folder, nothing that is no model.


_REASONS = {
    errno.ENOENT: DeleteRefusal.GONE,
    errno.ENOTDIR: DeleteRefusal.GONE,
    errno.EACCES: DeleteRefusal.FORBIDDEN,
    errno.EPERM: DeleteRefusal.FORBIDDEN,
    errno.EROFS: DeleteRefusal.READ_ONLY,
    errno.EBUSY: DeleteRefusal.LOCKED,
    errno.ETXTBSY: DeleteRefusal.LOCKED,
}


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
