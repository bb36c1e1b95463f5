"""Pictures in every dialect, over a tiny model that sees: the engine's own text, and true refusals."""

from __future__ import annotations

import asyncio
import base64
import json
import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from engine import (
    Engine,
    Message,
    MessageRole,
    ModelReady,
    Picture,
    PictureDetail,
    PictureProblem,
    PictureRefused,
    Request,
    Sampling,
    Speculation,
)
from engine.server import pictures as server_pictures
from engine.server.pictures import MOST_PICTURES, PictureReader
from tests.helpers.engine_client import EngineClient
from tests.helpers.fake_engine import MAIN, FakeEngine
from tests.helpers.picture_files import pixels_of_png, rgb_png
from tests.helpers.served import PATIENCE_S, Decoding, Served, post_bytes, serving
from tests.helpers.tiny_eyes import picture, save_seeing

SHOWN, OTHER = picture(40, 30), picture(33, 20, seed=1)
ASKED = "What is it?"
TOKENS = 8
USER, TOOL = MessageRole.USER, MessageRole.TOOL
BOMB = b"a bomb"
GEMINI = "/v1beta/models/default:generateContent"


def decode(data: bytes) -> Picture:
    if data == BOMB:
        raise PictureRefused(PictureProblem.TOO_LARGE)
    if not data.startswith(b"\x89PNG"):
        raise PictureRefused(PictureProblem.KIND)
    width, height, rgb = pixels_of_png(data)
    return Picture(width, height, rgb, sha256(rgb).hexdigest())


def packed(shown: Picture | bytes) -> str:
    data = shown if isinstance(shown, bytes) else rgb_png(shown.width, shown.height, shown.rgb)
    return base64.b64encode(data).decode()


def url(text: str) -> str:
    return f"data:image/png;base64,{text}"


def chat(text: str) -> tuple[str, dict[str, Any]]:
    content = [{"type": "text", "text": ASKED}, {"type": "image_url", "image_url": {"url": text}}]
    return "/v1/chat/completions", {"messages": [{"role": "user", "content": content}], "max_tokens": TOKENS}


def response(text: str) -> tuple[str, dict[str, Any]]:
    content = [{"type": "input_text", "text": ASKED}, {"type": "input_image", "image_url": url(text)}]
    return "/v1/responses", {"input": [{"role": "user", "content": content}], "max_output_tokens": TOKENS}


def anthropic(text: str) -> tuple[str, dict[str, Any]]:
    return "/v1/messages", {"messages": [{"role": "user", "content": [_block(text), _text()]}], "max_tokens": TOKENS}


def ollama(text: str) -> tuple[str, dict[str, Any]]:
    message = {"role": "user", "content": ASKED, "images": [text]}
    return "/api/chat", {"messages": [message], "stream": False, "options": {"temperature": 0, "num_predict": TOKENS}}


def generate(text: str) -> tuple[str, dict[str, Any]]:
    options = {"temperature": 0, "num_predict": TOKENS}
    return "/api/generate", {"prompt": ASKED, "images": [text], "stream": False, "options": options}


def gemini(text: str) -> tuple[str, dict[str, Any]]:
    parts = [{"inlineData": {"mimeType": "image/png", "data": text}}, {"text": ASKED}]
    config = {"temperature": 0, "maxOutputTokens": TOKENS}
    return GEMINI, {"contents": [{"parts": parts}], "generationConfig": config}


def _text() -> dict[str, Any]:
    return {"type": "text", "text": ASKED}


def _block(text: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": text}}


DIALECTS = {
    "chat": lambda text: chat(url(text)),
    "responses": response,
    "anthropic": anthropic,
    "ollama": ollama,
    "generate": generate,
    "gemini": gemini,
}
COMMON = {"model": "default", "temperature": 0}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = Engine()
    folder = save_seeing("qwen3_vl", tmp_path_factory.mktemp("eyes") / "Seer")
    assert isinstance(EngineClient(engine).load(folder), ModelReady)
    yield engine
    assert engine.close()


@pytest.fixture(scope="module")
def house(engine: Engine) -> Iterator[Served]:
    with serving(engine, Decoding(decode)) as served:
        path, asked = chat(url(packed(SHOWN)))
        served.post(path, COMMON | asked)  # its thread is the server's, and no test's
        yield served


def in_process(engine: Engine, *messages: Message) -> str:
    request = Request(messages, sampling=Sampling(temperature=0), speculation=Speculation.off(), max_tokens=TOKENS)
    return EngineClient(engine).run(request).text()


def text_in(answer: dict[str, Any]) -> str:
    """Of any dialect's answer."""
    if "candidates" in answer:
        return str(answer["candidates"][0]["content"]["parts"][0]["text"])
    if "choices" in answer:
        return str(answer["choices"][0]["message"]["content"])
    if "output" in answer:
        return str(answer["output"][0]["content"][0]["text"])
    if "content" in answer:
        return str(answer["content"][0]["text"])
    return str(answer["response"] if "response" in answer else answer["message"]["content"])


def test_the_text_is_the_engines_own_with_the_same_picture(house: Served, engine: Engine) -> None:
    expected = in_process(engine, Message(USER, ASKED, pictures=(SHOWN,)))
    assert in_process(engine, Message(USER, ASKED, pictures=(OTHER,))) != expected
    for dialect, body in DIALECTS.items():
        path, asked = body(packed(SHOWN))
        answer = house.post(path, COMMON | asked)
        assert answer.status_code == 200, answer.text
        assert text_in(answer.json()) == expected, dialect


@pytest.fixture
def seeing() -> Iterator[FakeEngine]:
    engine = FakeEngine({MAIN.folder: replace(MAIN, sees=True)})
    EngineClient(engine).load(Path(MAIN.folder))
    yield engine
    engine.close()


def test_a_tools_answer_may_be_a_picture(seeing: FakeEngine) -> None:
    """Each picture at its place; neighbours of the user's keep theirs where they become one."""
    image = url(packed(SHOWN))
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    shown = {"inlineData": {"mimeType": "image/png", "data": packed(SHOWN)}}
    bodies: dict[str, dict[str, Any]] = {
        "/v1/chat/completions": {
            "messages": [
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "a", "content": [{"type": "image_url", "image_url": image}]},
            ]
        },
        "/v1/responses": {
            "input": [
                {"role": "user", "content": "x"},
                {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
                {
                    "type": "function_call_output",
                    "call_id": "a",
                    "output": [{"type": "input_image", "image_url": image}],
                },
            ]
        },
        "/v1/messages": {
            "max_tokens": 9,
            "messages": [
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]},
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "a", "content": [_block(packed(SHOWN))]}],
                },
            ],
        },
        GEMINI: {
            "contents": [
                {"parts": [{"text": "x"}]},
                {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "look", "args": {}}}]},
                {"parts": [{"functionResponse": {"id": "a", "name": "look", "parts": [shown]}}]},
            ]
        },
    }
    with serving(seeing, Decoding(decode)) as served:
        for path, body in bodies.items():
            assert served.post(path, {"model": "default"} | body).status_code == 200
            last = seeing.requests[-1].messages[-1]
            assert (last.role, last.tool_call_id, last.pictures[0].rgb) == (TOOL, "a", SHOWN.rgb)
        turns = [{"role": "user", "content": [_block(packed(each))]} for each in (SHOWN, OTHER)]
        assert served.post("/v1/messages", COMMON | {"max_tokens": 9, "messages": turns}).status_code == 200
    (message,) = seeing.requests[-1].messages
    assert message == Message(USER, "", pictures=(SHOWN, OTHER))


def test_the_detail_is_each_pictures_own(seeing: FakeEngine) -> None:
    """As its tokens are, and so those of the turns before; one file is decoded once."""
    image = url(packed(SHOWN))
    said: list[str | None] = ["low", "high", "original", "auto", None]
    chats = [{"type": "image_url", "image_url": {"url": image, "detail": each}} for each in said]
    responses = [{"type": "input_image", "image_url": image, "detail": each} for each in said]
    bodies: dict[str, tuple[str, list[Any]]] = {
        "/v1/chat/completions": ("messages", chats),
        "/v1/responses": ("input", responses),
    }
    with serving(seeing, Decoding(decode)) as served:
        for path, (name, parts) in bodies.items():
            asked = {name: [{"role": "user", "content": parts}]}
            assert served.post(path, COMMON | asked).status_code == 200
            shown = seeing.requests[-1].messages[0].pictures
            wanted = [PictureDetail.LOW, PictureDetail.HIGH, PictureDetail.HIGH, None, None]
            assert [(each.detail, each.rgb) for each in shown] == [(detail, SHOWN.rgb) for detail in wanted]
            (parts[0]["image_url"] if name == "messages" else parts[0])["detail"] = "medium"
            refused = served.post(path, COMMON | asked).json()["error"]
            assert "detail" in refused["param"]
            assert "low, high, original" in refused["message"]


REFUSED = {
    "the web": (chat("https://example.com/a.png"), "invalid_image_url"),
    "a file": (chat("file:///etc/passwd"), "invalid_image_url"),
    "no base64 URL": (chat("data:image/svg+xml,<svg/>"), "invalid_image_url"),
    "bad base64": (chat(url("a$b=")), "invalid_base64_image"),
    "no image": (chat(url(packed(b"text"))), "unsupported_image_media_type"),
    "empty": (chat(url("")), "unsupported_image_media_type"),
    "a bomb": (chat(url(packed(BOMB))), "image_too_large"),
    "of the assistant's": (
        ("/v1/chat/completions", {"messages": [{"role": "assistant", "content": [{"type": "image_url"}]}]}),
        "unsupported_parameter",
    ),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("asked", "code"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_comes_before_the_status(house: Served, asked: Any, code: str, stream: bool) -> None:
    path, body = asked
    answer = house.post(path, COMMON | body | {"stream": stream})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


@pytest.mark.parametrize("body", DIALECTS.values(), ids=DIALECTS)
def test_a_bomb_is_refused_in_each_dialects_shape(house: Served, body: Any) -> None:
    path, asked = body(packed(BOMB))
    answer = house.post(path, COMMON | asked | {"stream": True})
    assert (answer.status_code, "too many pixels" in answer.text) == (400, True)
    error = answer.json()["error"]
    said = error if isinstance(error, str) else error.get("type", error.get("status"))
    assert (said in ("invalid_request_error", "INVALID_ARGUMENT")) is not path.startswith("/api")


def _said(kind: str, **part: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": kind, **part}]}]


ELSEWHERE: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic's address": (
        "/v1/messages",
        {"max_tokens": 9, "messages": _said("image", source={"type": "url", "url": "https://example.com/a.png"})},
    ),
    "a file of OpenAI's": ("/v1/responses", {"input": _said("input_image", file_id="file-1")}),
    "an address": ("/v1/responses", {"input": _said("input_image", image_url="https://example.com/a.png")}),
    "no text in base64": ("/api/chat", {"messages": [{"role": "user", "content": "x", "images": [1]}]}),
    "a reply's": ("/api/chat", {"messages": [{"role": "assistant", "content": "x", "images": [packed(SHOWN)]}]}),
}


@pytest.mark.parametrize(("path", "body"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_is_elsewhere_is_refused_by_its_field(house: Served, path: str, body: dict[str, Any]) -> None:
    answer = house.post(path, COMMON | body)
    assert answer.status_code == 400
    assert any(name in answer.text for name in ("source", "image_url", "data: URL", "images"))


def test_pictures_are_counted_and_so_are_their_bytes(house: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    path, asked = chat(url(packed(SHOWN)))
    for name, value in (("MOST_PICTURES", 0), ("LARGEST_PICTURE", 99), ("MOST_PIXELS", SHOWN.width * SHOWN.height - 1)):
        with monkeypatch.context() as limits:
            limits.setattr(server_pictures, name, value)
            assert house.post(path, COMMON | asked).status_code == 400
    assert house.post(path, COMMON | asked).status_code == 200


def test_pictures_of_requests_under_way_have_a_limit_together(seeing: FakeEngine) -> None:
    seeing.gate.hold()
    path, asked = chat(url(packed(Picture(400, 300, bytes(400 * 300 * 3), ""))))
    with serving(seeing, Decoding(decode), most_held=500_000) as served:
        with served.connect() as first:
            first.sendall(post_bytes(path, json.dumps(COMMON | asked).encode()))
            served.wait_for_requests(1)
            refused = served.post(path, COMMON | asked)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
            assert refused.json()["error"]["code"] == "memory_full"
        served.wait_for_requests(0)
        seeing.gate.open()
        assert served.post(path, COMMON | asked).status_code == 200


def test_pictures_that_are_kept_are_few_however_small() -> None:
    """Each takes more than its pixels: after many others the first is decoded again, and the latest are not.

    Nor is one the less work for having come from another program: that would tell whether it has.
    """
    decoded: list[bytes] = []

    def decode(data: bytes) -> Picture:
        decoded.append(data)
        return Picture(1, 1, b"rgb", data.hex())

    async def read(reader: PictureReader, numbers: Iterable[int], owner: str = "") -> None:
        for number in numbers:
            with reader.sent(None, owner) as sent:
                mark = sent.add(base64.b64encode(number.to_bytes(3)).decode())
                await reader.read(sent, [Request((Message(MessageRole.USER, "x", pictures=(mark,)),))])

    reader = PictureReader(Decoding(decode), 1 << 20)
    asyncio.run(read(reader, [*range(MOST_PICTURES + 1), MOST_PICTURES, 1, 0]))
    assert [int.from_bytes(data) for data in decoded] == [*range(MOST_PICTURES + 1), 0]
    asyncio.run(read(reader, [0], "other"))
    assert [int.from_bytes(data) for data in decoded[-2:]] == [0, 0]
    reader.close()


def test_only_its_own_client_waits_for_a_picture(seeing: FakeEngine) -> None:
    """Two are decoded at a time, and none whose client has left."""
    begun: queue.SimpleQueue[None] = queue.SimpleQueue()
    may_go_on = threading.Event()

    def slowly(data: bytes) -> Picture:
        begun.put(None)
        may_go_on.wait(PATIENCE_S)
        return decode(data)

    with serving(seeing, Decoding(slowly)) as served, ExitStack() as open_ones:
        open_ones.callback(may_go_on.set)
        clients = []
        for seed in range(4):
            client = open_ones.enter_context(served.connect())
            path, asked = chat(url(packed(picture(20, 20, seed))))
            client.sendall(post_bytes(path, json.dumps(COMMON | asked).encode()))
            clients.append(client)
            if seed < 2:
                begun.get(timeout=PATIENCE_S)
        assert served.chat("Hello")["choices"]
        for client in clients[2:]:
            client.close()
        assert served.chat("Hello")["choices"]
        assert begun.empty()
        may_go_on.set()
        for client in clients[:2]:
            assert client.recv(1 << 16).startswith(b"HTTP/1.1 200")
        assert served.chat("Hello")["choices"]
        assert begun.empty()
    assert len(seeing.requests) == 5


def test_the_end_waits_for_no_picture(seeing: FakeEngine) -> None:
    """Two are being read and one waits: each is refused."""
    begun: queue.SimpleQueue[None] = queue.SimpleQueue()
    ended = threading.Event()

    def until_stopped(_data: bytes) -> Picture:
        begun.put(None)
        ended.wait(PATIENCE_S)
        raise ChildProcessError

    with serving(seeing, Decoding(until_stopped, ended.set)) as served, ExitStack() as open_ones:
        open_ones.callback(ended.set)
        clients = [open_ones.enter_context(served.connect()) for _ in range(3)]
        for seed, client in enumerate(clients):
            path, asked = chat(url(packed(picture(20, 20, seed))))
            client.sendall(post_bytes(path, json.dumps(COMMON | asked).encode()))
        for _ in range(2):
            begun.get(timeout=PATIENCE_S)
        assert served.server.stop(PATIENCE_S)
        assert [client.recv(1 << 16)[:12] for client in clients] == [b"HTTP/1.1 503"] * 3
    assert begun.empty()


def test_a_disk_that_takes_no_picture_is_no_fault_of_the_client(seeing: FakeEngine) -> None:
    def refusing(_data: bytes) -> Picture:
        raise PictureRefused(PictureProblem.NO_ROOM)

    with serving(seeing, Decoding(refusing)) as served:
        path, asked = chat(url(packed(SHOWN)))
        answer = served.post(path, COMMON | asked)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "no_room")
        assert "no room for temporary files" in answer.json()["error"]["message"]


def test_who_sees_is_told(house: Served) -> None:
    (model,) = house.http.get("/v1/models").json()["data"]
    assert model["architecture"]["input_modalities"] == ["text", "image"]
    assert "vision" in house.post("/api/show", {"model": model["id"]}).json()["capabilities"]
    assert house.http.get("/api/v0/models").json()["data"][0]["type"] == "vlm"
    assert house.http.get("/api/v1/models").json()["models"][0]["capabilities"]["vision"] is True
    assert house.http.get("/props").json()["modalities"] == {"vision": True}


def test_pictures_are_in_the_count_of_tokens(house: Served) -> None:
    path, asked = anthropic(packed(SHOWN))
    counted = house.post(f"{path}/count_tokens", COMMON | asked).json()["input_tokens"]
    usage = house.post(path, COMMON | asked).json()["usage"]
    assert counted == usage["input_tokens"] + usage["cache_read_input_tokens"]


def test_without_a_decoder_no_picture_is_taken_and_none_is_promised(engine: Engine) -> None:
    with serving(engine) as served:
        path, asked = chat(url(packed(SHOWN)))
        answer = served.post(path, COMMON | asked)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_value")
        assert "decodes" in answer.json()["error"]["message"]
        (model,) = served.http.get("/v1/models").json()["data"]
        assert model["architecture"]["input_modalities"] == ["text"]


def test_a_model_that_reads_text_only_says_so(scripted: FakeEngine) -> None:
    with serving(scripted, Decoding(decode)) as served:
        for body in DIALECTS.values():
            path, asked = body(packed(SHOWN))
            answer = served.post(path, COMMON | asked)
            assert (answer.status_code, "cannot see pictures" in answer.text) == (400, True)
        path, asked = anthropic(packed(SHOWN))
        assert "Could not process image" in served.post(path, COMMON | asked).text, "for Claude Code"
        shown = {"type": "input_image", "image_url": url(packed(SHOWN))}
        asked_for = [
            {"type": "function_call", "call_id": "c", "name": "view_image", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": [shown]},
        ]
        error = served.post("/v1/responses", COMMON | {"input": asked_for, "stream": True}).json()["error"]
        assert (error["code"], error["param"]) == ("invalid_value", "input[1].output[0].image_url"), "for Codex"
    assert not scripted.requests
