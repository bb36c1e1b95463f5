"""Drill: bytes at random instead of requests, crowds of clients of which a third hangs up, bodies as large as may be.

Nothing fails in the server, every request has one end, and nothing of them stays.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import mlx.core as mx
import pytest

from engine import Engine, Event, Failed, Finished, ModelReady, Request, RequestId, Sink
from engine.server.connections import ClientConnection
from tests.architecture.project import ROOT
from tests.helpers.engine_client import EngineClient
from tests.helpers.served import PATIENCE_S, Served, chat_body, post_bytes, serving

STARTER = ROOT / "resources" / "starter"
DRILL_S = 600.0
PATHS = (
    *("/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/messages/count_tokens", "/v1/responses"),
    *("/api/chat", "/api/generate", "/api/show", "/api/v0/chat/completions", "/v1/models/x", "/metrics", "/"),
    *(f"/v1beta/models/default:{method}" for method in ("generateContent", "streamGenerateContent", "countTokens")),
)
METHODS = (*("POST",) * 8, "GET", "PUT", "OPTIONS", "DELETE", "HEAD", "PATCH", "BREW")
NAMES = (
    *("model", "messages", "max_tokens", "temperature", "top_p", "top_k", "min_p", "seed", "stop", "stream", "tools"),
    *("tool_choice", "n", "logit_bias", "input", "instructions", "system", "prompt", "options", "think", "format"),
    *("chat_template_kwargs", "reasoning", "text", "draft_model", "num_draft_tokens", "speculation", "metadata"),
    *("stream_options", "thinking", "output_config", "stop_sequences", "response_format", "reasoning_effort", "echo"),
    *("contents", "systemInstruction", "generationConfig", "toolConfig"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1e308, 10**400, "", "x", "\0", "가" * 50, "x" * 1000, [], {}, [[]], [{}], [None]),
    *({"type": "text"}, [{"role": "user"}], [{"role": "user", "content": [{"type": "text"}]}], {"a": {"b": [1]}}),
    *({"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}, "required", "auto"),
    [{"type": "function", "function": {"name": "x", "parameters": {"a": [None]}}}],
    {"responseMimeType": "application/json", "responseSchema": {"type": "OBJECT", "properties": {"a": {}}}},
    [{"parts": [{"functionCall": {"name": "x"}}, {"functionResponse": {}}, {"inlineData": {}}]}],
)


class Counted(Engine):
    """How often each request has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.ends: Counter[RequestId] = Counter()
        self.begun = 0

    def submit(self, request: Request, sink: Sink) -> RequestId:
        def hear(event: Event) -> None:
            if isinstance(event, Finished | Failed):
                self.ends[event.request] += 1
            sink(event)

        self.begun += 1
        return super().submit(request, hear)


@pytest.fixture
def engine() -> Iterator[Counted]:
    engine = Counted()
    assert isinstance(EngineClient(engine).load(STARTER / "main", STARTER / "draft"), ModelReady)
    yield engine
    assert engine.close()


def settle(served: Served, engine: Counted) -> None:
    """Every request has had one end, and the next one is answered."""
    served.wait_for_requests(0)
    assert engine.begun == len(engine.ends) == engine.ends.total()
    assert served.http.get("/health").status_code == 200
    assert served.chat("What is a draft model?", max_tokens=3)["choices"]


# Bytes at random


def fuzz(served: Served, generator: random.Random, go_on: Callable[[], bool]) -> Counter[str]:
    seen: Counter[str] = Counter()
    while go_on():
        sent = odd_bytes(generator)
        heard = exchange(served, sent, half=generator.random() < 0.3)
        status = heard.split()[1].decode() if heard.startswith(b"HTTP/1.1 ") else "none"
        seen[status] += 1
        assert not status.startswith("5"), (sent, heard)
    return seen


def exchange(served: Served, sent: bytes, *, half: bool) -> bytes:
    """What comes back at first; b"" for nothing, as where a body is still awaited."""
    with served.connect() as connection:
        connection.settimeout(0.7)
        with suppress(OSError):
            connection.sendall(sent)
            if half:
                connection.shutdown(socket.SHUT_WR)
            return connection.recv(65536)
    return b""


def odd_bytes(generator: random.Random) -> bytes:
    kind = generator.random()
    if kind < 0.1:
        return generator.randbytes(generator.randrange(2000))
    body: dict[str, Any] = {"model": "default", "max_tokens": 2, "max_output_tokens": 2, "options": {"num_predict": 2}}
    body |= {"messages": [{"role": "user", "content": "x"}], "input": "x", "prompt": "x"}
    body |= {"contents": [{"parts": [{"text": "x"}]}], "generationConfig": {"maxOutputTokens": 2}}
    body |= {generator.choice(NAMES): generator.choice(VALUES) for _ in range(generator.randrange(5))}
    sent = bytearray(post_bytes(generator.choice(PATHS), json.dumps(body).encode()))
    sent[:4] = generator.choice(METHODS).encode()
    if kind < 0.5:
        for _ in range(generator.randrange(1, 8)):
            sent[generator.randrange(len(sent))] = generator.randrange(256)
    elif kind < 0.6:
        del sent[generator.randrange(len(sent)) :]
    return bytes(sent)


def test_a_sample_of_odd_requests(engine: Counted) -> None:
    numbers = iter(range(150))
    with serving(engine, body_s=1.0, header_s=1.0) as served:
        seen = fuzz(served, random.Random(1), lambda: next(numbers, None) is not None)
        settle(served, engine)
    assert {"200", "400", "404"} <= seen.keys()


@pytest.mark.drill
def test_odd_requests_for_long(engine: Counted, capsys: pytest.CaptureFixture[str]) -> None:
    seed, end = random.randrange(1 << 32), time.monotonic() + DRILL_S
    with serving(engine, body_s=5.0, header_s=5.0) as served:
        seen = fuzz(served, random.Random(seed), lambda: time.monotonic() < end)
        settle(served, engine)
    with capsys.disabled():
        print(f"\nseed {seed}: {dict(seen)}")  # noqa: T201  to have it again


# Crowds

SHAPES: tuple[tuple[str, Callable[[str], dict[str, Any]]], ...] = (
    ("/v1/chat/completions", chat_body),
    ("/v1/completions", lambda text: {"model": "default", "prompt": text, "n": 2}),
    ("/v1/messages", chat_body),
    ("/v1/responses", lambda text: {"model": "default", "input": text, "max_output_tokens": 16}),
    ("/api/chat", lambda text: chat_body(text, options={"num_predict": 12})),
)


async def client(served: Served, generator: random.Random, requests: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for _ in range(requests):
        path, shape = generator.choice(SHAPES)
        text = "word " * generator.choice((1, 5, 300, 1500, 6000)) + str(generator.random())
        body = shape(text) | {"stream": generator.random() < 0.6, "max_tokens": generator.choice((1, 8, 40))}
        sent = post_bytes(path, json.dumps(body).encode(), connection="close")
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        if generator.random() < 1 / 3:
            writer.write(sent[: generator.randrange(len(sent))] if generator.random() < 0.3 else sent)
            await asyncio.sleep(generator.random())
            writer.transport.abort()
            seen["hung up"] += 1
            continue
        writer.write(sent)
        heard = await asyncio.wait_for(reader.read(), 10 * PATIENCE_S)  # a crowd shares one machine
        writer.close()
        status = heard.split()[1].decode()
        seen[status] += 1
        assert status in {"200", "400", "429"}, heard[-2000:]
        # A stream that waits ten seconds for its turn has begun before its prompt is counted.
        too_long = b"context_length_exceeded" in heard or b"prompt is too long" in heard
        assert status != "200" or b'"error":{' not in heard or too_long, heard[-2000:]
    return seen


def crowd(served: Served, clients: int, requests: int, seed: int) -> Counter[str]:
    async def all_of_them() -> list[Counter[str]]:
        each = (client(served, random.Random(seed + at), requests) for at in range(clients))
        return await asyncio.gather(*each)

    return sum(asyncio.run(all_of_them()), Counter())


def held() -> tuple[int, int, int]:
    """Blocks of Python's, bytes of arrays, connections."""
    gc.collect()
    mx.clear_cache()
    connections = sum(type(each) is ClientConnection for each in gc.get_objects())
    return sys.getallocatedblocks(), mx.get_active_memory(), connections


def test_a_crowd_of_which_a_third_hangs_up(engine: Counted) -> None:
    with serving(engine) as served:
        assert crowd(served, 4, 3, seed=1)["hung up"] > 0
        settle(served, engine)


@pytest.mark.drill
def test_crowds_leave_nothing(engine: Counted, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(engine) as served:
        figures = []
        for clients in (1, 4, 16, 64, 64, 64):
            seen = crowd(served, clients, max(2, 48 // clients), seed=clients)
            settle(served, engine)
            figures.append((clients, dict(seen), held()))
            with capsys.disabled():
                print(figures[-1], flush=True)  # noqa: T201
        (blocks, arrays, _), (last_blocks, last_arrays, connections) = figures[-2][2], figures[-1][2]
        assert last_blocks < 1.02 * blocks
        assert last_arrays <= 1.05 * arrays
        assert connections <= 1  # the one that `settle` has kept


# Large bodies


@pytest.mark.drill
def test_bodies_as_large_as_may_be(engine: Counted) -> None:
    """64 MiB of text are refused, and whoever comes next is answered."""
    begin, end = (part.encode() for part in json.dumps(chat_body("|")).split("|"))
    with serving(engine) as served:
        body = begin + b"a b " * ((64 << 18) - 100) + end
        headers = {"content-type": "application/json"}
        answer = served.http.post("/v1/chat/completions", content=body, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_value")
        assert served.http.post("/v1/chat/completions", content=body + b" " * 999, headers=headers).status_code == 413
        settle(served, engine)
