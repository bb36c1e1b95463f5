"""Carries bytes between an encrypted connection and a plain socket, so that ranks know nothing of networks.

One thread for both directions: an SSLSocket must not be read and written by two at once.
"""

from __future__ import annotations

import select
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from math import inf

from engine.machines.wire import socket_pair

HANDSHAKE_S = 10.0
# After which a machine has vanished (asleep, unplugged, stopped) that says something each BEAT_S. With what it may take
# to notice and to end a rank (`lender.END_S`) it is less than ten seconds, and one that is slow may pause for six.
SILENT_S = 8.0
BEAT_S = 1.0
LAST_WORDS_S = 10.0  # for what is still to be sent to one side when the other has ended
_BLOCK_BYTES = 1 << 16
_MOST_BYTES = 1 << 20  # that wait for a slow reader before the writer waits, too
_LOOK_S = 1.0


class _Side:
    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.waiting = bytearray()  # to be sent to it
        self.ended = False
        connected.setblocking(False)

    def read(self, into: bytearray) -> bool:
        """Whether anything came, its end included."""
        if self.ended or len(into) >= _MOST_BYTES:
            return False
        try:
            data = self.socket.recv(_BLOCK_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        self.ended = not data
        into += data
        return True

    def write(self) -> bool:
        if not self.waiting:
            return False
        try:
            sent = self.socket.send(self.waiting[:_BLOCK_BYTES])
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        del self.waiting[:sent]
        return True


def _wait(one: _Side, other: _Side, within_s: float) -> None:
    """Until one can be read or written: encrypted bytes that wait were read before, or nothing has moved."""
    poll = select.poll()
    for side, beyond in ((one, other), (other, one)):
        reads = select.POLLIN if not side.ended and len(beyond.waiting) < _MOST_BYTES else 0
        writes = select.POLLOUT if side.waiting else 0
        if reads or writes:
            poll.register(side.socket, reads | writes)
    poll.poll(within_s * 1000)


Wait = Callable[[_Side, _Side, float], None]


def relay(
    one: socket.socket,
    other: socket.socket,
    silent_s: float = inf,
    now_s: Callable[[], float] = time.monotonic,
    wait: Wait = _wait,
) -> None:
    """Until one of them ends, and what came from it was sent on, if the other reads that in time. Closes both.

    Or until nothing has come from `one` for `silent_s`. `now_s`, `wait`: tests have a time of their own.
    """
    with one, other, suppress(OSError):
        sides = (_Side(one), _Side(other))
        left_s = silent_s
        while not any(side.ended for side in sides):
            began_s = now_s()
            if _move(*sides, min(left_s, _LOOK_S), wait):
                left_s = silent_s
            else:  # of a much longer time this process was stopped itself
                left_s -= min(now_s() - began_s, 2 * _LOOK_S)
            if left_s <= 0:
                return
        until_s = now_s() + LAST_WORDS_S
        while not any(side.ended and not beyond.waiting for side, beyond in (sides, sides[::-1])):
            if (left_s := until_s - now_s()) <= 0:
                return
            _move(*sides, left_s, wait)


def _move(one: _Side, other: _Side, within_s: float, wait: Wait) -> bool:
    """Whether anything has come from `one`, or cannot come now."""
    moved = [side.read(beyond.waiting) for side, beyond in ((one, other), (other, one))]
    moved += [side.write() for side in (one, other)]
    if not any(moved):
        wait(one, other, within_s)
    return moved[0] or len(other.waiting) >= _MOST_BYTES


def relayed(secure: ssl.SSLSocket, silent_s: float = inf) -> tuple[socket.socket, threading.Thread]:
    """A plain socket whose bytes come and go encrypted, and the thread that ends with the connection.

    The connection is closed by closing the socket, in every process that has it.
    """
    secure.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # a step waits for each small frame
    ours, theirs = socket_pair()
    thread = threading.Thread(target=relay, args=(secure, theirs, silent_s), name="relay", daemon=True)
    thread.start()
    return ours, thread
