"""The tool host: a real process, and real servers that behave and misbehave."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import queue
import resource
import selectors
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.storage.parts import Call, Result
from app.tools.definitions import Tool
from app.tools.host.child import Host
from app.tools.host.http import LimitedTransport, is_stream, new_client
from app.tools.host.results import result_of
from app.tools.host.session import ServerEvents, ToolServer
from app.tools.host.stdio import Tail
from app.tools.host_process import IDLE_S, ServerFailed, ToolHost
from app.tools.servers import ServerConfig
from app.tools.steps import answered
from app.tools.wire import (
    MOST_ARGUMENTS,
    MOST_TOOLS,
    PICTURE_BYTES,
    TAIL_LINE_BYTES,
    TAIL_LINES,
    ConnectionState,
    Patience,
    ServerFault,
    ServerProblem,
    ServerReach,
    SignInPages,
)
from tests.helpers.http_tool_server import http_tool_server
from tests.helpers.malicious_server import modes
from tests.helpers.tool_hosts import PATIENCE_S, HostUnderTest, alive, runs, wait_until

# What a mode's tool gives; of the others that the call fails, and why.
_TEXTS = {
    "progress_flood": "done",
    "prints": "done",
    "grandchild": "done",
    "ignore_term": "done",
    "daemon_child": "done",
    "fork_bomb": "done",
    "closes_stdin": "done",
    "changes": "done",
    "endless_pages": "done",
    "other_ids": "done",
    "duplicate_ids": "done",
    "early": "done",
    "ping_flood": "done",
    "reorders": "done",
    "big_list": "done",
    "odd_names": "done",
    "big_schema": "done",
    "stderr_flood": "done",
    "exits_at_discover": "done",
    "discovers_nothing": "done",
    "exits_at_list": "done",  # it is started again for the call
    "nan": '{"value": Infinity}',
    "surrogates": "half \N{REPLACEMENT CHARACTER} of it",
}
_FAILS = {
    "long_line": "sent a message of more than 8 MiB",
    "long_text": "sent a message of more than 8 MiB",
    "not_text": "not_text",
    "flood": "flood",
    "junk": "flood",
    "exits_at_call": "ended (SIGKILL)",
    "closes_stdout": "closed",
    "deep_json": "not_protocol",
    "wrong_ids": "not_protocol",
    "made_up_kind": "not_protocol",
    "no_result": "not_protocol",
    "error": "refused the call: I  [31mrefuse!!!",
}
_REFUSALS = {
    "elicits": "Elicitation not supported",
    "samples": "Sampling not supported",
    "wants_roots": "List roots not supported",
}
_UNCONNECTED = {
    "exits_at_start": ServerFailed(ServerProblem.ENDED, "3"),
    "exits_at_initialize": ServerFailed(ServerProblem.ENDED, "4"),
    "wrong_version": ServerFailed(ServerProblem.VERSION),
    "breaks_behind_the_answer": ServerFailed(ServerProblem.NOT_PROTOCOL, '{"jsonrpc" no'),
}
_QUICKLY_ENDED = (*_TEXTS, *_FAILS, *_REFUSALS, *_UNCONNECTED)
_LATE = {"silent", "silent_call", "drip", "half_line"}
_OTHERS = {"many_items", "pictures", "kinds", "env", "where"}  # have tests of their own
_QUICK = (
    "not_text",
    "exits_at_discover",
    "breaks_behind_the_answer",
    "deep_json",
    "elicits",
    "exits_at_start",
    "exits_at_call",
    "surrogates",
    "flood",
)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[HostUnderTest]:
    under_test = HostUnderTest(tmp_path)
    yield under_test
    under_test.host.close(60)


@pytest.fixture(scope="module")
def one_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostUnderTest]:
    under_test = HostUnderTest(tmp_path_factory.mktemp("hosts"))
    under_test.call("")  # its thread is there before the first test
    yield under_test
    under_test.host.close(60)


def test_every_mode_is_examined() -> None:
    assert sorted((*_QUICKLY_ENDED, *_LATE, *_OTHERS)) == sorted(modes())


@pytest.mark.parametrize(
    "mode", [pytest.param(each, marks=[] if each in _QUICK else pytest.mark.slow) for each in _QUICKLY_ENDED]
)
def test_a_malicious_server_fails_with_a_reason_and_leaves_nothing(one_host: HostUnderTest, mode: str) -> None:
    server, noted = one_host.malicious(mode)
    listed = one_host.ask(server)
    if mode in _UNCONNECTED:
        assert listed == one_host.state(mode).failure == _UNCONNECTED[mode]
        assert one_host.state(mode).phase is ConnectionState.FAILED
        assert one_host.state(mode).stderr == ("no licence",) * (mode == "exits_at_start")
    else:
        assert isinstance(listed, ServerFailed) == (mode == "exits_at_list")
        result = one_host.call(mode)
        assert (_TEXTS | _FAILS | _REFUSALS)[mode] in result.text
        assert result.failed == (mode in _FAILS)
        assert result.outside
        assert ("is not given" in result.text) == (mode in _REFUSALS)
    one_host.host.stop(mode)
    wait_until(lambda: alive(noted) == [], f"{mode} left processes")


@pytest.mark.slow
@pytest.mark.parametrize("mode", sorted(_LATE))
def test_what_never_answers_ends_with_the_time(tmp_path: Path, mode: str) -> None:
    late = HostUnderTest(tmp_path, Patience(connect=3, fetching=3, call=1, longest_call=2))
    server, noted = late.malicious(mode)
    listed = late.ask(server)
    if mode == "silent":
        assert listed == ServerFailed(ServerProblem.TIME_OUT, "3")
    else:
        assert late.call(mode).text == "The tool server did not answer in 1 seconds."
    late.host.close(60)
    assert alive(noted) == []


@pytest.mark.parametrize(
    ("command", "seconds"), [("npx", 120), ("npm", 120), ("yarn", 120), ("deno", 120), ("node", 20)]
)
def test_what_may_have_to_fetch_its_server_has_longer(command: str, seconds: float) -> None:
    """As `npm exec`, `yarn dlx` and `deno run npm:…` do."""

    async def patience() -> float:
        async def renew(_former: str, grant: str) -> str:
            return grant

        events = ServerEvents(lambda _server: None, lambda _processes: None, lambda _lines: None, renew)
        return ToolServer(ServerReach((f"/usr/local/bin/{command}",)), "", events, "1", Patience()).connect_s

    assert asyncio.run(patience()) == seconds


def test_tools_are_listed_called_and_listed_again(host: HostUnderTest) -> None:
    server, noted = host.malicious("changes")
    assert host.state("changes").phase is ConnectionState.STOPPED
    first = host.tools(server)
    assert host.state("changes").phase is ConnectionState.READY
    second = host.tools(server)
    assert first == (Tool.of("changes", "act", "Does 1", {"type": "object", "properties": {}}, origin=server.identity),)
    assert second != first
    assert host.call("changes", arguments='{"a": 1}').text == "done"
    assert len(alive(noted)) == 1
    host.host.close(60)
    assert alive(noted) == []
    assert list(host.folder.glob("tool_processes*")) == []


def test_a_list_has_limits(one_host: HostUnderTest) -> None:
    many, pages, odd, *schemas = (
        one_host.tools(one_host.malicious(mode)[0])
        for mode in ("big_list", "endless_pages", "odd_names", "big_schema", "nan")
    )
    assert len(many) == MOST_TOOLS
    assert [each.name for each in pages] == [f"act{number}" for number in range(1, 21)]
    assert all(each.name.isprintable() and len(each.name) <= 200 for each in odd)
    assert {each.description for each in odd} == {"Do es"}
    for tools in schemas:
        assert [each.schema for each in tools] == ['{"properties":{},"type":"object"}']


def test_results_become_text_and_pictures(one_host: HostUnderTest) -> None:
    for mode in ("kinds", "many_items", "pictures"):
        one_host.tools(one_host.malicious(mode)[0])
    kinds = one_host.call("kinds")
    assert kinds.failed
    assert kinds.text.splitlines() == [
        "[notes: https://example.com/notes]",
        "inside",
        "[a file that is no text, left out: file:///b application/zip]",
        "[a sound, left out: audio/wav]",
    ]
    items = one_host.call("many_items")
    assert items.text.startswith("line 0\nline 1\n")
    assert len(items.text) < 110_000
    assert items.text.endswith(" more characters]")
    (kept,) = answered((), Call("1", "act", "{}"), items)
    assert isinstance(kept, Result)
    assert kept.text == items.text, "it is cut once"
    pictures = one_host.call("pictures")
    assert [each[:4] for each in pictures.pictures] == [b"\x89PNG", b"\xff\xd8\xffx"]
    assert sum(map(len, pictures.pictures)) <= PICTURE_BYTES
    assert pictures.text.count("left out") == 3


def test_a_server_gets_what_was_set_and_nothing_else(host: HostUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of the shell")
    host.environment["TOKEN"] = "of the server"
    for mode in ("env", "where"):
        host.tools(host.malicious(mode)[0])
    seen = json.loads(host.call("env").text)
    assert seen.pop("TOKEN") == "of the server"
    assert seen["PATH"].split(":")[0] == str(Path(sys.executable).parent)
    usual = {"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TMPDIR", "USER"}
    assert seen.keys() <= usual | {"HUNCH_TOOL_SERVER", "LC_CTYPE", "PWD", "__CF_USER_TEXT_ENCODING"}
    folder, arguments, most_memory = json.loads(host.call("where").text)
    assert folder == str(Path.home())
    assert tuple(most_memory) == resource.getrlimit(resource.RLIMIT_AS)
    assert "of the server" not in json.dumps(arguments)
    assert b"of the server" not in b"".join(each.read_bytes() for each in host.folder.iterdir() if each.is_file())


def test_a_call_is_cancelled_at_once(one_host: HostUnderTest) -> None:
    server, _ = one_host.malicious("silent_call")
    one_host.tools(server)
    cancel, results = one_host.begin_call(server.id)
    cancel()
    result = results.get(timeout=60)
    assert (result.text, result.failed) == ("The call was stopped.", True)
    cancel()
    assert one_host.tools(server)
    assert results.empty()


def test_the_end_of_a_long_call_by_the_user_ends_no_server(one_host: HostUnderTest) -> None:
    server, noted = one_host.malicious("silent_call")
    one_host.tools(server)
    processes = list(noted.iterdir())
    cancel, results = one_host.begin_call(server.id)
    one_host.ask(one_host.malicious("prints")[0])  # by now it runs
    one_host.host._used -= IDLE_S
    cancel()
    assert results.get(timeout=PATIENCE_S).failed
    one_host.tools(server)
    assert list(noted.iterdir()) == processes, "it was started again"


@pytest.mark.parametrize("waits", [False, True])
def test_a_server_that_is_stopped_while_it_connects_leaves_nothing(tmp_path: Path, waits: bool) -> None:
    host = HostUnderTest(tmp_path)
    server, noted = host.malicious("silent")
    answers: queue.Queue[object] = queue.Queue()
    host.host.list_tools(server, answers.put)
    if waits:
        wait_until(lambda: alive(noted) != [], "the server does not start")
    host.host.stop(server.id)
    assert answers.get(timeout=60) == ServerFailed(ServerProblem.STOPPED)
    host.host.close(60)
    assert alive(noted) == []


def test_a_server_that_is_started_again_is_ready(host: HostUnderTest) -> None:
    """What is said of the former one, which may come late, is not about it."""
    server, noted = host.malicious("changes")
    host.tools(server)
    host.host.stop(server.id)
    for _ in range(2):
        host.tools(server)
        assert host.state(server.id).phase is ConnectionState.READY
    assert host.call(server.id).text == "done"
    assert len(list(noted.iterdir())) == 2


def test_what_is_no_call_is_not_sent(one_host: HostUnderTest) -> None:
    one_host.tools(one_host.malicious("changes")[0])
    for wrong in ("[]", "{", '"text"', "[" * 100_000, '{"a": "' + "x" * MOST_ARGUMENTS + '"}'):
        assert one_host.call("changes", arguments=wrong).text == "The arguments are no JSON object, or too large."
    assert one_host.call("unknown").failed
    longest = json.dumps({"a": "가" * (MOST_ARGUMENTS - 10)}, ensure_ascii=False)
    assert one_host.call("changes", arguments=longest).text == "done"


@pytest.mark.parametrize(
    ("server", "failure"),
    [
        (ServerConfig("a", "a", "/no/such/npx"), ServerFailed(ServerProblem.NO_COMMAND, "/no/such/npx")),
        (
            ServerConfig("b", "b", sys.executable, folder="/no/folder"),
            ServerFailed(ServerProblem.NO_FOLDER, "/no/folder"),
        ),
        (ServerConfig("c", "c", __file__), ServerFailed(ServerProblem.CANNOT_START, "Permission denied")),
        (
            ServerConfig("d", "d", address="http://192.168.1.2/mcp"),
            ServerFailed(ServerProblem.ADDRESS, "http://192.168.1.2/mcp"),
        ),
        (ServerConfig("e", "e", address="https://127.0.0.1.example:1/"), None),
    ],
    ids=lambda each: each.id if isinstance(each, ServerConfig) else "",
)
def test_what_cannot_be_reached_says_why(
    one_host: HostUnderTest, server: ServerConfig, failure: ServerFailed | None
) -> None:
    found = one_host.ask(server)
    assert isinstance(found, ServerFailed)
    assert found == failure or (failure is None and found.problem is ServerProblem.UNREACHABLE)
    assert one_host.state(server.id).failure == found


def test_a_fault_of_the_configuration_starts_nothing(tmp_path: Path) -> None:
    def no_secret(server: ServerConfig) -> ServerReach:
        raise ServerFault(ServerProblem.NO_SECRET, "TOKEN")

    under_test = HostUnderTest(tmp_path)
    under_test.host = ToolHost(tmp_path, no_secret)
    assert under_test.ask(ServerConfig("a", "a", "/bin/true")) == ServerFailed(ServerProblem.NO_SECRET, "TOKEN")
    under_test.host.close(60)


@pytest.mark.expect_log("how a tool server is reached is not known")
def test_what_goes_wrong_in_an_unforeseen_way_before_it_is_asked_is_answered(tmp_path: Path) -> None:
    def no_user(server: ServerConfig) -> ServerReach:
        raise KeyError("getpwuid(): uid not found: 501")

    under_test = HostUnderTest(tmp_path)
    under_test.host = ToolHost(tmp_path, no_user)
    server = ServerConfig("a", "a", "/bin/true")
    failed = ServerFailed(ServerProblem.CANNOT_START, "KeyError")
    assert under_test.ask(server) == failed
    assert under_test.call("a").failed
    answers: queue.Queue[object] = queue.Queue()
    under_test.host.sign_in(server, SignInPages("", "", "", ""), answers.put, answers.put)
    assert answers.get(timeout=PATIENCE_S) == failed
    under_test.host.close(60)


def test_a_host_that_ends_while_it_has_written_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends it and what it has written are seen at once; its thread would end by an error otherwise."""

    class AllReady(selectors.DefaultSelector):
        def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            ready = super().select(timeout)
            return [(key, key.events) for key in self.get_map().values()] if ready else []

    monkeypatch.setattr(selectors, "DefaultSelector", AllReady)
    under_test = HostUnderTest(tmp_path)
    server, noted = under_test.malicious("elicits")
    assert under_test.tools(server)
    under_test.host.close(60)
    assert alive(noted) == []


def test_what_ends_in_an_unforeseen_way_is_answered(tmp_path: Path) -> None:
    async def end() -> None:
        raise OverflowError

    async def run() -> None:
        with FileIO(tmp_path / "said", "w") as output:
            host = Host(output)
            host._start(7, end())
            await asyncio.gather(*host._requests.values())

    asyncio.run(run())
    assert json.loads((tmp_path / "said").read_bytes()) == {"n": 7, "failed": "not_protocol", "detail": ""}


def test_an_idle_host_ends_and_the_next_call_starts_it_again(tmp_path: Path) -> None:
    idle = HostUnderTest(tmp_path, idle_s=0.2)
    server, noted = idle.malicious("duplicate_ids")
    idle.tools(server)
    wait_until(lambda: idle.state(server.id).phase is ConnectionState.STOPPED, "the host goes on")
    wait_until(lambda: alive(noted) == [], "the server goes on")
    assert idle.call(server.id).text == "done"
    idle.host.close(60)
    assert alive(noted) == []


def test_a_killed_host_leaves_nothing_and_is_started_again(host: HostUnderTest) -> None:
    server, noted = host.malicious("ignore_term")
    host.tools(server)
    host.call(server.id)
    os.kill(_host_of(alive(noted)[0]), signal.SIGKILL)
    wait_until(lambda: host.state(server.id).phase is ConnectionState.FAILED, "the end of the host is not noticed")
    wait_until(lambda: alive(noted) == [], "the server goes on")
    assert host.state(server.id).failure == ServerFailed(ServerProblem.HOST_ENDED)
    assert host.call(server.id).text == "done"


def _host_of(process: int) -> int:
    """Its parent, on any system."""
    told = subprocess.run(["ps", "-o", "ppid=", "-p", str(process)], capture_output=True, check=True)
    return int(told.stdout)


def test_two_hosts_in_one_folder_leave_each_other_alone(host: HostUnderTest) -> None:
    """Such as that of the window, and that of a terminal."""
    server, noted = host.malicious("changes")
    host.tools(server)
    other = HostUnderTest(host.folder)
    other.host.end_leftovers()
    assert other.tools(other.malicious("early")[0])
    other.host.close(60)
    assert len(alive(noted)) == 1
    assert host.call(server.id).text == "done"


_APP = """
import sys, time
from pathlib import Path
from tests.helpers.tool_hosts import HostUnderTest
host = HostUnderTest(Path(sys.argv[1]))
server, _ = host.malicious("ignore_term")
host.tools(server)
host.call("ignore_term")
print("ready", flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize("kills_host", [False, True])
def test_nothing_of_a_killed_app_is_left_after_the_next_start(tmp_path: Path, kills_host: bool) -> None:
    noted = tmp_path / "processes-ignore_term"
    app = subprocess.Popen([sys.executable, "-c", _APP, str(tmp_path)], stdout=subprocess.PIPE)
    assert app.stdout is not None
    with app.stdout:
        assert app.stdout.readline() == b"ready\n"
        host = _host_of(min(alive(noted)))
        os.kill(host, signal.SIGSTOP if kills_host else signal.SIGCONT)
        app.kill()
        app.wait()
        if kills_host:
            os.kill(host, signal.SIGKILL)
            assert alive(noted) != []
            again = ToolHost(tmp_path, lambda _: ServerReach())
            again.end_leftovers()
            again.close(60)
        wait_until(lambda: not runs(host), "the host goes on")
        wait_until(lambda: alive(noted) == [], "the server goes on")


def test_without_a_server_there_is_no_thread_process_or_import(tmp_path: Path) -> None:
    code = """
import sys, threading
from pathlib import Path
from app.tools.host.results import result_of
from app.tools.host_process import ToolHost
host = ToolHost(Path(sys.argv[1]), lambda _: None)
host.end_leftovers()
host.close()
print([name for name in ("mcp", "mcp_types", "anyio", "pydantic", "jsonschema") if name in sys.modules])
print(threading.active_count(), list(Path(sys.argv[1]).iterdir()))
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == ["[]", "1 []"]


def test_a_damaged_file_of_processes_ends_nothing_of_others(tmp_path: Path) -> None:
    mine = {"owner": 0, "mark": "0123456789abcdef.", "processes": {str(os.getpid()): "0"}}
    wrong = [mine | {"mark": ""}, mine | {"mark": 1}, mine | {"processes": {"x": 1}}, {"mark": mine["mark"]}, mine]
    for content in ("{", *map(json.dumps, wrong)):
        (tmp_path / "tool_processes-1.json").write_text(content)
        host = ToolHost(tmp_path, lambda _: ServerReach())
        host.end_leftovers()
        host.close(60)
        assert list(tmp_path.iterdir()) == []


def test_it_may_end_before_it_is_woken_for_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_secret(_: ServerConfig) -> ServerReach:
        raise ServerFault(ServerProblem.NO_SECRET)

    def stay_awake(_: object) -> None:
        awake.set()
        go.wait()

    host = ToolHost(tmp_path, no_secret)
    awake, go = threading.Event(), threading.Event()
    host.list_tools(ServerConfig("x", "x"), stay_awake)
    awake.wait()
    thread, write = host._thread, os.write
    assert thread is not None

    def write_late(pipe: int, data: bytes) -> int:
        go.set()
        thread.join(0.2)
        return write(pipe, data)

    monkeypatch.setattr(os, "write", write_late)
    host.close(60)
    assert not thread.is_alive()


# Over HTTP


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("right", "done"),
        ("large", "sent a message of more than 8 MiB"),
        ("compressed", "unreachable"),
        ("no_json", "refused the call: Failed to parse JSON response"),
    ],
)
def test_calls_over_http(one_host: HostUnderTest, mode: str, said: str) -> None:
    one_host.secret_headers = {"authorization": "Bearer 1"}
    with http_tool_server(mode) as server:
        name = f"http-{mode}"
        (tool,) = one_host.tools(ServerConfig(name, name, address=server.address))
        assert tool.origin == server.address.removesuffix("/mcp")
        result = one_host.call(name)
        assert said in result.text
        assert result.failed == (mode != "right")
        assert {each["authorization"] for each in server.headers_seen} == {"Bearer 1"}
        one_host.host.stop(name)


def test_a_connection_that_is_lost_costs_one_call(one_host: HostUnderTest) -> None:
    with http_tool_server("closes") as server:
        assert one_host.tools(ServerConfig("lost", "lost", address=server.address))
        assert one_host.call("lost").text == "The tool server failed (closed)."
        assert one_host.state("lost").failure == ServerFailed(ServerProblem.CLOSED, "Connection closed")
        assert one_host.call("lost").text == "done"
        one_host.host.stop("lost")


def test_an_address_of_the_protocols_first_way_may_end_with_a_slash() -> None:
    ends = ("/sse", "/v1/sse/", "/mcp", "/mcp/", "/sse/mcp", "/")
    assert [is_stream(f"https://a.example{each}?key=1") for each in ends] == [True, True, False, False, False, False]


@pytest.mark.parametrize("mode", ["forgets", "forgets_with_words"])
def test_a_forgotten_session_costs_one_call(one_host: HostUnderTest, mode: str) -> None:
    """A server that was started again does not know the sessions of before."""
    with http_tool_server(mode) as server:
        assert one_host.tools(ServerConfig(mode, mode, address=server.address))
        server.session = "2"
        assert one_host.call(mode).text == "The tool server failed (closed)."
        assert one_host.call(mode).text == "done"
        one_host.host.stop(mode)


def test_what_http_refuses(one_host: HostUnderTest) -> None:
    with http_tool_server("sign_in") as server:
        found = one_host.ask(ServerConfig("s", "s", address=server.address))
        assert found == ServerFailed(ServerProblem.SIGN_IN, "401")
    with http_tool_server("redirects") as server:
        found = one_host.ask(ServerConfig("r", "r", address=server.address))
        assert isinstance(found, ServerFailed)
        assert (found.problem, "not followed" in found.detail) == (ServerProblem.REFUSED, True)
    found = one_host.ask(ServerConfig("n", "n", address=server.address))
    assert isinstance(found, ServerFailed)
    assert found.problem is ServerProblem.UNREACHABLE


@pytest.mark.parametrize(
    ("host", "found", "address"),
    [
        ("a.example", ["127.0.0.1"], None),
        ("a.example", ["10.0.0.1"], None),
        ("a.example", ["93.184.216.34", "192.168.0.1"], None),
        ("a.example", ["169.254.169.254"], None),
        ("a.example", ["::1"], None),
        ("a.example", ["::ffff:127.0.0.1"], None),
        ("a.example", ["fe80::1%en0"], None),
        ("a.example", ["2002:7f00:1::"], None),
        ("a.example", ["64:ff9b::7f00:1"], None),
        ("a.example", [], None),
        ("localhost", ["93.184.216.34"], None),
        ("localhost", ["127.0.0.1"], "127.0.0.1"),
        ("a.example", ["93.184.216.34"], "93.184.216.34"),
        ("xn--fa-hia.example", ["93.184.216.34"], "93.184.216.34"),
    ],
)
def test_only_public_addresses_are_reached_unless_this_machine_was_typed(
    host: str, found: list[str], address: str | None
) -> None:
    looked_up: list[object] = []

    async def resolve(name: str, *_: object, **__: object) -> list[object]:
        looked_up.append(name)
        return [(2, 1, 6, "", (each, 443)) for each in found]

    async def look() -> str | None:
        asyncio.get_running_loop().getaddrinfo = resolve  # type: ignore[method-assign,assignment]
        try:
            return (await LimitedTransport(f"https://{host}/").check(f"https://{host}/mcp"))[0]
        except ServerFault as failure:
            return None if failure.problem is ServerProblem.ADDRESS else failure.problem

    assert asyncio.run(look()) == address
    assert looked_up == [host], "the name in ASCII: the system would read it by an older rule"


def test_a_name_of_two_addresses_is_reached_where_one_of_them_listens() -> None:
    """On a Mac `localhost` is ::1 first, and most servers listen at 127.0.0.1 alone."""

    async def resolve(_name: str, port: int, **__: object) -> list[object]:
        return [(2, 1, 6, "", (each, port)) for each in ("::1", "127.0.0.1")]

    async def ask(address: str) -> int:
        asyncio.get_running_loop().getaddrinfo = resolve  # type: ignore[method-assign,assignment]
        async with new_client({}, LimitedTransport(address)) as client:
            return (await client.get(address)).status_code

    with http_tool_server("right") as server:
        assert asyncio.run(ask(server.address.replace("127.0.0.1", "localhost"))) == 405


def test_a_picture_whose_base64_has_lines_is_one() -> None:
    """As encoders of e-mail write it, Ruby's and Perl's own among them."""
    picture = b"\x89PNG\r\n\x1a\n" + bytes(100)
    result = result_of({"content": [{"type": "image", "data": base64.encodebytes(picture).decode()}]})
    assert (result.pictures, result.text) == ([picture], "")


_ITEM = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image", "audio", "resource", "resource_link", "x"]) | st.none()},
    optional={
        each: st.text(max_size=20)
        | st.integers()
        | st.none()
        | st.dictionaries(st.sampled_from(["text", "uri"]), st.text())
        for each in ("text", "data", "mimeType", "resource", "uri", "name")
    },
)


@given(
    st.dictionaries(
        st.sampled_from(["content", "isError", "structuredContent"]), st.lists(_ITEM | st.text()) | st.none()
    )
)
def test_any_result_becomes_text(raw: dict[str, Any]) -> None:
    result = result_of(raw)
    assert isinstance(result.text, str)
    assert result.failed is False


@given(st.lists(st.binary(max_size=200).map(lambda each: each.replace(b"\n", b"")), min_size=1), st.randoms())
def test_a_tail_is_the_last_lines_however_they_come(lines: list[bytes], random: Random) -> None:
    data = b"\n".join(lines) + b"\n"
    tail = Tail()
    while data:
        count = random.randint(1, 100)
        tail.add(data[:count])
        data = data[count:]
    assert tail.lines() == [each.decode("utf-8", "replace").rstrip("\r") for each in lines[-TAIL_LINES:]]


def test_a_tail_is_bounded() -> None:
    tail = Tail()
    for _ in range(100):
        tail.add(b"x" * 100_000 + b"\n")
    tail.add(b"y" * 100_000)
    assert [len(each) for each in tail.lines()] == [TAIL_LINE_BYTES] * TAIL_LINES
    assert tail.lines()[-1] == "y" * TAIL_LINE_BYTES
