"""Automatic titles: asked for in the background, never over one that the person chose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.message_changes import Then
from app.controllers.titles import LONGEST, prompt_for, title_of
from app.settings import STARTER_FOLDER
from app.storage import StoredMessage
from engine import MessageRole, SpeculationMode
from tests.helpers.controller_harness import ControllerHarness, open_harness
from tests.helpers.fake_engine import Script


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[ControllerHarness]:
    with open_harness(tmp_path, qtbot) as harness:
        harness.settings.automatic_titles = True
        harness.load_pair()
        yield harness


def wait_for_title(harness: ControllerHarness, title: str) -> None:
    harness.qtbot.waitUntil(lambda: harness.titles() == [title])


def wait_for_rest(harness: ControllerHarness, requests: int) -> None:
    """Until so many requests have come and gone."""
    state = harness.engine.state
    harness.qtbot.waitUntil(
        lambda: len(harness.engine.requests) == requests and not (state().queued or state().running)
    )
    harness.wait_until_quiet()


def test_the_first_reply_gives_the_chat_a_title(harness: ControllerHarness) -> None:
    harness.will_say("Because of Rayleigh scattering.", "“Why the sky is blue.”")
    harness.say("why is the sky blue")
    wait_for_title(harness, "Why the sky is blue")
    assert harness.chat.title == "Why the sky is blue"
    request = harness.engine.requests[1]
    assert (request.transient, request.speculation.mode) == (True, SpeculationMode.OFF)
    assert "why is the sky blue" in request.messages[0].content
    assert "Rayleigh" in request.messages[0].content
    harness.say("And red?")
    wait_for_rest(harness, 3)


def test_it_gives_way_to_a_message_and_goes_on(harness: ControllerHarness) -> None:
    harness.will_say("one", "A title", "two")
    harness.engine.gate.hold()
    harness.chat.send("first")
    harness.engine.gate.let_through(1)
    harness.qtbot.waitUntil(lambda: len(harness.engine.requests) == 2)
    assert harness.engine.requests[1].transient
    harness.qtbot.waitUntil(lambda: len(harness.engine.scripts) == 1)  # the title is being written
    harness.chat.send("second")
    harness.engine.gate.open()
    wait_for_title(harness, "A title")
    assert [request.background for request in harness.engine.requests] == [False, True, False]
    assert harness.texts == ["first", "one", "second", "two"]


def test_a_model_that_thinks_first_is_waited_for(harness: ControllerHarness) -> None:
    harness.will_say("Because of Rayleigh scattering.")
    harness.engine.scripts.append(Script(pieces=("Blue sky",), thinking=("Let me think. ",) * 60))
    harness.say("why is the sky blue")
    wait_for_title(harness, "Blue sky")
    assert (harness.engine.requests[1].max_tokens or 0) >= 512


def test_a_model_that_goes_on_and_on_is_stopped(harness: ControllerHarness) -> None:
    harness.will_say("Because of Rayleigh scattering.")
    harness.engine.scripts.append(Script(pieces=("Blue sky\n", *("and so on " * 10 for _ in range(10_000)))))
    harness.say("why is the sky blue")
    wait_for_title(harness, "Blue sky")
    wait_for_rest(harness, 2)


def test_a_title_that_the_person_chose_stays(harness: ControllerHarness) -> None:
    harness.will_say("one", "By the model", "two")
    harness.engine.gate.hold()
    harness.chat.send("first")
    harness.engine.gate.let_through(1)
    harness.qtbot.waitUntil(lambda: len(harness.engine.requests) == 2)
    harness.chat.rename(harness.chat.chat_id, "Mine")
    harness.engine.gate.open()
    wait_for_rest(harness, 2)
    assert harness.titles() == ["Mine"]
    harness.say("second")
    wait_for_rest(harness, 3)
    assert harness.titles() == ["Mine"]


def test_nothing_is_asked_where_it_is_switched_off_or_the_starter_answers(harness: ControllerHarness) -> None:
    harness.settings.automatic_titles = False
    harness.say("first")
    harness.settings.automatic_titles = True
    harness.settings.main_folder = STARTER_FOLDER
    harness.say("second")
    wait_for_rest(harness, 2)
    assert harness.titles() == ["first"]


def test_a_model_without_a_title_is_not_asked_for_ever(harness: ControllerHarness) -> None:
    harness.will_say("one", '""\n', "two")
    harness.say("first")
    wait_for_rest(harness, 2)
    harness.say("second")
    wait_for_rest(harness, 3)
    assert harness.titles() == ["first"]


def test_another_first_question_gets_another_title(harness: ControllerHarness) -> None:
    harness.will_say("one", "Old title", "two", "New title")
    harness.say("first")
    wait_for_title(harness, "Old title")
    edits, message_id = harness.controller.edits, harness.rows[0].id
    edits.begin(message_id)
    edits.type(message_id, "something else")
    assert edits.save(message_id, Then.REPLY)
    wait_for_title(harness, "New title")


def test_a_title_of_a_question_that_was_replaced_while_it_was_written_is_not_taken(harness: ControllerHarness) -> None:
    harness.will_say("one", "Old title", "two", "New title")
    harness.engine.gate.hold()
    harness.chat.send("first")
    harness.engine.gate.let_through(1)
    harness.qtbot.waitUntil(lambda: len(harness.engine.scripts) == 2)  # the title is being written
    harness.wait_until_quiet()
    edits, message_id = harness.controller.edits, harness.rows[0].id
    edits.begin(message_id)
    edits.type(message_id, "something else")
    assert edits.save(message_id, Then.REPLY)
    harness.qtbot.waitUntil(lambda: len(harness.engine.requests) == 3)
    harness.engine.gate.open()
    wait_for_rest(harness, 4)
    wait_for_title(harness, "New title")


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ('"Why the sky is blue."\n\nI chose this because', "Why the sky is blue"),
        ("**Title:** Blue skies", "Blue skies"),
        ("# Blue skies", "Blue skies"),
        ("Title: “Blue\tskies”", "Blue skies"),
        ("<think>They want\na title</think>\nBlue skies", "Blue skies"),
        ("<think>They want a title and", ""),
        ("제목: 하늘이 파란 이유", "하늘이 파란 이유"),
        ("「空が青い理由」", "空が青い理由"),
        ("《天空为什么是蓝色的》。", "天空为什么是蓝色的"),
        ("\u202eeulb\x1b[0m", "eulb [0m"),
        ("", ""),
        ("  \n\"\"\n", ""),
        ("x" * 200, "x" * (LONGEST - 1) + "…"),
    ],
)  # fmt: skip
def test_what_a_model_answers_becomes_a_title(answer: str, title: str) -> None:
    assert title_of(answer) == title


@pytest.mark.parametrize(
    ("question", "answer", "asked"),
    [
        ("하늘은 왜 blue?", "", "제목을 한국어로"),
        ("空はなぜ青い？", "", "日本語で"),
        ("天空为什么是蓝色的？", "", "请用中文"),
        ("Why?", "", "Write a title"),
        ("Please translate 안녕 into French", "Salut", "Write a title"),
        ("この文を訳して: 你好", "Hello", "日本語で"),
        ("1 + 1?", "둘이에요.", "제목을 한국어로"),
        ("?", "!", "Write a title"),
    ],
)
def test_a_title_is_asked_for_in_the_language_of_the_chat(question: str, answer: str, asked: str) -> None:
    """As the statistics tell languages: a word of another one in a question does not make it that."""
    branch = [said(MessageRole.USER, question), said(MessageRole.ASSISTANT, answer)]
    assert asked in prompt_for(branch).splitlines()[0]


def said(role: MessageRole, text: str) -> StoredMessage:
    return cast(StoredMessage, SimpleNamespace(role=role, text=text))
