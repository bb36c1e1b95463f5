"""One process at a time works on a repository's downloads; a killed one gives its lock back by itself.

The lock is a file beside the staging folder, held by flock. It is removed while it is held, so a lock counts only if
its file is still the one of that name.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.hub.staging import STAGING, remove, staging_of

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
