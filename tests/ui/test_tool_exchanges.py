"""Exchanges: a reply calls tools, waits for consent, and goes on with their results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.storage import ReplyStatus
from app.storage.parts import Call, CallStage, Result, Text, Thinking, all_parts, of_kind
from app.tools.definitions import Answer, AskReason
from app.view_models.tools import CallState
from engine import MessageRole
from tests.helpers.controller_harness import ControllerHarness, open_harness
from tests.helpers.tool_calls import MODELS, FakeServers, call, calls, says, tool


class Exchange:
    """A chat with tools."""

    def __init__(self, harness: ControllerHarness, *on: str) -> None:
        self.harness = harness
        self.chat = harness.controller
        self.servers = FakeServers()
        self.servers.put(tool("read", reads_only=True), tool("write"), tool("send", "mail"))
        self.chat.tools.use_servers(self.servers)
        self.chat.tools.set_on(on or ("/calculator", "/time", "files/read", "files/write", "mail/send"), True)

    def ask(self, text: str, *scripts: object) -> None:
        self.harness.engine.scripts.extend(scripts)  # type: ignore[arg-type]
        assert self.chat.send(text)

    def say(self, text: str, *scripts: object) -> None:
        self.ask(text, *scripts)
        self.harness.wait_until_quiet()

    def wait(self) -> None:
        """For the question."""
        self.harness.qtbot.waitUntil(lambda: self.row.status is ReplyStatus.WAITS_FOR_YOU)

    def answer(self, answer: Answer) -> None:
        self.chat.exchanges.answer(self.row.id, answer)

    def finish(self, answer: Answer) -> None:
        self.wait()
        self.answer(answer)
        self.harness.wait_until_quiet()

    @property
    def row(self) -> object:
        return self.harness.rows[-1]

    @property
    def calls(self) -> list[object]:
        return [each for step in self.row.steps for each in step.calls]  # type: ignore[attr-defined]

    def stored(self) -> tuple[object, ...]:
        self.harness.settle()
        found = self.harness.storage.read.messages.message(self.row.id)  # type: ignore[attr-defined]
        assert found is not None
        return all_parts(found)


@pytest.fixture
def exchange(tmp_path: Path, qtbot: QtBot) -> Iterator[Exchange]:
    with open_harness(tmp_path, qtbot, models=MODELS) as harness:
        harness.load_pair()
        yield Exchange(harness)


def test_a_tool_that_reaches_nothing_runs_and_the_model_answers(exchange: Exchange) -> None:
    made = call("calculator", {"expression": "6*7"})
    exchange.say("6*7?", calls(made, thinking="I compute.", said="Let me see."), says("42."))
    row = exchange.row
    assert (row.text, row.status) == ("42.", ReplyStatus.DONE)
    (step,) = row.steps
    assert (step.text, step.thinking, step.calls[0].result) == ("Let me see.", "I compute.", "42")
    assert step.calls[0].state is CallState.DONE
    first, second = exchange.harness.engine.requests
    assert [each["function"]["name"] for each in first.tools] == [
        "calculator", "time", "files__read", "files__write", "mail__send",
    ]
    assert second.tools == first.tools
    assert second.messages[:-2] == first.messages
    asked, answered = second.messages[-2:]
    assert (asked.role, asked.content, asked.reasoning) == (MessageRole.ASSISTANT, "Let me see.", "I compute.")
    assert asked.tool_calls == (made,)
    assert (answered.role, answered.content, answered.tool_call_id) == (MessageRole.TOOL, "42", made.id)
    parts = exchange.stored()
    assert [type(each) for each in parts] == [Thinking, Text, Call, Result, Text]
