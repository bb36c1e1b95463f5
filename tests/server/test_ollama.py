"""Ollama's dialect, and what clients of others ask before they chat."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from engine import Message, MessageRole, ToolCall
from tests.helpers.fake_engine import FakeEngine, Script
from tests.helpers.served import Served

BODY: dict[str, Any] = {"model": "Main-8B:latest", "messages": [{"role": "user", "content": "x"}]}
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
    function = {"name": "look", "arguments": {"at": "the sky"}}
    assert heard[-2]["message"]["tool_calls"] == [{"id": "call_1", "function": function}]
    assert [line["done"] for line in heard] == [False] * 4 + [True]
    assert (heard[-1]["done_reason"], heard[-1]["prompt_eval_count"]) == ("stop", 20)


def test_answers_of_a_tool_that_was_called_twice_are_known_apart(served: Served, scripted: FakeEngine) -> None:
    """By the ids of the calls, which Ollama has had since 0.12.10, in whatever order they come."""
    scripted.scripts.append(Script(calls=(CALL, replace(CALL, id="call_2"))))
    called = served.post("/api/chat", BODY | {"stream": False}).json()["message"]
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": call["id"]} for call in reversed(called["tool_calls"])
    ]
    assert served.post("/api/chat", BODY | {"messages": [*BODY["messages"], called, *results]}).is_success
    *_, first, second = scripted.requests[-1].messages
    assert [(each.tool_call_id, each.content) for each in (first, second)] == [("call_2",) * 2, ("call_1",) * 2]


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


def test_a_raw_prompt_is_continued_as_it_is(served: Served, scripted: FakeEngine) -> None:
    """So Continue and Zed have the text at the cursor completed, with the model's own markers around the gap."""
    body = {"model": "", "prompt": "<fim_prefix>a<fim_suffix>b<fim_middle>", "raw": True}
    answer = served.post("/api/generate", body | {"stream": False, "options": {"num_predict": 64, "stop": ["b"]}})
    assert answer.status_code == 200, answer.text
    (request,) = scripted.requests
    assert (request.text, request.messages, request.max_tokens) == (body["prompt"], (), 64)
    assert answer.json()["response"]
    refused = served.post("/api/generate", body | {"system": "Be brief."})
    assert (refused.status_code, "'system'" in refused.text) == (400, True)
    assert served.post("/api/generate", body | {"prompt": ""}).json()["done_reason"] == "load"


def test_models_are_listed_with_their_context(served: Served) -> None:
    (tag,) = served.http.get("/api/tags").json()["models"]
    shown = served.post("/api/show", {"model": tag["name"]}).json()
    assert shown["model_info"]["qwen3.context_length"] == 4096
    assert shown["model_info"]["general.basename"] == "Main-8B"  # which VS Code lists it by
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
