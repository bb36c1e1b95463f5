"""A long body keeps no other client waiting: the work on it is on other threads, and linear."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine import EngineState, Message, Request, RequestId, ServerOptions, ServerPhase, Sink
from engine.server import fields as fields_module
from engine.server.app import DIALECTS
from engine.server.dialect import CallContext, Dialect
from engine.server.fields import Fields
from engine.server.pictures import SentPictures
from tests.helpers.engine_client import EngineClient
from tests.helpers.fake_engine import MAIN, FakeEngine
from tests.helpers.served import PATIENCE_S, Asked, Served, chat_body, post_bytes, serving

LONG = "word " * 20_000
USER = {"role": "user", "content": LONG}
GEMINI = "/v1beta/models/default"
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": [USER]},
    "/v1/completions": {"prompt": LONG},
    "/v1/responses": {"input": [USER]},
    "/v1/messages": {"messages": [USER], "max_tokens": 9},
    "/v1/messages/count_tokens": {"messages": [USER]},
    "/api/chat": {"messages": [USER], "stream": False},
    "/api/generate": {"prompt": LONG, "stream": False},
    f"{GEMINI}:generateContent": {"contents": [{"parts": [{"text": LONG}]}]},
    f"{GEMINI}:countTokens": {"contents": [{"parts": [{"text": LONG}]}]},
}


class Held:
    """Work that goes on once `go_on` is set."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.go_on = threading.Event()

    def wait(self) -> None:
        self.reached.set()
        assert self.go_on.wait(PATIENCE_S)


@pytest.fixture
def held() -> Iterator[Held]:
    held = Held()
    yield held
    held.go_on.set()


@contextmanager
def held_messages(held: Held, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every message of a client's is made once `held` goes on."""
    make = Message.__init__

    def wait_and_make(message: Message, *values: Any, **named: Any) -> None:
        held.wait()
        make(message, *values, **named)

    with monkeypatch.context() as patch:
        patch.setattr(Message, "__init__", wait_and_make)
        yield


@pytest.mark.parametrize("path", [path for path in BODIES if path != "/v1/completions"])
def test_others_are_answered_while_a_long_body_is_read(
    served: Served, held: Held, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_messages(held, monkeypatch):
        check_others_are_answered(served, held, path)


def test_others_are_answered_while_a_long_body_is_parsed(
    served: Served, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = fields_module._parse

    def wait_and_parse(body: bytes) -> Any:
        held.wait()
        return parse(body)

    monkeypatch.setattr(fields_module, "_parse", wait_and_parse)
    check_others_are_answered(served, held, "/v1/messages")


def check_others_are_answered(served: Served, held: Held, path: str) -> None:
    asked = Asked(served.port, {"model": "default"} | BODIES[path], path)
    assert held.reached.wait(PATIENCE_S)
    assert served.http.get("/v1/models", timeout=PATIENCE_S).status_code == 200
    held.go_on.set()
    asked.join()
    assert asked.answer.startswith("HTTP/1.1 200 "), asked.answer


class HeldEngine(FakeEngine):
    def __init__(self, held: Held) -> None:
        super().__init__()
        self._held = held
        EngineClient(self).load(Path(MAIN.folder))

    def submit(self, request: Request, sink: Sink) -> RequestId:
        self._held.wait()
        return super().submit(request, sink)


@pytest.fixture
def slow(held: Held) -> Iterator[FakeEngine]:
    engine = HeldEngine(held)
    yield engine
    held.go_on.set()
    engine.close()


def test_others_are_answered_while_the_engine_checks_a_long_request(slow: FakeEngine, held: Held) -> None:
    with serving(slow) as served:
        check_others_are_answered(served, held, "/v1/completions")


def test_a_client_that_leaves_meanwhile_leaves_nothing(slow: FakeEngine, held: Held) -> None:
    slow.gate.hold()
    with serving(slow) as served:
        with served.connect() as connection:
            body = b'{"model": "default", "n": 3, "messages": [{"role": "user", "content": "%s"}]}' % LONG.encode()
            connection.sendall(post_bytes("/v1/chat/completions", body))
            assert held.reached.wait(PATIENCE_S)
        held.go_on.set()
        served.wait_for_requests(0)
        assert slow.state().running == slow.state().queued == ()


def test_a_server_hears_that_it_is_to_stop_while_a_long_body_is_read(slow: FakeEngine, held: Held) -> None:
    with serving(slow) as served:
        Asked(served.port, chat_body(LONG))
        assert held.reached.wait(PATIENCE_S)
        stopping = threading.Thread(target=served.server.stop, args=(PATIENCE_S,))
        stopping.start()
        while served.server.state.phase is not ServerPhase.STOPPING:
            served.states.get(timeout=PATIENCE_S)
        held.go_on.set()
        stopping.join()


# Linear

ASKED = {"role": "user", "content": "x"}
PART = {"type": "text", "text": "x"}
CALL = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
SAID = {"role": "assistant", "content": "x"}
Made = Callable[[int], dict[str, Any]]
MANY: dict[str, tuple[str, Made]] = {
    "messages": ("/v1/chat/completions", lambda n: {"messages": [ASKED] * n}),
    "systems": ("/v1/chat/completions", lambda n: {"messages": [*[{"role": "system", "content": "x"}] * n, ASKED]}),
    "parts": ("/v1/chat/completions", lambda n: {"messages": [{"role": "user", "content": [PART] * n}]}),
    "bias": ("/v1/chat/completions", lambda n: {"messages": [ASKED], "logit_bias": {str(at): 1 for at in range(n)}}),
    "tokens": ("/v1/completions", lambda n: {"prompt": [1] * n}),
    "calls": ("/v1/responses", lambda n: {"input": [ASKED, *[CALL] * n]}),
    "items": ("/v1/responses", lambda n: {"input": [ASKED, *[SAID, CALL, {"type": "reasoning", "content": []}] * n]}),
    "spaces": (
        "/v1/responses",
        lambda n: {
            "input": [ASKED, *[CALL | {"namespace": "s"}] * n],
            "tools": [{"type": "namespace", "name": "s", "tools": [{"name": f"f{at}"} for at in range(n)]}],
        },
    ),
    "turns": ("/v1/messages", lambda n: {"max_tokens": 9, "messages": [ASKED] * n}),
    "blocks": ("/v1/messages", lambda n: {"max_tokens": 9, "messages": [{"role": "user", "content": [PART] * n}]}),
    "contents": (f"{GEMINI}:generateContent", lambda n: {"contents": [{"parts": [{"text": "x"}]}] * n}),
    "names": (
        f"{GEMINI}:generateContent",
        lambda n: {
            "contents": [{"parts": [{"text": "x"}]}],
            "tools": [{"functionDeclarations": [{"name": f"f{at}"} for at in range(n)]}],
            "toolConfig": {
                "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [f"f{at}" for at in range(n)]}
            },
        },
    ),
    "turns of Ollama's": ("/api/chat", lambda n: {"messages": [ASKED] * n}),
}


def read(path: str, body: dict[str, Any]) -> None:
    template = path.replace("default", "{model:path}")
    dialect: Dialect = next(each for each in DIALECTS if template in each.calls)
    context = CallContext(dialect, ServerOptions(), EngineState(MAIN), SentPictures(None, "", decodes=True))
    dialect.calls[template](Fields(body), context, "default")


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called and generators resumed, of Python's and of C's."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    former = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(former)
    return count


@pytest.mark.parametrize("kind", MANY)
def test_twice_as_much_is_twice_the_work(kind: str) -> None:
    path, made = MANY[kind]
    once = made(200)
    twice = made(400)
    read(path, once)
    assert calls_of(lambda: read(path, twice)) < 2.1 * calls_of(lambda: read(path, once))


@pytest.mark.parametrize("kind", ["calls", "items", "turns"])
def test_a_turn_is_made_once_whatever_it_consists_of(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To make it again for each part would copy all parts before that one."""
    copied = 0
    make = Message.__init__

    def count_and_make(message: Message, role: Any, content: str, *values: Any, **named: Any) -> None:
        nonlocal copied
        make(message, role, content, *values, **named)
        copied += len(content) + len(message.tool_calls)

    path, made = MANY[kind]
    once = made(50)
    twice = made(100)
    monkeypatch.setattr(Message, "__init__", count_and_make)
    read(path, once)
    of_once = copied
    read(path, twice)
    assert copied - of_once < 2.1 * of_once


def test_a_body_of_too_many_values_is_refused_before_it_is_parsed(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fields_module, "_MOST_VALUES", 30)
    monkeypatch.setattr(fields_module, "_MOST_NAMES", 20)
    many: tuple[dict[str, Any], ...] = ({"x": [[]] * 30}, {"x": [1] * 30}, {f"x{at}": 1 for at in range(20)})
    for more in many:
        answer = served.post("/v1/chat/completions", chat_body("x", **more))
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "request_too_large")
    assert served.post("/v1/chat/completions", chat_body("x", x=[1] * 20)).status_code == 200


def test_a_refusal_does_not_repeat_a_long_word(served: Served) -> None:
    answer = served.post("/v1/chat/completions", chat_body([{"type": LONG}]))
    assert answer.status_code == 400
    assert len(answer.content) < len(LONG) // 2
