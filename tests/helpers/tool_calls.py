"""Models that call tools by script, and tools of servers that are not there."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from app.tools.definitions import Tool, ToolResult
from app.tools.wire import ConnectionState
from app.view_models.tools import ServerRow
from engine import ModelAbout, ModelInfo, ToolCall
from tests.helpers.fake_engine import DRAFT, MAIN, Script

_IDS = itertools.count(1)


def calling(info: ModelInfo) -> ModelInfo:
    """As a model that can call tools."""
    return replace(info, about=ModelAbout(tools=True), calls_tools=True)


MODELS = {MAIN.folder: calling(MAIN), DRAFT.folder: DRAFT}


def call(name: str, arguments: dict[str, Any] | str | None = None) -> ToolCall:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return ToolCall(f"call{next(_IDS):05}", name, text)


def calls(*made: ToolCall, thinking: str = "", said: str = "") -> Script:
    """A step that ends in calls."""
    return Script(pieces=(said,) if said else (), thinking=(thinking,) if thinking else (), calls=made)


def says(text: str) -> Script:
    return Script(pieces=(text,))


def tool(name: str, server: str = "files", description: str = "Does something.", *, reads_only: bool = False) -> Tool:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    return Tool.of(server, name, description, schema, reads_only=reads_only, origin=f"/bin/{server}")


@dataclass
class FakeServers:
    """Servers whose tools are in this process. `held`: calls that are not answered until they are let go of."""

    tools: dict[str, list[Tool]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)  # by tool
    pictures: tuple[bytes, ...] = ()  # of every result
    holds: bool = False
    ran: list[tuple[str, str]] = field(default_factory=list)  # calls, by the tool's id and arguments
    cancelled: list[str] = field(default_factory=list)
    waiting: list[Callable[[], None]] = field(default_factory=list)
    on_listed: Callable[[str], None] = lambda _server: None
    lists: int = 0

    def put(self, *tools: Tool) -> None:
        for each in tools:
            kept = [other for other in self.tools.get(each.server, []) if other.name != each.name]
            self.tools[each.server] = [*kept, each]

    def rows(self) -> tuple[ServerRow, ...]:
        return tuple(
            ServerRow(server, server.title(), f"/bin/{server}", ConnectionState.READY) for server in self.tools
        )

    def name_of(self, server: str) -> str:
        return server.title()

    def known(self, server: str) -> tuple[Tool, ...]:
        return tuple(self.tools.get(server, ()))

    def listed(self, server: str, done: Callable[[tuple[Tool, ...]], None]) -> None:
        self.lists += 1
        self.on_listed(server)
        done(self.known(server))

    def call(self, tool: Tool, arguments: str, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        self.ran.append((tool.id, arguments))
        result = ToolResult(self.answers.get(tool.name, f"{tool.name} ran"), pictures=self.pictures, seconds=0.2)
        if self.holds:
            self.waiting.append(lambda: done(result))
        else:
            done(result)
        return lambda: self.cancelled.append(tool.id)
