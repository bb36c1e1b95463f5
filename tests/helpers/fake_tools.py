"""Tools as the views see them, without engine, storage or servers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.view_models.tools import AddedServers, CanCall, ConnectionState, ServerRow, ToolRow

BUILT_IN = ServerRow(
    "",
    "",
    tools=(
        ToolRow("/calculator", "calculator", "Evaluates arithmetic.", 96, on=True, reads_only=True),
        ToolRow("/time", "time", "The date and time.", 110, reads_only=True),
        ToolRow("/read_file", "read_file", "Reads a file.", 131, reads_only=True),
        ToolRow("/fetch_page", "fetch_page", "Loads a page.", 154, reads_only=True),
    ),
)
GITHUB = ServerRow(
    "github",
    "github",
    "/opt/homebrew/bin/npx -y @modelcontextprotocol/server-github",
    tools=(
        ToolRow(
            "github/search_issues",
            "search_issues",
            "Finds issues and pull requests across repositories. The query is in GitHub's own syntax.",
            212,
            on=True,
        ),
        ToolRow("github/create_issue", "create_issue", "Opens an issue.", 188),
    ),
)

OFF = ServerRow(
    "files",
    "files",
    "/opt/homebrew/bin/npx -y @modelcontextprotocol/server-filesystem /Users/mei/Documents",
    state=ConnectionState.OFF,
)
LACKING = ServerRow(
    "fetch",
    "fetch",
    "/Users/mei/.local/bin/uvx mcp-server-fetch",
    state=ConnectionState.FAILED,
    problem="no_command",
    detail="uv",
    seen=True,
)
SIGNED_OUT = ServerRow(
    "linear",
    "linear",
    "https://mcp.example.com/mcp",
    state=ConnectionState.FAILED,
    problem="no_secret",
    detail="X-Team",
    secrets=("Authorization", "X-Team"),
    missing=("X-Team",),
    stderr="last words",
    seen=True,
)


class FakeChatTools(QObject):
    """The tools of the open chat."""

    changed = Signal()

    def __init__(self, servers: tuple[ServerRow, ...] = (BUILT_IN, GITHUB), can: CanCall = CanCall.YES) -> None:
        super().__init__()
        self.servers = servers
        self.can = can
        self.able: tuple[str, ...] = ()
        self.folders: tuple[str, ...] = ()
        self.asked = 0
        self.looked = 0  # how often it was asked which there are

    @property
    def chosen(self) -> tuple[str, ...]:
        return tuple(tool.id for row in self.servers for tool in row.tools if tool.on)

    def list_unknown(self) -> None:
        self.asked += 1

    def chat_tools(self) -> tuple[ServerRow, ...]:
        self.looked += 1
        return self.servers

    def can_call(self) -> CanCall:
        return self.can

    def models_that_can(self) -> tuple[str, ...]:
        return self.able

    def set_on(self, ids: Iterable[str], on: bool) -> None:
        asked = set(ids)
        self.servers = tuple(
            replace(row, tools=tuple(replace(tool, on=on) if tool.id in asked else tool for tool in row.tools))
            for row in self.servers
        )
        self.changed.emit()

    def ask_again(self, tool_id: str) -> None:
        self.servers = tuple(
            replace(
                row,
                tools=tuple(
                    replace(tool, always=False, in_chat=False) if tool.id == tool_id else tool for tool in row.tools
                ),
            )
            for row in self.servers
        )
        self.changed.emit()

    def choose_folders(self, paths: Iterable[str]) -> None:
        self.folders = tuple(paths)
        self.changed.emit()


class FakeServers(QObject):
    """Servers as Settings → Tools uses them."""

    changed = Signal()

    def __init__(self, *servers: ServerRow) -> None:
        super().__init__()
        self.servers = {row.id: row for row in servers}
        self.removed: dict[str, ServerRow] = {}
        self.did: list[tuple[object, ...]] = []
        self.outcome = AddedServers()
        self.others: tuple[str, ...] = ()

    def rows(self) -> tuple[ServerRow, ...]:
        return tuple(self.servers.values())

    def confirm(self, server: str, shown: str) -> bool:
        is_same = self.servers[server].place == shown
        if is_same:
            self.put(replace(self.servers[server], seen=True, state=ConnectionState.STOPPED))
        return is_same

    def put(self, row: ServerRow) -> None:
        self.servers[row.id] = row
        self.changed.emit()

    def set_on(self, server: str, on: bool) -> None:
        self.put(replace(self.servers[server], state=ConnectionState.STOPPED if on else ConnectionState.OFF))

    def restart(self, server: str) -> None:
        self.did.append(("restart", server))

    def remove(self, server: str) -> None:
        self.removed[server] = self.servers.pop(server)
        self.changed.emit()

    def put_back(self, server: str) -> None:
        self.put(self.removed.pop(server))

    def forget_removed(self) -> None:
        self.removed.clear()

    def set_secret(self, server: str, name: str, value: str) -> bool:
        if not value.isprintable():
            return False
        self.did.append(("secret", server, name, value))
        row = self.servers[server]
        self.put(replace(row, missing=tuple(each for each in row.missing if each != name)))
        return True

    def list_tools(self, server: str) -> None:
        self.did.append(("list", server))

    def add_text(self, text: str) -> AddedServers:
        self.did.append(("add", text))
        return self.outcome

    def sources(self) -> tuple[str, ...]:
        return self.others

    def import_from(self, source: str) -> AddedServers:
        self.did.append(("import", source))
        return self.outcome
