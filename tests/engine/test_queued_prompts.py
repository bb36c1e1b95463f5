"""What is known of a prompt while its request is in the queue: that it fits, and what the reply may repeat."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tokenizers import normalizers, processors

from engine import ChatEngine, Engine, Event, Failed, Finished, FinishReason, PromptFits, Request, RequestId
from engine.decoding.prompt import encode
from engine.models.loading import LoadedModel
from engine.runtime.queued import QueuedReply
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import PATIENCE_S, EngineClient
from tests.helpers.loading import load_model

ID = RequestId(1)


@pytest.fixture
def model(zoo: Zoo) -> LoadedModel:
    return load_model(zoo.main)


def backend(model: LoadedModel) -> Any:
    return model.tokenizer._tokenizer.backend_tokenizer


def test_prompt_that_is_made_again_is_told_to_fit_once(model: LoadedModel) -> None:
    told: list[Event] = []
    queued = QueuedReply(ID, Request(text="a draft"), told.append)
    for _ in range(2):
        assert queued.is_ready(model, PATIENCE_S)
        queued.unprepare()
    assert told == [PromptFits(ID)]


def outcome(engine: ChatEngine, on_fit: Callable[[], object]) -> Event:
    """The last event of a request whose sink does this where its prompt is told to fit."""
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def sink(event: Event) -> None:
        events.put(event)
        if isinstance(event, PromptFits):
            on_fit()

    engine.submit(Request(text="a draft", max_tokens=3), sink)
    while not isinstance(event := events.get(timeout=PATIENCE_S), Finished | Failed):
        pass
    return event


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.expect_log("a sink raised")
def test_sink_that_raises_where_a_prompt_is_told_to_fit_ends_nothing(client: EngineClient) -> None:
    end = outcome(client.engine, interrupt)
    assert isinstance(end, Finished)
    assert len(end.tokens) == 3


def test_sink_that_closes_the_engine_there_does_not_wait(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine thread waits for the one that makes the prompt."""
    engine, closed = Engine(), list[bool]()
    EngineClient(engine).load(zoo.main)
    with monkeypatch.context() as patch:
        patch.setattr(engine._thread, "join", lambda _: pytest.fail("it waits"))
        end = outcome(engine, lambda: closed.append(engine.close()))
    assert isinstance(end, Finished)
    assert end.reason is FinishReason.CANCELLED
    assert closed == [False]
    assert engine.close()


@pytest.mark.parametrize("text", ["a draft", "\ufdfa" * 9], ids=["begun by a token", "written out"])
def test_prompt_that_a_tokenizer_makes_longer_is_counted_first(model: LoadedModel, text: str) -> None:
    """Though it has fewer bytes than there is room for tokens."""
    backend(model).normalizer = normalizers.NFKC()
    begin = "<|im_start|>"
    backend(model).post_processor = processors.TemplateProcessing(f"{begin} $A", special_tokens=[(begin, 256)])
    room = len(text.encode()) + 1
    assert len(encode(text, model)) >= room
    told: list[Event] = []
    assert QueuedReply(ID, Request(text=text, context_tokens=room), told.append).is_ready(model, PATIENCE_S)
    assert not told


@pytest.mark.parametrize("more", [{"logprobs": 1}, {"prediction": "a draft"}], ids=["logprobs", "prediction"])
def test_start_does_not_wait_for_what_takes_a_while(
    model: LoadedModel, more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the tokens are given."""
    go_on = threading.Event()

    def slow(*_: object, **__: object) -> list[int]:
        go_on.wait(PATIENCE_S)
        return []

    for name in ("spelling_of", "encode_plain"):
        monkeypatch.setattr(f"engine.runtime.queued.{name}", slow)
    queued = QueuedReply(ID, Request(tokens=(1, 2), **more), lambda _: None)
    assert not queued.is_ready(model)
    go_on.set()
    assert queued.is_ready(model, PATIENCE_S)


def predicted(model: LoadedModel, prediction: str) -> Sequence[int]:
    request = Request(text="a draft", prediction=prediction, context_tokens=32)
    return QueuedReply(ID, request, lambda _: None)._prepared(model).result().prediction


def test_prediction_is_no_longer_than_a_reply_can_be(model: LoadedModel) -> None:
    assert predicted(model, "ab" * 500) == encode("ab" * 500, model)[: 32 - len("a draft")]


def test_prediction_has_no_tokens_that_the_model_cannot_read(model: LoadedModel) -> None:
    backend(model).add_tokens(["FAR"])
    (far,) = encode("FAR", model)
    narrow = replace(model, logit_width=far)
    assert predicted(narrow, "aFARb") == encode("ab", model)
