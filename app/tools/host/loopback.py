"""Where the browser brings the end of a sign-in: a port of this machine, for one answer with the right `state`."""

from __future__ import annotations

import asyncio
import html
import secrets
from contextlib import suppress
from typing import Self
from urllib.parse import parse_qs, urlsplit

from app.tools.wire import SignInPages

_PATH = "/callback"
_MOST_BYTES = 16 << 10  # of a request's first line, which has the code
_MOST_CONNECTIONS = 16
_READ_S = 10.0


class Callback:
    """An async context: the port is open within it."""

    def __init__(self, pages: SignInPages) -> None:
        self._pages = pages
        self._state = ""
        self._answer: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None
        self._connections = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_MOST_BYTES)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()

    @property
    def address(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{_PATH}"

    async def answer(self, state: str) -> dict[str, str]:
        """The parameters of the one request with that state."""
        self._state = state
        return await self._answer

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            if self._connections <= _MOST_CONNECTIONS:
                async with asyncio.timeout(_READ_S):
                    line = await reader.readuntil(b"\r\n")
                    while await reader.readuntil(b"\r\n") != b"\r\n":
                        pass
                    writer.write(self._response(line.decode("ascii", "replace")))
                    await writer.drain()
        except (OSError, ValueError, EOFError, asyncio.LimitOverrunError):  # a TimeoutError is an OSError
            pass
        finally:
            self._connections -= 1
            with suppress(OSError):
                writer.close()

    def _response(self, line: str) -> bytes:
        method, _, rest = line.partition(" ")
        url = urlsplit(rest.partition(" ")[0])
        found = {name: values[0] for name, values in parse_qs(url.query).items()}
        is_right = bool(self._state) and secrets.compare_digest(found.get("state", "").encode(), self._state.encode())
        if method != "GET" or url.path != _PATH or not is_right or self._answer.done():
            return _page("400 Bad Request", self._pages.other, self._pages.language)
        self._answer.set_result(found)
        return _page("200 OK", self._pages.refused if "error" in found else self._pages.done, self._pages.language)


def _page(status: str, text: str, language: str) -> bytes:
    body = (
        f'<!doctype html><html lang="{html.escape(language)}"><meta charset="utf-8"><title>Hunch</title>'
        f'<meta name="color-scheme" content="light dark"><body style="font: 17px system-ui; margin: 4em auto; '
        f'max-width: 28em"><p>{html.escape(text)}</p></html>'
    ).encode()
    head = (
        f"HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {len(body)}\r\n"
        "connection: close\r\ncache-control: no-store\r\nreferrer-policy: no-referrer\r\n"
        "content-security-policy: default-src 'none'; style-src 'unsafe-inline'\r\n\r\n"
    )
    return head.encode() + body
