"""What is particular to Google's dialect; what it shares with others is in test_dialects.py."""

from __future__ import annotations

import json
from typing import Any

from engine import ConstraintKind, FinishReason, Message, MessageRole, Request, ToolCall
from tests.helpers.fake_engine import FakeEngine, Script
from tests.helpers.served import Served, serving

WHOLE = "/v1beta/models/default:generateContent"
STREAM = "/v1beta/models/default:streamGenerateContent"
CALL = ToolCall("call_1", "look", '{"at": "the sky"}')
BODY: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "x"}]}]}


def configured(served: Served, scripted: FakeEngine, **config: Any) -> Request:
    answer = served.post(WHOLE, BODY | {"generationConfig": config})
    assert answer.status_code == 200, answer.text
    return scripted.requests[-1]


def parts_of(pieces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [part for piece in pieces for part in piece["candidates"][0]["content"]["parts"]]


def streamed(served: Served, body: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The same as events and as an array."""
    events = served.post(f"{STREAM}?alt=sse", body)
    assert events.headers["content-type"].startswith("text/event-stream")
    array = served.post(STREAM, body)
    assert array.headers["content-type"] == "application/json"
    return [[json.loads(line.removeprefix("data: ")) for line in events.text.split("\n\n") if line], array.json()]


def test_a_stream_is_events_or_an_array(served: Served, scripted: FakeEngine) -> None:
    script = Script(thinking=("Hm.",), pieces=("I ", "look."), calls=(CALL,))
    scripted.scripts.extend([script, script])
    for pieces in streamed(served, BODY):
        call = {"functionCall": {"id": "call_1", "name": "look", "args": {"at": "the sky"}}}
        assert parts_of(pieces) == [{"text": "I "}, {"text": "look."}, call, {"text": ""}]
        assert [piece["candidates"][0].get("finishReason") for piece in pieces] == [None, None, None, "STOP"]
        assert len({piece["responseId"] for piece in pieces}) == 1
        usage = pieces[-1]["usageMetadata"]
        assert usage["promptTokenCount"] == 20 > usage["cachedContentTokenCount"]
        written = usage["candidatesTokenCount"] + usage["thoughtsTokenCount"]
        assert usage["totalTokenCount"] == usage["promptTokenCount"] + written


def test_only_the_path_says_whether_an_answer_is_streamed(served: Served) -> None:
    assert served.post(f"{WHOLE}?alt=sse", BODY | {"stream": True}).json()["candidates"][0]["finishReason"] == "STOP"


def test_a_failure_ends_a_stream_in_its_own_form(served: Served, scripted: FakeEngine) -> None:
    scripted.scripts.extend([Script(finish=FinishReason.MODEL_CHANGED)] * 2)
    for pieces in streamed(served, BODY):
        assert pieces[-1]["error"]["status"] == "UNAVAILABLE"


def test_an_array_that_waits_is_still_json(scripted: FakeEngine) -> None:
    scripted.gate.hold()
    with serving(scripted, silence_s=0.02) as served, served.http.stream("POST", STREAM, json=BODY) as answer:
        chunks = answer.iter_bytes()
        waited = next(chunks)
        scripted.gate.open()
        assert not waited.strip()
        assert parts_of(json.loads(waited + b"".join(chunks)))[-1] == {"text": ""}


def test_thoughts_are_shown_where_they_are_asked_for(served: Served, scripted: FakeEngine) -> None:
    scripted.scripts.append(Script(thinking=("Hm.",), pieces=("So.",)))
    (answer,) = served.post(WHOLE, BODY).json()["candidates"]
    assert answer["content"]["parts"] == [{"text": "So."}]


def test_settings_have_googles_names_in_either_spelling(served: Served, scripted: FakeEngine) -> None:
    words = {"temperature": 0.5, "topP": 0.9, "topK": 20, "seed": 3, "presencePenalty": 0.1, "stopSequences": ["a"]}
    for config in (
        words,
        {"temperature": 0.5, "top_p": 0.9, "top_k": 20.0, "seed": 3, "presence_penalty": 0.1, "stop_sequences": ["a"]},
    ):
        request = configured(served, scripted, **config)
        sampling = request.sampling
        assert (sampling.temperature, sampling.top_p, sampling.top_k, sampling.seed) == (0.5, 0.9, 20, 3)
        assert (sampling.presence_penalty, request.stop) == (0.1, ("a",))
    choices = served.post(WHOLE, BODY | {"generation_config": {"candidate_count": 2}}).json()["candidates"]
    assert [choice["index"] for choice in choices] == [0, 1]


def test_schemas_of_openapi_are_enforced_as_json_schemas(served: Served, scripted: FakeEngine) -> None:
    schema = {
        "type": "OBJECT",
        "properties": {
            "type": {"type": "STRING", "nullable": True},
            "ages": {"type": "ARRAY", "items": {"type": "INTEGER", "format": "int32"}, "min_items": "1"},
        },
        "required": ["type"],
        "propertyOrdering": ["type", "ages"],
    }
    made = {
        "type": "object",
        "properties": {
            "type": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "ages": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        },
        "required": ["type"],
        "additionalProperties": False,
    }
    for name, sent in (("responseSchema", schema), ("responseJsonSchema", made)):
        request = configured(served, scripted, responseMimeType="application/json", **{name: sent})
        assert request.constraint is not None
        assert json.loads(request.constraint.text) == made
    request = configured(served, scripted, responseMimeType="text/x.enum", responseSchema={"enum": ["a.b", "c"]})
    assert request.constraint is not None
    assert (request.constraint.kind, request.constraint.text) == (ConstraintKind.REGEX, r"a\.b|c")


def test_which_functions_have_to_be_called(served: Served, scripted: FakeEngine) -> None:
    declared = [{"name": name, "parameters": {"type": "OBJECT"}} for name in ("look", "hear")]
    ways: list[tuple[dict[str, Any], tuple[str, ...], int]] = [
        ({"mode": "AUTO"}, (), 2),
        ({"mode": "NONE"}, (), 0),
        ({"mode": "ANY"}, ("look", "hear"), 2),
        ({"mode": "ANY", "allowedFunctionNames": ["hear"]}, ("hear",), 2),
    ]
    for calling, names, tools in ways:
        body = {"tools": [{"functionDeclarations": declared}, {"googleSearch": {}}]}
        answer = served.post(WHOLE, BODY | body | {"toolConfig": {"functionCallingConfig": calling}})
        assert answer.headers["x-hunch-ignored"] == "tools:googleSearch"
        request = scripted.requests[-1]
        assert (request.must_call, len(request.tools)) == (names, tools)
    assert served.post(WHOLE, BODY | {"tool_config": {"function_calling_config": {"mode": "NOW"}}}).status_code == 400


def test_what_cannot_be_done_is_refused_by_name(served: Served) -> None:
    for more, name in (
        ({"cachedContent": "cachedContents/1"}, "cachedContent"),
        ({"generationConfig": {"responseLogprobs": True}}, "responseLogprobs"),
        ({"generationConfig": {"responseModalities": ["AUDIO"]}}, "responseModalities"),
        ({"generationConfig": {"responseMimeType": "text/html"}}, "responseMimeType"),
        ({"generationConfig": {"responseMimeType": "application/json", "responseSchema": {"items": 3}}}, "schema"),
        ({"generationConfig": {"temperature": 99}}, "temperature"),
        ({"contents": []}, "contents"),
        ({"contents": [{"role": "system", "parts": [{"text": "x"}]}]}, "role"),
        ({"contents": [{"parts": [{"fileData": {"fileUri": "https://x.example/a.png"}}]}]}, "fileData"),
        ({"contents": [{"parts": [{"inlineData": {"mimeType": "audio/wav", "data": "AA=="}}]}]}, "inlineData"),
        ({"contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}]}]}, "pictures"),
    ):
        answer = served.post(WHOLE, BODY | more)
        assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT"), more
        assert name in answer.json()["error"]["message"]


def test_models_are_found_under_both_versions(served: Served, scripted: FakeEngine) -> None:
    """OpenAI's clients have the same path; Google's say who they are."""
    for version, headers in (("v1beta", {}), ("v1", {"x-goog-api-client": "google-genai-sdk/3.6"})):
        (model,) = served.http.get(f"/{version}/models", headers=headers).json()["models"]
        assert (model["name"], model["inputTokenLimit"]) == ("models/Main-8B", 4096)
        assert served.http.get(f"/{version}/models/Main-8B", headers=headers).json() == model
        assert served.post(f"/{version}/models/Main-8B:generateContent", BODY).is_success
    assert served.http.get("/v1/models").json()["object"] == "list"


def test_tokens_of_contents_and_of_a_whole_request_are_counted(served: Served) -> None:
    path = "/v1beta/models/Main-8B:countTokens"
    assert served.post(path, {"contents": [{"parts": [{"text": "one two"}]}]}).json() == {"totalTokens": 2}
    whole = BODY | {"systemInstruction": {"parts": [{"text": "one two"}]}}
    assert served.post(path, {"generateContentRequest": whole}).json() == {"totalTokens": 3}


def test_the_key_is_a_header_or_in_the_address(scripted: FakeEngine) -> None:
    with serving(scripted, key="secret") as served:
        assert served.post(WHOLE, BODY).json()["error"]["status"] == "UNAUTHENTICATED"
        assert served.post(f"{WHOLE}?key=wrong", BODY).status_code == 401
        assert served.post(f"{WHOLE}?key=secret", BODY).is_success
        assert served.post(WHOLE, BODY, {"x-goog-api-key": "secret"}).is_success
        assert served.http.get("/v1/models?key=secret").status_code == 401  # another dialect's


def test_pieces_of_an_earlier_stream_are_one_turn(served: Served, scripted: FakeEngine) -> None:
    turns = [("user", "x"), ("model", "A "), ("model", "draft."), ("user", "And?"), ("user", "So?")]
    contents = [{"role": role, "parts": [{"text": text}]} for role, text in turns]
    assert served.post(WHOLE, {"contents": contents}).is_success
    assert scripted.requests[-1].messages == (
        Message(MessageRole.USER, "x"),
        Message(MessageRole.ASSISTANT, "A draft."),
        Message(MessageRole.USER, "And?\n\nSo?"),
    )


def test_what_googles_own_examples_send_is_understood(served: Served, scripted: FakeEngine) -> None:
    """One object in place of an array of one, and names with underscores."""
    body = {"system_instruction": {"parts": {"text": "Be brief."}}, "contents": {"parts": {"text": "x"}}}
    body |= {"tools": {"function_declarations": {"name": "look"}}}
    assert served.post(WHOLE, body).is_success
    request = scripted.requests[-1]
    assert request.messages == (Message(MessageRole.SYSTEM, "Be brief."), Message(MessageRole.USER, "x"))
    assert [tool["function"]["name"] for tool in request.tools] == ["look"]
