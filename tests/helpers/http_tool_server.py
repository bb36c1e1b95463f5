"""A tool server over HTTP on this machine, by the protocol's older version, that misbehaves as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.helpers.malicious_server import MIB, tool


class HttpToolServer(ThreadingHTTPServer):
    daemon_threads = True
    path = "/mcp"

    def __init__(self, mode: str, handler: type[BaseHTTPRequestHandler] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), handler or ToolHandler)
        self.mode = mode
        self.session = "1"  # of the modes that have one
        self.headers_seen: list[dict[str, str]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}{self.path}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left is no error of the test."""


class ToolHandler(BaseHTTPRequestHandler):
    server: HttpToolServer

    def do_GET(self) -> None:
        self._send(405, b"")

    def do_DELETE(self) -> None:
        self._send(405, b"")

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.headers_seen.append({name.lower(): value for name, value in self.headers.items()})
        mode = self.server.mode
        method = message.get("method")
        session = self.headers.get("mcp-session-id")
        if mode == "sign_in":
            self._send(401, b"", www_authenticate="Basic")
        elif session is not None and session != self.server.session:
            self._forgotten(mode, message)
        elif mode == "redirects":
            self._send(307, b"", location="http://127.0.0.1:9/elsewhere")
        elif "id" not in message:
            self._send(202, b"")
        elif method == "initialize":
            about = {"name": mode, "version": "1"}
            self._answer(message, {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about})
        elif method == "tools/list":
            self._answer(message, {"tools": [tool("act")]})
        elif method == "tools/call":
            self._call(mode, message)
        else:
            self._send(400, b"")

    def _forgotten(self, mode: str, message: dict[str, Any]) -> None:
        """As the SDKs' servers say it, which have another status or none of their own words."""
        fault = {"code": -32000, "message": "Bad Request: No valid session ID provided"}
        refusal = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "error": fault}).encode()
        self._send(*((400, refusal) if mode == "forgets_with_words" else (404, b"")))

    def _call(self, mode: str, message: dict[str, Any]) -> None:
        if mode == "large":
            self._send(200, b"[" * (9 * MIB))
        elif mode == "compressed":
            self._send(200, b"x", content_encoding="gzip")
        elif mode == "no_json":
            self._send(200, b"<html>")
        elif mode == "closes":
            self.server.mode = "right"
            self.close_connection = True
        else:
            self._answer(message, {"content": [{"type": "text", "text": "done"}]})

    def _answer(self, message: dict[str, Any], result: dict[str, Any]) -> None:
        session = {"mcp_session_id": self.server.session} if self.server.mode.startswith("forgets") else {}
        self._send(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode(), **session)

    def _send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing."""


@contextmanager
def http_tool_server(mode: str) -> Iterator[HttpToolServer]:
    with HttpToolServer(mode) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
