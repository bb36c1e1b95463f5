"""The words in the composer in the context meter: counted a moment after the last key, by the engine, one at a time."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.controllers.token_counts import TypedTokens
from engine import CountId, Sink
from tests.helpers.app_harness import AppHarness


def is_told(typed: TypedTokens, tokens: int) -> bool:
    return typed.tokens == tokens


def counted(app: AppHarness, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the engine is asked to count from now on."""
    asked: list[str] = []
    count = app.engine.count_tokens

    def note(text: str, sink: Sink) -> CountId:
        asked.append(text)
        return count(text, sink)

    monkeypatch.setattr(app.engine, "count_tokens", note)
    return asked


def test_typed_words_are_one_count(app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(app, monkeypatch)
    QTest.keyClicks(app.window.composer.edit, "as fast as somebody types")
    qtbot.waitUntil(lambda: app.application.file_controllers.typed.tokens == 5)
    assert asked == ["as fast as somebody types"]

    app.window.composer.set_text("")
    app.ask(qtbot, "Hello")
    before = app.used_tokens
    assert before > 0
    QTest.keyClicks(app.window.composer.edit, "one two three")  # a word is a token of the scripted engine
    qtbot.waitUntil(lambda: app.used_tokens == before + 3)
    assert app.window.composer.ring.isVisible()
    chat_id = app.chats.chat_id
    app.chats.new_chat()  # each chat has the tokens of its own words
    qtbot.waitUntil(lambda: app.application.file_controllers.typed.tokens == 0)
    assert not app.window.composer.ring.isVisible()
    app.chats.open_chat(chat_id)
    qtbot.waitUntil(lambda: app.used_tokens == before + 3)
    app.press_return()
    app.wait_until_quiet(qtbot)
    stats = app.chats.transcript.messages[-1].stats
    assert stats is not None
    qtbot.waitUntil(lambda: app.used_tokens == stats.context_tokens)


def test_words_are_counted_once_each(app: AppHarness, qtbot: QtBot) -> None:
    typed = app.application.file_controllers.typed
    for text, tokens in (("one two", 2), ("", 0), ("one two", 2), ("  \n", 0), ("one", 1)):
        typed.count(text)
        qtbot.waitUntil(partial(is_told, typed, tokens))

    told = list[int]()
    typed.changed.connect(told.append)
    for text in ("one two three four", "one two three", "one two"):  # before any of them is answered
        typed.count(text)
    qtbot.waitUntil(lambda: typed.tokens == 2)
    assert told == [2]

    typed.count("")
    app.models.eject()
    qtbot.waitUntil(lambda: app.models.pair.state != "ready")
    typed.count("one two three")
    assert typed.tokens == 0
    app.models.wake()
    qtbot.waitUntil(lambda: typed.tokens == 3)


def test_another_text_has_not_the_tokens_of_the_one_before_while_no_model_is_loaded(
    app: AppHarness, qtbot: QtBot
) -> None:
    typed = app.application.file_controllers.typed
    typed.count("one two three")
    qtbot.waitUntil(lambda: typed.tokens == 3)
    app.models.eject()
    qtbot.waitUntil(lambda: app.models.pair.state != "ready")
    assert typed.tokens == 3
    typed.count("one")
    assert typed.tokens == 0
    app.models.wake()
    qtbot.waitUntil(lambda: typed.tokens == 1)
