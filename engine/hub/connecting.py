"""Connections to a hub that a stop can leave while they are being made."""

from __future__ import annotations

import functools
import ssl
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from functools import partial

import httpcore2
import httpx2

from engine.hub.pace import PacedStream
from engine.hub.stop import Stopped, StopSignal

_LOOK_S = 0.05  # how soon a stop is noticed


def make_leavable(http: httpx2.Client, stop: StopSignal) -> None:
    """WORKAROUND: only httpcore2 takes a backend; httpx2 hands none on, and makes the lines to proxies itself."""
    for transport in (http._transport, *http._mounts.values()):  # noqa: SLF001  they have no public name
        if isinstance(transport, httpx2.HTTPTransport):
            transport._pool._network_backend = LeavableConnections(stop)  # noqa: SLF001


class LeavableConnections(httpcore2.SyncBackend):
    """Nothing ends the system's search for a name, nor every attempt to connect; so each has a thread of its own.

    After a stop nobody waits for that thread: it ends when the system answers, and what it has opened is closed.
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
    """Reading all certificates takes 50 ms; a search or a page is a client of its own.

    On a Mac nothing is read, and a context is locked while a handshake waits for its server: there each has its own.
    """
    return httpx2.create_ssl_context()
