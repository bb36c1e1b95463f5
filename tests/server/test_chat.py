"""/v1/chat/completions and /v1/completions over the starter pair: the engine's own text, whole and in pieces."""

from __future__ import annotations

from typing import Any

import pytest

from engine import Engine, Message, MessageRole, Request, Sampling, Speculation
from tests.helpers.engine_client import EngineClient, Outcome
from tests.helpers.fake_engine import FakeEngine
from tests.helpers.served import Served, chat_body, serving

ASKED = "What is a draft model?"
GREEDY: dict[str, Any] = {"temperature": 0, "max_tokens": 12}


@pytest.fixture(scope="module")
def expected(starter: Engine) -> Outcome:
    """Without HTTP and without a draft."""
    messages = (Message(MessageRole.USER, ASKED),)
    request = Request(
        messages, sampling=Sampling(temperature=0.0), speculation=Speculation.off(), max_tokens=GREEDY["max_tokens"]
    )
    return EngineClient(starter).run(request)


def pieces_of(chunks: list[dict[str, Any]], name: str = "content") -> str:
    return "".join(chunk["choices"][0]["delta"].get(name) or "" for chunk in chunks if chunk["choices"])


def test_the_text_is_the_engines_own(house: Served, expected: Outcome) -> None:
    answer = house.chat(ASKED, **GREEDY)
    (choice,) = answer["choices"]
    assert choice["message"] == {"role": "assistant", "content": expected.text(), "refusal": None, "annotations": []}
    assert choice["finish_reason"] == "stop" if expected.tokens[-1] == 2 else "length"
    assert answer["usage"]["completion_tokens"] == len(expected.tokens)


def test_a_stream_has_openais_order_and_the_same_text(house: Served, expected: Outcome) -> None:
    body = chat_body(ASKED, **GREEDY, stream_options={"include_usage": True})
    chunks = house.stream("/v1/chat/completions", body)
    first, *_, end, usage = chunks
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert (end["choices"][0]["delta"], end["choices"][0]["finish_reason"]) == ({}, "length")
    assert (usage["choices"], usage["usage"]["completion_tokens"]) == ([], len(expected.tokens))
    assert pieces_of(chunks) == expected.text()
    assert len({(chunk["id"], chunk["created"]) for chunk in chunks}) == 1


def test_several_prompts_have_their_choices_in_order(house: Served) -> None:
    """Texts and tokens, each with `n` choices; what they say is what each says alone."""
    prompts = ["A draft model", [5, 6, 7, 8]]
    body = {"model": "default", "temperature": 0, "max_tokens": 2, "echo": True, "logprobs": 1}
    alone = [house.post("/v1/completions", body | {"prompt": prompt}).json() for prompt in prompts]
    together = house.post("/v1/completions", body | {"prompt": prompts, "n": 2}).json()
    assert [choice["index"] for choice in together["choices"]] == list(range(4))
    assert [choice["text"] for choice in together["choices"]] == [
        answer["choices"][0]["text"] for answer in alone for _ in range(2)
    ]
    assert together["usage"]["prompt_tokens"] == sum(answer["usage"]["prompt_tokens"] for answer in alone)
    assert together["usage"]["completion_tokens"] == 2 * sum(each["usage"]["completion_tokens"] for each in alone)
    streamed = [""] * 4
    for chunk in house.stream("/v1/completions", body | {"prompt": prompts, "n": 2}):
        streamed[chunk["choices"][0]["index"]] += chunk["choices"][0]["text"]
    assert streamed == [choice["text"] for choice in together["choices"]]


def test_prompts_that_are_none_are_refused(house: Served) -> None:
    """More than there may be are not even read."""
    for prompt in ([], ["x", 3], [[1], []], [["x"]], [*[""] * 64, []], ["x", ""]):
        answer = house.post("/v1/completions", {"model": "default", "prompt": prompt})
        assert (answer.status_code, "more than 64 replies" in answer.text) == (400, len(prompt) > 64), prompt


def test_what_a_draft_brought_is_said(house: Served) -> None:
    timings = house.chat(ASKED, **GREEDY, num_draft_tokens=4)["timings"]
    assert 0 < timings["draft_n_accepted"] <= timings["draft_n"]
    assert timings["predicted_n"] == GREEDY["max_tokens"]


def test_a_request_may_say_how_to_draft(scripted: FakeEngine) -> None:
    asked: list[tuple[dict[str, Any], Speculation]] = [
        ({"draft_model": None}, Speculation.off()),
        ({"num_draft_tokens": 0}, Speculation.off()),
        ({"speculation": "off"}, Speculation.off()),
        ({"num_draft_tokens": 3}, Speculation.fixed(3)),
        ({"speculation": 3}, Speculation.fixed(3)),
        ({"draft_model": "Draft-1B"}, Speculation.auto()),
    ]
    with serving(scripted) as served:
        for fields, speculation in asked:
            served.chat("x", **fields)
            assert scripted.requests[-1].speculation == speculation, fields


def test_the_second_turn_reads_only_what_is_new(house: Served) -> None:
    turns: list[dict[str, Any]] = [{"role": "user", "content": "How does speculative decoding work, in one sentence?"}]
    first = house.post("/v1/chat/completions", {"model": "default", "messages": turns, "max_tokens": 8}).json()
    said = first["choices"][0]["message"]["content"]
    # The same text in the other shape that clients send.
    turns = [{"role": "user", "content": [{"type": "text", "text": turns[0]["content"]}]}]
    turns += [{"role": "assistant", "content": said}, {"role": "user", "content": "And?"}]
    second = house.post("/v1/chat/completions", {"model": "default", "messages": turns, "max_tokens": 1}).json()
    read = first["usage"]["prompt_tokens"] + first["usage"]["completion_tokens"]
    assert second["usage"]["prompt_tokens_details"]["cached_tokens"] >= read - 2


def test_a_stop_string_ends_the_text_before_it(house: Served, expected: Outcome) -> None:
    stop = expected.text()[10:15]
    (choice,) = house.chat(ASKED, **GREEDY, stop=stop)["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == (expected.text().partition(stop)[0], "stop")


def test_several_choices_differ_by_their_seeds(house: Served) -> None:
    answer = house.chat(ASKED, temperature=4, max_tokens=6, seed=1, n=3)
    texts = [choice["message"]["content"] for choice in answer["choices"]]
    assert [choice["index"] for choice in answer["choices"]] == [0, 1, 2]
    assert len(set(texts)) == 3
    alone = house.chat(ASKED, temperature=4, max_tokens=6, seed=2)["choices"][0]["message"]["content"]
    assert texts[1] == alone


def test_a_text_is_continued_as_it_is(house: Served, starter: Engine) -> None:
    text = "A draft model"
    answer = house.post("/v1/completions", {"model": "default", "prompt": text, **GREEDY}).json()
    request = Request(text=text, sampling=Sampling(temperature=0.0), max_tokens=GREEDY["max_tokens"])
    assert answer["choices"][0]["text"] == EngineClient(starter).run(request).text()
    chunks = house.stream("/v1/completions", {"model": "default", "prompt": text, **GREEDY})
    assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == answer["choices"][0]["text"]


def test_the_loaded_model_is_listed_with_its_context(house: Served) -> None:
    (entry,) = house.http.get("/v1/models").json()["data"]
    assert (entry["id"], entry["context_length"], entry["hunch"]["draft"]) == (
        "Hunch-Starter",
        4096,
        "Hunch-Starter-Draft",
    )
    assert house.http.get(f"/v1/models/{entry['id']}").json() == entry
    assert house.http.get("/health").status_code == 200


REFUSED: dict[str, tuple[dict[str, Any], int, str, str | None]] = {
    "no model": ({"messages": [{"role": "user", "content": "x"}]}, 400, "missing_required_parameter", "model"),
    "a form that nobody knows": (
        chat_body("x", response_format={"type": "grammar"}),
        400,
        "unsupported_parameter",
        "response_format",
    ),
    "a call without tools": (chat_body("x", tool_choice="required"), 400, "invalid_value", "tool_choice"),
    "tools that the model cannot call": (
        chat_body("x", tools=[{"type": "function", "function": {"name": "look"}}]),
        400,
        "invalid_value",
        "tools",
    ),
    "no messages": ({"model": "", "messages": []}, 400, "invalid_value", "messages"),
    "messages are text": ({"model": "", "messages": "x"}, 400, "invalid_value", "messages"),
    "a role that is none": (
        {"model": "", "messages": [{"role": "king", "content": "x"}]},
        400,
        "invalid_value",
        "messages[0].role",
    ),
    "temperature": (chat_body("x", temperature=99), 400, "invalid_value", "temperature"),
    "temperature is text": (chat_body("x", temperature="warm"), 400, "invalid_value", "temperature"),
    "temperature is true": (chat_body("x", temperature=True), 400, "invalid_value", "temperature"),
    "a seed without end": (chat_body("x", seed=10**30), 400, "invalid_value", "seed"),
    "no tokens": (chat_body("x", max_tokens=0), 400, "invalid_value", "max_completion_tokens"),
    "another model": (chat_body("x", model="gpt-5"), 404, "model_not_found", "model"),
    "a folder as a model": (chat_body("x", model="/etc"), 404, "model_not_found", "model"),
    "another draft": (chat_body("x", draft_model="other"), 409, "model_busy", "draft_model"),
    "too long": (chat_body("long " * 9000), 400, "context_length_exceeded", "messages"),
    "too many logprobs": (chat_body("x", logprobs=True, top_logprobs=21), 400, "invalid_value", "top_logprobs"),
    "a token outside": (chat_body("x", logit_bias={"99999": 1}), 400, "invalid_value", "logit_bias"),
    "an image": (
        {
            "model": "",
            "messages": [
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]}
            ],
        },
        400,
        "invalid_image_url",
        "messages[0].content[0].image_url",
    ),
}


@pytest.mark.costly
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("body", "status", "code", "param"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_is_a_status_with_openais_error(
    house: Served, body: dict[str, Any], status: int, code: str, param: str | None, stream: bool
) -> None:
    answer = house.post("/v1/chat/completions", body | {"stream": stream})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (status, code, param)
    assert set(error) == {"message", "type", "param", "code"}
    assert answer.headers["x-request-id"].startswith("req_")


def test_tools_that_the_model_cannot_call_are_refused_in_words(house: Served) -> None:
    body = chat_body("x", tools=[{"type": "function", "function": {"name": "look"}}])
    error = house.post("/v1/chat/completions", body).json()["error"]
    assert error["message"] == "The loaded model calls no tools."


def test_fields_without_effect_are_named(house: Served) -> None:
    """As far as they are names: a line break would begin another header."""
    odd = {"verbosity": "low", "x\r\nset-cookie: a=b": 1, "이름": 1}
    answer = house.post("/v1/chat/completions", chat_body("x", max_tokens=1, **odd))
    assert (answer.status_code, answer.headers["x-hunch-ignored"]) == (200, "verbosity, x??set-cookie:?a?b, ??")
    assert "set-cookie" not in answer.headers


def test_a_prediction_is_accepted_where_it_is_right_and_changes_nothing(house: Served) -> None:
    """It goes before the draft model, and a wrong one is given up at its first token."""
    asked = {"temperature": 1, "seed": 3, "max_tokens": 10, "speculation": 4}
    said = house.chat(ASKED, **asked)["choices"][0]["message"]["content"]
    accepted = []
    for content in (said, [{"type": "text", "text": "Nothing of the kind, 123."}]):
        prediction = {"type": "content", "content": content}
        answer = house.chat(ASKED, **asked, prediction=prediction)
        assert answer["choices"][0]["message"]["content"] == said
        details = answer["usage"]["completion_tokens_details"]
        accepted.append(details["accepted_prediction_tokens"])
        assert details["rejected_prediction_tokens"] >= 0
    assert accepted[0] > 0
    assert accepted[1] == 0
