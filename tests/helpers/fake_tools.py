"""Tools as the views see them, without engine, storage or servers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.view_models.tools import CanCall, ServerRow, ToolRow

BUILT_IN = ServerRow(
    "",
    "",
    tools=(
        ToolRow("/calculator", "calculator", "Evaluates arithmetic.", 96, on=True, reads_only=True),
        ToolRow("/time", "time", "The date and time.", 110, reads_only=True),
        ToolRow("/read_file", "read_file", "Reads a file.", 131, reads_only=True),
        ToolRow("/fetch", "fetch", "Loads a page.", 154, reads_only=True),
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


class FakeChatTools(QObject):
    """The tools of the open chat."""

    changed = Signal()

    def __init__(self, servers: tuple[ServerRow, ...] = (BUILT_IN, GITHUB), can: CanCall = CanCall.YES) -> None:
        super().__init__()
        self.servers = servers
        self.can = can
        self.able: tuple[str, ...] = ()
        self.folders: tuple[str, ...] = ()

    def chat_tools(self) -> tuple[ServerRow, ...]:
        return self.servers

    def can_call(self) -> CanCall:
        return self.can

    def models_that_can(self) -> tuple[str, ...]:
        return self.able

    def set_on(self, ids: Iterable[str], on: bool) -> None:
        asked = set(ids)
        self.servers = tuple(
            replace(
                row, tools=tuple(replace(tool, on=on) if tool.id in asked else tool for tool in row.tools)
            )
            for row in self.servers
        )
        self.changed.emit()

    def choose_folders(self, paths: Iterable[str]) -> None:
        self.folders = tuple(paths)
        self.changed.emit()
