"""A disk that fails, or a process that dies, at the Nth call: SQLite's own system calls and Python's file operations.

SQLite lets its system calls be replaced; this needs the library that Python's `sqlite3` has loaded.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_PATH, _INT, _SIZE, _DATA = ctypes.c_char_p, ctypes.c_int, ctypes.c_ssize_t, ctypes.c_void_p
_TYPES = {
    "open": (_INT, _PATH, _INT, _INT),
    "pread64": (_SIZE, _INT, _DATA, _SIZE, ctypes.c_int64),
    "pwrite64": (_SIZE, _INT, _DATA, _SIZE, ctypes.c_int64),
    "ftruncate": (_INT, _INT, ctypes.c_int64),
    "unlink": (_INT, _PATH),
    "mmap": (_DATA, _DATA, ctypes.c_size_t, _INT, _INT, _INT, ctypes.c_int64),  # of the index of the log
}
READS = frozenset({"pread64"})
WRITES = frozenset({"pwrite64", "ftruncate"})
_STEPS = frozenset({"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "shutil.copyfile", "shutil.rmtree"})
SYNCS = frozenset({"os.fsync", "mmap"})
EVERYTHING = frozenset(_TYPES) | _STEPS | SYNCS


class _Vfs(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_int),
        ("file_bytes", ctypes.c_int),
        ("path_bytes", ctypes.c_int),
        ("following", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        *((f"method_{number}", ctypes.c_void_p) for number in range(13)),
        ("set_call", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)),
        ("get_call", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)),
    )


@dataclass
class Fault:
    """Which calls count, and what happens at the Nth: an error, once or from then on, or the end of the process."""

    calls: frozenset[str]
    at: int
    number: int = errno.EIO
    persistent: bool = False
    kills: bool = False
    counted: int = 0

    def strikes(self, call: str) -> bool:
        if call not in self.calls:
            return False
        self.counted += 1
        struck = self.counted == self.at or (self.persistent and self.counted > self.at)
        if struck and self.kills:
            os.kill(os.getpid(), signal.SIGKILL)
        return struck

    @property
    def was_met(self) -> bool:
        return self.counted >= self.at


_real_sync = os.fsync
_fault: Fault | None = None
_folder = ""
_kept: list[object] = []  # what C calls must not be freed


def _library() -> ctypes.CDLL | None:
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines() if sys.platform == "linux" else []:
        if "libsqlite3" in line:
            return ctypes.CDLL(line.split()[-1], use_errno=True)
    return None


def _vfs() -> tuple[Any, Any] | None:
    import sqlite3  # noqa: F401 - loads the library

    library = _library()
    if library is None:
        return None
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    pointer = library.sqlite3_vfs_find(None)
    return pointer, pointer.contents


def is_possible() -> bool:
    return _vfs() is not None


def _wrapped(name: str, original: Callable[..., int]) -> Callable[..., int]:
    def call(*arguments: Any) -> int:
        if _fault is not None and _fault.strikes(name):
            ctypes.set_errno(_fault.number)
            return -1
        return original(*arguments)

    return call


def _install() -> None:
    found = _vfs()
    if _kept or found is None:
        return
    pointer, vfs = found
    address = ctypes.cast(pointer, ctypes.c_void_p)
    for name, types in _TYPES.items():
        kind = ctypes.CFUNCTYPE(*types, use_errno=True)
        original = kind(vfs.get_call(address, name.encode()))
        replaced = kind(_wrapped(name, original))
        _kept.extend((original, replaced))
        vfs.set_call(address, name.encode(), ctypes.cast(replaced, ctypes.c_void_p))
    sys.addaudithook(_watch)


def _sync(descriptor: int) -> None:
    if _fault is not None and _fault.strikes("os.fsync"):
        raise OSError(_fault.number, os.strerror(_fault.number))
    _real_sync(descriptor)


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _fault is None or event not in _STEPS or _folder not in str(arguments[0]):
        return
    if _fault.strikes(event):
        raise OSError(_fault.number, os.strerror(_fault.number), str(arguments[0]))


@contextmanager
def failing(fault: Fault, folder: Path) -> Iterator[Fault]:
    """Python's operations count where they are on something in `folder`."""
    global _fault, _folder  # noqa: PLW0603  SQLite has one set of system calls for the whole process
    _install()
    _fault, _folder = fault, str(folder)
    os.fsync = _sync  # type: ignore[assignment]
    try:
        yield fault
    finally:
        _fault = None
        os.fsync = _real_sync


def dies(fault: Fault, folder: Path, act: Callable[[], object]) -> bool:
    """Does something in a process of its own; whether that process was killed."""
    child = os.fork()
    if child == 0:
        try:
            with failing(fault, folder):
                act()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    """A disk of its own, in memory."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if (
        sys.platform != "linux"
        or shutil.which("mount") is None
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("a disk of its own can only be mounted by root on Linux")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
