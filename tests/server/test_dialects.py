"""Anthropic's messages, OpenAI's responses and tools in all three, over a scripted engine: what it was asked, and the
order of what a client gets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import FinishReason, Message, MessageRole, ModelAbout, Request, ToolCall
from tests.helpers.engine_client import EngineClient
from tests.helpers.fake_engine import FakeEngine, Script, model_info
from tests.helpers.served import Served, chat_body, serving

CALL = ToolCall("call_1", "look", '{"at": "the sky"}')
PARAMETERS = {"type": "object", "properties": {"at": {"type": "string"}}}
FUNCTION = {"name": "look", "description": "Looks.", "parameters": PARAMETERS}
TOOL = {"type": "function", "function": FUNCTION}
ASKED = {"model": "default", "max_tokens": 100}
USER, ASSISTANT, SYSTEM, ANSWER = MessageRole.USER, MessageRole.ASSISTANT, MessageRole.SYSTEM, MessageRole.TOOL


@pytest.fixture
def served(scripted: FakeEngine) -> Iterator[Served]:
    with serving(scripted) as house:
        yield house


@pytest.fixture
def thinker() -> Iterator[tuple[Served, FakeEngine]]:
    """A model that can think."""
    engine = FakeEngine({THINKS.folder: THINKS})
    EngineClient(engine).load(Path(THINKS.folder))
    with serving(engine) as house:
        yield house, engine
    engine.close()


def events(served: Served, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Of a stream with named events; each names itself in its data too."""
    answer = served.post(path, body | {"stream": True})
    assert answer.status_code == 200, answer.text
    found = []
    for block in answer.text.split("\n\n")[:-1]:
        name, data = block.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return found


def asked(scripted: FakeEngine) -> Request:
    return scripted.requests[-1]


# Anthropic


def test_a_messages_blocks_follow_each_other(served: Served, scripted: FakeEngine) -> None:
    scripted.scripts.append(Script(thinking=("Hm.",), pieces=("I ", "look."), calls=(CALL,)))
    heard = events(served, "/v1/messages", ASKED | {"messages": [{"role": "user", "content": "x"}]})
    assert [event["type"] for event in heard] == [
        "message_start",
        "ping",
        *("content_block_start", "content_block_delta", "content_block_stop"),
        *("content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"),
        *("content_block_start", "content_block_delta", "content_block_stop"),
        "message_delta",
        "message_stop",
    ]
    starts = [event for event in heard if event["type"] == "content_block_start"]
    assert [(event["index"], event["content_block"]["type"]) for event in starts] == [
        (0, "thinking"),
        (1, "text"),
        (2, "tool_use"),
    ]
    (arguments,) = [event["delta"]["partial_json"] for event in heard if "partial_json" in event.get("delta", {})]
    assert json.loads(arguments) == {"at": "the sky"}
    assert heard[-2]["delta"]["stop_reason"] == "tool_use"
    assert heard[0]["message"]["usage"] | {"output_tokens": 0} == heard[0]["message"]["usage"]


def test_a_whole_message_has_the_same_blocks(served: Served, scripted: FakeEngine) -> None:
    scripted.scripts.append(Script(thinking=("Hm.",), pieces=("I ", "look."), calls=(CALL,)))
    answer = served.post("/v1/messages", ASKED | {"messages": [{"role": "user", "content": "x"}]}).json()
    assert [block["type"] for block in answer["content"]] == ["thinking", "text", "tool_use"]
    assert answer["content"][2]["input"] == {"at": "the sky"}
    assert (answer["stop_reason"], answer["type"]) == ("tool_use", "message")


def test_why_a_message_has_ended(served: Served, scripted: FakeEngine) -> None:
    reasons = {
        FinishReason.STOP: "end_turn",
        FinishReason.LENGTH: "max_tokens",
        FinishReason.CONTEXT: "model_context_window_exceeded",
    }
    for finish, reason in reasons.items():
        scripted.scripts.append(Script(finish=finish))
        answer = served.post("/v1/messages", ASKED | {"messages": [{"role": "user", "content": "x"}]}).json()
        assert answer["stop_reason"] == reason


def test_what_claude_code_sends_is_one_form_in_every_turn(served: Served, scripted: FakeEngine) -> None:
    billing = "x-anthropic-billing-header: cc_version=2.1; cch=%s;\n"
    blocks = [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]
    for turn, content in (("1", blocks), ("2", "x")):
        system = [{"type": "text", "text": billing % turn}, {"type": "text", "text": "Be brief."}]
        body = ASKED | {"system": system, "messages": [{"role": "user", "content": content}]}
        more = {"thinking": {"type": "adaptive"}, "context_management": {}, "metadata": {"user_id": "1"}}
        assert served.post("/v1/messages?beta=true", body | more).status_code == 200
    first, second = scripted.requests
    assert first.messages == second.messages == (Message(SYSTEM, "Be brief."), Message(USER, "x"))
    assert first.thinking


def test_calls_and_results_of_anthropics(served: Served, scripted: FakeEngine) -> None:
    use = {"type": "tool_use", "id": "call_1", "name": "look", "input": {"at": "the sky"}}
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": "no"}]}
    turns = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": ""}, use]},
        {"role": "user", "content": [result | {"is_error": True}, {"type": "text", "text": "So?"}]},
        {"role": "system", "content": "Be brief."},
    ]
    given = {"name": "look", "description": "Looks.", "input_schema": PARAMETERS}
    body = ASKED | {"messages": turns, "tools": [given, {"type": "web_search_20250305", "name": "web_search"}]}
    answer = served.post("/v1/messages", body)
    assert answer.headers["x-hunch-ignored"] == "tools:web_search_20250305"
    assert asked(scripted).tools == (TOOL,)
    assert asked(scripted).messages == (
        Message(USER, "x"),
        Message(ASSISTANT, "", "Hm.", (CALL,)),
        Message(ANSWER, "Error: no", tool_call_id="call_1"),
        Message(USER, "So?\n\n<system-reminder>\nBe brief.\n</system-reminder>"),
    )


def test_a_prompt_is_counted_as_it_would_be_read(served: Served) -> None:
    body = {"model": "default", "system": "one two", "messages": [{"role": "user", "content": "three"}]}
    assert served.post("/v1/messages/count_tokens", body).json() == {"input_tokens": 3}


def test_anthropics_errors_have_its_shape(served: Served) -> None:
    answer = served.post("/v1/messages", {"model": "default", "messages": [{"role": "user", "content": "x"}]})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")
    assert answer.json()["request_id"] == answer.headers["x-request-id"]
    refused = served.http.get("/v1/messages", headers={"host": "evil.example"}).json()
    assert (refused["type"], refused["error"]["type"]) == ("error", "permission_error")


def test_a_response_repeats_tools_with_all_that_an_answer_must_have_and_whom_it_is_for(served: Served) -> None:
    tools = [{"type": "function", "name": "look"}, {"type": "web_search"}]
    body = {"model": "default", "input": "x", "tools": tools, "safety_identifier": "s"}
    answer = served.post("/v1/responses", body).json()
    function = {"description": None, "parameters": None, "strict": False}
    assert answer["tools"] == [tools[0] | function, tools[1]]
    assert answer["safety_identifier"] == "s"
    assert "user" not in answer  # null is not in OpenAI's schema


# OpenAI's tools


def test_a_call_is_one_chunk(served: Served, scripted: FakeEngine) -> None:
    scripted.scripts.append(Script(pieces=(), calls=(CALL, CALL)))
    chunks = served.stream("/v1/chat/completions", chat_body("x", tools=[TOOL]))
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    function = {"name": "look", "arguments": CALL.arguments}
    assert [delta["tool_calls"] for delta in deltas if "tool_calls" in delta] == [
        [{"index": index, "id": "call_1", "type": "function", "function": function}] for index in (0, 1)
    ]
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"
    assert asked(scripted).tools == (TOOL,)


def test_a_whole_answer_with_a_call_has_no_text(served: Served, scripted: FakeEngine) -> None:
    scripted.scripts.append(Script(pieces=(), thinking=("Hm.",), calls=(CALL,)))
    (choice,) = served.chat("x", tools=[TOOL])["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == (None, "tool_calls")
    assert choice["message"]["reasoning_content"] == "Hm."
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == CALL.arguments


def test_tokens_of_reasoning_are_those_up_to_its_end(served: Served, scripted: FakeEngine) -> None:
    scripted.scripts.append(Script(thinking=("Hm.",), pieces=("I ", "look.")))
    usage = served.chat("x")["usage"]
    assert usage["completion_tokens_details"]["reasoning_tokens"] * 3 == usage["completion_tokens"] > 0


def test_calls_and_results_of_openais(served: Served, scripted: FakeEngine) -> None:
    function = {"name": "look", "arguments": CALL.arguments}
    turns = [
        {"role": "developer", "content": "Be brief."},
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "x"},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "Hm.",
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "no"},
    ]
    body = {"model": "default", "messages": turns, "tools": [TOOL], "parallel_tool_calls": False}
    assert served.post("/v1/chat/completions", body).status_code == 200
    assert not asked(scripted).several_calls
    assert asked(scripted).messages == (
        Message(SYSTEM, "Be brief.\n\nBe kind."),
        Message(USER, "x"),
        Message(ASSISTANT, "", "Hm.", (CALL,)),
        Message(ANSWER, "no", tool_call_id="call_1"),
    )


def test_tools_may_be_left_out(served: Served, scripted: FakeEngine) -> None:
    served.chat("x", tools=[TOOL], tool_choice="none")
    assert asked(scripted).tools == ()


def test_the_templates_variables_are_passed_on(served: Served, scripted: FakeEngine) -> None:
    kwargs = {"enable_thinking": True, "tone": "dry", "messages": []}
    served.chat("x", chat_template_kwargs=kwargs, reasoning_effort="low")
    assert asked(scripted).thinking
    assert asked(scripted).template_variables == {"tone": "dry", "reasoning_effort": "low"}


THINKS = replace(model_info("/models/Thinks-8B"), about=ModelAbout(template=True, thinking=True), ends_thinking=True)


def test_how_much_to_think_in_each_dialect(thinker: tuple[Served, FakeEngine]) -> None:
    house, engine = thinker
    ways: list[tuple[str, dict[str, Any], bool, int | None, str | None]] = [
        ("/v1/messages", {"thinking": {"type": "enabled", "budget_tokens": 64}}, True, 64, None),
        ("/v1/messages", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}}, True, None, "high"),
        ("/v1/messages", {"thinking": {"type": "disabled"}, "output_config": {"effort": "low"}}, False, None, "low"),
        ("/v1/messages", {}, False, None, None),
        ("/v1/chat/completions", {"reasoning_effort": "low"}, True, None, "low"),
        ("/v1/chat/completions", {"reasoning_effort": "none"}, False, None, None),
        ("/v1/chat/completions", {"thinking_token_budget": 5}, True, 5, None),
        ("/v1/chat/completions", {"thinking_token_budget": 0}, False, None, None),
        ("/v1/chat/completions", {"thinking_token_budget": -1, "reasoning_effort": "xhigh"}, True, None, "high"),
        (
            "/v1/chat/completions",
            {"chat_template_kwargs": {"enable_thinking": False}} | {"thinking_token_budget": 5},
            False,
            None,
            None,
        ),
        ("/v1/responses", {"input": "x", "reasoning": {"effort": "medium"}}, True, None, "medium"),
        ("/v1/responses", {"input": "x", "reasoning": {"effort": "minimal"}}, False, None, None),
        ("/api/chat", {"think": True}, True, None, None),
        ("/api/chat", {"think": "high"}, True, None, "high"),
        ("/api/chat", {"think": False}, False, None, None),
    ]
    for path, more, thinks, tokens, effort in ways:
        answer = house.post(path, ASKED | {"messages": [{"role": "user", "content": "x"}]} | more)
        assert answer.status_code == 200, answer.text
        request = asked(engine)
        given = request.template_variables.get("reasoning_effort")
        assert (request.thinking, request.thinking_tokens, given) == (thinks, tokens, effort), more


def test_how_not_to_say_how_much_to_think(thinker: tuple[Served, FakeEngine]) -> None:
    ways: list[tuple[str, dict[str, Any], str]] = [
        ("/v1/messages", {"thinking": {"type": "enabled", "budget_tokens": 100}}, "`thinking.budget_tokens`"),
        ("/v1/messages", {"thinking": {"type": "enabled", "budget_tokens": -2}}, "thinking.budget_tokens"),
        ("/v1/messages", {"thinking": {"type": "often"}}, "thinking.type"),
        ("/v1/messages", {"output_config": {"effort": "some"}}, "output_config.effort"),
        ("/v1/chat/completions", {"reasoning_effort": "some"}, "reasoning_effort"),
        ("/v1/chat/completions", {"thinking_token_budget": "5"}, "thinking_token_budget"),
        ("/v1/responses", {"input": "x", "reasoning": {"effort": "some"}}, "reasoning.effort"),
        ("/api/chat", {"think": "some"}, "think"),
    ]
    for path, more, field in ways:
        answer = thinker[0].post(path, ASKED | {"messages": [{"role": "user", "content": "x"}]} | more)
        assert answer.status_code == 400, more
        assert field in answer.text


def test_ollama_refuses_to_think_for_a_model_that_cannot(served: Served) -> None:
    answer = served.post("/api/chat", ASKED | {"messages": [{"role": "user", "content": "x"}], "think": True})
    assert (answer.status_code, answer.json()) == (400, {"error": '"Main-8B" does not support thinking'})


def test_a_limit_for_a_model_that_cannot_be_held_to_it_is_refused() -> None:
    engine = FakeEngine({THINKS.folder: replace(THINKS, ends_thinking=False)})
    EngineClient(engine).load(Path(THINKS.folder))
    with serving(engine) as house:
        refused = house.post("/v1/chat/completions", chat_body("x", thinking_token_budget=9))
        assert refused.status_code == 400
        assert "thinking budget" in refused.json()["error"]["message"]
        assert house.post("/v1/chat/completions", chat_body("x", reasoning_effort="low")).is_success
    engine.close()


# OpenAI's responses


def test_a_response_has_codex_order_of_events(served: Served, scripted: FakeEngine) -> None:
    space = {"type": "namespace", "name": "eyes", "tools": [{"type": "function", **FUNCTION}]}
    call = ToolCall("call_1", "eyes__look", CALL.arguments)
    scripted.scripts.append(Script(thinking=("Hm.",), pieces=("I ", "look."), calls=(call,)))
    heard = events(
        served, "/v1/responses", {"model": "default", "input": "x", "tools": [space, {"type": "web_search"}]}
    )
    part = ("response.output_item.added", "response.content_part.added")
    end = ("response.content_part.done", "response.output_item.done")
    assert [event["type"] for event in heard] == [
        *("response.created", "response.in_progress"),
        *(*part, "response.reasoning_text.delta", "response.reasoning_text.done", *end),
        *(*part, *["response.output_text.delta"] * 2, "response.output_text.done", *end),
        "response.output_item.added",
        *("response.function_call_arguments.delta", "response.function_call_arguments.done"),
        *("response.output_item.done", "response.completed"),
    ]
    assert [event["sequence_number"] for event in heard] == list(range(len(heard)))
    output = heard[-1]["response"]["output"]
    assert [item["type"] for item in output] == ["reasoning", "message", "function_call"]
    assert (output[2]["namespace"], output[2]["name"], output[2]["call_id"]) == ("eyes", "look", "call_1")
    assert asked(scripted).tools[0]["function"]["name"] == "eyes__look"


def test_items_that_follow_each_other_are_one_turn(served: Served, scripted: FakeEngine) -> None:
    items = [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be kind."}]},
        {"role": "user", "content": "x"},
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": CALL.arguments},
        {"type": "function_call_output", "call_id": "call_1", "output": "no"},
    ]
    body = {"model": "default", "instructions": "Be brief.", "input": items}
    answer = served.post("/v1/responses", body)
    assert (answer.status_code, answer.json()["status"]) == (200, "completed")
    assert asked(scripted).messages == (
        Message(SYSTEM, "Be brief.\n\nBe kind."),
        Message(USER, "x"),
        Message(ASSISTANT, "I look.", "Hm.", (CALL,)),
        Message(ANSWER, "no", tool_call_id="call_1"),
    )


def test_a_response_needs_no_memory_of_others(served: Served) -> None:
    for name, value in {"previous_response_id": "resp_1", "background": True, "conversation": "c"}.items():
        answer = served.post("/v1/responses", {"model": "default", "input": "x", name: value})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "unsupported_parameter"), name


def test_what_was_counted_is_in_the_metrics(served: Served, scripted: FakeEngine) -> None:
    scripted.scripts.append(Script(calls=(CALL,), unread_calls=2))
    served.chat("x")
    text = served.http.get("/metrics").text
    assert 'hunch_requests_finished_total{endpoint="/v1/chat/completions",reason="stop"} 1.0' in text
    assert 'spec_decode_num_accepted_tokens_per_pos_total{position="0"} 4.0' in text
    assert "spec_decode_num_draft_tokens_total 16.0" in text
    assert 'hunch_memory_bytes{model="main"} 4e+09' in text  # as its file says
    assert 'hunch_tool_calls_total{parsed="true"} 1.0' in text
    assert 'hunch_tool_calls_total{parsed="false"} 2.0' in text
    assert "vllm:" not in text


def test_progress_is_as_llama_cpps(served: Served) -> None:
    events = served.stream("/v1/chat/completions", chat_body("x", return_progress=True))
    (told,) = [event["prompt_progress"] for event in events if "prompt_progress" in event]
    assert told.pop("time_ms") >= 0
    assert told == {"total": 20, "cache": 10, "processed": 10}


def test_figures_have_vllms_names_where_they_are_asked_for(scripted: FakeEngine) -> None:
    with serving(scripted, vllm_names=True) as served:
        served.chat("x")
        text = served.http.get("/metrics").text
    assert '\nvllm:spec_decode_num_draft_tokens_total{engine="0",model_name="default"} 16.0' in text
    assert "# TYPE vllm:time_to_first_token_seconds histogram" in text
    assert 'vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="default"} 1.0' in text
    assert "\nspec_decode_num_draft_tokens_total 16.0" in text


def test_requests_of_other_programs_are_guests_where_the_app_serves(scripted: FakeEngine) -> None:
    with serving(scripted, guests=True) as served:
        served.chat("x")
    assert asked(scripted).guest
