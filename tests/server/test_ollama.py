"""Ollama's dialect, and what clients of others ask before they chat."""

from __future__ import annotations

import json
from typing import Any

from engine import Message, MessageRole, ToolCall
from tests.helpers.fake_engine import FakeEngine, Script
from tests.helpers.served import Served

BODY = {"model": "Main-8B:latest", "messages": [{"role": "user", "content": "x"}]}
CALL = ToolCall("call_1", "look", '{"at": "the sky"}')


def lines(served: Served, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    answer = served.post(path, body)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


def test_a_chat_streams_lines_unless_told_otherwise(served: Served, scripted: FakeEngine) -> None:
    scripted.scripts.append(Script(thinking=("Hm.",), pieces=("I ", "look."), calls=(CALL,)))
    heard = lines(served, "/api/chat", BODY)
    assert "".join(line["message"]["content"] for line in heard) == "I look."
    assert heard[0]["message"]["thinking"] == "Hm."
    assert heard[-2]["message"]["tool_calls"] == [{"function": {"name": "look", "arguments": {"at": "the sky"}}}]
    assert [line["done"] for line in heard] == [False] * 4 + [True]
    assert (heard[-1]["done_reason"], heard[-1]["prompt_eval_count"]) == ("stop", 20)


def test_options_have_ollamas_names(served: Served, scripted: FakeEngine) -> None:
    options = {"repeat_penalty": 1.2, "num_predict": 9, "num_ctx": 100, "stop": ["a"], "seed": 3, "top_k": 20}
    assert served.post("/api/generate", {"model": "", "prompt": "x", "system": "y", "options": options}).is_success
    (request,) = scripted.requests
    assert request.messages == (Message(MessageRole.SYSTEM, "y"), Message(MessageRole.USER, "x"))
    sampling = request.sampling
    assert (sampling.repetition_penalty, sampling.seed, sampling.top_k) == (1.2, 3, 20)
    assert (request.max_tokens, request.context_tokens, request.stop) == (9, 100, ("a",))


def test_empty_texts_of_its_clients_ask_for_nothing(served: Served) -> None:
    """Its own Go client sends these with every prompt."""
    body = {"model": "", "prompt": "x", "suffix": "", "system": "", "template": "", "raw": False, "context": []}
    answer = served.post("/api/generate", body | {"stream": False})
    assert answer.status_code == 200, answer.text
    assert served.post("/api/generate", body | {"suffix": "y"}).status_code == 400


def test_models_are_listed_with_their_context(served: Served) -> None:
    (tag,) = served.http.get("/api/tags").json()["models"]
    shown = served.post("/api/show", {"model": tag["name"]}).json()
    assert shown["model_info"]["qwen3.context_length"] == 4096
    (here,) = served.http.get("/api/v0/models").json()["data"]
    assert (here["id"], here["loaded_context_length"]) == ("Main-8B", 4096)
    (instance,) = served.http.get("/api/v1/models").json()["models"][0]["loaded_instances"]
    assert (
        instance["config"]["context_length"] == served.http.get("/props").json()["default_generation_settings"]["n_ctx"]
    )


def test_nothing_is_changed_over_http(served: Served) -> None:
    for name in ("pull", "push", "create", "copy", "delete"):
        answer = served.post(f"/api/{name}", {"model": "other"})
        assert (answer.status_code, list(answer.json())) == (403, ["error"]), name
