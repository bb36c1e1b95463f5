"""How a download is told to stop: at once, although its threads may be waiting for a silent server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum


class StopKind(IntEnum):
    """In the order of their weight: a later wish only counts when it weighs more."""

    NONE = 0
    SIBLING_FAILED = 1
    PAUSE = 2
    CANCEL = 3


class Stopped(Exception):  # noqa: N818 - not an error: somebody asked for it
    pass


class StopSignal:
    """One per download. Threads of the download ask it between steps; sockets that they read from are shut down."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._kind = StopKind.NONE
        self._sockets: set[socket.socket] = set()

    @property
    def kind(self) -> StopKind:
        with self._lock:
            return self._kind

    def request(self, kind: StopKind) -> None:
        with self._lock:
            self._kind = max(self._kind, kind)
            sockets = list(self._sockets)
        self._event.set()
        for each in sockets:
            _shut_down(each)

    def check(self) -> None:
        if self._event.is_set():
            raise Stopped

    def wait(self, seconds: float) -> None:
        if self._event.wait(seconds):
            raise Stopped

    @contextmanager
    def watching(self, connection: socket.socket | None) -> Iterator[None]:
        """While inside, a stop ends reads from `connection`."""
        if connection is None:
            yield
            return
        with self._lock:
            self._sockets.add(connection)
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._sockets.discard(connection)


def _shut_down(connection: socket.socket) -> None:
    with suppress(OSError):  # already closed by its own thread
        # The plain method: a TLS socket's own one would drop its state under the thread that reads.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
