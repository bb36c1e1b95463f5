"""Lines that bring nothing on: each byte that comes begins a timeout anew, so a few a minute, or headers without end,
would be waited for without end.

What counts as progress is what a reader says that it got of an answer. Only the time that is spent waiting counts; a
reader that takes its time, as a limit wants it to, is no slow line.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable, Iterator
from typing import Any

import httpcore2

from engine.hub.silence import LEAST_BYTES_PER_S

_MOST_BESIDE = 1 << 20  # bytes besides those of answers: headers, answers that announce another, what redirects say


class PacedStream(httpcore2.NetworkStream):
    """After the first bytes of an answer, at least so much of it has to come within the time of a timeout."""

    def __init__(self, line: httpcore2.NetworkStream) -> None:
        self._line = line
        self.begin()

    def begin(self) -> None:
        """What was waited for until now is forgotten."""
        self._waited_s, self._bytes, self._progress = 0.0, 0, 0

    def progress(self, count_bytes: int) -> None:
        """So many bytes of an answer have been read."""
        self._progress += count_bytes

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Raises ReadTimeout, or ReadError."""
        if timeout is not None and self._progress >= LEAST_BYTES_PER_S * timeout:
            self.begin()
        if timeout is not None and self._waited_s >= timeout:
            raise httpcore2.ReadTimeout(f"{self._progress} bytes within {self._waited_s:.0f} s")
        if self._bytes - self._progress > _MOST_BESIDE:
            raise httpcore2.ReadError(f"{self._bytes} bytes, and {self._progress} of an answer")
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


def progressing(line: PacedStream, pieces: Iterable[bytes], *, anew: bool = False) -> Iterator[bytes]:
    """`pieces` of an answer that come over `line`; `anew`: what was waited for before does not count."""
    if anew:
        line.begin()
    for piece in pieces:
        line.progress(len(piece))
        yield piece
