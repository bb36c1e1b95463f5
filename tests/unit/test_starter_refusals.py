"""Where the starter pair says that it knows only Hunch, a model is offered instead of a figure."""

from __future__ import annotations

import json

import pytest

from app.settings import STARTER_NAME
from app.view_models.transcript import ReplyStatus, TranscriptMessage
from tests.architecture.project import ROOT

GUIDE = ROOT / "packaging" / "starter" / "guide"


def reply(text: str, model: str = STARTER_NAME) -> TranscriptMessage:
    return TranscriptMessage(1, False, text, model=model)


@pytest.mark.parametrize("language", ["en", "ko", "ja", "zh"])
def test_every_refusal_that_it_was_taught_is_known(language: str) -> None:
    for text in json.loads((GUIDE / "offtopic.json").read_text("utf-8"))[language]["answers"]:
        assert reply(text).needs_larger_model
        assert reply(text).has_notice
        assert not reply(text, model="Qwen3-8B").needs_larger_model
        assert not TranscriptMessage(1, False, text, model=STARTER_NAME, status=ReplyStatus.STREAMING).has_notice


def test_no_answer_that_it_was_taught_is_taken_for_a_refusal() -> None:
    lines = [line for file in GUIDE.glob("*.jsonl") for line in file.read_text("utf-8").splitlines() if line.strip()]
    answers = [one["answer"] for line in lines for one in json.loads(line).values() if isinstance(one, dict)]
    assert len(answers) > 100
    assert [text for text in answers if reply(text).needs_larger_model] == []
