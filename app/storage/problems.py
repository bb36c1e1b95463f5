"""Why something could not be stored or read, as values that are put into words elsewhere."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

_LITTLE_SPACE_BYTES = 1_000_000


class Reason(StrEnum):
    FULL = "full"  # no room on the disk
    LOCKED = "locked"  # another program holds the file
    READ_ONLY = "read_only"
    UNREADABLE = "unreadable"  # the disk does not answer, or the file cannot be opened
    DAMAGED = "damaged"
    OTHER = "other"


_REASONS = {
    sqlite3.SQLITE_FULL: Reason.FULL,
    sqlite3.SQLITE_BUSY: Reason.LOCKED,
    sqlite3.SQLITE_LOCKED: Reason.LOCKED,
    sqlite3.SQLITE_READONLY: Reason.READ_ONLY,
    sqlite3.SQLITE_PERM: Reason.READ_ONLY,
    sqlite3.SQLITE_IOERR: Reason.UNREADABLE,
    sqlite3.SQLITE_CANTOPEN: Reason.UNREADABLE,
    sqlite3.SQLITE_CORRUPT: Reason.DAMAGED,
    sqlite3.SQLITE_NOTADB: Reason.DAMAGED,
}


@dataclass(frozen=True, slots=True)
class NotStored:
    """A change was not made; nothing of it is on disk."""

    reason: Reason
    folder: str


@dataclass(frozen=True, slots=True)
class NotOpened:
    """The file with the chats cannot be opened now; it is as it was."""

    reason: Reason
    folder: str


StorageProblem = NotStored | NotOpened


def reason_of(error: Exception, path: Path) -> Reason:
    """SQLite calls a full disk an I/O error where it cannot enlarge one of its own files."""
    if isinstance(error, sqlite3.Error):
        reason = _REASONS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, Reason.OTHER)
    else:
        reason = Reason.UNREADABLE if isinstance(error, OSError) else Reason.OTHER
    return Reason.FULL if reason is Reason.UNREADABLE and _is_full(path) else reason


def is_damage(error: sqlite3.Error) -> bool:
    return _REASONS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF) is Reason.DAMAGED


def is_busy(error: sqlite3.Error) -> bool:
    return _REASONS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF) is Reason.LOCKED


def _is_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _LITTLE_SPACE_BYTES
    except OSError:
        return False
