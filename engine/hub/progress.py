"""Counts a download's bytes from all its threads and tells about them, seldom enough to be drawn."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from engine.api.events import DownloadProgress
from engine.api.types import DownloadId

INTERVAL_S = 0.1
STALL_INTERVAL_S = 1.0
SMOOTHING_S = 3.0


class Meter:
    """`add` and `tick` tell at most every INTERVAL_S; `tick` also when nothing came, so that a stall is seen as one."""

    def __init__(self, download: DownloadId, repository: str, emit: Callable[[DownloadProgress], None]) -> None:
        self._lock = threading.Lock()
        self._download, self._repository, self._emit = download, repository, emit
        self._done_bytes = self._total_bytes = self._fresh_bytes = self._told_bytes = 0
        self._rate = 0.0
        self._told_at = time.monotonic()

    def start(self, total_bytes: int) -> None:
        with self._lock:
            self._total_bytes = total_bytes
            self._tell(time.monotonic())

    def add(self, count_bytes: int, fresh: bool) -> None:
        """`fresh`: they came over the line; others were here already and say nothing about its speed."""
        with self._lock:
            self._done_bytes += count_bytes
            self._fresh_bytes += count_bytes if fresh else 0
        self.tick()

    def tick(self) -> None:
        with self._lock:
            now = time.monotonic()
            wait_s = INTERVAL_S if self._done_bytes != self._told_bytes else STALL_INTERVAL_S
            if now - self._told_at >= wait_s:
                self._tell(now)

    def finish(self) -> None:
        with self._lock:
            self._tell(time.monotonic())

    def _tell(self, now: float) -> None:
        passed_s = max(now - self._told_at, 1e-3)
        weight = 1 - math.exp(-passed_s / SMOOTHING_S)
        latest = self._fresh_bytes / passed_s
        self._rate = self._rate + weight * (latest - self._rate) if self._rate else latest
        self._fresh_bytes, self._told_bytes, self._told_at = 0, self._done_bytes, now
        self._emit(DownloadProgress(self._download, self._repository, self._done_bytes, self._total_bytes, self._rate))
