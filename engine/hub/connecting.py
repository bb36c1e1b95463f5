"""Connections to a hub that a stop can abandon while they are being made, and whose answers must make progress."""

from __future__ import annotations

import functools
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from functools import partial
from typing import Any

import httpcore2
import httpx2

from engine.hub.stop import LEAST_BYTES_PER_S, Stopped, StopSignal

_LOOK_S = 0.05  # delay until a stop is noticed


# Slow connections: each byte that arrives restarts a timeout, so a few bytes a minute, or endless headers, would be
# waited for without end. Progress is what a reader reports of an answer's body. Only time spent waiting counts: a
# reader that is slow itself, because of a limit, does not make a connection slow.


_MOST_BESIDE = 1 << 20  # bytes besides bodies: headers, 1xx answers, redirects


class PacedStream(httpcore2.NetworkStream):
    """After the first bytes of an answer, a minimum of its body has to arrive within each timeout."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream
        self.begin()

    def begin(self) -> None:
        """Reset the time waited so far."""
        self._waited_s = 0.0
        self._bytes = 0
        self._progress = 0

    def progress(self, count_bytes: int) -> None:
        """So many bytes of an answer's body were read."""
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
        piece = self._stream.read(max_bytes, timeout)
        self._waited_s += time.monotonic() - asked_at if self._bytes else 0.0
        self._bytes += len(piece)
        return piece

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.begin()
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return PacedStream(self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def make_leavable(http: httpx2.Client, stop: StopSignal) -> None:
    """WORKAROUND: httpx2 passes no network backend on, and connects to proxies itself; httpcore2 takes one."""
    for transport in (http._transport, *http._mounts.values()):  # noqa: SLF001  they have no public name
        if isinstance(transport, httpx2.HTTPTransport):
            transport._pool._network_backend = LeavableConnections(stop)  # noqa: SLF001


class LeavableConnections(httpcore2.SyncBackend):
    """Name lookup and connecting cannot be stopped, so each runs on a thread of its own.

    After a stop the thread is abandoned: it ends when the system answers, and closes what it has opened.
    """

    def __init__(self, stop: StopSignal) -> None:
        self._stop = stop

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Raises Stopped, or what the library raises."""
        connect = partial(super().connect_tcp, host, port, timeout, local_address, socket_options)
        coming = _begun(connect)
        try:
            while not wait((coming,), _LOOK_S).done:
                self._stop.check()
        except Stopped:
            coming.add_done_callback(_close)
            raise
        return PacedStream(coming.result())


def _begun(connect: Callable[[], httpcore2.NetworkStream]) -> Future[httpcore2.NetworkStream]:
    coming: Future[httpcore2.NetworkStream] = Future()

    def work() -> None:
        try:
            stream = connect()
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            coming.set_exception(error)
        else:
            coming.set_result(stream)

    threading.Thread(target=work, name="hub-connect", daemon=True).start()
    return coming


def _close(coming: Future[httpcore2.NetworkStream]) -> None:
    if coming.exception() is None:
        coming.result().close()


@functools.cache
def trusted() -> ssl.SSLContext:
    """Reading all certificates takes 50 ms, and each search or page has a client of its own.

    On a Mac nothing is read, but a context is locked during a handshake: there each client has its own.
    """
    return httpx2.create_ssl_context()
