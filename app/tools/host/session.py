"""One server: its connection by the SDK's client, its list of tools, its calls. The server is offered nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, cast

import anyio
import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter, ValidationError

from app.tools.host.http import LimitedTransport, is_stream, new_client
from app.tools.host.oauth import Renew, SignedIn
from app.tools.host.results import HostResult, result_of, tool_of
from app.tools.host.stdio import StdioTransport
from app.tools.public import may_be_address
from app.tools.wire import (
    MESSAGE_BYTES,
    MOST_DEFINITIONS,
    MOST_PAGES,
    MOST_TOOLS,
    Patience,
    ServerFault,
    ServerProblem,
    ServerReach,
)

_FETCHING = frozenset({"npx", "npm", "pnpm", "yarn", "bunx", "bun", "uvx", "uv", "pipx", "deno", "docker", "podman"})
_LOOK_AT_FAMILY_S = 2.0  # while a call runs
_AT_DISCOVER = (ServerProblem.ENDED, ServerProblem.CLOSED, ServerProblem.NOT_PROTOCOL)
_CLOSED = types.ErrorData(code=types.CONNECTION_CLOSED, message="Connection closed")  # the SDK's own words
_ANY_RESULT: TypeAdapter[Any] = TypeAdapter(dict[str, Any])  # the values are checked when they are read


@dataclass(frozen=True, slots=True)
class ServerEvents:
    """What is called. `failure`: once, before the server's processes are ended."""

    failure: Callable[[ToolServer], None]
    family: Callable[[dict[int, str]], None]
    stderr: Callable[[list[str]], None]
    renew: Renew


class ToolServer:
    """`run` connects, and ends when `stop` is called or the server fails; all else waits until it is connected."""

    def __init__(
        self,
        reach: ServerReach,
        mark: str,
        events: ServerEvents,
        version: str,
        patience: Patience,
    ) -> None:
        """`version`: of this app."""
        self.reach = reach
        self.failure: ServerFault | None = None
        self._events = events
        self._mark = mark
        self._version = version
        self._patience = patience
        self._stop = asyncio.Event()
        self._connecting = anyio.CancelScope()
        self._connected: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._client: Client | None = None
        self._stdio: StdioTransport | None = None
        self._http: LimitedTransport | None = None
        if reach.command:
            self._stdio = self._by_stdio(self._on_first_failure)

    def _by_stdio(self, on_failure: Callable[[ServerFault], None]) -> StdioTransport:
        return StdioTransport(self.reach, self._mark, on_failure, self._events.family, self._events.stderr)

    def _on_first_failure(self, failure: ServerFault) -> None:
        """Before it is connected, `_run_clients` may start it again."""
        if self._connected.done() or failure.problem not in _AT_DISCOVER:
            self.fail(failure)

    @property
    def tail(self) -> list[str]:
        return self._stdio.tail.lines() if self._stdio is not None else []

    @property
    def connect_s(self) -> float:
        command = self.reach.command
        is_fetching = command and PurePath(command[0]).name in _FETCHING
        return self._patience.fetching if is_fetching else self._patience.connect

    def stop(self) -> None:
        self.fail(ServerFault(ServerProblem.STOPPED))

    def fail(self, failure: ServerFault) -> None:
        """The first reason counts."""
        if self.failure is not None:
            return
        self.failure = failure
        self._stop.set()
        if not self._connected.done():
            self._connected.set_exception(failure)
            self._connected.exception()  # it was looked at, whether or not anything waits for it
            self._connecting.cancel()
        self._events.failure(self)

    async def run(self) -> None:
        """Until it fails or is stopped. Raises nothing."""
        out_of_time = ServerFault(ServerProblem.TIME_OUT, f"{self.connect_s:g}")
        timer = asyncio.get_running_loop().call_later(self.connect_s, self._fail_unconnected, out_of_time)
        try:
            with self._connecting:
                await self._run_clients()
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001  of any server
            self.fail(self._reason(error))
        finally:
            timer.cancel()
            self._client = None
        self.fail(ServerFault(ServerProblem.STOPPED))

    def _fail_unconnected(self, failure: ServerFault) -> None:
        if not self._connected.done():
            self.fail(failure)

    async def connected(self) -> None:
        await asyncio.shield(self._connected)

    async def tools(self) -> list[dict[str, Any]]:
        """Within the limits."""
        await self.connected()
        found: list[dict[str, Any]] = []
        characters = 0
        cursor: str | None = None
        with anyio.CancelScope(deadline=anyio.current_time() + self._patience.call) as scope:
            for _ in range(MOST_PAGES):
                params = types.PaginatedRequestParams(cursor=cursor) if cursor else None
                page: types.ListToolsResult = await self._asked(self._session.list_tools(params=params))
                for each in page.tools:
                    tool = tool_of(each.name, each.description, each.input_schema, each.annotations)
                    characters += len(tool["schema"])
                    if len(found) < MOST_TOOLS and characters <= MOST_DEFINITIONS:
                        found.append(tool)
                cursor = page.next_cursor
                if not cursor or len(found) == MOST_TOOLS:
                    break
        if scope.cancelled_caught:
            raise ServerFault(ServerProblem.TIME_OUT, f"{self._patience.call:g}")
        return found

    async def call(self, name: str, arguments: str) -> HostResult:
        await self.connected()
        values = _object(arguments)
        loop = asyncio.get_running_loop()
        start = loop.time()
        asked = set(self._stdio.refused) if self._stdio is not None else set()
        with anyio.CancelScope(deadline=start + self._patience.call) as scope:

            async def on_progress(*_: object) -> None:
                scope.deadline = min(loop.time() + self._patience.call, start + self._patience.longest_call)

            looking = asyncio.create_task(self._look_at_family())
            try:
                request = types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments=values))
                raw = await self._asked(self._session.send_request(request, _ANY_RESULT, progress_callback=on_progress))
            finally:
                looking.cancel()
        if scope.cancelled_caught:
            raise ServerFault(ServerProblem.TIME_OUT, f"{max(1, round(loop.time() - start))}")
        if raw.get("resultType") == "input_required":
            raise ServerFault(ServerProblem.INPUT)
        result = result_of(raw)
        if self._stdio is not None and self._stdio.refused - asked:
            result.text += "\n[The server asked for something that it is not given: input of the user or a model.]"
        return result

    async def _run_clients(self) -> None:
        """What fails at the SDK's first question, of protocol 2026-07-28, is started again and asked to initialize."""
        try:
            await self._run_client("auto")
        except (Exception, BaseExceptionGroup):
            if self.failure is not None or self._stdio is None or self._stdio.failure is None:
                raise
            self._stdio = self._by_stdio(self.fail)
            await self._run_client("legacy")

    async def _run_client(self, mode: str) -> None:
        async with AsyncExitStack() as stack:
            transport = self._stdio or await self._over_http(stack)
            client = Client(
                cast("AbstractAsyncContextManager[Any]", transport),
                mode=mode,
                cache=None,
                client_info=types.Implementation(name="hunch", version=self._version),
            )
            async with client:
                if self._stdio is not None and self._stdio.failure is not None:
                    raise self._stdio.failure  # it came with the last answer
                self._client = client
                if not self._connected.done():
                    self._connected.set_result(None)
                if self._stdio is not None:
                    await self._stdio.note_family()
                await self._stop.wait()

    async def _over_http(self, stack: AsyncExitStack) -> AbstractAsyncContextManager[Any]:
        if not may_be_address(self.reach.address):
            raise ServerFault(ServerProblem.ADDRESS, self.reach.address)
        self._http = http = LimitedTransport(self.reach.address)
        auth = SignedIn(self.reach, http, self.fail, self._events.renew)
        if is_stream(self.reach.address):

            def factory(headers: dict[str, str] | None = None, *_: object, **__: object) -> httpx2.AsyncClient:
                return new_client(headers or {}, http, auth)

            return sse_client(self.reach.address, self.reach.headers, httpx_client_factory=factory)
        client = await stack.enter_async_context(new_client(self.reach.headers, http, auth))
        return streamable_http_client(self.reach.address, http_client=client, max_sse_event_size=MESSAGE_BYTES)

    @property
    def _session(self) -> Any:
        if self._client is None:
            raise self.failure or ServerFault(ServerProblem.STOPPED)
        return self._client.session

    async def _asked(self, request: Any) -> Any:
        """The answer. Raises ServerFault."""
        if self._http is not None:
            self._http.failure = None
            self._http.refused_session = False
        try:
            return await request
        except (MCPError, ValidationError, RuntimeError, ValueError) as error:
            reason = self._reason(error)
            if isinstance(error, MCPError) and self._is_closed(error):  # the SDK would go on as if it were open
                self.fail(reason)
            raise reason from None

    def _reason(self, error: BaseException) -> ServerFault:
        for known in (self, self._stdio, self._http):
            if known is not None and known.failure is not None:
                return known.failure
        for each in _leaves(error):
            match each:
                case ServerFault():
                    return each
                case MCPError():
                    problem = ServerProblem.CLOSED if self._is_closed(each) else ServerProblem.REFUSED
                    return ServerFault(problem, each.error.message)
                case httpx2.HTTPError() | OSError():
                    return ServerFault(ServerProblem.UNREACHABLE, str(each) or type(each).__name__)
                case RuntimeError() if "protocol version" in str(each):
                    return ServerFault(ServerProblem.VERSION)
        return ServerFault(ServerProblem.NOT_PROTOCOL)

    def _is_closed(self, error: MCPError) -> bool:
        """The connection, or the session, which a server that was started again does not know any more."""
        may_be_session = self._http is not None and self._http.refused_session
        return error.error == _CLOSED or (may_be_session and "session" in error.error.message.lower())

    async def _look_at_family(self) -> None:
        while self._stdio is not None:
            await asyncio.sleep(_LOOK_AT_FAMILY_S)
            await self._stdio.note_family()


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in _leaves(each)]
    return [error]


def _object(arguments: str) -> dict[str, Any]:
    try:
        values = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise ServerFault(ServerProblem.ARGUMENTS)
    return values
