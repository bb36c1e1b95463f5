"""HTTP for the SDK: public addresses by https, this machine where that was typed; bodies with a limit."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import cache
from urllib.parse import urlsplit

import httpx2

from app.tools.public import is_loopback, is_public, may_lead_to
from app.tools.wire import MESSAGE_BYTES, ServerFault, ServerProblem

_CONNECT_S = 20.0
_READ_S = 600.0  # a response may be a stream that says nothing for long
_SESSION = "mcp-session-id"


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes 40 ms; there is a transport for each connection to a server and each sign-in."""
    return httpx2.create_ssl_context(trust_env=False)


class LimitedTransport(httpx2.AsyncBaseTransport):
    """Connects to the address that was checked, whatever the name resolves to at the next moment.

    `server`: the address of the tool server, which leads to this machine only if it is there itself.
    """

    def __init__(self, server: str) -> None:
        self._server = server
        self.failure: ServerFault | None = None
        self.refused_session = False  # perhaps: a request of one was answered as those that are not known
        self._inner = httpx2.AsyncHTTPTransport(_certificates(), trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        *others, last = await self.check(str(request.url))
        for address in others:
            with suppress(httpx2.ConnectError, httpx2.ConnectTimeout):  # most servers listen at one of localhost's
                return await self._sent(request, address)
        return await self._sent(request, last)

    async def _sent(self, request: httpx2.Request, address: str) -> httpx2.Response:
        host = request.url.raw_host.decode()  # as it was checked: `host` may be written otherwise
        inner = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions=request.extensions | {"sni_hostname": host},
        )
        inner.headers["accept-encoding"] = "identity"  # a body has the length that was counted
        response = await self._inner.handle_async_request(inner)
        if request.method == "POST" and _SESSION in request.headers and response.status_code in (400, 404):
            self.refused_session = True
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            self.failure = ServerFault(ServerProblem.UNREACHABLE, "the body is compressed")
            raise httpx2.DecodingError("the body is compressed")
        body = response.stream
        assert isinstance(body, httpx2.AsyncByteStream)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Limited(body, None if _may_go_on(request, response) else MESSAGE_BYTES, self),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def check(self, address: str) -> list[str]:
        """What it resolves to. Raises ServerFault, and ConnectError."""
        if not may_lead_to(self._server, address):
            raise ServerFault(ServerProblem.ADDRESS, address.partition("?")[0])
        url = httpx2.URL(address)
        return await self._resolve(url.raw_host.decode(), url.port or 443)

    async def _resolve(self, host: str, port: int) -> list[str]:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpx2.ConnectError(str(error)) from None
        addresses = [str(each[4][0]).partition("%")[0] for each in found]
        may_be = is_loopback if is_loopback(host) else is_public
        if not addresses or not all(map(may_be, addresses)):
            raise ServerFault(ServerProblem.ADDRESS, host)
        return addresses


def _may_go_on(request: httpx2.Request, response: httpx2.Response) -> bool:
    """Whether it is a stream that was asked for: all else, a refusal of one too, is read whole."""
    kind = "text/event-stream"
    is_one = response.status_code == 200 and response.headers.get("content-type", "").startswith(kind)
    return is_one and kind in request.headers.get("accept", "")


class _Limited(httpx2.AsyncByteStream):
    """Raises StreamError, which the SDK turns into an error of the one request."""

    def __init__(self, inner: httpx2.AsyncByteStream, limit: int | None, owner: LimitedTransport) -> None:
        self._inner = inner
        self._limit = limit
        self._owner = owner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken = 0
        async for each in self._inner:
            taken += len(each)
            if self._limit is not None and taken > self._limit:
                self._owner.failure = ServerFault(ServerProblem.TOO_LARGE, str(self._limit >> 20))
                raise httpx2.StreamError("the body is too large")
            yield each

    async def aclose(self) -> None:
        await self._inner.aclose()


def is_stream(address: str) -> bool:
    """Whether a server speaks the protocol's first way over HTTP."""
    return urlsplit(address).path.rstrip("/").endswith("/sse")


def new_client(
    headers: dict[str, str], transport: LimitedTransport, auth: httpx2.Auth | None = None
) -> httpx2.AsyncClient:
    timeout = httpx2.Timeout(_CONNECT_S, read=_READ_S)
    return httpx2.AsyncClient(headers=headers, transport=transport, auth=auth, timeout=timeout, trust_env=False)
