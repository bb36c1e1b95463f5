"""A tool server that wants a sign-in, and the server of another origin where it is done: both on this machine.

Written from the specifications, without the SDK: what a client sends is checked here. `mode` says what is wrong.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import urlopen

from tests.helpers.http_tool_server import HttpToolServer, ToolHandler
from tests.helpers.malicious_server import MIB

_AUTHORIZED = "authorization"
_TOO_LARGE = {"large": "application/json", "stream": "text/event-stream"}  # kinds of bodies, by the mode with such


class SignInServer(ThreadingHTTPServer):
    """Where the user signs in: it asks nothing and agrees."""

    daemon_threads = True

    def __init__(self, mode: str) -> None:
        super().__init__(("127.0.0.1", 0), _SignInHandler)
        self.mode = mode
        self.resource = ""
        self.clients: dict[str, str] = {}  # where each is led back to
        self.codes: dict[str, dict[str, str]] = {}
        self.access: list[str] = []  # that are good
        self.scopes: list[str] = []  # that were asked for, sign-in by sign-in
        self.refresh: list[str] = []
        self.revoked: list[str] = []
        self.expires_s = 3600
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.faults: list[str] = []  # of the client

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def metadata(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register",
            "revocation_endpoint": f"{self.issuer}/revoke",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }
        changed: dict[str, dict[str, Any]] = {
            "no_registration": {"registration_endpoint": None},
            "no_pkce": {"code_challenge_methods_supported": None},
            "plain_pkce": {"code_challenge_methods_supported": ["plain"]},
            "another_issuer": {"issuer": "http://127.0.0.1:9"},
            "page_elsewhere": {"authorization_endpoint": "http://192.168.1.2/authorize"},
            "page_with_query": {"authorization_endpoint": f"{self.issuer}/authorize?policy=a"},
        }
        return {name: value for name, value in (found | changed.get(self.mode, {})).items() if value is not None}

    def grant(self) -> dict[str, Any]:
        self.access.append(f"access-{secrets.token_hex(8)}")
        self.refresh.append(f"refresh-{secrets.token_hex(8)}")
        tokens = {"access_token": self.access[-1], "refresh_token": self.refresh[-1], "token_type": "bearer"}
        return {**tokens, "expires_in": self.expires_s}

    def check(self, is_right: bool, fault: str) -> None:
        if not is_right:
            self.faults.append(fault)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left is no error of the test."""


class _SignInHandler(BaseHTTPRequestHandler):
    server: SignInServer

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/.well-known/oauth-authorization-server":
            self._answer(200, self.server.metadata())
        elif url.path == "/authorize":
            self._authorize({name: values[0] for name, values in parse_qs(url.query).items()})
        else:
            self._answer(404, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        server = self.server
        server.check(_AUTHORIZED not in self.headers, "a key of another server")
        if self.path == "/register":
            self._register(json.loads(body))
            return
        form = {name: values[0] for name, values in parse_qs(body).items()}
        server.seen.append((self.path, form))
        if self.path == "/revoke":
            server.revoked.append(form["token"])
            self._answer(200, {})
        elif server.mode == "busy":
            self._answer(503, {})
        elif server.mode == "no_answer":
            self._answer(200, {})
        elif server.mode == "redirects":
            self.send_response(307)
            self.send_header("location", f"{server.resource}/taken")
            self.send_header("content-length", "0")
            self.end_headers()
        else:
            is_right = self._is_code(form) if form["grant_type"] == "authorization_code" else self._is_refresh(form)
            self._answer(200, server.grant()) if is_right else self._answer(400, {"error": "invalid_grant"})

    def _register(self, client: dict[str, Any]) -> None:
        if self.server.mode == "registration_refused":
            self._answer(403, {})
            return
        name = secrets.token_hex(4)
        (self.server.clients[name],) = client["redirect_uris"]
        self._answer(201, {**client, "client_id": name})

    def _authorize(self, asked: dict[str, str]) -> None:
        server = self.server
        server.check(asked["response_type"] == "code", "response_type")
        server.check(asked.get("policy", "") == "a" * (server.mode == "page_with_query"), "policy")
        server.check(asked["code_challenge_method"] == "S256", "code_challenge_method")
        server.check(asked["resource"] == server.resource, "resource")
        server.scopes.append(asked.get("scope", ""))
        server.check(asked["redirect_uri"] == server.clients[asked["client_id"]], "redirect_uri")
        code = secrets.token_hex(8)
        server.codes[code] = asked
        said = {"error": "access_denied"} if server.mode == "refuses" else {"code": code}
        self.send_response(302)
        self.send_header("location", f"{asked['redirect_uri']}?{urlencode(said | {'state': asked['state']})}")
        self.send_header("content-length", "0")
        self.end_headers()

    def _is_code(self, form: dict[str, str]) -> bool:
        asked = self.server.codes.pop(form["code"], None)
        if asked is None or self.server.mode == "no_token":
            return False
        digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        same = all(form[name] == asked[name] for name in ("client_id", "redirect_uri", "resource"))
        self.server.check(same and digest == asked["code_challenge"], "the code")
        return not self.server.faults

    def _is_refresh(self, form: dict[str, str]) -> bool:
        """Each is good once."""
        self.server.check(form["resource"] == self.server.resource, "resource")
        if form["refresh_token"] not in self.server.refresh:
            return False
        self.server.refresh.remove(form["refresh_token"])
        return form["client_id"] in self.server.clients

    def _answer(self, status: int, said: dict[str, Any]) -> None:
        body = json.dumps(said).encode() + b" " * (9 * MIB) * (self.server.mode in _TOO_LARGE)
        self.send_response(status)
        self.send_header("content-type", _TOO_LARGE.get(self.server.mode, "application/json"))
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing."""


class OAuthToolServer(HttpToolServer):
    def __init__(self, mode: str, sign_in: SignInServer) -> None:
        super().__init__("right", _OAuthToolHandler)
        self.oauth_mode = mode
        self.sign_in = sign_in
        self.taken: list[str] = []  # paths of other requests
        self.refusals = 0
        self.forbids = ""  # why it refuses every request that is signed in
        sign_in.resource = self.address


class _OAuthToolHandler(ToolHandler):
    server: OAuthToolServer

    def do_GET(self) -> None:  # noqa: N802
        about = f"/.well-known/oauth-protected-resource{urlsplit(self.server.address).path}"
        if self.path == "/sse":
            is_in = self.headers.get(_AUTHORIZED, "").removeprefix("Bearer ") in self.server.sign_in.access
            self._send(200 if is_in else 401, b"", www_authenticate=self._challenge())
            return
        if self.path != about or self.server.oauth_mode == "no_oauth":
            self._send(404, b"")
            return
        resource = "http://127.0.0.1:9/mcp" if self.server.oauth_mode == "another_resource" else self.server.address
        said = {"resource": resource, "authorization_servers": [self.server.sign_in.issuer]}
        self._send(200, json.dumps(said).encode())

    def do_POST(self) -> None:  # noqa: N802
        token = self.headers.get(_AUTHORIZED, "").removeprefix("Bearer ")
        if urlsplit(self.path).path != "/mcp":
            self.server.taken.append(self.path)
            self._send(404, b"")
        elif token in self.server.sign_in.access and self.server.forbids:
            self.rfile.read(int(self.headers["content-length"]))
            self._send(403, b"", www_authenticate=self.server.forbids)
        elif token in self.server.sign_in.access:
            super().do_POST()
        else:
            self.rfile.read(int(self.headers["content-length"]))
            self.server.refusals += 1
            status = 403 if self.server.oauth_mode == "forbidden" else 401
            self._send(status, b"", www_authenticate=self._challenge())

    def _call(self, mode: str, message: dict[str, Any]) -> None:
        if self.server.oauth_mode == "scopes" and "write" not in self.server.sign_in.scopes[-1].split():
            self._send(403, b"", www_authenticate='Bearer error="insufficient_scope", scope="write"')
        else:
            super()._call(mode, message)

    def _challenge(self) -> str:
        mode = self.server.oauth_mode
        if mode == "scopes":
            return 'Bearer error="invalid_token", scope="read"'
        if mode == "leads_away":
            return f'Bearer resource_metadata="{self.server.sign_in.issuer}/.well-known/oauth-protected-resource"'
        return 'Basic realm="x"' if mode == "basic" else 'Bearer error="invalid_token"'


@contextmanager
def oauth_tool_server(mode: str = "right") -> Iterator[OAuthToolServer]:
    with SignInServer(mode) as sign_in, OAuthToolServer(mode, sign_in) as server, serving(sign_in), serving(server):
        yield server


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


def browse(page: str) -> str:
    """What the user sees in the end, in a browser that follows where it is led."""
    with urlopen(page, timeout=60) as response:
        return str(response.read().decode())
