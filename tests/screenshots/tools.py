"""Tools for pictures: servers in every state, and tools that a chat may use, without any that runs."""

from __future__ import annotations

from dataclasses import replace

from app.controllers.tool_servers import ToolServersController
from app.controllers.tools import ToolsController
from app.system.secrets import Secrets
from app.system.worker import IN_PLACE
from app.tools.wire import ConnectionState
from app.view_models.tools import CanCall, ServerRow, SignIn, ToolRow
from tests.screenshots.harness import ScreenshotHarness

_GITHUB = ServerRow("github", "github", "/opt/homebrew/bin/npx -y @modelcontextprotocol/server-github")
_SERVERS = (
    _GITHUB,
    ServerRow(
        "files",
        "files",
        "/opt/homebrew/bin/npx -y @modelcontextprotocol/server-filesystem /Users/mei/Documents",
        state=ConnectionState.OFF,
    ),
    ServerRow(
        "fetch",
        "fetch",
        "/Users/mei/.local/bin/uvx mcp-server-fetch",
        state=ConnectionState.FAILED,
        problem="no_command",
        detail="uv",
        seen=True,
    ),
    ServerRow(
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
    ),
    ServerRow(
        "notes",
        "notes",
        "https://notes.example.com/mcp",
        state=ConnectionState.FAILED,
        problem="signed_out",
        seen=True,
        sign_in=SignIn.OFFERED,
    ),
    ServerRow(
        "tickets",
        "tickets",
        "https://tickets.example.com/mcp",
        state=ConnectionState.FAILED,
        problem="signed_out",
        seen=True,
        sign_in=SignIn.WAITS,
        sign_in_at="login.example.com",
    ),
    ServerRow(
        "drive",
        "drive",
        "https://drive.example.com/mcp",
        seen=True,
        sign_in=SignIn.OFFERED,
        lacks="files:write",
    ),
    ServerRow(
        "mail",
        "mail",
        "https://mail.example.com/mcp",
        state=ConnectionState.FAILED,
        problem="sign_in_moved",
        detail="login.example.org",
        seen=True,
        sign_in=SignIn.DONE,
    ),
)
_SEARCH = "Finds issues and pull requests across repositories. The query is in GitHub's own syntax."
_TOOLS = {
    "": (
        ToolRow("/calculator", "calculator", "", 96, on=True),
        ToolRow("/time", "time", "", 110),
        ToolRow("/read_file", "read_file", "", 131, on=True),
        ToolRow("/fetch_page", "fetch_page", "", 154),
    ),
    "github": (
        ToolRow("github/search_issues", "search_issues", _SEARCH, 212, on=True),
        ToolRow("github/create_issue", "create_issue", "Opens an issue.", 188),
    ),
}


class ShownServers(ToolServersController):
    def __init__(self, harness: ScreenshotHarness) -> None:
        application = harness.application
        secrets = Secrets(harness.paths.hub_token)
        super().__init__(harness.paths.data / "shown", secrets, application.calls.post, IN_PLACE, application)

    def rows(self) -> tuple[ServerRow, ...]:
        return _SERVERS

    def sources(self) -> tuple[str, ...]:
        return "Claude Desktop", "LM Studio"


class ShownTools(ToolsController):
    """For a model that can call them."""

    folders = ("/Users/mei/Documents/Notes", "/Users/mei/plan.md")

    def __init__(self, harness: ScreenshotHarness) -> None:
        app = harness.application
        chats = app.chats
        super().__init__(app.engine, app.storage, chats.changes, chats.options, chats.documents, app.models)

    def can_call(self) -> CanCall:
        return CanCall.YES

    def chat_tools(self) -> tuple[ServerRow, ...]:
        return ServerRow("", "", tools=_TOOLS[""]), replace(_GITHUB, tools=_TOOLS["github"])
