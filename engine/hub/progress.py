"""Counts a download's bytes from all its threads and tells about them, seldom enough to be drawn."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from engine.events import DownloadProgress
from engine.types import DownloadId

SMOOTHING_S = 3.0


class Meter:
    def __init__(
        self, download: DownloadId, repository: str, emit: Callable[[DownloadProgress], None], interval_s: float = 0.1
    ) -> None:
        self._lock = threading.Lock()
        self._download, self._repository, self._emit, self._interval_s = download, repository, emit, interval_s
        self._done_bytes = self._total_bytes = self._fresh_bytes = 0
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
            now = time.monotonic()
            if now - self._told_at >= self._interval_s:
                self._tell(now)

    def finish(self) -> None:
        with self._lock:
            self._tell(time.monotonic())

    def _tell(self, now: float) -> None:
        passed_s = max(now - self._told_at, 1e-3)
        weight = 1 - math.exp(-passed_s / SMOOTHING_S)
        latest = self._fresh_bytes / passed_s
        self._rate = self._rate + weight * (latest - self._rate) if self._rate else latest
        self._fresh_bytes, self._told_at = 0, now
        self._emit(DownloadProgress(self._download, self._repository, self._done_bytes, self._total_bytes, self._rate))
