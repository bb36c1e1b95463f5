"""Room on the disk that downloads under way will still take: what is free is promised to one of them only.

They may be another program's. What is still to come is read from the disk, so nobody has to keep count.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from engine.api.errors import DiskFull
from engine.hub.locks import alone_with_room, under_way
from engine.hub.repository import RemoteFile
from engine.hub.staging import FILES, bytes_in, recorded_bytes
from engine.hub.writer import part_path


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
