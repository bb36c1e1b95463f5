"""Servers that really run, behind the chats: added, confirmed, called, changed, removed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.tool_servers import ToolServersController
from app.storage import ReplyStatus
from app.storage.consents import EVERY_CHAT, Consent
from app.system.secrets import Secrets
from app.system.worker import IN_PLACE
from app.tools import servers
from app.tools.definitions import Answer, AskReason
from app.tools.wire import ConnectionState
from app.view_models.tools import CallState
from tests.helpers.controller_harness import ControllerHarness, open_harness
from tests.helpers.tool_calls import MODELS, call, calls, says
from tests.helpers.tool_hosts import MALICIOUS, alive


class Chat:
    def __init__(self, harness: ControllerHarness, folder: Path) -> None:
        self.harness = harness
        self.folder = folder
        secrets = Secrets(folder / "token", lambda: None)
        self.servers = ToolServersController(folder, secrets, harness.calls.post, IN_PLACE)
        harness.controller.tools.use_servers(self.servers)
        self.servers.removed.connect(harness.controller.tools.consents.end_all)

    def add(self, mode: str) -> str:
        """A server, switched on; returns its id."""
        noted = self.folder / f"processes-{mode}"
        noted.mkdir()
        added = self.servers.add_text(f"TOKEN=hush {sys.executable} {MALICIOUS} {mode} {noted}")
        assert (len(added.names), added.refused, added.understood) == (1, (), True)
        row = self.servers.rows()[-1]
        assert (row.state, row.seen, row.secrets, row.missing) == (ConnectionState.OFF, False, ("TOKEN",), ())
        assert not self.servers.confirm(row.id, row.place + " ")
        assert self.servers.confirm(row.id, row.place)
        return row.id

    def turn_on(self, server: str, *tools: str) -> None:
        self.harness.controller.tools.set_on([f"{server}/{each}" for each in tools], True)

    def wait_for(self, status: ReplyStatus) -> None:
        rows = self.harness.controller.transcript
        self.harness.qtbot.waitUntil(lambda: bool(rows.messages) and rows.messages[-1].status is status)


@pytest.fixture
def chat(tmp_path: Path, qtbot: QtBot) -> Iterator[Chat]:
    with open_harness(tmp_path / "profile", qtbot, models=MODELS) as harness:
        harness.load_pair()
        made = Chat(harness, tmp_path)
        yield made
        made.servers.close()


def test_a_server_is_added_put_back_and_removed_with_the_consents_to_its_tools(chat: Chat, qtbot: QtBot) -> None:
    server = chat.add("prints")
    assert "hush" not in (chat.folder / "tools.json").read_text()
    chat.servers.list_tools(server)
    chat.servers.restart(server)  # while it lists: it lists again
    qtbot.waitUntil(lambda: bool(chat.servers.known(server)))
    assert chat.servers.rows()[0].state is ConnectionState.READY
    consents = chat.harness.controller.tools.consents
    for chat_id in (EVERY_CHAT, 5):
        consents.put(chat_id, Consent(server, "act", "", "digest", "seen"))
    chat.servers.remove(server)
    assert [(each.id, each.is_removed) for each in chat.servers.rows()] == [(server, True)]
    assert [row.id for row in chat.harness.controller.tools.chat_tools()] == [""]
    chat.servers.put_back(server)
    (row,) = chat.servers.rows()
    assert (row.is_removed, row.seen, row.missing) == (False, True, ())
    chat.servers.remove(server)
    chat.servers.forget_removed()
    chat.harness.settle()
    assert [consents.of(chat_id, server, "act", "") for chat_id in (EVERY_CHAT, 5)] == [None, None]
    assert chat.harness.database.rows("SELECT * FROM consents") == []
    assert chat.servers.rows() == ()


def _off_and_on(chat: Chat, server: str) -> None:
    chat.servers.set_on(server, False)
    chat.servers.set_on(server, True)


def _other_secret(chat: Chat, server: str) -> None:
    assert chat.servers.set_secret(server, "TOKEN", "other")


@pytest.mark.parametrize("change", [_off_and_on, _other_secret])
def test_a_server_that_is_stopped_while_it_lists_lists_again(
    chat: Chat, qtbot: QtBot, change: Callable[[Chat, str], None]
) -> None:
    server = chat.add("good")
    chat.servers.list_tools(server)
    change(chat, server)
    listed: list[int] = []
    chat.servers.listed(server, lambda tools: listed.append(len(tools)))
    qtbot.waitUntil(lambda: bool(listed))
    assert listed == [1]


def test_the_end_of_a_server_is_shown_though_nothing_is_asked_of_it(chat: Chat, qtbot: QtBot) -> None:
    server = chat.add("good")
    seen: list[ConnectionState] = []
    chat.servers.changed.connect(lambda: seen.append(chat.servers.rows()[0].state))
    chat.servers.list_tools(server)
    qtbot.waitUntil(lambda: bool(seen) and seen[-1] is ConnectionState.READY)
    for process in alive(chat.folder / "processes-good"):
        os.kill(process, signal.SIGKILL)
    qtbot.waitUntil(lambda: seen[-1] is ConnectionState.FAILED)


def test_a_server_that_changes_its_tool_each_time_never_runs_it(chat: Chat, qtbot: QtBot) -> None:
    server = chat.add("changes")
    chat.servers.list_tools(server)
    qtbot.waitUntil(lambda: bool(chat.servers.known(server)))
    chat.turn_on(server, "act")
    chat.harness.engine.scripts.extend([calls(call(f"{server}__act")), says("Done.")])
    chat.harness.controller.send("Act")
    reasons: list[AskReason] = []
    for _ in range(3):
        chat.wait_for(ReplyStatus.WAITS_FOR_YOU)
        reply = chat.harness.rows[-1]
        assert reply.consent is not None
        reasons.append(reply.consent.reason)
        chat.harness.controller.exchanges.answer(reply.id, Answer.ALWAYS, reply.consent)
    chat.wait_for(ReplyStatus.DONE)
    assert reasons == [AskReason.NEW, AskReason.CHANGED, AskReason.CHANGED]
    made = chat.harness.rows[-1].steps[0].calls[0]
    assert (made.state, "otherwise each time" in made.result) == (CallState.FAILED, True)


def test_a_server_that_lists_its_tool_in_another_order_each_time_leaves_the_prompt_as_it_is(
    chat: Chat, qtbot: QtBot
) -> None:
    server = chat.add("reorders")
    chat.turn_on(server, "act")
    chat.harness.engine.scripts.extend([calls(call(f"{server}__act")), says("Done.")])
    chat.harness.controller.send("Act")
    chat.wait_for(ReplyStatus.WAITS_FOR_YOU)
    reply = chat.harness.rows[-1]
    assert reply.consent is not None
    chat.harness.controller.exchanges.answer(reply.id, Answer.ONCE, reply.consent)
    chat.wait_for(ReplyStatus.DONE)
    first, second = (str(request.tools) for request in chat.harness.engine.requests)
    assert first == second
    assert chat.harness.rows[-1].steps[0].calls[0].state is CallState.DONE


def test_a_server_that_cannot_start_leaves_the_chat_without_its_tools(chat: Chat) -> None:
    chat.servers.add_text(f"{sys.executable} -c 'raise SystemExit(3)'")
    row = chat.servers.rows()[0]
    chat.servers.confirm(row.id, row.place)
    chat.turn_on(row.id, "act")
    chat.harness.engine.scripts.append(says("Hi."))
    chat.harness.controller.send("Hello")
    chat.wait_for(ReplyStatus.DONE)
    assert chat.harness.engine.requests[-1].tools == ()
    row = chat.servers.rows()[0]
    assert (row.state, row.problem) == (ConnectionState.FAILED, "ended")


def test_a_program_that_was_missing_is_looked_for_again_when_its_server_is_restarted(
    chat: Chat, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "ask_shell", lambda _command: "")
    chat.servers.add_text("no-such-program serve")
    row = chat.servers.rows()[0]
    chat.servers.confirm(row.id, row.place)
    chat.servers.list_tools(row.id)
    qtbot.waitUntil(lambda: chat.servers.rows()[0].problem == "no_command")
    monkeypatch.setattr(servers, "ask_shell", lambda _command: sys.executable)  # it was installed
    chat.servers.restart(row.id)
    qtbot.waitUntil(lambda: chat.servers.rows()[0].place == f"{sys.executable} serve")
    found = chat.servers.rows()[0]
    assert (found.state, found.seen) == (ConnectionState.OFF, False)


def test_a_command_is_read_as_in_a_terminal_where_it_names_the_home_folder(chat: Chat) -> None:
    chat.servers.add_text("sh serve ~/notes --file=~/a '~' a~/b")
    home = Path.home()
    assert chat.servers.rows()[0].place.endswith(f"sh serve {home}/notes '--file=~/a' {home} 'a~/b'")


def test_an_address_may_begin_with_capitals(chat: Chat) -> None:
    chat.servers.add_text("HTTPS://Example.org/MCP")
    row = chat.servers.rows()[0]
    assert (row.name, row.place) == ("example.org", "https://Example.org/MCP")


def test_a_command_may_go_on_in_the_next_line_as_in_a_terminal(chat: Chat) -> None:
    chat.servers.add_text("sh run \\\n  -i --rm \\\r\n  image")
    assert chat.servers.rows()[0].place.endswith("sh run -i --rm image")


@pytest.mark.parametrize(
    ("text", "names", "understood"),
    [
        ("", 0, False),
        ("'", 0, False),
        ("{}", 0, False),
        ("https://example.org/mcp", 1, True),
        ("http://example.org/mcp", 0, True),
        ("https://[example.org/mcp", 0, True),
        ('{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"]}, "b": {"url": "https://b.example/"}}}', 2, True),
    ],
)
def test_what_can_be_added(chat: Chat, text: str, names: int, understood: bool) -> None:
    added = chat.servers.add_text(text)
    assert (len(added.names), added.understood) == (names, understood)
    assert all(row.state is ConnectionState.OFF for row in chat.servers.rows())
