"""Stops, retries and limits: ends a download at once although its threads wait for a silent server; why a hub cannot be
reached; how long to wait for it; and the limit in bytes a second that all downloads share.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import ssl
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import IntEnum

from engine.api.errors import HubSilence, HubUnreachable
from engine.api.hub import Retry

LEAST_BYTES_PER_S = 256  # of a connection; a slower one counts as silent
_NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.EADDRNOTAVAIL})
BEFORE_ANY_ANSWER = frozenset({HubSilence.NAME, HubSilence.NO_ROUTE, HubSilence.REFUSED})
_LOOK_S = 0.1  # delay until a request is noticed


class StopKind(IntEnum):
    """Ascending by priority: a later request counts only if its priority is higher."""

    NONE = 0
    SIBLING_FAILED = 1
    HUB_CHANGED = 2  # continues by itself with the new settings
    OFFLINE = 3
    PAUSE = 4
    CANCEL = 5


class Stopped(Exception):
    pass


class StopSignal:
    """One per download. Its threads check it between steps; the sockets that they wait for are shut down."""

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
        """Clear a stop caused by another thread's failure, once all have ended; the user's stops stay."""
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


class Jobs:
    """Work in progress, each on a thread of its own with the signal that stops it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: list[tuple[str, StopSignal, threading.Thread]] = []
        self._closed = False

    def start(self, name: str, work: Callable[[], None], stop: StopSignal, folder: str = "") -> None:
        """`folder`: the one that it is about, where it needs no hub."""
        thread = threading.Thread(target=work, name=name, daemon=True)
        with self._lock:
            self._running = [each for each in self._running if each[2].is_alive()]
            self._running.append((folder, stop, thread))
            if self._closed:
                stop.request(StopKind.CANCEL)
            thread.start()

    def stop(self, kind: StopKind, folder: str = "") -> None:
        """What is about `folder`; without one, what needs a hub."""
        with self._lock:
            for stop in (stop for about, stop, _ in self._running if about == folder):
                stop.request(kind)

    def close(self) -> list[threading.Thread]:
        """Stops all, and what starts later; returns the threads that are ending."""
        with self._lock:
            self._closed = True
            for _, stop, _ in self._running:
                stop.request(StopKind.CANCEL)
            return [thread for _, _, thread in self._running]


class HubConnections:
    """The connections of one client, as its library reports them: a stop ends each of them at any time."""

    def __init__(self, stop: StopSignal) -> None:
        self._stop = stop
        self._here = threading.local()  # of the thread that makes a connection

    def watch(self, event: str, info: Mapping[str, object]) -> None:
        """Called for each step of a request.

        A TLS handshake takes the connection out of its socket, and the new socket exists only afterwards. Meanwhile a
        second socket of the same connection can end it.
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
        # The plain socket's method: a TLS socket's would drop its state while another thread reads.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


# Why a hub cannot be reached: an error of a library or the system as a HubSilence.


class TryAgain(Exception):
    """A failure that may pass: of the connection, or a busy hub. `asked_s`: the wait that the hub asked for."""

    def __init__(self, detail: str, asked_s: float = 0.0, reason: HubSilence = HubSilence.BROKE_OFF) -> None:
        super().__init__(detail)
        self.asked_s = asked_s
        self.reason = reason


def unreachable(about: str, endpoint: str, error: Exception, reason: HubSilence) -> HubUnreachable:
    """The error, with passwords removed from addresses: it is logged and shown."""
    return HubUnreachable(without_password(about), without_password(endpoint), str(error), reason)


def without_password(address: str) -> str:
    return re.sub(r"//[^/]*@", "//…@", address)


def reason_of(error: BaseException) -> HubSilence:
    """By the system's error, which libraries wrap."""
    found = filter(None, map(_reason, _causes(error)))
    return next(found, HubSilence.BROKE_OFF)


def _reason(error: BaseException) -> HubSilence | None:
    import httpcore2
    import httpx2

    kinds: tuple[tuple[tuple[type[BaseException], ...], HubSilence], ...] = (
        ((ssl.SSLCertVerificationError,), HubSilence.CERTIFICATE),
        ((socket.gaierror,), HubSilence.NAME),
        ((ConnectionRefusedError,), HubSilence.REFUSED),
        ((httpx2.ProxyError, httpcore2.ProxyError), HubSilence.PROXY),
        ((TimeoutError, httpx2.TimeoutException, httpcore2.TimeoutException), HubSilence.TIMED_OUT),
    )
    for kind, reason in kinds:
        if isinstance(error, kind):
            return reason
    return HubSilence.NO_ROUTE if isinstance(error, OSError) and error.errno in _NO_ROUTE else None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The first error that was raised comes first."""
    chain: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in chain:
        chain.append(following)
        following = following.__cause__ or following.__context__
    return reversed(chain)


# How long a hub is waited for, and the waits between tries: shown to the user, who can skip them.


@dataclass(frozen=True, slots=True)
class HubPatience:
    """How long to wait for a hub. Tests use shorter times."""

    read_s: float = 20.0
    connect_s: float = 10.0
    question_tries: int = 3  # a user waits for the answer
    silent_tries: int = 2  # failures in a row by silence; more if no mirror has the file
    file_tries: int = 7  # failures in a row almost without bytes, if there is a mirror: half a minute
    last_tries: int = 60  # without a mirror: a quarter of an hour, as no user may be there to try again
    first_delay_s: float = 0.5
    longest_delay_s: float = 15.0
    longest_asked_s: float = 300.0  # a hub that asks for a longer wait counts as busy

    @property
    def first_byte_s(self) -> float:
        """Of a file: a gateway may read all of it, for half a minute, before it sends anything."""
        return 1.75 * self.read_s

    def delay_s(self, failures: int) -> float:
        return min(self.first_delay_s * 2.0 ** (failures - 1), self.longest_delay_s)


class Retries:
    """Of one download; all its threads wait here, and call `on_wait` now and then."""

    def __init__(self, stop: StopSignal, on_wait: Callable[[], None] = lambda: None) -> None:
        self._on_wait = on_wait
        self._lock = threading.Lock()
        self._stop = stop
        self._waiting: dict[int, tuple[float, bool]] = {}  # thread: (end of its wait, whether the hub is busy)
        self._wishes = 0

    def wait(self, seconds: float, hub_is_busy: bool) -> None:
        """Raises Stopped. Ends early after `go_on`."""
        until = time.monotonic() + seconds
        me = threading.get_ident()
        with self._lock:
            wishes = self._wishes
            self._waiting[me] = until, hub_is_busy
        try:
            while (left_s := until - time.monotonic()) > 0 and wishes == self._wishes:
                self._on_wait()
                self._stop.wait(min(left_s, _LOOK_S))
        finally:
            with self._lock:
                del self._waiting[me]

    def go_on(self) -> None:
        """All waiting threads try again now."""
        with self._lock:
            self._wishes += 1

    def soonest(self) -> Retry | None:
        with self._lock:
            if not self._waiting:
                return None
            until, busy = min(self._waiting.values())
        return Retry(max(0.0, until - time.monotonic()), busy)


def seconds_asked(headers: Mapping[str, str], now: float) -> float:
    """The wait by RateLimit, as the public hub says it, or by Retry-After, in seconds or as a date; 0 if it is invalid.

    A date is compared with the answer's own date; without one with `now`, which may be wrong.
    """
    if limited := re.search(r";r=0;t=(\d{1,9})", headers.get("RateLimit", ""), re.ASCII):
        return float(limited[1])
    asked = headers.get("Retry-After", "")
    if asked.isascii() and asked.isdecimal():
        return float(asked[:9])
    until = _moment(asked)
    header_date = _moment(headers.get("Date", ""))
    return 0.0 if until is None else max(0.0, until - (now if header_date is None else header_date))


def _moment(header: str) -> float | None:
    try:
        date = parsedate_to_datetime(header)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, IndexError, OverflowError):
        return None


# A limit in bytes a second that all downloads share.


class Throttle:
    """0: no limit, as at the start."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bytes_per_second = 0
        self._free_at = 0.0  # time when all taken bytes are within the limit

    def set_limit(self, bytes_per_second: int) -> None:
        with self._lock:
            self._bytes_per_second = max(0, bytes_per_second)
            self._free_at = 0.0

    def take(self, count_bytes: int, stop: StopSignal) -> None:
        """Returns once so many more bytes are within the limit. Raises Stopped."""
        with self._lock:
            limit = self._bytes_per_second
            now = time.monotonic()
            if not limit:
                return
            self._free_at = max(self._free_at, now) + count_bytes / limit
            until = self._free_at
        while limit == self._bytes_per_second and (left_s := until - time.monotonic()) > 0:
            stop.wait(min(left_s, _LOOK_S))
