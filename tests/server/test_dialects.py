"""What every dialect has to do, and what is particular to Anthropic's and OpenAI's, over a scripted engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from engine import Engine, FinishReason, Message, MessageRole, ModelAbout, ModelReady, OutOfMemory, Request, ToolCall
from tests.helpers.engine_client import EngineClient
from tests.helpers.fake_engine import FakeEngine, Script, model_info
from tests.helpers.served import Served, chat_body, serving
from tests.helpers.tiny_models import save_small

CALL = ToolCall("call_1", "look", '{"at": "the sky"}')
PARAMETERS = {"type": "object", "properties": {"at": {"type": "string"}}}
FUNCTION = {"name": "look", "description": "Looks.", "parameters": PARAMETERS}
TOOL = {"type": "function", "function": FUNCTION}
ASKED = {"model": "default", "max_tokens": 100}
QUESTION: dict[str, Any] = {"messages": [{"role": "user", "content": "x"}], "contents": [{"parts": [{"text": "x"}]}]}
USER, ASSISTANT, SYSTEM, ANSWER = MessageRole.USER, MessageRole.ASSISTANT, MessageRole.SYSTEM, MessageRole.TOOL


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


# Every dialect: a new one is one more row


@dataclass(frozen=True)
class Said:
    """An answer, whichever form it came in."""

    thinking: str = ""
    text: str = ""
    calls: tuple[dict[str, Any], ...] = ()
    end: str = ""


def of_openai(answer: dict[str, Any]) -> Said:
    (choice,) = answer["choices"]
    message = choice["message"]
    calls = tuple(json.loads(call["function"]["arguments"]) for call in message.get("tool_calls") or ())
    return Said(message.get("reasoning_content") or "", message["content"] or "", calls, choice["finish_reason"])


def of_anthropic(answer: dict[str, Any]) -> Said:
    blocks = answer["content"]
    calls = tuple(block["input"] for block in blocks if block["type"] == "tool_use")
    thinking = "".join(each.get("thinking", "") for each in blocks)
    return Said(thinking, "".join(each.get("text", "") for each in blocks), calls, answer["stop_reason"])


def of_responses(answer: dict[str, Any]) -> Said:
    texts = {item["type"]: item["content"][0]["text"] for item in answer["output"] if "content" in item}
    calls = tuple(json.loads(item["arguments"]) for item in answer["output"] if item["type"] == "function_call")
    return Said(texts.get("reasoning", ""), texts.get("message", ""), calls, answer["status"])


def of_ollama(answer: dict[str, Any]) -> Said:
    message = answer["message"]
    calls = tuple(call["function"]["arguments"] for call in message.get("tool_calls") or ())
    return Said(message.get("thinking", ""), message["content"], calls, answer["done_reason"])


def of_gemini(answer: dict[str, Any]) -> Said:
    (candidate,) = answer["candidates"]
    parts = candidate["content"]["parts"]
    calls = tuple(part["functionCall"]["args"] for part in parts if "functionCall" in part)
    thinking = "".join(part["text"] for part in parts if part.get("thought"))
    text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
    return Said(thinking, text, calls, candidate["finishReason"])


FUNCTION_TURN = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": CALL.arguments}}
USE = {"type": "tool_use", "id": "call_1", "name": "look", "input": {"at": "the sky"}}
RESULT = {"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": "no"}]}


@dataclass(frozen=True)
class Way:
    """A dialect: how the same conversation is sent, with its tool; and how its answers are read."""

    path: str
    body: dict[str, Any]
    read: Callable[[dict[str, Any]], Said]
    ends: tuple[str, str, str]  # by itself, for a call, at the limit
    error: Callable[[dict[str, Any]], str]  # the sentence
    limit: dict[str, Any]  # at most 9 tokens
    missing: str = ""  # the path with a model that is not here, where the name is in it


WAYS = {
    "OpenAI": Way(
        "/v1/chat/completions",
        {
            "model": "default",
            "messages": [
                {"role": "developer", "content": "Be brief."},
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": None, "reasoning_content": "Hm.", "tool_calls": [FUNCTION_TURN]},
                {"role": "tool", "tool_call_id": "call_1", "name": "look", "content": "no"},
                {"role": "user", "content": [{"type": "text", "text": "So?"}]},
            ],
            "tools": [TOOL],
        },
        of_openai,
        ("stop", "tool_calls", "length"),
        lambda body: body["error"]["message"],
        {"max_completion_tokens": 9},
    ),
    "Anthropic": Way(
        "/v1/messages",
        {
            "model": "default",
            "max_tokens": 100,
            "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}],
            "messages": [
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": ""}, USE]},
                {"role": "user", "content": [RESULT, {"type": "text", "text": "So?"}]},
            ],
            "tools": [{"name": "look", "description": "Looks.", "input_schema": PARAMETERS}],
        },
        of_anthropic,
        ("end_turn", "tool_use", "max_tokens"),
        lambda body: body["error"]["message"],
        {"max_tokens": 9},
    ),
    "Responses": Way(
        "/v1/responses",
        {
            "model": "default",
            "instructions": "Be brief.",
            "input": [
                {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be kind."}]},
                {"role": "user", "content": "x"},
                {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
                {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": CALL.arguments},
                {"type": "function_call_output", "call_id": "call_1", "output": "no"},
                {"role": "user", "content": "So?"},
            ],
            "tools": [{"type": "function", **FUNCTION}],
        },
        of_responses,
        ("completed", "completed", "incomplete"),
        lambda body: body["error"]["message"],
        {"max_output_tokens": 9},
    ),
    "Ollama": Way(
        "/api/chat",
        {
            "model": "default",
            "stream": False,
            "messages": [
                {"role": "system", "content": "Be brief.\n\nBe kind."},
                {"role": "user", "content": "x"},
                {
                    "role": "assistant",
                    "content": "",
                    "thinking": "Hm.",
                    "tool_calls": [{"id": "call_1", "function": {"name": "look", "arguments": {"at": "the sky"}}}],
                },
                {"role": "tool", "tool_call_id": "call_1", "tool_name": "look", "content": "no"},
                {"role": "user", "content": "So?"},
            ],
            "tools": [TOOL],
        },
        of_ollama,
        ("stop", "stop", "length"),
        lambda body: body["error"],
        {"options": {"num_predict": 9}},
    ),
    "Gemini": Way(
        "/v1beta/models/default:generateContent",
        {
            "systemInstruction": {"parts": [{"text": "Be brief.\n\n"}, {"text": "Be kind."}]},
            "contents": [
                {"parts": [{"text": "x"}]},
                {"role": "model", "parts": [{"text": "Hm.", "thought": True}]},
                {
                    "role": "model",
                    "parts": [{"functionCall": {"id": "call_1", "name": "look", "args": {"at": "the sky"}}}],
                },
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"id": "call_1", "name": "look", "response": {"result": "no"}}}],
                },
                {"role": "user", "parts": [{"text": "So?"}]},
            ],
            "tools": [{"functionDeclarations": [FUNCTION]}],
            "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
        },
        of_gemini,
        ("STOP", "STOP", "MAX_TOKENS"),
        lambda body: body["error"]["message"],
        {"generationConfig": {"maxOutputTokens": 9}},
        "/v1beta/models/other:generateContent",
    ),
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@ways
def test_a_conversation_is_the_same_in_every_dialect(way: Way, served: Served, scripted: FakeEngine) -> None:
    """With what a model thought, called and got."""
    answer = served.post(way.path, way.body | way.limit)
    assert answer.status_code == 200, answer.text
    assert asked(scripted).tools == (TOOL,)
    assert asked(scripted).max_tokens == 9
    system, user, called, result, question = asked(scripted).messages
    assert (system, user) == (Message(SYSTEM, "Be brief.\n\nBe kind."), Message(USER, "x"))
    (call,) = called.tool_calls
    assert (called.role, called.reasoning, call.id, call.name) == (ASSISTANT, "Hm.", "call_1", "look")
    assert json.loads(call.arguments) == {"at": "the sky"}
    assert (result.role, result.tool_call_id, "no" in result.content) == (ANSWER, "call_1", True)
    assert question == Message(USER, "So?")


@ways
def test_thinking_text_and_calls_come_apart(way: Way, served: Served, scripted: FakeEngine) -> None:
    scripted.scripts.append(Script(thinking=("Hm.",), pieces=("I ", "look."), calls=(CALL,)))
    whole = way.read(served.post(way.path, way.body).json())
    assert whole == Said("Hm.", "I look.", ({"at": "the sky"},), way.ends[1])


@ways
def test_why_an_answer_has_ended(way: Way, served: Served, scripted: FakeEngine) -> None:
    for finish, end in ((FinishReason.STOP, way.ends[0]), (FinishReason.LENGTH, way.ends[2])):
        scripted.scripts.append(Script(finish=finish))
        assert way.read(served.post(way.path, way.body).json()).end == end


@ways
def test_an_error_has_the_dialects_form(way: Way, served: Served) -> None:
    """A model that is not here, a broken body, a host that is not this one: each from another place."""
    unknown = served.post(way.missing or way.path, way.body | {"model": "other"})
    assert unknown.status_code == 404
    assert "'other' does not exist here" in way.error(unknown.json())
    broken = served.http.post(way.path, content=b"{", headers={"content-type": "application/json"})
    assert (broken.status_code, way.error(broken.json())) == (400, "The body is not JSON.")
    refused = served.post(way.path, way.body, {"host": "evil.example"})
    assert (refused.status_code, way.error(refused.json())) == (403, "This server does not answer to that host name.")


@pytest.mark.parametrize("path", ["/api/v0/chat/completions", "/v1/chat/completions", "/v1/completions"])
def test_no_limit_is_minus_one(path: str, served: Served, scripted: FakeEngine) -> None:
    """So LM Studio's own examples have it."""
    body = {"model": "default", "max_tokens": -1}
    answer = served.post(path, body | ({"prompt": "x"} if path.endswith("v1/completions") else QUESTION))
    assert answer.status_code == 200, answer.text
    assert asked(scripted).max_tokens is None


def test_lm_studio_and_llama_cpp_call_a_penalty_otherwise(served: Served, scripted: FakeEngine) -> None:
    served.chat("x", repeat_penalty=1.5)
    assert asked(scripted).sampling.repetition_penalty == 1.5
    refused = served.post("/v1/chat/completions", chat_body("x", repeat_penalty="much"))
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "repeat_penalty")
    refused = served.post("/v1/chat/completions", chat_body("x", repeat_penalty=-1))
    assert refused.json()["error"]["param"] == "repeat_penalty"


@pytest.mark.parametrize(
    ("path", "asked_for"),
    [
        ("/v1/chat/completions", {"messages": [{"role": "system", "content": "Rhyme."}]}),
        ("/v1/responses", {"input": [{"role": "developer", "content": "Rhyme."}]}),
        ("/api/chat", {"messages": [{"role": "system", "content": "Rhyme."}], "stream": False}),
    ],
)
def test_a_system_message_alone_is_answered(
    path: str, asked_for: dict[str, Any], served: Served, scripted: FakeEngine
) -> None:
    answer = served.post(path, {"model": "default"} | asked_for)
    assert answer.status_code == 200, answer.text
    assert asked(scripted).messages == (Message(USER, "Rhyme."),)


# Anthropic


def test_a_messages_blocks_follow_each_other(served: Served, scripted: FakeEngine) -> None:
    scripted.scripts.append(Script(thinking=("Hm.",), pieces=("I ", "look."), calls=(CALL,)))
    heard = events(served, "/v1/messages", ASKED | {"messages": [{"role": "user", "content": "x"}]})
    assert [event["type"] for event in heard] == [
        "message_start",
        "ping",
        *("content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"),
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


def test_thinking_comes_back_in_the_next_turn(served: Served, scripted: FakeEngine) -> None:
    """Clients keep only blocks with a signature, which comes in a delta of its own before the block's end."""
    scripted.scripts += [Script(thinking=("Hm.",), calls=(CALL,))] * 2
    whole = served.post("/v1/messages", ASKED | QUESTION).json()["content"][0]
    heard = events(served, "/v1/messages", ASKED | QUESTION)
    at = next(at for at, event in enumerate(heard) if event["type"] == "content_block_stop")
    assert heard[at - 1]["delta"] == {"type": "signature_delta", "signature": whole["signature"]}
    assert whole["signature"]


def test_a_message_ends_where_the_context_does(served: Served, scripted: FakeEngine) -> None:
    scripted.scripts.append(Script(finish=FinishReason.CONTEXT))
    answer = served.post("/v1/messages", ASKED | {"messages": [{"role": "user", "content": "x"}]}).json()
    assert answer["stop_reason"] == "model_context_window_exceeded"


def test_what_anthropics_clients_send_besides(served: Served, scripted: FakeEngine) -> None:
    """Tools of its own service are dropped, reminders stay in place, and what failed says so."""
    turns = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [USE]},
        {"role": "user", "content": [RESULT | {"is_error": True}, {"type": "text", "text": "So?"}]},
        {"role": "system", "content": "Be brief."},
    ]
    body = ASKED | {"messages": turns, "tools": [{"type": "web_search_20250305", "name": "web_search"}]}
    answer = served.post("/v1/messages", body)
    assert answer.headers["x-hunch-ignored"] == "tools:web_search_20250305"
    assert asked(scripted).messages[2:] == (
        Message(ANSWER, "Error: no", tool_call_id="call_1"),
        Message(USER, "So?\n\n<system-reminder>\nBe brief.\n</system-reminder>"),
    )


def test_tools_may_change_within_a_conversation(served: Served, scripted: FakeEngine) -> None:
    """As Claude Code, LangChain and the AI SDK say it: by blocks of system messages, which name or define a tool."""

    def change(kind: str, **tool: Any) -> dict[str, Any]:
        return {"type": f"tool_{kind}", "tool": tool}

    hear = {"name": "hear", "description": "Hears.", "input_schema": PARAMETERS}
    body: dict[str, Any] = ASKED | {"tools": [{"name": name, "input_schema": PARAMETERS} for name in ("look", "smell")]}
    body["tools"][1]["defer_loading"] = True
    by_value = change("addition", type="tool_definition", definition=hear)
    by_name = [change(kind, type="tool_reference", name="smell") for kind in ("removal", "addition")]
    ways: list[tuple[list[dict[str, Any]], list[str]]] = [
        ([by_value], ["look", "smell", "hear"]),
        ([change("removal", type="tool_reference", name="look"), {"type": "text", "text": "Blind."}], ["smell"]),
        (by_name, ["look", "smell"]),
        ([change("addition", type="mcp_toolset_reference", server_name="x")], ["look", "smell"]),
    ]
    for blocks, left in ways:
        turns = [*QUESTION["messages"], {"role": "system", "content": blocks}]
        answer = served.post("/v1/messages", body | {"messages": turns})
        assert answer.status_code == 200, answer.text
        assert [tool["function"]["name"] for tool in asked(scripted).tools] == left
        said = "\n\n<system-reminder>\nBlind.\n</system-reminder>" if left == ["smell"] else ""
        assert asked(scripted).messages == (Message(USER, f"x{said}"),)
    turns = [*QUESTION["messages"], {"role": "system", "content": [{"type": "image"}]}]
    assert served.post("/v1/messages", body | {"messages": turns}).status_code == 400


def test_tools_that_a_search_has_found_are_named(served: Served, scripted: FakeEngine) -> None:
    found = [{"type": "tool_reference", "tool_name": name} for name in ("look", "hear")]
    turns = [{"role": "assistant", "content": [USE]}, {"role": "user", "content": [RESULT | {"content": found}]}]
    answer = served.post("/v1/messages", ASKED | {"messages": [*QUESTION["messages"], *turns]})
    assert answer.status_code == 200, answer.text
    assert asked(scripted).messages[-1].content == "look\nhear\n"


def test_documents_are_read_as_text(served: Served, scripted: FakeEngine) -> None:
    """As the AI SDK and LangChain send a file of text, or parts of one; Claude Code sends PDFs."""
    parts = [{"type": "text", "text": "So "}, {"type": "text", "text": "what?"}]
    sources: list[tuple[dict[str, Any], int, str]] = [
        ({"type": "text", "media_type": "text/plain", "data": "So what?"}, 200, ""),
        ({"type": "content", "content": parts}, 200, ""),
        ({"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}, 400, "Could not process PDF"),
    ]
    for source, status, refusal in sources:
        document = {"type": "document", "source": source, "title": "a.txt", "citations": {"enabled": False}}
        for content in ([document], [RESULT | {"content": [document]}]):
            turns = [{"role": "assistant", "content": [USE]}, {"role": "user", "content": content}]
            answer = served.post("/v1/messages", ASKED | {"messages": [*QUESTION["messages"], *turns]})
            assert (answer.status_code, refusal in answer.text) == (status, True)
            assert asked(scripted).messages[-1].content == "a.txt\nSo what?"


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


def test_tokens_of_reasoning_are_those_up_to_its_end(served: Served, scripted: FakeEngine) -> None:
    scripted.scripts.append(Script(thinking=("Hm.",), pieces=("I ", "look.")))
    usage = served.chat("x")["usage"]
    assert usage["completion_tokens_details"]["reasoning_tokens"] * 3 == usage["completion_tokens"] > 0


def test_calls_may_have_to_come_one_by_one(served: Served, scripted: FakeEngine) -> None:
    served.chat("x", tools=[TOOL], parallel_tool_calls=False)
    assert not asked(scripted).several_calls


def test_tools_may_be_left_out(served: Served, scripted: FakeEngine) -> None:
    served.chat("x", tools=[TOOL], tool_choice="none")
    assert asked(scripted).tools == ()


def test_the_templates_variables_are_passed_on(served: Served, scripted: FakeEngine) -> None:
    kwargs = {"enable_thinking": True, "tone": "dry", "messages": []}
    served.chat("x", chat_template_kwargs=kwargs, reasoning_effort="low")
    assert asked(scripted).thinking
    assert asked(scripted).template_variables == {"tone": "dry", "reasoning_effort": "low"}


THINKS = replace(model_info("/models/Thinks-8B"), about=ModelAbout(template=True, thinking=True), ends_thinking=True)


GEMINI = "/v1beta/models/default:generateContent"


def thinking_config(**config: object) -> dict[str, Any]:
    return {"generationConfig": {"thinkingConfig": config}}


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
        ("/v1/responses", {"input": "x", "reasoning": {"effort": "ultra"}}, True, None, "high"),
        ("/v1/responses", {"input": "x", "reasoning": {"effort": "minimal"}}, False, None, None),
        ("/api/chat", {"think": True}, True, None, None),
        ("/api/chat", {"think": "high"}, True, None, "high"),
        ("/api/chat", {"think": "max"}, True, None, "high"),
        ("/api/chat", {"think": False}, False, None, None),
        (GEMINI, thinking_config(thinkingBudget=5), True, 5, None),
        (GEMINI, thinking_config(thinkingBudget=0, includeThoughts=True), False, None, None),
        (GEMINI, thinking_config(thinkingBudget=-1), True, None, None),
        (GEMINI, thinking_config(thinkingLevel="HIGH"), True, None, "high"),
        (GEMINI, thinking_config(includeThoughts=True), True, None, None),
        (GEMINI, {}, False, None, None),
    ]
    for path, more, thinks, tokens, effort in ways:
        answer = house.post(path, ASKED | QUESTION | more)
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
        ("/v1/responses", {"input": "x", "truncation": "oldest"}, "truncation"),
        ("/api/chat", {"think": "some"}, "think"),
        (GEMINI, thinking_config(thinkingLevel="SOME"), "thinkingLevel"),
    ]
    for path, more, field in ways:
        answer = thinker[0].post(path, ASKED | QUESTION | more)
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


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Served]:
    """A model that reads little at a time."""
    engine = Engine()
    folder = save_small(tmp_path, max_position_embeddings=512)
    assert isinstance(EngineClient(engine).load(folder), ModelReady)
    with serving(engine) as house:
        yield house
    assert engine.close()


def test_a_response_to_a_chat_that_does_not_fit_is_cut_where_that_was_asked_for(small: Served) -> None:
    turns = [{"role": role, "content": "What is a draft? "} for role in ("user", "assistant")] * 30
    asked = [*turns, {"role": "user", "content": "And now?"}]
    body = {"model": "default", "input": asked, "max_output_tokens": 4, "temperature": 0}
    for wanted in ({}, {"truncation": "disabled"}):
        assert small.post("/v1/responses", body | wanted).status_code == 400
    answers = [small.post("/v1/responses", body | {"truncation": "auto"}) for _ in range(2)]
    assert [each.status_code for each in answers] == [200, 200]
    first, again = (each.json() for each in answers)
    assert first["truncation"] == "auto"
    assert first["output"][0]["content"] == again["output"][0]["content"]
    used = again["usage"]
    assert used["input_tokens_details"]["cached_tokens"] > 0.9 * used["input_tokens"] > 100


def test_ollamas_clients_count_on_the_cut_of_a_chat_that_does_not_fit(small: Served) -> None:
    """They send the whole of it with a `num_ctx`, and know no error for it."""
    turns = [{"role": role, "content": "What is a draft? "} for role in ("user", "assistant")] * 30
    body = {"model": "", "messages": [*turns, {"role": "user", "content": "And now?"}], "stream": False}
    for options in ({"num_ctx": 256, "num_predict": 4}, {"num_predict": 4}):
        answer = small.post("/api/chat", body | {"options": options})
        assert answer.status_code == 200, answer.text
        assert answer.json()["prompt_eval_count"] <= options.get("num_ctx", 512)
        refused = small.post("/api/chat", body | {"options": options, "truncate": False})
        assert (refused.status_code, "maximum context length is" in refused.text) == (400, True)


def test_a_chat_that_does_not_fit_is_refused_as_in_each_dialect(small: Served) -> None:
    """All but those that asked for a cut."""
    words = "What is a draft? " * 100
    said = {"messages": [{"role": "user", "content": words}]}
    ways: list[tuple[str, dict[str, Any], str]] = [
        ("/v1/chat/completions", said, "context_length_exceeded"),
        ("/v1/responses", {"input": words}, "context_length_exceeded"),
        ("/v1/messages", said, "prompt is too long: "),
        ("/api/chat", said, "maximum context length is 512 tokens"),
        (GEMINI, {"contents": [{"parts": [{"text": words}]}]}, "INVALID_ARGUMENT"),
    ]
    for path, body, error in ways:
        answer = small.post(path, ASKED | body)
        assert (answer.status_code, error in answer.text) == (400, True), (path, answer.text)


def test_codex_can_make_a_history_shorter_that_does_not_fit(small: Served) -> None:
    """It knows that by this event alone, and gives up where the status is a 400."""
    heard = events(small, "/v1/responses", {"model": "default", "input": "What is a draft? " * 100})
    response = heard[-1]["response"]
    assert (response["status"], response["error"]["code"]) == ("failed", "context_length_exceeded")
    assert "maximum context length is 512 tokens" in response["error"]["message"]


def test_codex_gives_tools_and_messages_of_agents_among_its_input(served: Served, scripted: FakeEngine) -> None:
    spaces: dict[str, Any] = {"type": "namespace", "name": "eyes", "tools": [{"type": "function", **FUNCTION}]}
    spaces["tools"].append({"type": "custom", "name": "exec"})  # not called with JSON
    said = [{"type": "input_text", "text": "So?"}, {"type": "encrypted_content", "encrypted_content": "z"}]
    asked_for = [
        {"type": "additional_tools", "role": "developer", "tools": [spaces]},
        {"role": "user", "content": "x"},
        {"type": "function_call", "call_id": "call_1", "namespace": "eyes", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "no"},
        {"type": "agent_message", "author": "/root", "recipient": "/root/worker", "content": said},
    ]
    answer = served.post("/v1/responses", {"model": "default", "input": asked_for})
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-hunch-ignored"] == "tools:custom"
    assert [tool["function"]["name"] for tool in asked(scripted).tools] == ["eyes__look"]
    user, called, _, agent = asked(scripted).messages
    assert (user, called.tool_calls[0].name, agent) == (Message(USER, "x"), "eyes__look", Message(USER, "So?"))


def test_a_response_that_fails_says_so_to_every_client(served: Served, scripted: FakeEngine) -> None:
    """LangChain and the AI SDK know the first of the events, Codex the second; OpenAI's own clients raise either."""
    scripted.scripts.append(Script(error=OutOfMemory("x")))
    *_, error, failed = events(served, "/v1/responses", {"model": "default", "input": "x"})
    assert (error["type"], failed["type"]) == ("error", "response.failed")
    assert error["error"]["code"] == error["code"] == failed["response"]["error"]["code"] == "out_of_memory"
    assert error["error"]["message"] == error["message"] == failed["response"]["error"]["message"] != ""
    assert failed["sequence_number"] == error["sequence_number"] + 1


def test_a_response_that_waits_says_so_by_events_that_change_nothing(scripted: FakeEngine) -> None:
    """OpenAI's client for Node takes the output of each response that it hears for the whole."""
    scripted.scripts.append(Script(thinking=("Hm.",), pieces=("I ", "look."), calls=(CALL, replace(CALL, id="call_2"))))
    with serving(scripted, silence_s=0) as served:
        heard = events(served, "/v1/responses", {"model": "default", "input": "x"})
    assert [event["sequence_number"] for event in heard] == list(range(len(heard)))
    ends = [at for at, event in enumerate(heard) if event["type"] == "response.output_item.done"]
    begins = [at for at, event in enumerate(heard) if event["type"] == "response.output_item.added"]
    assert len(ends) == len(begins) == 4
    while_writing = {at for begin, end in zip(begins, ends, strict=True) for at in range(begin, end)}
    waits = {at for at, event in enumerate(heard) if event["type"] == "response.in_progress"}
    assert len(waits) > 2
    assert not waits & while_writing
    for at in waits:
        assert heard[at]["response"]["output"] == [heard[end]["item"] for end in ends if end < at]
    assert any(event.get("delta") == "" for event in heard)
    said = "".join(event["delta"] for event in heard if event["type"] == "response.output_text.delta")
    assert said == "I look." == heard[ends[1]]["item"]["content"][0]["text"]


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


def test_thinking_is_the_summary_where_a_client_wants_one(served: Served, scripted: FakeEngine) -> None:
    """Codex, the AI SDK and LangChain show no other, and give it back in the next turn."""
    body = {"model": "default", "input": "x", "reasoning": {"effort": "high", "summary": "auto"}}
    summary = [{"type": "summary_text", "text": "Hm. So."}]
    scripted.scripts.extend([Script(thinking=("Hm. ", "So."), pieces=("Yes.",))] * 2)
    heard = events(served, "/v1/responses", body)
    thought = [event for event in heard if event.get("output_index") == 0]
    assert [event["type"].removeprefix("response.") for event in thought] == [
        *("output_item.added", "reasoning_summary_part.added"),
        *["reasoning_summary_text.delta"] * 2,
        *("reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done"),
    ]
    assert all(event["summary_index"] == 0 for event in thought[1:-1])
    assert [event["delta"] for event in thought[2:4]] == ["Hm. ", "So."]
    whole = served.post("/v1/responses", body).json()["output"]
    for item in (thought[-1]["item"], heard[-1]["response"]["output"][0], whole[0]):
        assert (item["type"], item["summary"], item["content"]) == ("reasoning", summary, [])
        assert "encrypted_content" not in item
    body["include"] = ["reasoning.encrypted_content"]
    scripted.scripts.append(Script(thinking=("Hm. ", "So."), pieces=("Yes.",)))
    whole = served.post("/v1/responses", body).json()["output"]
    assert whole[0]["encrypted_content"] != ""
    turns = [{"role": "user", "content": "x"}, *whole, {"role": "user", "content": "So?"}]
    served.post("/v1/responses", body | {"input": turns})
    assert asked(scripted).messages[1] == Message(MessageRole.ASSISTANT, "Yes.", "Hm. So.")


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
    with serving(scripted, guests=True, kv_bits=8) as served:
        served.chat("x")
    assert asked(scripted).guest
    assert asked(scripted).kv_bits == 8
