"""Connections to clients: few, and those that have not shown the key take nothing from the others.

uvicorn and asyncio would accept any number, and wait for ever for a header or for a client to read.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
from collections.abc import Iterable
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from engine.api.connections import gives_way, machine_of
from engine.server.options import ServerOptions

MOST_HEADER_BYTES = 32 << 10
_MOST = 256  # that have shown the key
_SHARE = 4  # of the process's file descriptors one in so many, and of connections one in so many silent ones
_LEAST = 16
_READ_BYTES = 16 << 10  # at once: what one client sends is read in turns with all else
_AGAIN_S = 0.5  # until a connection is accepted again after a failure: no descriptor was free, say


class _Seldom(logging.Filter):
    """One record a second: clients decide how many there would be. None of what the app raises: it logs that itself."""

    _last = float("-inf")

    def filter(self, record: logging.LogRecord) -> bool:
        if record.created < self._last + 1 or "Exception in ASGI application" in record.getMessage():
            return False
        self._last = record.created
        return True


_log = logging.getLogger(__name__)
for _logger in (_log, logging.getLogger("uvicorn.error")):
    _logger.addFilter(_Seldom())


class ClientConnections:
    """All connections of a server, accepted one by one. On the loop's thread.

    A connection is silent until a whole header has come on it, with the key where one is asked for. Silent ones give
    way to new ones; those that have shown it give way to each other, unless an answer is on its way and is read.
    """

    def __init__(self, server: uvicorn.Server, options: ServerOptions) -> None:
        """Inside a running loop. `server`: with its config loaded."""
        self.options = options
        self._server = server
        self._loop = asyncio.get_running_loop()
        descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        most = _MOST if descriptors == resource.RLIM_INFINITY else min(_MOST, descriptors // _SHARE)
        self._most_shown = max(_LEAST, most)
        self._most_silent = max(_LEAST, most // _SHARE)
        self._silent: dict[ClientConnection, str] = {}  # with their machines, the oldest first
        self._shown: dict[ClientConnection, str] = {}
        self._listeners: set[socket.socket] = set()
        self._accepted: set[asyncio.Task[Any]] = set()
        self.buffer = memoryview(bytearray(_READ_BYTES))  # whose reader is called at once after it was filled

    def listen(self, listeners: Iterable[socket.socket]) -> None:
        for listener in listeners:
            self._listeners.add(listener)
            self._loop.add_reader(listener, self._accept, listener)

    def close(self) -> None:
        """Accept no more."""
        while self._listeners:
            self._loop.remove_reader(self._listeners.pop())

    def show(self, connection: ClientConnection) -> bool:
        """It has shown what it has to; False: there is no room for it."""
        if connection in self._shown:
            return True
        if len(self._shown) >= self._most_shown:
            idle = ((each, machine) for each, machine in self._shown.items() if not each.is_answered)
            if (first := gives_way(idle)) is None:
                return False
            self._end(first)
        if connection in self._silent:
            self._shown[connection] = self._silent.pop(connection)
        return True

    def forget(self, connection: ClientConnection) -> None:
        self._silent.pop(connection, None)
        self._shown.pop(connection, None)

    def _accept(self, listener: socket.socket) -> None:
        try:
            accepted, address = listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:
            _log.warning("no connection can be accepted: %s", error.strerror)
            self._loop.remove_reader(listener)  # it would be called again at once
            self._loop.call_later(_AGAIN_S, self._accept_again, listener)
            return
        accepted.setblocking(False)
        if len(self._silent) >= self._most_silent and (first := gives_way(self._silent.items())) is not None:
            _log.info("a connection without a request gave way to a new one")
            self._end(first)
        connection = ClientConnection(self, self._server)
        self._silent[connection] = machine_of(address[0])
        task = self._loop.create_task(self._loop.connect_accepted_socket(lambda: connection, accepted))
        self._accepted.add(task)
        task.add_done_callback(self._accepted.discard)

    def _accept_again(self, listener: socket.socket) -> None:
        if listener in self._listeners:
            self._loop.add_reader(listener, self._accept, listener)

    def _end(self, connection: ClientConnection) -> None:
        self.forget(connection)
        connection.end()


class ClientConnection(H11Protocol, asyncio.BufferedProtocol):
    """One to a client: `scope["state"]["connection"]`."""

    def __init__(self, connections: ClientConnections, server: uvicorn.Server) -> None:
        super().__init__(server.config, server.server_state, {"connection": self})
        self._connections = connections
        self._header: asyncio.TimerHandle | None = None  # ends it where none comes
        self._reader: asyncio.TimerHandle | None = None  # ends it where the client does not read
        self._ended = False

    def show(self) -> bool:
        """See `ClientConnections.show`."""
        return self._connections.show(self)

    @property
    def is_answered(self) -> bool:
        """Whether a request has come whole, and its answer is on its way to a client that reads."""
        cycle = self.cycle
        whole = cycle is not None and not (cycle.more_body or cycle.response_complete)
        return whole and not self.flow.write_paused

    def end(self) -> None:
        """At once, whatever is still to be sent."""
        self._ended = True
        if self.transport is not None:
            self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_header()
        if self._ended:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        self._be_read()
        self._connections.forget(self)
        super().connection_lost(exc)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._connections.buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(bytes(self._connections.buffer[:nbytes]))

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._expect_nothing()
        elif self._header is None and self.conn.our_state is h11.IDLE:
            self._expect_header()

    def pause_writing(self) -> None:
        """The client does not read what is sent."""
        super().pause_writing()
        self._reader = self.loop.call_later(self._connections.options.send_s, self.end)

    def resume_writing(self) -> None:
        self._be_read()
        super().resume_writing()

    def _expect_header(self) -> None:
        self._header = self.loop.call_later(self._connections.options.header_s, self._close)

    def _expect_nothing(self) -> None:
        if self._header is not None:
            self._header.cancel()
            self._header = None

    def _be_read(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def _close(self) -> None:
        self._header = None
        if not self.transport.is_closing():
            self.transport.close()
