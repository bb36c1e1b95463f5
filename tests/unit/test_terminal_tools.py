"""`hunch ask --tools`: consent is asked in the terminal, or given by name; nothing else runs."""

from __future__ import annotations

import io
import json
import queue
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.__main__ import main
from app.system.secrets import Secrets
from app.tools.builtin.tool import Reach
from app.tools.definitions import Tool, ToolResult
from app.tools.servers import ServerConfig, ToolServers
from app.tools.steps import addresses_in
from app.tools.terminal import Exchange, Servers, UnknownTool, chosen, shown
from engine import Event, Finished, Message, MessageRole, ModelReady, Request
from tests.helpers.fake_engine import MAIN, FakeEngine, Script
from tests.helpers.tool_calls import MODELS, call, calls, says, tool


class FewServers(Servers):
    def __init__(self) -> None:
        self.tools = {"files": (tool("read", reads_only=True), tool("write"))}
        self.ran: list[str] = []

    def tools_of(self, server: str) -> tuple[Tool, ...]:
        return self.tools.get(server, ())

    def call(self, tool: Tool, arguments: str) -> ToolResult:
        self.ran.append(f"{tool.id} {arguments}")
        return ToolResult("done")


class Terminal:
    def __init__(self, engine: FakeEngine) -> None:
        self.engine = engine
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.servers = FewServers()
        self.asked: list[str] = []
        self.written: list[str] = []
        self.notes: list[str] = []

    def run(
        self, *scripts: Script, yes: bool | None = None, allow: tuple[str, ...] = (), reach: Reach | None = None
    ) -> Finished:
        """`yes` None: no user can answer."""

        def ask(question: str) -> bool:
            self.asked.append(question)
            return bool(yes)

        self.engine.scripts.extend(scripts)
        names = ["calculator", "files/", "read_file"]
        answer: Callable[[str], bool] | None = None if yes is None else ask
        exchange = Exchange(
            self.engine,
            self.events,
            chosen(names, self.servers),
            self.servers,
            reach or Reach(),
            frozenset(allow),
            answer,
            self.written.append,
            self.notes.append,
        )
        end = exchange.run(Request((Message(MessageRole.USER, "Go"),)))
        assert isinstance(end, Finished)
        return end

    def results(self) -> list[str]:
        return [each.content for each in self.engine.requests[-1].messages if each.role is MessageRole.TOOL]


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    engine = FakeEngine(MODELS)
    made = Terminal(engine)
    engine.load(MAIN.folder, made.events.put)
    while not isinstance(made.events.get(timeout=60), ModelReady):
        continue
    yield made
    engine.close()


def test_what_reaches_nothing_runs_without_a_question(terminal: Terminal) -> None:
    terminal.run(calls(call("calculator", {"expression": "6*7"}), said="I compute. "), says("4\x1b2\x9b.\x07"))
    assert "".join(terminal.written) == "I compute. 42.", "without what a terminal would act on"
    assert terminal.results() == ["42"]
    assert terminal.asked == []
    assert terminal.notes[0].startswith("› calculator")


@pytest.mark.parametrize("yes", [True, False, None])
def test_other_tools_are_asked_about(terminal: Terminal, yes: bool | None) -> None:
    terminal.run(calls(call("files__write", {"path": "a\u202e.md"})), says("So."), yes=yes)
    assert len(terminal.servers.ran) == (yes is True)
    assert len(terminal.asked) == (yes is not None)
    said = (terminal.asked or terminal.notes)[0]
    assert "files · write" in said
    assert "a\\u202e.md" in said
    if not yes:
        assert terminal.results() == ["The user declined this call. It did not run."]
    if yes is None:
        assert "--allow files/write" in said


def test_what_is_allowed_by_name_runs_where_no_user_can_answer(terminal: Terminal) -> None:
    terminal.run(
        calls(call("files__write", {"path": "a"}), call("files__read", {"path": "a"})),
        says("So."),
        allow=("files/write",),
    )
    assert terminal.servers.ran == ['files/write {"path": "a"}']


def test_consent_is_for_one_call(terminal: Terminal) -> None:
    steps = [calls(call("files__read", {"path": f"{at}"})) for at in range(2)]
    terminal.run(*steps, says("So."), yes=True)
    assert len(terminal.asked) == 2


def test_a_tool_that_changed_since_it_was_shown_does_not_run(terminal: Terminal) -> None:
    class Changing(FewServers):
        lists = 0

        def tools_of(self, server: str) -> tuple[Tool, ...]:
            self.lists += 1
            return (tool("read", description=f"Does {self.lists}."),) if server == "files" else ()

    terminal.servers = Changing()
    terminal.run(calls(call("files__read")), says("So."), yes=True)
    assert terminal.servers.ran == []
    assert terminal.results() == ["Error: it may not run."]


def test_it_ends(terminal: Terminal) -> None:
    terminal.run(*[calls(call("calculator", {"expression": f"{at}"})) for at in range(10)], says("Enough."))
    assert [each.may_call for each in terminal.engine.requests] == [True] * 10 + [False]
    assert terminal.written[-1] == "Enough."


def test_names_of_tools(terminal: Terminal) -> None:
    servers = FewServers()
    assert [each.id for each in chosen(["files/read", "time"], servers)] == ["/time", "files/read"]
    for unknown in ("nothing", "files/nothing", "nowhere/", "/", ""):
        with pytest.raises(UnknownTool):
            chosen([unknown], servers)


def test_why_a_server_cannot_be_used_is_said(tmp_path: Path) -> None:
    secrets = Secrets(tmp_path / "token")
    known = ToolServers(tmp_path / "tools.json", secrets)
    ended, missing, off = (
        known.add(ServerConfig("", name, command, ("-c", "raise SystemExit(3)")))
        for name, command in (("Has ended", sys.executable), ("파일", "no-such-program"), ("off", sys.executable))
    )
    assert all(known.confirm(each.id, each.shown) for each in (ended, missing))
    known.write()
    servers = Servers(tmp_path, Secrets(tmp_path / "token"))
    try:
        for server, said in (
            (ended, "ended (3)"),
            (missing, "(no_command). no-such-program"),
            (off, "there is no tool"),
        ):
            with pytest.raises(UnknownTool, match=re.escape(said)):
                chosen([f"{server.name}/"], servers)
            assert servers.id_of(server.name.upper()) == servers.id_of(server.id) == server.id
    finally:
        servers.close()


def test_a_call_is_shown_whole() -> None:
    text = shown(tool("write"), json.dumps({"path": "x" * 5000, "words": "a\x1b[2Jb\u200b"}))
    assert "x" * 5000 in text
    assert "\x1b" not in text
    assert "\\u001b[2Jb\\u200b" in text
    assert shown(tool("write"), '{"a": "b\ufe01\u3164"}').endswith('"b\\ufe01\\u3164"\n}')
    assert shown(tool("write"), "[1,\x07") == "files · write\n[1,\\x07"


def test_an_address_that_comes_by_a_pipe_was_not_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given: list[str] = []

    def run(_asked: object, typed: str, *_more: object) -> int:
        given.append(typed)
        return 0

    monkeypatch.setattr("app.tools.terminal.run", run)
    monkeypatch.setattr("sys.stdin", io.StringIO("See http://127.0.0.1/secret"))
    words = ["Sum up http://example.org", "-"]
    assert main(["ask", "--profile-dir", str(tmp_path), "--tools", "fetch_page", *words]) == 0
    assert addresses_in(given[0]) == {"http://example.org"}


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("Sum up https://a.example/b.", "https://a.example/b"),
        ("(as in https://a.example/Duck_(bird)).", "https://a.example/Duck_(bird)"),
        ("https://a.example/Duck_(bird)", "https://a.example/Duck_(bird)"),
        ("https://a.example/b?c=1を要約して", "https://a.example/b?c=1"),
        ("“https://a.example/b”를 요약해 줘", "https://a.example/b"),
        ("请总结https://a.example/b的内容", "https://a.example/b"),
        ("https://ja.example/wiki/鴨。", "https://ja.example/wiki/鴨"),
    ],
)
def test_an_address_was_typed_whatever_follows_it(text: str, address: str) -> None:
    assert address in addresses_in(text)


def test_no_other_host_was_typed() -> None:
    assert {each.split("/")[2] for each in addresses_in("https://bank예제.example/b를 https://a.example를")} == {
        "bank예제.example",
        "a.example를",
    }


@pytest.mark.parametrize("more", [["--json"], ["--stop=x"], ["--nonsense"]])
def test_what_does_not_go_with_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]) -> None:
    assert main(["ask", "--profile-dir", str(tmp_path), "--tools", "time", "Now?", *more]) == 2
    assert "hunch ask: error" in capsys.readouterr().err
