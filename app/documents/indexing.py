"""Reads the files of a project into its database, a slice at a time, on one thread; and finds the files in folders."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from app.documents.problems import Refused, WhyNot
from app.documents.reading import pages_in
from app.storage.project_files import MOST_CHARACTERS, FileState, ProjectFile, ProjectFiles
from app.system.limited_child import ChildLimits, ChildStopped, Stop

LIMITS = ChildLimits(cpu_s=900, memory_bytes=2 << 30, output_bytes=256_000_000)
_SLICE_S = 0.03
_SLICE_CHARACTERS = 40_000
_DEEPEST = 12
_MOST_LOOKED_AT = 100_000
_MAY_PASS = (WhyNot.FORBIDDEN, WhyNot.UNREADABLE)  # without a change of the file: a permission, a disk


class Indexing:
    """Of one project. `stop_reading` may be called by any thread."""

    def __init__(self, files: ProjectFiles) -> None:
        self.files = files
        self._file: ProjectFile | None = None
        self._stop = Stop()
        self._pages: Iterator[tuple[int, str]] = iter(())

    def step(self) -> bool:
        """False: there is nothing to do, until a file is added, removed or changed."""
        if self._file is not None:
            self._go_on(self._file)
        elif not self.files.clear_some():
            waiting = self.files.next_waiting()
            if waiting is None:
                return False
            self._begin(waiting)
        return True

    def close(self) -> None:
        self._stop.ask()
        self._pages = iter(())
        self.files.close()

    def stop_reading(self, ids: Iterable[int] | None = None) -> None:
        """Of one of these files, or of any."""
        if self._file is not None and (ids is None or self._file.id in ids):
            self._stop.ask()

    def look(self) -> None:
        """Which files have changed, are missing, or are there again."""
        for file_id, path, state, problem, *known in self.files.signs():
            found = _sign(Path(path))
            if state in (FileState.WAITS, FileState.READING):
                continue
            if found is None:
                if state is not FileState.MISSING:  # one without a text is read again when it is back
                    lost = state is FileState.UNREADABLE
                    self.files.end(file_id, FileState.WAITS if lost else FileState.MISSING)
            elif found != tuple(known) or problem in _MAY_PASS:
                self.files.end(file_id, FileState.WAITS)
            elif state is FileState.MISSING:
                self.files.end(file_id, FileState.READY)

    def _begin(self, file: ProjectFile) -> None:
        if file.state is FileState.READING:  # an earlier run has read some of it
            self.files.end(file.id, FileState.WAITS)
            return
        sign = _sign(Path(file.path))
        if sign is None:
            self.files.end(file.id, FileState.MISSING)
            return
        self.files.begin(file.id, *sign)
        self._stop = Stop()
        self._file = file
        self._pages = pages_in(Path(file.path), MOST_CHARACTERS, self._stop, LIMITS)

    def _go_on(self, file: ProjectFile) -> None:
        """The next pages, as many as are there in a short time."""
        until = time.monotonic() + _SLICE_S
        pages: list[tuple[int, str]] = []
        end = None
        try:
            while sum(len(text) for _, text in pages) < _SLICE_CHARACTERS and time.monotonic() < until:
                page = next(self._pages, None)
                if page is None:
                    end = FileState.READY, ""
                    break
                pages.append(page)
        except Refused as refused:
            gone = _sign(Path(file.path)) is None
            end = (FileState.WAITS, "") if gone else (FileState.UNREADABLE, refused.why)
        except ChildStopped:
            end = FileState.WAITS, ""
        self._file = None  # what the disk refuses to store is read again, from the beginning
        is_there = self.files.put_pages(file.id, pages)
        if end or not is_there:
            self.files.end(file.id, *(end or (FileState.WAITS, "")))
            self._pages = iter(())  # ends its process
        else:
            self._file = file


def _sign(path: Path) -> tuple[int, int] | None:
    """By which a change is seen; None: it is not there."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


def files_within(paths: Iterable[Path]) -> list[Path]:
    """The files among them and in folders among them, without links and hidden ones."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += _of_folder(path)
        else:
            found.append(path)
    return found


def _of_folder(folder: Path) -> list[Path]:
    found: list[Path] = []
    folders = [(folder, 0)]
    looked_at = 0
    while folders and looked_at < _MOST_LOOKED_AT:
        here, depth = folders.pop()
        with suppress(OSError):
            for entry in sorted(os.scandir(here), key=lambda each: each.name):
                looked_at += 1
                if entry.name.startswith(".") or entry.is_symlink():
                    continue
                if entry.is_file():
                    found.append(Path(entry.path))
                elif entry.is_dir() and depth < _DEEPEST:
                    folders.append((Path(entry.path), depth + 1))
    return found
