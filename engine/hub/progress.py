"""Counts a download's bytes from all its threads and tells about them, seldom enough to be drawn."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable

from engine.api.events import DownloadProgress
from engine.api.hub import FileProgress, Retry
from engine.api.types import DownloadId
from engine.hub.repository import RemoteFile
from engine.hub.silence import LEAST_BYTES_PER_S

INTERVAL_S = 0.1
STALL_INTERVAL_S = 1.0
SPEED_OVER_S = 3.0
TIME_LEFT_OVER_S = 15.0
_STOPPED_S = 5.0  # whoever looks every second was stopped, or read files meanwhile: that says nothing about the line
_SPEED_AFTER_S = 1.0  # of bytes that come: before that nobody knows how fast they come …
_SURE_AFTER_S = 2.0  # … or how long the rest will take
_FILES_SHOWN = 100


class Rate:
    """Bytes a second, over the last so many seconds: a burst weighs no more than the time it took.

    Measured from when the first bytes were here. Nobody knows how long those took: they say nothing about the speed.
    """

    def __init__(self, over_s: float) -> None:
        self._over_s = over_s
        self._bytes = self._seconds = 0.0
        self._seen_s = 0.0
        self._began = False

    def add(self, count_bytes: int, passed_s: float) -> None:
        if not self._began:
            self._began = count_bytes > 0
            return
        kept = math.exp(-passed_s / self._over_s)
        self._bytes = self._bytes * kept + count_bytes
        self._seconds = self._seconds * kept + passed_s
        self._seen_s += passed_s

    @property
    def per_second(self) -> float:
        """0 while nobody can tell."""
        return self._bytes / self._seconds if self._seen_s >= _SPEED_AFTER_S else 0.0

    def seconds_for(self, count_bytes: int) -> float | None:
        """None while nobody can tell."""
        if self._seen_s < _SURE_AFTER_S or self.per_second < LEAST_BYTES_PER_S:
            return None
        return max(0, count_bytes) / self.per_second


class _Count:
    """The bytes of one file, or of all of them together."""

    def __init__(self, total_bytes: int = 0) -> None:
        self.total_bytes = total_bytes
        self.done_bytes = self._fresh_bytes = 0
        self._speed, self._long = Rate(SPEED_OVER_S), Rate(TIME_LEFT_OVER_S)

    def add(self, count_bytes: int, fresh: bool) -> None:
        self.done_bytes += count_bytes
        self._fresh_bytes += count_bytes if fresh else 0

    def look(self, passed_s: float) -> bool:
        """Brings the rates up to date; whether anything came over the line since the last look."""
        fresh_bytes, self._fresh_bytes = self._fresh_bytes, 0
        for rate in (self._speed, self._long) if passed_s < _STOPPED_S else ():
            rate.add(fresh_bytes, passed_s)
        return fresh_bytes > 0

    @property
    def bytes_per_second(self) -> float:
        return self._speed.per_second

    @property
    def seconds_left(self) -> float | None:
        return self._long.seconds_for(self.total_bytes - self.done_bytes)


class Meter:
    """`add` and `tick` tell at most every INTERVAL_S; `tick` also when nothing came, so that a stall is seen as one."""

    def __init__(self, download: DownloadId, repository: str, emit: Callable[[DownloadProgress], None]) -> None:
        self._lock = threading.Lock()
        self._download, self._repository, self._emit = download, repository, emit
        self._all, self._files = _Count(), dict[str, _Count]()
        self._told_bytes = 0
        self._told_retry = False
        self._told_at = time.monotonic()
        self.retry: Callable[[], Retry | None] = lambda: None

    def start(self, files: Iterable[RemoteFile]) -> None:
        """Once for each place that is asked: what is here already is then told anew."""
        with self._lock:
            self._files = {file.name: _Count(file.size_bytes) for file in files}
            self._all = _Count(sum(file.total_bytes for file in self._files.values()))
            self._tell(time.monotonic())

    def add(self, name: str, count_bytes: int, fresh: bool) -> None:
        """`fresh`: they came over the line; others were here already and say nothing about its speed."""
        with self._lock:
            for count in (self._all, self._files.setdefault(name, _Count())):
                count.add(count_bytes, fresh)
        self.tick()

    def tick(self) -> None:
        with self._lock:
            now = time.monotonic()
            changed = self._all.done_bytes != self._told_bytes or (self.retry() is not None) != self._told_retry
            if now - self._told_at >= (INTERVAL_S if changed else STALL_INTERVAL_S):
                self._tell(now)

    def finish(self) -> None:
        with self._lock:
            self._tell(time.monotonic())

    def _tell(self, now: float) -> None:
        passed_s = max(now - self._told_at, 1e-3)
        came = self._all.look(passed_s)
        for file in self._files.values():
            file.look(passed_s)
        retry = None if came else self.retry()  # one file may wait while the others come
        self._told_bytes, self._told_at, self._told_retry = self._all.done_bytes, now, retry is not None
        self._emit(
            DownloadProgress(
                self._download,
                self._repository,
                self._all.done_bytes,
                self._all.total_bytes,
                self._all.bytes_per_second,
                seconds_left=self._all.seconds_left,
                retry=retry,
                files=self._shown_files(),
            )
        )

    def _shown_files(self) -> tuple[FileProgress, ...]:
        """The largest ones."""
        largest = sorted(self._files.items(), key=lambda each: -each[1].total_bytes)[:_FILES_SHOWN]
        return tuple(
            FileProgress(name, file.done_bytes, file.total_bytes, file.bytes_per_second, file.seconds_left)
            for name, file in sorted(largest)
        )
