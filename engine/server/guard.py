"""Checks requests before routing: hosts, origins, keys, types, sizes and times. An ASGI middleware.

A page in a browser must not reach the server, not even by a request whose answer it cannot read, nor by a name that it
points at this machine (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.api.connections import is_loopback
from engine.server.dialect import Dialect
from engine.server.options import ServerOptions
from engine.server.problems import Problem, full, too_many_connections

_LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1", "host.docker.internal"}
_OPEN_PATHS = {"/health"}
_MOST_DROPPED_BYTES = 1 << 20  # of a refused request's body
_DROP_S = 1.0


class Guard:
    def __init__(self, app: ASGIApp, options: ServerOptions, dialects: Sequence[Dialect]) -> None:
        """The first dialect that owns a request has it: `scope["dialect"]`."""
        self._app = app
        self._options = options
        self._dialects = dialects
        self.held_bytes = 0  # of the bodies of all open requests
        self._hosts = _LOCAL_HOSTS | {host.casefold() for host in (*options.hosts, options.host) if host}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        scope["dialect"] = dialect = next(each for each in self._dialects if each.owns(scope["path"], headers))
        scope["request_id"] = request_id = f"req_{secrets.token_hex(12)}"
        origin = headers.get("origin")
        answers = {"x-request-id": request_id, "x-content-type-options": "nosniff", "vary": "Origin"}
        try:
            self._check_origin(headers)
            if origin is not None:
                answers |= {
                    "access-control-allow-origin": origin,
                    "access-control-expose-headers": "x-request-id, x-hunch-ignored, x-should-retry, retry-after",
                }
            if scope["method"] == "OPTIONS":
                await _preflight(headers)(scope, receive, _with(send, answers))
                return
            key = self._key_in(headers, scope)
            self._check_key(key, scope)
            scope["asked_by"] = (_machine_of(scope), origin or "", key, headers.get("user-agent", ""))
            self._check_body(headers, scope["method"])
            if scope["path"] not in _OPEN_PATHS and not scope["state"]["connection"].show():
                raise too_many_connections()
        except Problem as problem:
            body = dialect.error(problem, request_id)
            refusal = JSONResponse(body, problem.status, {**problem.headers, "connection": "close"})
            if "expect" not in headers:  # else the client waits with its body
                await _drop_body(receive)
            await refusal(scope, receive, _with(send, answers))
            return
        limited = _Limited(receive, self._options, self)
        try:
            await self._app(scope, limited, _with(send, answers))
        finally:
            self.held_bytes -= limited.size

    def _check_origin(self, headers: Headers) -> None:
        host = headers.get("host", "")
        if not self._is_ours(host):
            raise _forbidden("This server does not answer to that host name.", "host_not_allowed")
        origin = headers.get("origin")
        if origin is not None and not self._may_ask(origin, host):
            raise _forbidden("Pages of that origin may not use this server.", "origin_not_allowed")
        if origin is None and headers.get("sec-fetch-site", "none") in {"cross-site", "same-site"}:
            raise _forbidden("Pages of other sites may not use this server.", "origin_not_allowed")

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            return False
        if not name or "@" in host or "/" in host:
            return False
        return name in self._hosts or (self._options.beyond_loopback and _is_address(name))

    def _may_ask(self, origin: str, host: str) -> bool:
        if origin == f"http://{host}":
            return True
        return any(
            origin == allowed or (allowed.endswith("://") and origin.startswith(allowed))
            for allowed in self._options.origins
        )

    def _key_in(self, headers: Headers, scope: Scope) -> str:
        """What the client sends as its key, whether one is asked for or not; "": nothing."""
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        found = [bearer.strip()] if scheme.casefold() == "bearer" else []
        found += [headers.get(each.key_header, "") for each in self._dialects if each.key_header]
        if name := scope["dialect"].key_parameter:
            found.append(QueryParams(scope["query_string"]).get(name, ""))
        return next(filter(None, found), "")

    def _check_key(self, sent: str, scope: Scope) -> None:
        key = self._options.key
        if key is None or scope["path"] in _OPEN_PATHS:
            return
        if not hmac.compare_digest(sent.encode(), key.encode()):
            raise Problem(401, "The key is missing or wrong.", "authentication_error", "invalid_api_key")

    def _check_body(self, headers: Headers, method: str) -> None:
        if method in {"GET", "HEAD"}:
            return
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > self._options.largest_body:
            raise _too_large(self._options.largest_body)
        kind = headers.get("content-type", "").partition(";")[0].strip().casefold()
        if kind != "application/json" and (kind or _is_of_a_page(headers)):
            raise Problem(415, "The body must be application/json.", code="unsupported_media_type")


def _preflight(headers: Headers) -> Response:
    """A page that may ask may send any header: programs of the vendors send ever more, and none has an effect here but
    those that are known.
    """
    allowed = {
        "access-control-allow-methods": "GET, POST, OPTIONS",
        "access-control-allow-headers": headers.get("access-control-request-headers", ""),
        "access-control-max-age": "600",
    }
    return Response(status_code=204, headers=allowed)


async def _drop_body(receive: Receive) -> None:
    """Read what comes of it, within limits: a connection that is closed before may be reset, and the client lose the
    answer.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(_DROP_S):
            left = _MOST_DROPPED_BYTES
            while left > 0:
                message = await receive()
                if not message.get("more_body"):
                    return
                left -= len(message["body"])


class _Limited:
    """Receives a body of at most so many bytes, in at most so many seconds."""

    def __init__(self, receive: Receive, options: ServerOptions, guard: Guard) -> None:
        self._receive = receive
        self._options = options
        self._guard = guard
        self.size = 0  # up to now
        self._until = asyncio.get_running_loop().time() + options.body_s
        self._whole = False

    async def __call__(self) -> Message:
        if self._whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise Problem(408, "The body did not come in time.", code="timeout") from None
        size = len(message.get("body", b""))
        self.size += size
        self._guard.held_bytes += size
        if self.size > self._options.largest_body:
            raise _too_large(self._options.largest_body)
        if self._guard.held_bytes > self._options.most_held:
            raise full("bodies")
        self._whole = not message.get("more_body", False)
        return message


def _machine_of(scope: Scope) -> str:
    """Its address; "" for this machine, which has two."""
    host = (scope["client"] or ("",))[0]
    return host if _is_address(host) and not is_loopback(host) else ""


def _with(send: Send, headers: Mapping[str, str]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(headers)
        await send(message)

    return sending


def _forbidden(message: str, code: str) -> Problem:
    return Problem(403, message, "permission_error", code)


def _is_of_a_page(headers: Headers) -> bool:
    """Every browser says so with what it posts; some programs name no type."""
    return "origin" in headers or "sec-fetch-site" in headers


def _too_large(most: int) -> Problem:
    return Problem(413, f"The body is larger than {most} bytes.", code="request_too_large")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
