"""Notes of unfinished exports, so that the next start removes what a killed process left."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.system.small_file import read_small
from engine import write_atomically

_PREFIX = "hunch-export-"  # of a note; what it is about has the same name, hidden
_NAME = re.compile(_PREFIX + "[0-9a-f]{32}")
_MOST_BYTES = 1 << 16  # of the path of a folder


class Unfinished:
    """The notes: in this folder, or in the system's temporary folder if that disk is full.

    A note names a folder that may contain a file with the note's own random name; running exports lock theirs.
    """

    def __init__(self, folder: Path) -> None:
        self._folders = (folder, Path(tempfile.gettempdir()))

    @contextmanager
    def beside(self, place: Path) -> Iterator[Path]:
        """A path for a file that is made there and then moved; removed if it is not."""
        name = _PREFIX + secrets.token_hex(16)
        parent = place.parent.resolve()
        note = self._note(name, parent)
        try:
            yield parent / f".{name}"
        finally:
            _end(note, parent)

    def _note(self, name: str, parent: Path) -> Path:
        for folder in self._folders:
            with suppress(OSError):
                write_atomically(folder / name, os.fsencode(parent))
                break
        return folder / name

    def remove(self) -> None:
        """Remove leftovers of earlier runs. A note stays while its disk is missing or fails."""
        for note in [note for folder in self._folders for note in folder.glob(f"{_PREFIX}*")]:
            with suppress(OSError, ValueError):
                if _NAME.fullmatch(note.name) and _is_ours(note):
                    _end(note, Path(os.fsdecode(read_small(note, _MOST_BYTES))))


@contextmanager
def locked(made: Path) -> Iterator[None]:
    """Raises BlockingIOError where another copy of the app has it; some disks have no locks."""
    descriptor = os.open(made, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:
            pass
        yield
    finally:
        os.close(descriptor)


def _end(note: Path, parent: Path) -> None:
    made = parent / f".{note.name}"
    with suppress(OSError):
        if parent.is_absolute() and os.path.lexists(made) and _is_ours(made):
            with locked(made):
                shutil.rmtree(made) if made.is_dir() else made.unlink()
        if parent.is_dir():
            note.unlink()


def _is_ours(path: Path) -> bool:
    found = path.lstat()
    return found.st_uid == os.geteuid() and (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode))
