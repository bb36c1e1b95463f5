"""A real tool host for tests: each request waits for its answer; servers are malicious ones or commands of the test."""

from __future__ import annotations

import os
import queue
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.tools.commands import server_environment
from app.tools.definitions import ToolResult
from app.tools.host_process import Listed, ServerFailed, ToolHost, ToolServerState
from app.tools.servers import ServerConfig
from app.tools.wire import Patience, ServerReach

PATIENCE_S = 120.0  # of the tests, on a busy machine
MALICIOUS = Path(__file__).with_name("malicious_server.py")
SHORT = Patience(connect=60, fetching=60, call=60, longest_call=60)


class HostUnderTest:
    def __init__(self, folder: Path, patience: Patience = SHORT, idle_s: float = 300.0) -> None:
        self.folder = folder
        self.environment: dict[str, str] = {}
        self.secret_headers: dict[str, str] = {}
        self.host = ToolHost(folder, self._reach, patience=patience, idle_s=idle_s)

    def _reach(self, server: ServerConfig) -> ServerReach:
        if server.address:
            return ServerReach(address=server.address, headers=self.secret_headers)
        environment = server_environment(server.command, self.environment)
        return ServerReach((server.command, *server.args), environment, server.folder)

    def malicious(self, mode: str) -> tuple[ServerConfig, Path]:
        """The server, and the folder where it notes its processes."""
        noted = self.folder / f"processes-{mode}"
        noted.mkdir(exist_ok=True)
        return self.server(mode, sys.executable, str(MALICIOUS), mode, str(noted)), noted

    def server(self, name: str, *command: str) -> ServerConfig:
        return ServerConfig(name, name, command[0], command[1:])

    def ask(self, server: ServerConfig) -> Listed | ServerFailed:
        return self._answer(lambda done: self.host.list_tools(server, done))  # type: ignore[no-any-return]

    def tools(self, server: ServerConfig) -> Listed:
        """Of a server that answers."""
        found = self.ask(server)
        assert isinstance(found, tuple), found
        return found

    def call(self, server_id: str, name: str = "act", arguments: str = "{}") -> ToolResult:
        return self._answer(lambda done: self.host.call(server_id, name, arguments, done))  # type: ignore[no-any-return]

    def begin_call(
        self, server_id: str, name: str = "act", arguments: str = "{}"
    ) -> tuple[Callable[[], None], queue.Queue[ToolResult]]:
        """What cancels it, and where its result comes."""
        results: queue.Queue[ToolResult] = queue.Queue()
        return self.host.call(server_id, name, arguments, results.put), results

    def state(self, server_id: str) -> ToolServerState:
        return self.host.state(server_id)

    @staticmethod
    def _answer(ask: Callable[[Callable[[Any], None]], object]) -> Any:
        answers: queue.Queue[Any] = queue.Queue()
        ask(answers.put)
        return answers.get(timeout=PATIENCE_S)


def alive(noted: Path) -> list[int]:
    """Processes that a malicious server has noted, and that run."""
    return [number for number in (int(each.name) for each in noted.iterdir()) if runs(number)]


def runs(process: int) -> bool:
    try:
        os.kill(process, 0)
        stat = Path(f"/proc/{process}/stat")
        return not stat.exists() or stat.read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except (OSError, IndexError):
        return False


def wait_until(condition: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.01)
