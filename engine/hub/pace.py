"""Lines that drip: each byte that comes begins a timeout anew, so a few a minute would be waited for without end.

Only the time that is spent waiting counts; a reader that takes its time, as a limit wants it to, is no slow line.
"""

from __future__ import annotations

import ssl
import time
from typing import Any

import httpcore2

from engine.hub.silence import LEAST_BYTES_PER_S


class PacedStream(httpcore2.NetworkStream):
    """Of what comes after the first bytes of an answer, at least so much has to come within the time of a timeout."""

    def __init__(self, line: httpcore2.NetworkStream) -> None:
        self._line = line
        self._waited_s, self._bytes = 0.0, 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Raises ReadTimeout."""
        if timeout is not None and self._bytes >= LEAST_BYTES_PER_S * timeout:
            self.begin()
        if timeout is not None and self._waited_s >= timeout:
            raise httpcore2.ReadTimeout(f"{self._bytes} bytes within {self._waited_s:.0f} s")
        asked_at = time.monotonic()
        piece = self._line.read(max_bytes, timeout)
        self._waited_s += time.monotonic() - asked_at if self._bytes else 0.0
        self._bytes += len(piece)
        return piece

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.begin()
        self._line.write(buffer, timeout)

    def close(self) -> None:
        self._line.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return PacedStream(self._line.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._line.get_extra_info(info)

    def begin(self) -> None:
        """What was waited for until now is forgotten."""
        self._waited_s, self._bytes = 0.0, 0
