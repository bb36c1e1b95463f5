"""Clients that leave, servers that stop: every request ends once, and nothing waits for it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

import pytest

from engine import FinishReason, OutOfMemory, PromptFits, PromptProgress, Request, RequestId, Sink, TemplateFailed
from tests.helpers.engine_client import EngineClient
from tests.helpers.fake_engine import MAIN, FakeEngine, Script, _Counters, _Job
from tests.helpers.served import PATIENCE_S, chat_body, client_of, post_bytes, serving

CHAT = "/v1/chat/completions"
E = TypeVar("E", bound="Reading | Counting")


class Reading(FakeEngine):
    """Reads a prompt chunk by chunk until `go_on` is set, or as many as no prompt has."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()

    def _say(self, job: _Job, script: Script, counters: _Counters) -> None:
        chunks = iter(range(1000))
        while not self.go_on.wait(0.003) and job.interrupted is None and next(chunks, None) is not None:
            self.tell(job.sink, PromptProgress(job.id, 10, 20))
        super()._say(job, script, counters)


class Counting(FakeEngine):
    """Knows of a prompt that it fits, and counts it once `go_on` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()

    def _write(self, job: _Job) -> None:
        self.tell(job.sink, PromptFits(job.id))
        self.go_on.wait(PATIENCE_S)
        super()._write(job)


@contextmanager
def running(engine: E) -> Iterator[E]:
    EngineClient(engine).load(Path(MAIN.folder))
    try:
        yield engine
    finally:
        engine.go_on.set()
        engine.close()


def test_an_engine_that_does_not_answer_is_not_well() -> None:
    with running(Counting()) as engine, serving(engine, stuck_s=1.0) as served, served.connect() as connection:
        assert served.http.get("/health").status_code == 200
        connection.sendall(post_bytes(CHAT, json.dumps(chat_body("x")).encode()))
        served.wait_for_requests(1)
        stuck = served.http.get("/health")
        assert (stuck.status_code, stuck.json()["error"]["message"]) == (503, "The engine does not answer")
        engine.go_on.set()
        assert served.http.get("/health").status_code == 200


def chat_bytes(*, stream: bool) -> bytes:
    return post_bytes(CHAT, json.dumps(chat_body("x", stream=stream)).encode())


def test_a_stream_begins_before_its_prompt_is_counted() -> None:
    """Its head; what it says first knows the count."""
    with running(Counting()) as engine, serving(engine) as served:
        with served.http.stream("POST", "/v1/messages", json=chat_body("x", stream=True, max_tokens=1)) as answer:
            assert answer.status_code == 200
            engine.go_on.set()
            opening = next(json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: "))
        usage = opening["message"]["usage"]
        assert (usage["input_tokens"], usage["cache_read_input_tokens"]) == (10, 10)


@pytest.mark.parametrize(("stream", "status"), [(True, 200), (False, 400)])
def test_what_is_found_in_a_prompt_that_fits_is_told(stream: bool, status: int) -> None:
    """In the stream that has begun, else with a status."""
    with running(Counting()) as engine, serving(engine) as served:
        engine.go_on.set()
        engine.scripts.append(Script(pieces=(), error=TemplateFailed("no")))
        answer = served.post(CHAT, chat_body("x", stream=stream))
        assert (answer.status_code, "template refused" in answer.text) == (status, True)


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_ends_its_request(scripted: FakeEngine, *, stream: bool) -> None:
    scripted.gate.hold()
    with serving(scripted) as served:
        with served.connect() as connection:
            connection.sendall(chat_bytes(stream=stream))
            scripted.gate.let_through(1)
            while stream and b"A draft" not in connection.recv(4096):
                pass
            served.wait_for_requests(1)
        served.wait_for_requests(0)
        assert scripted.state().running == ()


@pytest.mark.parametrize("path", [CHAT, "/v1/messages/count_tokens", "/api/show"])
def test_a_client_that_leaves_in_its_body_is_no_failure(scripted: FakeEngine, path: str) -> None:
    with serving(scripted) as served:
        with served.connect() as connection:
            connection.sendall(post_bytes(path, b"{", content_length="100"))
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1000) == b""
        assert served.http.get("/health").status_code == 200


def test_a_client_that_leaves_the_queue_ends_its_request(scripted: FakeEngine) -> None:
    scripted.gate.hold()
    with serving(scripted) as served:
        with served.connect() as first, served.connect() as second:
            first.sendall(chat_bytes(stream=True))
            served.wait_for_requests(1)
            second.sendall(chat_bytes(stream=True))
            served.wait_for_requests(2)
        served.wait_for_requests(0)


def test_too_many_requests_are_refused_with_a_time_to_come_back(scripted: FakeEngine) -> None:
    scripted.gate.hold()
    with serving(scripted, most_requests=1) as served, served.connect() as connection:
        connection.sendall(chat_bytes(stream=True))
        served.wait_for_requests(1)
        answer = served.post(CHAT, chat_body("x"))
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")


def test_a_server_that_stops_ends_streams_with_an_error(scripted: FakeEngine) -> None:
    scripted.gate.hold()
    with serving(scripted) as served, served.connect() as connection:
        connection.sendall(chat_bytes(stream=True))
        scripted.gate.let_through(1)
        while b"A draft" not in connection.recv(4096):
            pass
        stopping = threading.Thread(target=served.server.stop)
        stopping.start()
        heard = b""
        while more := connection.recv(4096):
            heard += more
        stopping.join(PATIENCE_S)
        assert b'"code":"shutting_down"' in heard
        assert b"[DONE]" not in heard


@pytest.mark.expect_log("a request of another program failed: KeyError")
def test_a_fault_of_ours_is_logged_without_the_words_of_a_client(
    scripted: FakeEngine, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def submit(request: Request, _sink: Sink) -> RequestId:
        raise KeyError(request.messages[-1].content)

    with serving(scripted) as served:
        monkeypatch.setattr(scripted, "submit", submit)
        answer = served.post(CHAT, chat_body("my own words", n=2))
        assert served.server.state.requests == 0  # else its places would be taken for ever
    assert answer.status_code == 500
    assert "my own words" not in answer.text + caplog.text
    assert "KeyError" in caplog.text
    assert "in submit" in caplog.text


def test_an_error_after_the_first_word_ends_the_stream(scripted: FakeEngine) -> None:
    scripted.scripts.append(Script(error=OutOfMemory("x")))
    scripted.scripts.append(Script(finish=FinishReason.MODEL_CHANGED))
    with serving(scripted) as served:
        for code in ("out_of_memory", "model_changed"):
            lines = served.post(CHAT, chat_body("x", stream=True)).text.split("\n\n")
            assert json.loads(lines[-2].removeprefix("data: "))["error"]["code"] == code


def test_a_long_silence_is_broken(scripted: FakeEngine) -> None:
    scripted.gate.hold()
    with (
        serving(scripted, silence_s=0.05) as served,
        served.http.stream("POST", CHAT, json=chat_body("x", stream=True)) as answer,
    ):
        lines = answer.iter_lines()
        while next(lines) != ": prefill 10/20":
            pass
        scripted.gate.open()
        assert list(lines)[-2] == "data: [DONE]"


@pytest.mark.parametrize(
    ("path", "sign"),
    [(CHAT, ": prefill"), ("/v1/messages", "event: ping"), ("/v1/responses", "event: response.in_progress")],
)
def test_a_long_prompt_is_no_silence(path: str, sign: str) -> None:
    """Though the engine tells of every chunk that it has read, which a client does not hear."""
    with running(Reading()) as engine, serving(engine, silence_s=0.05) as served:
        body = chat_body("x", stream=True, max_tokens=9) | {"input": "x"}
        with served.http.stream("POST", path, json=body) as answer:
            lines = answer.iter_lines()
            signs = sum(line.startswith(sign) for line in islice(lines, 24))
            engine.go_on.set()
            assert signs >= 6
            assert any("A draft" in line for line in lines)


def test_a_slow_reader_is_given_up(scripted: FakeEngine) -> None:
    scripted.scripts.append(Script(pieces=("word " * 20_000,) * 400))
    with serving(scripted, send_s=0.2) as served, served.connect() as connection:
        connection.sendall(chat_bytes(stream=True))
        served.wait_for_requests(1)
        served.wait_for_requests(0)


def test_a_server_can_be_started_again(scripted: FakeEngine) -> None:
    with serving(scripted) as served:
        assert served.server.stop(PATIENCE_S)
        served.server.start()
        while not served.server.state.addresses:
            served.states.get(timeout=PATIENCE_S)
        with client_of(served.server.state.addresses[0]) as http:
            assert http.get("/health").status_code == 200
