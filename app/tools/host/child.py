"""The tool host's main: reads requests as lines on stdin, writes what happens on stdout, and ends with its stdin.

Requests have "do" and perhaps a number "n", and "reach" where the server may not be connected; answers have that number
and one of "tool", "listed", "piece" (of a picture), "result", "browse" (where the user signs in), "granted" (by a
sign-in) and "failed". Without a number come "connected", "family" (processes of a server), "stderr" (the last lines of
one), "renewal" (with a grant and what a refresh has brought in its place; it is answered by "renewed", with the one
that counts) and "ended".
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import logging
import os
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from io import FileIO
from typing import Any

from app.system.limited_child import TOO_MUCH, most_resident_bytes
from app.tools.host.oauth import revoke, sign_in
from app.tools.host.session import ServerEvents, ToolServer
from app.tools.wire import (
    MOST_REQUEST_BYTES,
    PIECE_CHARACTERS,
    Patience,
    ServerFault,
    ServerProblem,
    ServerReach,
    SignInPages,
)

_MOST_REQUESTS = 256
_MOST_BYTES = 1 << 30  # of memory; no limit of the system, which the servers would inherit
_LOOK_AT_MEMORY_S = 0.5
_THREADS = 32  # servers that are ended at the same time


class Host:
    def __init__(self, output: FileIO) -> None:
        self._output = output
        self._servers: dict[str, ToolServer] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._requests: dict[int, asyncio.Task[None]] = {}
        self._renewals: dict[int, asyncio.Future[str]] = {}
        self._mark = ""
        self._version = ""
        self._patience = Patience()
        self._started = 0
        self._numbers = itertools.count(1)  # of renewals
        self._is_read = True

    async def serve(self, requests: asyncio.StreamReader) -> None:
        while line := await requests.readline():
            self._take(json.loads(line))
        await self._end()

    def say(self, values: dict[str, Any]) -> None:
        """Blocks while the app does not read; once it has ended, nothing is said."""
        line = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")
        try:
            rest = memoryview(line + b"\n") if self._is_read else memoryview(b"")
            while rest:
                rest = rest[self._output.write(rest) :]
        except OSError:
            self._is_read = False

    def _take(self, request: dict[str, Any]) -> None:
        number = request.get("n", 0)
        name = request.get("server", "")
        if "reach" in request:
            self._connect(name, ServerReach(**request["reach"]))
        server = self._servers.get(name)
        match request["do"]:
            case "begin":
                self._mark = request["mark"]
                self._version = request["version"]
                self._patience = Patience(**request["patience"])
            case "ping":
                self.say({"alive": True})
            case "list" | "call":
                self._start(number, self._use(number, server, request))
            case "sign_in" | "revoke":
                self._start(number, self._grant(number, ServerReach(**request["at"]), request))
            case "cancel" if task := self._requests.pop(number, None):
                task.cancel()
                self._fail(number, ServerFault(ServerProblem.STOPPED))
            case "renewed" if answer := self._renewals.pop(request["renewal"], None):
                answer.set_result(request["grant"])
            case "stop" if server is not None:
                del self._servers[name]
                server.stop()

    def _start(self, number: int, work: Coroutine[Any, Any, None]) -> None:
        async def run() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001  the app waits for an answer, whatever a server has caused
                failure = error if isinstance(error, ServerFault) else ServerFault(ServerProblem.NOT_PROTOCOL)
                if self._requests.pop(number, None) is not None:
                    self._fail(number, failure)
            finally:
                self._requests.pop(number, None)

        if len(self._requests) >= _MOST_REQUESTS:
            work.close()
            self._fail(number, ServerFault(ServerProblem.FLOOD))
        else:
            self._requests[number] = asyncio.create_task(run())

    def _fail(self, number: int, failure: ServerFault) -> None:
        self.say({"n": number, "failed": failure.problem, "detail": failure.detail})

    def _connect(self, name: str, reach: ServerReach) -> None:
        former = self._servers.get(name)
        if former is not None and former.reach == reach:
            return
        self._started += 1
        server = ToolServer(
            reach,
            f"{self._mark}{self._started}.",
            ServerEvents(
                partial(self._on_failure, name),
                self._on_family(name, self._started),
                lambda lines: self.say({"server": name, "stderr": lines}),
                partial(self._renew, name),
            ),
            self._version,
            self._patience,
        )
        self._servers[name] = server
        if former is not None:
            former.stop()
        self._running[name] = asyncio.create_task(self._run(name, server, self._running.get(name)))

    def _on_family(self, name: str, number: int) -> Callable[[dict[int, str]], None]:
        return lambda processes: self.say({"family": f"{name} {number}", "processes": processes})

    async def _renew(self, name: str, former: str, grant: str) -> str:
        number = next(self._numbers)
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._renewals[number] = answer
        self.say({"server": name, "renewal": number, "former": former, "granted": grant})
        try:
            return await answer
        finally:
            self._renewals.pop(number, None)

    async def _run(self, name: str, server: ToolServer, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await before
        hello = asyncio.create_task(self._say_connected(name, server))
        await server.run()
        await hello
        if self._running.get(name) is asyncio.current_task():
            del self._running[name]

    async def _say_connected(self, name: str, server: ToolServer) -> None:
        with suppress(ServerFault):
            await server.connected()
            self.say({"connected": name})

    def _on_failure(self, name: str, server: ToolServer) -> None:
        """From now on it is another one that connects under this name. The app knows of one that it has stopped."""
        failure = server.failure
        if self._servers.get(name) is server and failure is not None:
            del self._servers[name]
            self.say({"ended": name, "failed": failure.problem, "detail": failure.detail, "stderr": server.tail})

    async def _use(self, number: int, server: ToolServer | None, request: dict[str, Any]) -> None:
        if server is None:
            raise ServerFault(ServerProblem.STOPPED)
        if request["do"] == "list":
            await self._list(number, server)
        else:
            await self._call(number, server, request["name"], request["arguments"])

    async def _list(self, number: int, server: ToolServer) -> None:
        for each in await server.tools():
            self.say({"n": number, "tool": each})
        self.say({"n": number, "listed": True})

    async def _call(self, number: int, server: ToolServer, name: str, arguments: str) -> None:
        result = await server.call(name, arguments)
        for picture in result.pictures:
            data = base64.b64encode(picture).decode()
            for begin in range(0, len(data), PIECE_CHARACTERS):
                last = begin + PIECE_CHARACTERS >= len(data)
                piece = data[begin : begin + PIECE_CHARACTERS]
                self.say({"n": number, "piece": piece, "last": last, "size": len(picture)})
        self.say({"n": number, "result": result.text, "left_out": result.left_out, "is_error": result.failed})

    async def _grant(self, number: int, reach: ServerReach, request: dict[str, Any]) -> None:
        """A sign-in brings one; without pages the present one is revoked."""

        def browse(url: str) -> None:
            self.say({"n": number, "browse": url})

        grant = ""
        if "pages" in request:
            pages = SignInPages(**request["pages"])
            grant = await sign_in(reach, pages, browse, self._patience.sign_in, request["more"])
        else:
            await revoke(reach)
        self.say({"n": number, "granted": grant})

    async def _end(self) -> None:
        for task in self._requests.values():
            task.cancel()
        for server in list(self._servers.values()):
            server.stop()
        await asyncio.gather(*self._running.values(), return_exceptions=True)


async def _serve(output: FileIO) -> None:
    reader = asyncio.StreamReader(limit=MOST_REQUEST_BYTES)
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(_THREADS))
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    host = Host(output)
    loop.set_exception_handler(lambda *_: None)  # it would print what servers said
    watching = asyncio.create_task(_watch_memory())
    await host.serve(reader)
    watching.cancel()


async def _watch_memory() -> None:
    while most_resident_bytes() < _MOST_BYTES:
        await asyncio.sleep(_LOOK_AT_MEMORY_S)
    os._exit(TOO_MUCH)  # the app ends the servers


def main() -> int:
    logging.disable(logging.CRITICAL)  # the SDK logs what servers say
    output = FileIO(os.dup(1), "w")
    os.dup2(2, 1)  # what any library prints is no line for the app
    asyncio.run(_serve(output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
