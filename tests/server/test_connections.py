"""Crowds of connections: a holder of the key is answered, and the process keeps its descriptors."""

from __future__ import annotations

import errno
import itertools
import json
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from engine.api.connections import gives_way, machine_of
from engine.server import connections
from tests.architecture.project import ROOT
from tests.helpers.fake_engine import FakeEngine
from tests.helpers.served import PATIENCE_S, Served, chat_body, client_of, post_bytes, serving

KEY = "a-key-of-a-test"
HOLDER = {"authorization": f"Bearer {KEY}"}
CHAT = "/v1/chat/completions"
DESCRIPTORS = 256  # as macOS gives an app; a quarter of them is for connections that have shown the key
MOST = DESCRIPTORS // 4 + DESCRIPTORS // 16
STREAM = json.dumps(chat_body("x", stream=True)).encode()
SILENT = b""
HALF_A_HEADER = b"POST /v1/chat/completions HTTP/1.1\r\nhost: local"
HALF_A_BODY = post_bytes(CHAT, b"{", content_length="100", authorization=f"Bearer {KEY}")
UNREAD_STREAM = post_bytes(CHAT, STREAM, authorization=f"Bearer {KEY}")
NO_REQUEST = b"\0\r\n\r\n"


@dataclass
class Child:
    process: subprocess.Popen[str]
    port: int
    log: Path

    @property
    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))  # noqa: PTH208

    @property
    def memory_bytes(self) -> int:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize()

    def ask(self, host: str = "127.0.0.1") -> None:
        """As a holder of the key, on a new connection; a few times if need be, as clients do: where this process stands
        still between connecting and asking, it may give way to a crowd that comes meanwhile.
        """
        with client_of(f"http://{host}:{self.port}") as http:
            for _ in range(4):
                with suppress(httpx2.RemoteProtocolError, httpx2.ReadError):
                    assert http.get("/v1/models", headers=HOLDER).status_code == 200
                    return
        raise AssertionError("it gave way every time")


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("descriptors of another process are counted by /proc")
    command = [sys.executable, "-m", "tests.helpers.served_child", str(DESCRIPTORS), KEY]
    log = tmp_path / "log"
    pipe = subprocess.PIPE
    with (
        log.open("w") as lines,
        subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=lines, text=True) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        yield Child(process, int(process.stdout.readline()), log)
        process.stdin.close()
        assert process.wait(PATIENCE_S) == 0


@contextmanager
def many_descriptors(number: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number if hard == resource.RLIM_INFINITY else min(number, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(
    ("sent", "number"),
    [(SILENT, 3000), (HALF_A_HEADER, 500), (HALF_A_BODY, 200), (UNREAD_STREAM, 100), (NO_REQUEST, 500)],
)
def test_a_crowd_keeps_nobody_out_and_takes_few_descriptors(child: Child, sent: bytes, number: int) -> None:
    child.ask()
    before = child.descriptors
    memory = child.memory_bytes
    with many_descriptors(number + 200), ExitStack() as crowd:
        for at in range(number):
            crowd.enter_context(one := socket.socket())
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", child.port))
            if sent:
                one.setblocking(True)
                one.settimeout(PATIENCE_S)
                try:
                    one.sendall(sent)
                except OSError:  # it has given way
                    continue
            if at % (number // 10) == 0:
                child.ask("[::1]" if at % (number // 5) else "127.0.0.1")
                assert child.descriptors <= before + MOST + 3
        child.ask()
        child.ask("[::1]")
    assert child.memory_bytes < memory + (200 << 20)
    said = [line for line in child.log.read_text().splitlines() if "gave way" in line or "Invalid HTTP" in line]
    assert len(said) < number // 10


def test_connections_that_come_and_go_leave_nothing(child: Child) -> None:
    child.ask()
    before = child.descriptors
    for _ in range(500):
        socket.create_connection(("127.0.0.1", child.port)).close()
    child.ask()
    assert child.descriptors <= before + 2


@pytest.mark.expect_log("no connection can be accepted")
def test_where_no_descriptor_is_free_accepting_pauses(
    scripted: FakeEngine, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the loop would try again at once, and answer nobody."""
    accept = socket.socket.accept
    tries = itertools.count(1)
    tried_again = threading.Event()
    served.http.get("/v1/models")  # on a connection that stays

    def refuse(_listener: socket.socket) -> Any:
        if next(tries) > 1:
            tried_again.set()
        raise OSError(errno.EMFILE, "none is free")

    monkeypatch.setattr(socket.socket, "accept", refuse)
    with served.connect() as late:
        assert tried_again.wait(PATIENCE_S)
        assert served.http.get("/v1/models").status_code == 200
        monkeypatch.setattr(socket.socket, "accept", accept)
        late.sendall(b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert b" 200 " in late.recv(1000)
    assert next(tries) < 50


def test_answers_that_are_read_give_way_to_nobody(scripted: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one is told that there is no room, and those that wait between requests give way."""
    monkeypatch.setattr(connections, "_MOST", 2)
    monkeypatch.setattr(connections, "_LEAST", 2)
    scripted.gate.hold()
    asks = b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with serving(scripted) as served, ExitStack() as opened:
        answered = []
        for number in (1, 2):
            answered.append(opened.enter_context(served.connect()))
            answered[-1].sendall(post_bytes(CHAT, json.dumps(chat_body("x")).encode()))
            served.wait_for_requests(number)
        third = opened.enter_context(served.connect())
        third.sendall(asks)
        assert b" 503 " in third.recv(1000)
        scripted.gate.open()
        assert all(b" 200 " in one.recv(1000) for one in answered)
        last = opened.enter_context(served.connect())
        last.sendall(asks)
        assert b" 200 " in last.recv(1000)


def test_the_oldest_of_the_machine_with_the_most_gives_way() -> None:
    crowd = [(1, "b"), (2, "a"), (3, "a"), (4, "b"), (5, "a")]
    assert gives_way(crowd) == 2
    assert gives_way(crowd[:1]) == 1
    assert gives_way([]) is None


def test_addresses_of_one_machine() -> None:
    assert machine_of("2001:db8::1") == machine_of("2001:db8::2:3:4:5") != machine_of("2001:db8:0:1::1")
    assert machine_of("::ffff:10.0.0.1") == machine_of("10.0.0.1") != machine_of("10.0.0.2")
    assert machine_of("fe80::1%en0") == machine_of("fe80::2%en0")
    assert machine_of("a socket") == "a socket"
