"""The server as its owner sees it: started, stopped, and its state. The app and the command line run this same code.

One event loop on one thread. The libraries of the network are imported on that thread, when the server starts.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial

from engine.api.connections import at_port
from engine.api.protocols import ChatEngine
from engine.api.types import AddressProblem
from engine.server.options import (
    KEY_MISSING,
    ModelShelf,
    PictureDecoder,
    ServerOptions,
    ServerPhase,
    ServerState,
)

_log = logging.getLogger(__name__)

_GRACE_S = 5  # for connections to close, once every reply was ended
_KEEP_ALIVE_S = 75  # longer than clients keep theirs: httpx and Node use one again until it was idle for 5 s
_BACKLOG = 128
_CONNECT_S = 0.5
_TRIES = 20  # for a port that is free at both addresses
_LONG_BODIES = 2  # at a time on threads: more of them would leave the loop less of Python's time


class Server:
    """Serves one engine; started at most once at a time.

    `on_change` gets each new state, on the server's thread or the caller's. It must be quick. Without `decode`
    requests with pictures are refused, and without `shelf` no model is loaded for a client.
    """

    def __init__(
        self,
        engine: ChatEngine,
        options: ServerOptions,
        on_change: Callable[[ServerState], None] = lambda _: None,
        decode: PictureDecoder | None = None,
        shelf: ModelShelf | None = None,
    ) -> None:
        self._engine = engine
        self._options = options
        self._on_change = on_change
        self._decode = decode
        self._shelf = shelf
        self._lock = threading.Lock()  # of the attributes below; `on_change` is not called under it
        self._state = ServerState()
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._end: Callable[[], object] | None = None  # once it serves; any thread

    @property
    def state(self) -> ServerState:
        with self._lock:
            return self._state

    def start(self) -> None:
        """Returns at once: RUNNING or FAILED follows. Nothing while it is running."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return
            self._stopping = False
            self._thread = threading.Thread(target=self._run, name="server", daemon=True)
        self._change(ServerState(ServerPhase.STARTING))
        self._thread.start()

    def stop(self, timeout_s: float = 15.0) -> bool:
        """End every request of a client, then the server; True if all of it is done in time."""
        with self._lock:
            thread = self._thread
            end = self._end
            self._stopping = True
        if thread is None:
            return True
        if end is not None:
            with suppress(RuntimeError):  # it has ended by itself
                end()
        thread.join(timeout_s)
        return not thread.is_alive()

    # On the server's thread

    def _run(self) -> None:
        sockets: list[socket.socket] = []
        last = ServerState()
        try:
            if self._options.lacks_key:
                last = ServerState(ServerPhase.FAILED, error=KEY_MISSING)
                return
            sockets = listening(self._options.host, self._options.port)
            asyncio.run(self._serve(sockets))
        except OSError as error:
            detail = (error.strerror or "").partition(" (")[0]  # `create_server` adds the address
            last = ServerState(ServerPhase.FAILED, error=AddressProblem.of(error), detail=detail)
        except Exception as error:  # noqa: BLE001  said in the state, whatever it is
            _log.exception("the server failed")
            last = ServerState(ServerPhase.FAILED, error="InternalError", detail=type(error).__name__)
        finally:
            for each in sockets:
                each.close()
            with self._lock:
                self._end = None
            self._change(last)

    async def _serve(self, sockets: list[socket.socket]) -> None:
        import uvicorn

        from engine.server.app import make_app
        from engine.server.connections import MOST_HEADER_BYTES, ClientConnection, ClientConnections
        from engine.server.replies import SharedEngine

        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(_LONG_BODIES, "long bodies"))
        shared = SharedEngine(self._engine, self._options, self._count, self._shelf, self._decode)
        config = uvicorn.Config(
            make_app(shared),
            http=ClientConnection,
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE_S,
            timeout_keep_alive=_KEEP_ALIVE_S,
            h11_max_incomplete_event_size=MOST_HEADER_BYTES,
        )
        config.load()
        server = uvicorn.Server(config)
        connections = ClientConnections(server, self._options)

        def end() -> None:
            self._change(replace(self.state, phase=ServerPhase.STOPPING))
            shared.end_requests()
            connections.close()
            server.should_exit = True

        with self._lock:
            self._end = partial(loop.call_soon_threadsafe, end)
            stopping = self._stopping
        try:
            if not stopping:
                addresses = tuple(_address(each) for each in sockets)
                connections.listen(sockets)
                self._change(ServerState(ServerPhase.RUNNING, addresses))
                await server.serve([])
        finally:
            connections.close()
            shared.close()

    def _count(self, requests: int) -> None:
        self._change(replace(self.state, requests=requests))

    def _change(self, state: ServerState) -> None:
        with self._lock:
            self._state = state
        try:
            self._on_change(state)
        except Exception:  # noqa: BLE001  as with any sink
            _log.exception("the server's state could not be reported")


def listening(host: str, port: int) -> list[socket.socket]:
    """Both loopback addresses where no host is given; the second where the machine has it."""
    if host not in {"", "localhost"}:
        return [_bound(host, port)]
    for _ in range(_TRIES if port == 0 else 1):
        first = _bound("127.0.0.1", port)
        try:
            return [first, _bound("::1", first.getsockname()[1])]
        except OSError as error:
            if error.errno in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}:
                return [first]
            first.close()
            taken = error
    raise taken


def is_answered(host: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((host, port), timeout=_CONNECT_S):
        return True
    return False


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if sys.platform == "darwin" and port and is_answered(host, port):  # macOS lets us have what others hold on 0.0.0.0
        raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    listener.setblocking(False)
    return listener


def _address(listener: socket.socket) -> str:
    return f"http://{at_port(*listener.getsockname()[:2])}"
