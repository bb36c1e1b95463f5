"""A hub at an address of this machine, for its own downloads: it has one model, which another machine supplies.

It listens on loopback, and answers only who knows the secret in its address. It knows a commit, a list of files and
their contents, as hubs do; who asks trusts it as little as any hub.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from engine.cluster.supplied import PIECE_BYTES, SupplyEnded, SupplyLine

_IDLE_S = 30.0  # for which a connection may say nothing, or not read
_RANGE = re.compile(r"bytes=(\d{1,15})-")


class LoopbackHub:
    def __init__(self, line: Callable[[], SupplyLine | None]) -> None:
        """`line`: over which the model comes now. Raises OSError where nothing can listen."""
        self._server = _Server(line)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}/{self._server.secret}"
        threading.Thread(target=self._server.serve_forever, name="loopback hub", daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, line: Callable[[], SupplyLine | None]) -> None:
        self.line = line
        self.secret = secrets.token_hex(16)
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The client has closed the connection: a download that was paused does."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the standard library
        """Addresses have the secret in them."""

    def do_GET(self) -> None:
        secret, *parts = unquote(urlsplit(self.path).path, errors="replace").strip("/").split("/")
        line = self.server.line()
        if not hmac.compare_digest(secret.encode(), self.server.secret.encode()):
            self._refuse(404, "RepoNotFound")
        elif line is None:
            self._refuse(503)
        else:
            try:
                self._answer(parts, line)
            except SupplyEnded:
                self._refuse(503)

    def _answer(self, parts: list[str], line: SupplyLine) -> None:
        repository, revision = line.source.repository.split("/"), line.source.revision
        if parts == ["api", "models", *repository, "revision", revision]:
            self._say({"sha": revision})
        elif parts == ["api", "models", *repository, "tree", revision]:
            stock = line.stock()
            self._say([_entry(*file) for file in zip(stock.names, stock.sizes, stock.checksums, strict=True)])
        elif parts[:-1] == [*repository, "resolve", revision]:
            stock = line.stock()
            self._send_file(line, parts[-1], dict(zip(stock.names, stock.sizes, strict=True)).get(parts[-1]))
        else:
            self._refuse(404, "RepoNotFound")

    def _send_file(self, line: SupplyLine, name: str, size: int | None) -> None:
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        start = int(asked[1]) if asked else 0
        if size is None:
            self._refuse(404, "EntryNotFound")
            return
        if start and start >= size:
            self._refuse(416)
            return
        ranged = {"Content-Range": f"bytes {start}-{size - 1}/{size}"} if start else {}
        first = line.read(name, start, min(PIECE_BYTES, size - start))  # before anything is promised
        self._begin(206 if start else 200, size - start, ranged)
        self.wfile.write(first)
        start += len(first)
        try:
            while start < size:
                piece = line.read(name, start, min(PIECE_BYTES, size - start))
                self.wfile.write(piece)
                start += len(piece)
        except SupplyEnded:
            self.close_connection = True  # before its end, which is how HTTP says so

    def _say(self, value: object) -> None:
        content = json.dumps(value).encode()
        self._begin(200, len(content), {"Content-Type": "application/json"})
        self.wfile.write(content)

    def _refuse(self, status: int, code: str = "") -> None:
        self._begin(status, 0, {"X-Error-Code": code} if code else {})

    def _begin(self, status: int, size: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(size), **headers}.items():
            self.send_header(name, value)
        self.end_headers()


def _entry(name: str, size: int, checksum: str) -> dict[str, object]:
    """As a hub lists it: a large file by the SHA-256 of its content, another one by git's object id."""
    entry: dict[str, object] = {"type": "file", "path": name, "size": size, "oid": checksum}
    return entry | {"lfs": {"oid": checksum, "size": size}} if len(checksum) == 64 else entry
