"""Forms that clients demand of an answer, in each dialect. The engine is real: what comes back is read as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.engine_client import EngineClient
from tests.helpers.fake_engine import MAIN, FakeEngine, model_info
from tests.helpers.served import Served, chat_body

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"kind": {"enum": ["plant", "animal"]}, "legs": {"type": "integer", "minimum": 0, "maximum": 9}},
    "required": ["kind", "legs"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "being", "schema": SCHEMA}}
FLAT = {"type": "json_schema", "name": "being", "schema": SCHEMA}
SAID = {"model": "default", "messages": [{"role": "user", "content": "A dog?"}]}
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in ("look", "go")
]
HOLDS = replace(model_info("/models/Calls-8B"), holds_calls=True)
ONE = {"type": "function", "function": {"name": "go"}}


DIALECTS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": SAID | {"response_format": FORMAT},
    "/v1/responses": {"model": "default", "input": "A dog?", "text": {"format": FLAT}},
    "/v1/messages": SAID | {"max_tokens": 500, "output_config": {"format": FLAT}},
    "/api/chat": SAID | {"format": SCHEMA, "stream": False},
}


def test_an_answer_has_the_form_that_was_asked_for(house: Served) -> None:
    (choice,) = house.chat("A dog?", response_format=FORMAT)["choices"]
    value = json.loads(choice["message"]["content"])
    assert list(value) == ["kind", "legs"]
    assert value["kind"] in ("plant", "animal")
    assert value["legs"] in range(10)
    (choice,) = house.chat("A dog?", response_format={"type": "json_object"}, max_tokens=2)["choices"]
    assert choice["message"]["content"].startswith("{")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"response_format": FORMAT | {"json_schema": {"schema": {"$ref": "#/no"}}}}, "unsupported_schema"),
        ({"response_format": FORMAT | {"json_schema": {"schema": {"dependentSchemas": {}}}}}, "unsupported_schema"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}}, "invalid_value"),
        ({"tools": TOOLS, "tool_choice": "required"}, "invalid_value"),
    ],
    ids=["nowhere", "keyword", "none", "a model without calls"],
)
def test_what_cannot_be_enforced_is_refused(house: Served, fields: dict[str, Any], code: str) -> None:
    """Before a stream begins: with a status."""
    answer = house.post("/v1/chat/completions", chat_body("x", stream=True, **fields))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


@pytest.fixture
def scripted() -> Iterator[FakeEngine]:
    engine = FakeEngine({MAIN.folder: MAIN, HOLDS.folder: HOLDS})
    EngineClient(engine).load(Path(MAIN.folder))
    yield engine
    engine.close()


def test_each_dialect_asks_the_engine_for_the_same_form(served: Served, scripted: FakeEngine) -> None:
    of_llama_cpp = SAID | {"response_format": {"type": "json_object", "schema": SCHEMA}}
    for path, body in (*DIALECTS.items(), ("/v1/chat/completions", of_llama_cpp)):
        assert served.post(path, body).status_code == 200, path
    first, *others = [request.constraint for request in scripted.requests]
    assert first is not None
    assert json.loads(first.text) == SCHEMA
    assert others == [first] * 4


FLAT_TOOLS: list[dict[str, Any]] = [{"type": "function", **tool["function"]} for tool in TOOLS]
INPUTS = [{"name": tool["name"], "input_schema": SCHEMA} for tool in FLAT_TOOLS]
RESPONSE, MESSAGE = {"model": "default", "input": "x", "tools": FLAT_TOOLS}, SAID | {"max_tokens": 9, "tools": INPUTS}


def test_a_call_can_be_demanded(served: Served, scripted: FakeEngine) -> None:
    demands: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
        ("/v1/chat/completions", SAID | {"tools": TOOLS, "tool_choice": "required"}, ("look", "go")),
        ("/v1/chat/completions", SAID | {"tools": TOOLS, "tool_choice": ONE}, ("go",)),
        ("/v1/responses", RESPONSE | {"tool_choice": "required"}, ("look", "go")),
        ("/v1/responses", RESPONSE | {"tool_choice": {"type": "function", "name": "go"}}, ("go",)),
        ("/api/chat", SAID | {"tools": TOOLS, "tool_choice": "required", "stream": False}, ("look", "go")),
        ("/v1/messages", MESSAGE | {"tool_choice": {"type": "any"}}, ("look", "go")),
        ("/v1/messages", MESSAGE | {"tool_choice": {"type": "tool", "name": "go"}}, ("go",)),
        ("/v1/messages", MESSAGE | {"tool_choice": {"type": "auto"}}, ()),
    ]
    for path, body, demanded in demands:
        assert served.post(path, body).status_code == 200
        asked = scripted.requests[-1]
        assert asked.must_call == demanded, body
        assert asked.several_calls is (len(demanded) != 1)


@pytest.mark.parametrize(
    ("path", "body", "tool"),
    [
        ("/v1/chat/completions", SAID, {"type": "function", "function": TOOLS[1]["function"] | {"strict": True}}),
        ("/v1/responses", {"model": "default", "input": "x"}, FLAT_TOOLS[1] | {"strict": True}),
        ("/v1/messages", SAID | {"max_tokens": 9}, INPUTS[1] | {"strict": True}),
    ],
    ids=["chat", "responses", "messages"],
)
def test_a_strict_tool_is_told_where_calls_are_not_held_to_it(
    served: Served, scripted: FakeEngine, path: str, body: dict[str, Any], tool: dict[str, Any]
) -> None:
    other = {"/v1/chat/completions": TOOLS, "/v1/responses": FLAT_TOOLS, "/v1/messages": INPUTS}[path][0]
    asked = body | {"tools": [other, tool]}
    assert served.post(path, asked).headers["x-hunch-ignored"] == "tools:strict"
    assert scripted.requests[-1].strict_tools == ("go",)
    EngineClient(scripted).load(Path(HOLDS.folder))
    for stream in (False, True):
        assert "x-hunch-ignored" not in served.post(path, asked | {"stream": stream}).headers
    assert "x-hunch-ignored" not in served.post(path, body | {"tools": [other]}).headers


def test_a_tool_that_is_not_there_cannot_be_demanded(served: Served) -> None:
    functions: list[Any] = [{"name": "fly"}, {"name": 3}, {}, "go"]
    for choice in [{"type": "function"}, *({"type": "function", "function": each} for each in functions)]:
        assert served.post("/v1/chat/completions", SAID | {"tools": TOOLS, "tool_choice": choice}).status_code == 400
