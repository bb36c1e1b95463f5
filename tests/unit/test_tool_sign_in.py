"""Signing in to a tool server: a real host, and real servers on this machine that are right or wrong."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.system.secrets import Secrets
from app.tools.host_process import ServerFailed, ToolHost
from app.tools.servers import ServerConfig, ToolServers
from app.tools.wire import Patience, ServerProblem, SignInPages
from tests.helpers.oauth_tool_server import OAuthToolServer, browse, oauth_tool_server
from tests.helpers.tool_hosts import PATIENCE_S, SHORT, HostUnderTest

PAGES = SignInPages("Close <this> page", "Refused page", "Other page", "en")
SIGNED_OUT = ServerFailed(ServerProblem.SIGNED_OUT)


class User:
    """Servers and their secrets as the app has them, and a user with a browser."""

    def __init__(self, folder: Path, patience: Patience = SHORT) -> None:
        self.folder = folder
        self.servers = ToolServers(folder / "tools.json", Secrets(folder / "token", lambda: None))
        self.host = HostUnderTest(folder)
        self.host.host = ToolHost(folder, self.servers.reach, self.servers.keep_grant, patience=patience)

    def add(self, server: OAuthToolServer, query: str = "") -> ServerConfig:
        added = self.servers.add(ServerConfig("", "Notes", address=server.address + query))
        assert self.servers.confirm(added.id, added.shown)
        found = self.servers.get(added.id)
        assert found is not None
        return found

    def begin(
        self, config: ServerConfig
    ) -> tuple[str | ServerFailed, Callable[[], None], queue.Queue[str | ServerFailed]]:
        """The page in the browser, or why there is none; what cancels it; where its end comes."""
        first: queue.Queue[str | ServerFailed] = queue.Queue()
        ends: queue.Queue[str | ServerFailed] = queue.Queue()

        def on_end(end: str | ServerFailed) -> None:
            ends.put(end)
            first.put(end)

        cancel = self.host.host.sign_in(config, PAGES, first.put, on_end)
        return first.get(timeout=PATIENCE_S), cancel, ends

    def sign_in(self, config: ServerConfig) -> str | ServerFailed:
        """The last page of the browser; the grant is kept."""
        page, _, ends = self.begin(config)
        if isinstance(page, ServerFailed):
            return page
        seen = browse(page)
        grant = ends.get(timeout=PATIENCE_S)
        if isinstance(grant, ServerFailed):
            return grant
        self.servers.keep_grant(config.id, grant)
        self.host.host.stop(config.id)
        return seen


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    made = User(tmp_path)
    yield made
    made.host.host.close(60)


def test_from_a_refusal_to_a_call_a_refresh_and_the_end(user: User) -> None:
    with oauth_tool_server() as server:
        config = user.add(server)
        assert user.host.ask(config) == SIGNED_OUT
        assert user.host.state(config.id).failure == SIGNED_OUT
        assert "Close &lt;this&gt; page" in str(user.sign_in(config))
        assert [tool.name for tool in user.host.tools(config)] == ["act"]
        assert user.host.call(config.id).text == "done"

        first = user.servers.grant(config.id)
        server.sign_in.access.clear()  # it is refused once, and refreshed
        assert user.host.call(config.id).text == "done"
        assert user.servers.grant(config.id) not in ("", first)

        user.servers.write()
        user.host.host.close(60)
        again = User(user.folder)
        assert user.servers.grant(config.id) == again.servers.grant(config.id)
        server.sign_in.access.clear()
        assert again.host.tools(config)
        assert again.host.call(config.id).text == "done"

        grant = again.servers.grant(config.id)
        again.servers.keep_grant(config.id, "")
        again.host.host.stop(config.id)
        again.host.host.revoke(config, grant)
        assert again.host.ask(config) == SIGNED_OUT
        again.host.host.close(60)
        assert server.sign_in.revoked == server.sign_in.refresh[-1:]
        assert server.sign_in.faults == []
