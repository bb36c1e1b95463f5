"""A server over an engine, and clients of it: httpx2 where HTTP is spoken well, a plain socket where it is not."""

from __future__ import annotations

import json
import queue
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from engine import ChatEngine, ModelShelf, Picture, Server, ServerOptions, ServerPhase, ServerState

PATIENCE_S = 120.0


@dataclass(frozen=True)
class Served:
    server: Server
    states: queue.SimpleQueue[ServerState]
    http: httpx2.Client

    @property
    def port(self) -> int:
        return int(self.server.state.addresses[0].rpartition(":")[2])

    def post(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> httpx2.Response:
        return self.http.post(path, json=body, headers=headers)

    def chat(self, text: str, **fields: Any) -> dict[str, Any]:
        answer = self.post("/v1/chat/completions", chat_body(text, **fields))
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def stream(self, path: str, body: Any) -> list[dict[str, Any]]:
        """The data of each event of a stream that ends as OpenAI's do."""
        answer = self.post(path, body | {"stream": True})
        assert answer.status_code == 200, answer.text
        lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: ")]
        assert lines.pop() == "[DONE]"
        return [json.loads(line) for line in lines]

    def connect(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        connection.settimeout(PATIENCE_S)
        return connection

    def wait_for_requests(self, number: int) -> None:
        while self.server.state.requests != number:
            self.states.get(timeout=PATIENCE_S)


def client_of(address: str) -> httpx2.Client:
    """Without TLS here, and reading the certificates for it takes longer than all else of a start."""
    return httpx2.Client(base_url=address, timeout=PATIENCE_S, trust_env=False, verify=False)


def listens(port: int) -> bool:
    """Whether a program answers there; one that is closing may refuse the connection or reset it."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S).close()
    except ConnectionError:
        return False
    return True


def chat_body(text: object, **fields: Any) -> dict[str, Any]:
    return {"model": "default", "messages": [{"role": "user", "content": text}]} | fields


def post_bytes(path: str, body: bytes, **headers: str) -> bytes:
    """A request as it goes over a connection."""
    head = {"host": "localhost", "content-type": "application/json", "content-length": str(len(body))}
    head |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
    return "\r\n".join(lines).encode() + body


class Decoding:
    """A function as a decoder."""

    def __init__(self, decode: Callable[[bytes], Picture], stop: Callable[[], None] = lambda: None) -> None:
        self._decode, self._stop = decode, stop

    def __call__(self, data: bytes) -> Picture:
        return self._decode(data)

    def stop(self) -> None:
        self._stop()


class Asked:
    """A request on a thread of its own, for a test whose own thread has to go on meanwhile."""

    def __init__(self, port: int, body: Any, path: str = "/v1/chat/completions") -> None:
        self.answer = ""  # with its head, once it is whole
        self._data = post_bytes(path, json.dumps(body).encode(), connection="close")
        self._port = port
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def _ask(self) -> None:
        with socket.create_connection(("127.0.0.1", self._port), timeout=PATIENCE_S) as connection:
            connection.settimeout(PATIENCE_S)
            connection.sendall(self._data)
            self.answer = b"".join(iter(lambda: connection.recv(1 << 16), b"")).decode()

    @property
    def done(self) -> bool:
        return not self._thread.is_alive()

    def join(self) -> None:
        self._thread.join(PATIENCE_S)


@contextmanager
def serving(
    engine: ChatEngine, decode: Decoding | None = None, shelf: ModelShelf | None = None, **options: Any
) -> Iterator[Served]:
    states: queue.SimpleQueue[ServerState] = queue.SimpleQueue()
    server = Server(engine, ServerOptions(port=0, **options), states.put, decode, shelf)
    server.start()
    while (state := states.get(timeout=PATIENCE_S)).phase is ServerPhase.STARTING:
        pass
    assert state.phase is ServerPhase.RUNNING, state
    try:
        with client_of(state.addresses[0]) as http:
            yield Served(server, states, http)
    finally:
        assert server.stop(PATIENCE_S)
    assert server.state.phase is ServerPhase.OFF
