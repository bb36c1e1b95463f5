"""Log-probabilities in OpenAI's forms; what they are is the engine's (engine/test_logprobs.py)."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from app.controllers.server import WatchedEngine
from engine import (
    Engine,
    EngineState,
    Event,
    Finished,
    FinishReason,
    Request,
    RequestId,
    RequestStats,
    Sampling,
    ServerOptions,
    TextDelta,
    TokenScore,
    TokensScored,
)
from engine.server.dialect import CallContext
from engine.server.fields import Fields
from engine.server.openai import OPENAI
from engine.server.openai_chat import Completion, chat_logprobs, completion_logprobs
from engine.server.pictures import SentPictures
from engine.server.replies import ReplyOutcome as Brought
from tests.helpers.engine_client import EngineClient
from tests.helpers.served import Served, chat_body

CLOSE = 2e-3
TEXT = "A draft model guesses, and the main model"
GREEDY: dict[str, Any] = {"model": "default", "temperature": 0}
HANGUL = 28  # tokens: its characters are in pieces


def test_a_chats_answer_is_the_text_of_its_tokens(house: Served) -> None:
    body = chat_body("초안 모델은?", **GREEDY, max_tokens=HANGUL, logprobs=True, top_logprobs=2, speculation=4)
    (choice,) = house.post("/v1/chat/completions", body).json()["choices"]
    content = choice["logprobs"]["content"]
    said = bytes(byte for token in content for byte in token["bytes"])
    assert said.decode(errors="replace") == choice["message"]["content"]
    assert all(token["top_logprobs"][0]["logprob"] == pytest.approx(token["logprob"], abs=CLOSE) for token in content)
    assert {len(token["top_logprobs"]) for token in content} == {2}
    chunks = [
        chunk["choices"][0]["logprobs"] for chunk in house.stream("/v1/chat/completions", body) if chunk["choices"]
    ]
    streamed = [token for told in chunks if told is not None for token in told["content"]]
    assert [token["token"] for token in streamed] == [token["token"] for token in content]
    assert [t["logprob"] for t in streamed] == pytest.approx([t["logprob"] for t in content], abs=CLOSE)


@pytest.mark.costly
@pytest.mark.parametrize("length", [0, 1])
@pytest.mark.parametrize("speculation", ["off", 4])
def test_a_text_is_weighed_as_an_evaluation_asks(
    house: Served, starter: Engine, length: int, speculation: object
) -> None:
    """As lm-eval does: the text as tokens, echoed; the last token is the one that was drawn."""
    asked = Request(text=TEXT, sampling=Sampling(temperature=0), max_tokens=1, logprobs=1, prompt_logprobs=True)
    heard = [event for event in EngineClient(starter).run(asked).events if isinstance(event, TokensScored)]
    scores = [score for event in heard for score in event.scores if event.of_prompt or length]
    prompt = [score.token for score in heard[0].scores]
    body = GREEDY | {"prompt": [prompt], "echo": True, "logprobs": 1, "max_tokens": length, "speculation": speculation}
    answer = house.post("/v1/completions", body).json()
    (choice,), told = answer["choices"], answer["choices"][0]["logprobs"]
    assert (answer["usage"]["completion_tokens"], choice["finish_reason"]) == (length, "length")
    assert told["token_logprobs"][1:] == pytest.approx([s.logprob for s in scores[1:]], abs=CLOSE)
    assert told["token_logprobs"][0] is told["top_logprobs"][0] is None
    text = b"".join(score.text for score in scores).decode()
    assert "".join(told["tokens"]) == text
    assert choice["text"] == text
    assert all(text[at:].startswith(token) for at, token in zip(told["text_offset"], told["tokens"], strict=True))
    assert all(told["tokens"][at] in told["top_logprobs"][at] for at in range(1, len(scores)))
    streamed = [chunk["choices"][0] for chunk in house.stream("/v1/completions", body)]
    assert "".join(piece["text"] for piece in streamed) == choice["text"]
    pieces = [piece["logprobs"] for piece in streamed if piece["logprobs"] is not None]
    assert [at for piece in pieces for at in piece["text_offset"]] == told["text_offset"]


def test_an_echo_alone_is_the_text_and_what_follows(house: Served) -> None:
    body = GREEDY | {"prompt": TEXT, "max_tokens": 6}
    alone, echoed = (house.post("/v1/completions", body | more).json() for more in ({}, {"echo": True}))
    assert echoed["choices"][0]["text"] == TEXT + alone["choices"][0]["text"]
    assert echoed["choices"][0]["logprobs"] is None


@pytest.mark.parametrize(
    ("text", "tokens", "offsets"),
    [
        (
            "한 🙂b",
            ["한".encode()[:1], "한".encode()[1:], b" ", "🙂".encode()[:3], "🙂".encode()[3:], b"b"],
            [0, 1, 1, 2, 3, 3],
        ),
        ("A draft", [b"<s>", b" A", b" draft"], [0, 0, 1]),
    ],
    ids=["characters in pieces", "begun by the tokenizer"],
)
def test_offsets_are_those_of_the_text(text: str, tokens: list[bytes], offsets: list[int]) -> None:
    """In characters, each where it begins."""
    body = {"model": "default", "prompt": text, "echo": True, "logprobs": 0}
    context = CallContext(OPENAI, ServerOptions(), EngineState(), SentPictures(None, "", decodes=False))
    call = Completion(Fields(body), context, "default")
    scores = [TokenScore(at, token, -1.0) for at, token in enumerate(tokens)]
    brought = Brought(prompt_scores=scores)
    brought.finished = Finished(RequestId(1), FinishReason.LENGTH, RequestStats(), (), 0)
    (choice,) = call.whole([brought])["choices"]
    assert choice["text"] == text
    assert choice["logprobs"]["text_offset"] == offsets


def test_what_a_model_cannot_say_is_a_number_of_json() -> None:
    never = TokenScore(1, b"a", -math.inf)
    answers = chat_logprobs([replace(never, likeliest=(never,))]), completion_logprobs([never], 0, 1)
    assert json.dumps(answers, allow_nan=False).count("-9999.0") == 4


def test_an_app_that_watches_does_not_hear_of_every_token(starter: Engine) -> None:
    told: list[Event] = []
    watched: Any = WatchedEngine(starter, told.append)
    heard = EngineClient(watched).run(Request(text=TEXT, max_tokens=2, logprobs=0)).events
    assert TokensScored in map(type, heard)
    assert TextDelta in map(type, told)
    assert TokensScored not in map(type, told)
