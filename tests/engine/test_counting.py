"""Texts whose tokens are counted a slice at a time: by a real tokenizer, and by one that never ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from engine import CountId, EngineClosed, TokensCounted
from engine.models.loading import LoadedModel
from engine.runtime.commands import Count
from engine.runtime.counting import SLICE_CHARACTERS, Counting
from tests.engine.conftest import Zoo
from tests.helpers.loading import load_model

LONG = "word\n" * SLICE_CHARACTERS


class Heard:
    """Every answer, with the sink that it was for."""

    def __init__(self) -> None:
        self.answers: list[TokensCounted] = []
        self.sinks: list[Any] = []

    def __call__(self, sink: Any, event: Any) -> None:
        self.sinks.append(sink)
        self.answers.append(event)


@pytest.fixture(scope="module")
def model(zoo: Zoo) -> LoadedModel:
    return load_model(zoo.main)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def counting(heard: Heard) -> Counting:
    return Counting(heard)


def ask(counting: Counting, number: int, text: str) -> Any:
    def sink(_: object) -> None: ...

    counting.add(Count(CountId(number), text, sink))
    return sink


def tokens_of(model: LoadedModel, text: str) -> int:
    return len(model.tokenizer.encode(text, add_special_tokens=False))


class _Stuck:
    """A tokenizer that answers only when it is let go."""

    def __init__(self) -> None:
        self.free = threading.Event()

    def encode(self, _text: str, **_: object) -> list[int]:
        self.free.wait()
        return [1]


@pytest.fixture
def stuck() -> Iterator[_Stuck]:
    tokenizer = _Stuck()
    yield tokenizer
    tokenizer.free.set()


def test_another_model_counts_from_the_start(
    counting: Counting, heard: Heard, model: LoadedModel, stuck: _Stuck
) -> None:
    ask(counting, 1, "one")
    counting.step(replace(model, tokenizer=stuck), patience_s=0)
    assert (heard.answers, counting.busy) == ([], True)
    counting.stop()
    counting.step(model)
    assert heard.answers == [TokensCounted(CountId(1), tokens_of(model, "one"), None)]


def test_all_that_wait_are_refused(counting: Counting, heard: Heard, model: LoadedModel, stuck: _Stuck) -> None:
    sinks = [ask(counting, number, LONG) for number in (1, 2, 3)]
    counting.step(replace(model, tokenizer=stuck), patience_s=0)
    counting.refuse_all(EngineClosed)
    assert [(answer.count, answer.tokens, type(answer.error)) for answer in heard.answers] == [
        (number, 0, EngineClosed) for number in (1, 2, 3)
    ]
    assert heard.sinks == sinks
    assert not counting.busy


class _Beginning:
    """A tokenizer that marks the beginning of a text."""

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        return [*([1] if add_special_tokens else []), *text.encode()]


def test_what_marks_the_beginning_of_a_text_is_not_counted(
    counting: Counting, heard: Heard, model: LoadedModel
) -> None:
    ask(counting, 1, "one")
    counting.step(replace(model, tokenizer=_Beginning()))
    assert heard.answers[0].tokens == 3
