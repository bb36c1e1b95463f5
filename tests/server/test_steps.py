"""Clients send a call's id back with its result: their next request goes on from the reply that called."""

from __future__ import annotations

from typing import Any

import pytest

from engine import Engine, ModelReady
from tests.engine.test_steps import BLANKS
from tests.helpers.engine_client import EngineClient
from tests.helpers.served import Served, serving
from tests.helpers.tiny_models import save_small

SCHEMA = {"type": "object", "properties": {"at": {"enum": ["sky", "sea"]}}, "additionalProperties": False}
QUESTION = {"role": "user", "content": "What is above? " * 9}
COMMON = {"model": "default", "max_tokens": 200, "temperature": 0.9, "seed": 5}


def by_openai(house: Served) -> tuple[int, int, int]:
    function = {"name": "look", "parameters": SCHEMA}
    body = COMMON | {"tools": [{"type": "function", "function": function}], "tool_choice": "required"}
    first = house.post("/v1/chat/completions", body | {"messages": [QUESTION]}).json()
    reply = first["choices"][0]["message"]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "blue"} for call in reply["tool_calls"]]
    second = house.post("/v1/chat/completions", body | {"messages": [QUESTION, reply, *results]}).json()
    used = second["usage"]
    return first["usage"]["total_tokens"], used["prompt_tokens_details"]["cached_tokens"], used["prompt_tokens"]


def by_anthropic(house: Served) -> tuple[int, int, int]:
    body = COMMON | {"tools": [{"name": "look", "input_schema": SCHEMA}], "tool_choice": {"type": "any"}}
    first = house.post("/v1/messages", body | {"messages": [QUESTION]}).json()
    reply = {"role": "assistant", "content": first["content"]}
    calls = [block for block in first["content"] if block["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "blue"} for call in calls]
    messages = [QUESTION, reply, {"role": "user", "content": results}]
    used = house.post("/v1/messages", body | {"messages": messages}).json()["usage"]
    written = first["usage"]["input_tokens"] + first["usage"]["output_tokens"]
    return written, used["cache_read_input_tokens"], used["cache_read_input_tokens"] + used["input_tokens"]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = save_small(tmp_path_factory.mktemp("caller"), "<tool_call>", "</tool_call>", template=BLANKS)
    engine = Engine()
    assert isinstance(EngineClient(engine).load(folder), ModelReady)
    with serving(engine) as served:
        yield served
    assert engine.close()


@pytest.mark.parametrize("ask", [by_openai, by_anthropic])
def test_the_next_request_goes_on_from_the_reply_that_called(house: Served, ask: Any) -> None:
    """Its result and the turns around it are read, and no more."""
    written, cached, prompt = ask(house)
    around = len("<|im_end|>\n<|im_start|>tool\nblue<|im_end|>\n<|im_start|>assistant\n") + 1
    assert cached >= written - 1
    assert prompt - cached <= 2 * around
