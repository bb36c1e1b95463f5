"""Tool servers for a terminal: those that are switched on in Hunch, by the tool host, each answer waited for."""

from __future__ import annotations

import queue
from pathlib import Path

from app.system.secrets import Secrets
from app.tools.definitions import Tool, ToolResult
from app.tools.host_process import ServerFailed, ToolHost
from app.tools.servers import ToolServers
from app.tools.steps import NOT_THERE
from app.tools.terminal import Servers


class RunningServers(Servers):
    def __init__(self, folder: Path, secrets: Secrets) -> None:
        self._servers = ToolServers(folder / "tools.json", secrets)
        self._host = ToolHost(folder / "terminal", self._servers.reach)
        self._connected: set[str] = set()

    def tools_of(self, server: str) -> tuple[Tool, ...]:
        config = self._servers.get(server)
        if config is None or not config.enabled:
            return ()
        if server not in self._connected:
            connected: queue.SimpleQueue[object] = queue.SimpleQueue()
            self._host.connect(config, connected.put)
            if isinstance(connected.get(), ServerFailed):
                return ()
            self._connected.add(server)
        listed: queue.SimpleQueue[tuple[Tool, ...] | ServerFailed] = queue.SimpleQueue()
        self._host.list_tools(server, listed.put)
        tools = listed.get()
        return () if isinstance(tools, ServerFailed) else tools

    def call(self, tool: Tool, arguments: str) -> ToolResult:
        if tool.server not in self._connected:
            return ToolResult(NOT_THERE, failed=True)
        results: queue.SimpleQueue[ToolResult] = queue.SimpleQueue()
        self._host.call(tool.server, tool.name, arguments, results.put)
        return results.get()

    def close(self) -> None:
        self._host.close()
