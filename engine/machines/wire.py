"""Values over a stream socket, in frames: two lengths, a value as JSON, and raw bytes after it.

A frame that has begun must end in time, whichever way it goes; between frames a reader may wait as long as it likes.
"""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from types import UnionType

from engine.machines.messages import NotAValue, Value, decoded, encoded

FRAME_S = 30.0
_AT_ONCE_BYTES = 1 << 16  # in one piece with the value: each piece wakes everyone on the way
MOST_VALUE_BYTES = 1 << 20
MOST_BYTES = 1 << 28
_BUFFER_BYTES = 1 << 20
_LENGTHS = struct.Struct(">II")


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """With buffers of a megabyte: a Mac gives 8 KB, at a fifth of the speed."""
    pair = socket.socketpair()
    for end in pair:
        for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, buffer, _BUFFER_BYTES)
    return pair


class WireEnded(Exception):
    """The other side has closed it, or its process has ended."""


class WireBroken(Exception):
    """What came is no frame, or did not come in time."""


def arrived(wires: Sequence[Wire], within_s: float | None) -> list[int]:
    """The indices of those at which a frame, or the end, has begun to arrive; None: waits for ever."""
    poll = select.poll()
    try:
        for wire in wires:
            poll.register(wire, select.POLLIN)
        ready = {descriptor for descriptor, _ in poll.poll(None if within_s is None else within_s * 1000)}
    except (OSError, ValueError) as error:
        raise WireEnded(str(error)) from error
    return [index for index, wire in enumerate(wires) if wire.fileno() in ready]


class Wire:
    """Any thread may send; one thread receives."""

    def __init__(
        self,
        connected: socket.socket,
        receives: UnionType,
        frame_s: float = FRAME_S,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """`most_bytes`: that are taken after a value."""
        self._socket = connected
        self._socket.settimeout(frame_s)
        self._receives = receives
        self._frame_s = frame_s
        self._most_bytes = most_bytes
        self._sending = threading.Lock()

    def send(self, value: Value, data: bytes | bytearray | memoryview = b"") -> None:
        content = encoded(value)
        with self._sending:
            try:
                head = _LENGTHS.pack(len(content), len(data)) + content
                self._socket.sendall(head if len(data) > _AT_ONCE_BYTES else b"".join((head, data)))
                if len(data) > _AT_ONCE_BYTES:
                    self._socket.sendall(data)
            except TimeoutError as error:
                self.shut()  # after a part of a frame nothing else makes sense
                raise WireBroken("nobody reads") from error
            except OSError as error:
                raise WireEnded(str(error)) from error

    def arrives(self, within_s: float | None) -> bool:
        """Whether a frame, or the end, has begun to arrive; None: waits for ever."""
        return bool(arrived([self], within_s))

    def fileno(self) -> int:
        return self._socket.fileno()

    def receive(self) -> tuple[Value, bytearray]:
        until = time.monotonic() + self._frame_s
        value_bytes, more_bytes = _LENGTHS.unpack(self._read(_LENGTHS.size, until))
        if value_bytes > MOST_VALUE_BYTES or more_bytes > self._most_bytes:
            raise WireBroken(f"a frame of {value_bytes} and {more_bytes} bytes")
        try:
            value = decoded(bytes(self._read(value_bytes, until)), self._receives)
        except NotAValue as error:
            raise WireBroken(str(error)) from error
        return value, self._read(more_bytes, until)

    def shut(self) -> None:
        """The thread that receives reads the end, and closes it."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._socket.close()

    def _read(self, size: int, until: float) -> bytearray:
        data = bytearray(size)
        view = memoryview(data)
        held = 0
        while held < size:
            if not self.arrives(max(0.0, until - time.monotonic())):
                raise WireBroken("a frame does not end")
            try:
                more = self._socket.recv_into(view[held:])
            except OSError as error:
                raise WireEnded(str(error)) from error
            if not more:
                raise WireEnded("closed")
            held += more
        return data
