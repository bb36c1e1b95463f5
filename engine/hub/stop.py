"""How a download is told to stop: at once, although its threads may be waiting for a silent server."""

from __future__ import annotations

import os
import socket
import threading
import weakref
from collections.abc import Mapping
from contextlib import suppress
from enum import IntEnum


class StopKind(IntEnum):
    """In the order of their weight: a later wish only counts when it weighs more."""

    NONE = 0
    SIBLING_FAILED = 1
    HUB_CHANGED = 2  # it goes on by itself, asking as the settings say now
    OFFLINE = 3
    PAUSE = 4
    CANCEL = 5


class Stopped(Exception):
    pass


class StopSignal:
    """One per download. Its threads ask it between steps; the sockets that they wait for are shut down."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._kind = StopKind.NONE
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()

    @property
    def kind(self) -> StopKind:
        with self._lock:
            return self._kind

    def request(self, kind: StopKind) -> None:
        with self._lock:
            self._kind = max(self._kind, kind)
            self._event.set()
            sockets = list(self._sockets)
        for connection in sockets:
            _shut_down(connection)

    def begin_again(self) -> None:
        """A sibling's failure is behind us, when all of them have ended; a wish of the person's is not."""
        with self._lock:
            if self._kind <= StopKind.HUB_CHANGED:
                self._kind = StopKind.NONE
                self._event.clear()

    def check(self) -> None:
        if self._event.is_set():
            raise Stopped

    def wait(self, seconds: float) -> None:
        if self._event.wait(seconds):
            raise Stopped

    def adopt(self, connection: socket.socket) -> None:
        """From now on a stop ends reads from `connection`."""
        with self._lock:
            self._sockets.add(connection)
            late = self._event.is_set()
        if late:
            _shut_down(connection)


class Lines:
    """The connections of one client, as its library tells of them: a stop ends each of them at any time."""

    def __init__(self, stop: StopSignal) -> None:
        self._stop = stop
        self._here = threading.local()  # of the thread that makes a connection

    def watch(self, event: str, info: Mapping[str, object]) -> None:
        """Called for each step of a request.

        A handshake takes the connection out of its socket, and the next one is there only when it is over. Meanwhile
        a second socket of the same connection can end it.
        """
        if event.endswith("start_tls.started"):
            self._here.spare = socket.socket(fileno=os.dup(self._here.socket.fileno()))
            self._stop.adopt(self._here.spare)
        elif event.endswith(("start_tls.complete", "start_tls.failed")):
            self._here.spare.close()
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._here.socket = info["return_value"].get_extra_info("socket")  # type: ignore[attr-defined]
            self._stop.adopt(self._here.socket)


def _shut_down(connection: socket.socket) -> None:
    with suppress(OSError):  # its own thread was faster
        # The plain method: a TLS socket's own one would drop its state under the thread that reads.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
