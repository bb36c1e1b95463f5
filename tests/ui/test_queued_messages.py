"""Return while a reply is written: the message is sent when the reply is complete, in whatever chat it was typed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine import OutOfMemory
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import Script


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[AppHarness]:
    """A reply is being written, and a message waits for its end."""
    with open_app(tmp_path, qtbot) as harness:
        harness.engine.scripts.append(Script(("One", " two")))
        harness.engine.gate.hold()
        harness.window.composer.send("First")
        qtbot.waitUntil(lambda: harness.chats.generating)
        QTest.keyClicks(harness.window.composer.edit, "Second")
        harness.press_return()
        assert harness.window.composer.queue_note.isVisible()
        yield harness
        harness.engine.gate.open()


def texts(harness: AppHarness, chat_id: int) -> list[str]:
    return [message.text for message in harness.application.storage.read.messages.shown_branch(chat_id)]


def finish(harness: AppHarness, qtbot: QtBot) -> None:
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: not harness.chats.replies.chats())
    harness.wait_until_stored(qtbot)


def test_it_is_on_disk_at_once_and_sent_when_the_reply_is_complete(harness: AppHarness, qtbot: QtBot) -> None:
    """Also a process that is killed keeps what was sent, without waiting for a pause after the last key."""
    chat_id, composer = harness.chats.chat_id, harness.window.composer
    assert not composer.unsent._keep.isActive()
    harness.wait_until_stored(qtbot)
    assert harness.application.storage.read.unsent.all() == {chat_id: "Second"}
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: len(harness.chats.transcript.messages) == 4)
    finish(harness, qtbot)
    assert texts(harness, chat_id)[:3] == ["First", "One two", "Second"]
    assert composer.is_empty
    assert not composer.queue_note.isVisible()


def test_it_stays_where_the_reply_fails(harness: AppHarness, qtbot: QtBot) -> None:
    """Also where another chat is open by then."""
    chats, composer = harness.chats, harness.window.composer
    composer.set_text("")
    finish(harness, qtbot)
    for elsewhere in (False, True):
        chats.new_chat()
        harness.engine.scripts.append(Script(("One",), error=OutOfMemory("full")))
        harness.engine.gate.hold()
        composer.send("First")
        qtbot.waitUntil(lambda: chats.generating)
        chat_id = chats.chat_id
        composer.send("Second")
        if elsewhere:
            chats.new_chat()
        finish(harness, qtbot)
        assert len(texts(harness, chat_id)) == 2
        chats.open_chat(chat_id)
        assert composer.text() == "Second"


def test_it_still_waits_when_its_chat_is_opened_again_and_goes_there(harness: AppHarness, qtbot: QtBot) -> None:
    chat_id, composer = harness.chats.chat_id, harness.window.composer
    harness.chats.new_chat()
    assert not composer.queue_note.isVisible()
    harness.chats.open_chat(chat_id)
    assert composer.queue_note.isVisible()
    harness.chats.new_chat()
    QTest.keyClicks(composer.edit, "Elsewhere")
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: len(texts(harness, chat_id)) == 4)
    finish(harness, qtbot)
    assert texts(harness, chat_id)[2] == "Second"
    assert (harness.chats.is_new, composer.text()) == (True, "Elsewhere")
    harness.chats.open_chat(chat_id)
    assert composer.is_empty


@pytest.mark.parametrize("how", ["typed", "stopped"])
def test_it_stays_where_it_was_changed_or_the_reply_was_stopped(harness: AppHarness, qtbot: QtBot, how: str) -> None:
    chat_id, composer = harness.chats.chat_id, harness.window.composer
    if how == "typed":
        QTest.keyClicks(composer.edit, "!")
        assert not composer.queue_note.isVisible()
    else:
        QTest.keyClick(composer.edit, Qt.Key.Key_Escape)
    finish(harness, qtbot)
    assert len(texts(harness, chat_id)) == 2
    assert composer.text() == ("Second!" if how == "typed" else "Second")


@pytest.mark.parametrize("how", ["added", "removed"])
def test_it_stays_where_other_things_are_attached_now(harness: AppHarness, qtbot: QtBot, how: str) -> None:
    """Also with its chat left: what was removed from a message is never sent."""
    chat_id, composer = harness.chats.chat_id, harness.window.composer
    composer.edit.long_text_given.emit("Words to ask about")
    assert not composer.queue_note.isVisible()
    if how == "removed":
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)
        assert composer.queue_note.isVisible()
        composer.attached.remove_requested.emit(composer.attached_rows()[0].number)
        assert not composer.queue_note.isVisible()
    harness.chats.new_chat()
    finish(harness, qtbot)
    assert len(texts(harness, chat_id)) == 2
    harness.chats.open_chat(chat_id)
    assert (composer.text(), len(composer.attached_rows())) == ("Second", how == "added")


def test_what_is_attached_goes_with_it(harness: AppHarness, qtbot: QtBot) -> None:
    chat_id, composer = harness.chats.chat_id, harness.window.composer
    composer.edit.long_text_given.emit("Words to ask about")
    QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    harness.chats.new_chat()
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: len(texts(harness, chat_id)) == 4)
    sent = harness.application.storage.read.messages.shown_branch(chat_id)[2]
    assert [each.text for each in sent.attachments] == ["Words to ask about"]


def test_it_does_not_go_to_another_branch(harness: AppHarness, qtbot: QtBot) -> None:
    """Another version was looked at meanwhile, and is not what it answers."""
    chat_id, composer = harness.chats.chat_id, harness.window.composer
    composer.set_text("")
    finish(harness, qtbot)
    harness.engine.gate.hold()
    first = harness.chats.transcript.messages[-1].id
    harness.chats.asking.regenerate(first)
    qtbot.waitUntil(lambda: harness.chats.generating)
    QTest.keyClicks(composer.edit, "Second")
    QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    harness.chats.show_version(harness.chats.transcript.messages[-1].id, -1)
    finish(harness, qtbot)
    assert [message.id for message in harness.chats.transcript.messages][1:] == [first]
    assert len(texts(harness, chat_id)) == 2
    assert (composer.text(), composer.queue_note.isVisible()) == ("Second", False)
