"""Room on the disk that downloads under way will still take: what is free is promised to one of them only."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.api.errors import DiskFull
from engine.hub.repository import RemoteFile
from engine.hub.writer import part_path


class Space:
    """Of one folder for models. What is still to come is read from the disk, so nobody has to keep count."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._promised: list[Ahead] = []

    @contextmanager
    def promised(self, ahead: Ahead) -> Iterator[None]:
        """Holds the room for `ahead` until the end. Raises DiskFull where others need it, or there is none."""
        with self._lock:
            others = sum(each.needed_bytes() for each in self._promised)
            ahead.check(others)
            self._promised.append(ahead)
        try:
            yield
        finally:
            with self._lock:
                self._promised.remove(ahead)


class Ahead:
    """What one download has still to write into its folder."""

    def __init__(
        self, repository: str, folder: Path, files: Sequence[RemoteFile], factor: float, reserve_bytes: int
    ) -> None:
        self._repository, self._folder, self._files = repository, folder, files
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
