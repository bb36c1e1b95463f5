"""A limit on bytes a second that all downloads share."""

from __future__ import annotations

import threading
import time

from engine.hub.stop import StopSignal

_LOOK_S = 0.1  # how soon another limit, or a stop, is noticed


class Throttle:
    """Off at 0, as it is to begin with."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bytes_per_second = 0
        self._free_at = 0.0  # when what was taken is paid for

    def set_limit(self, bytes_per_second: int) -> None:
        with self._lock:
            self._bytes_per_second = max(0, bytes_per_second)
            self._free_at = 0.0

    def take(self, count_bytes: int, stop: StopSignal) -> None:
        """Returns when so many bytes more are within the limit. Raises Stopped."""
        with self._lock:
            limit, now = self._bytes_per_second, time.monotonic()
            if not limit:
                return
            self._free_at = max(self._free_at, now) + count_bytes / limit
            until = self._free_at
        while limit == self._bytes_per_second and (left_s := until - time.monotonic()) > 0:
            stop.wait(min(left_s, _LOOK_S))
