"""Versions of messages, deleting with undo, chats as a whole: nothing that was written is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.message_changes import Then
from app.storage.trash import Trash
from app.view_models.transcript import ReplyStatus
from tests.helpers.controller_harness import ControllerHarness, open_harness
from tests.helpers.fake_engine import Script

REPLY = "".join(Script().pieces)


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[ControllerHarness]:
    with open_harness(tmp_path, qtbot) as harness:
        harness.load_pair()
        yield harness


def will_say(harness: ControllerHarness, *replies: str) -> None:
    harness.engine.scripts.extend(Script(pieces=(reply,)) for reply in replies)


def edit(harness: ControllerHarness, message_id: int, text: str, then: Then | None = None) -> bool:
    """As the field in a message's place does it; a person's words are asked anew."""
    edits = harness.controller.edits
    edits.begin(message_id)
    edits.type(message_id, text)
    row = harness.controller.transcript.message(message_id)
    usual = Then.REPLY if row is not None and row.from_user else Then.NOTHING
    done = edits.save(message_id, then or usual)
    harness.settle()
    return done


def delete(harness: ControllerHarness, message_id: int, following: bool = True) -> None:
    harness.controller.edits.delete(message_id, following)
    harness.settle()


def versions(harness: ControllerHarness) -> list[tuple[int, int]]:
    return [(row.sibling, row.siblings) for row in harness.rows]


def test_a_version_comes_with_what_followed_and_deleted_messages_are_not_sent(harness: ControllerHarness) -> None:
    will_say(harness, "one", "one more", "two")
    harness.say("Question")
    first = harness.rows[1].id
    harness.say("And?")
    harness.chat.asking.regenerate(first)
    harness.wait_until_quiet()
    assert harness.texts == ["Question", "two"]
    harness.chat.show_version(harness.rows[1].id, -1)
    assert harness.texts == ["Question", "one", "And?", "one more"]
    harness.chat.show_version(first, -1)
    assert harness.texts == ["Question", "one", "And?", "one more"]

    harness.chat.new_chat()
    will_say(harness, "one", "two")
    harness.say("Question")
    delete(harness, harness.rows[1].id)
    harness.say("And?")
    assert [m.content for m in harness.engine.requests[-1].messages] == ["Question\n\nAnd?"]


def test_regenerate_while_generating_stops_the_old_and_starts_the_new(harness: ControllerHarness) -> None:
    will_say(harness, "old", "new")
    harness.engine.gate.hold()
    harness.chat.send("Question")
    old = harness.rows[1].id
    harness.qtbot.waitUntil(lambda: harness.rows[1].progress is not None)
    harness.chat.asking.regenerate(old)
    harness.engine.gate.open()
    harness.wait_until_quiet()
    assert harness.texts == ["Question", "new"]
    harness.chat.show_version(harness.rows[1].id, -1)
    assert (harness.rows[1].id, harness.rows[1].status) == (old, ReplyStatus.STOPPED)


def test_delete_of_a_generating_chat_stops_it_and_undo_keeps_its_text(harness: ControllerHarness) -> None:
    harness.engine.gate.hold()
    harness.chat.send("Question")
    harness.engine.gate.let_through(1)
    harness.wait_for_text("A draft ")
    chat_id = harness.chat.chat_id
    harness.chat.delete_chat(chat_id)
    harness.qtbot.waitUntil(lambda: not any(row.status.under_way for row in harness.chat.requests.rows))
    harness.chat.deletions.undo()
    assert (harness.rows[-1].text, harness.rows[-1].status) == ("A draft ", ReplyStatus.STOPPED)


def test_deleted_things_can_be_brought_back_after_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    with open_harness(tmp_path, qtbot) as harness:
        harness.load_pair()
        harness.say("Kept")
        delete(harness, harness.rows[1].id)
        harness.chat.new_chat()
        harness.say("Gone")
        harness.chat.delete_chat(harness.chat.chat_id)
    with open_harness(tmp_path, qtbot) as harness:
        assert (harness.titles(), harness.chat.deletions.can_undo) == (["Kept"], False)
        chat, message = harness.chat.deletions.latest()
        assert (chat.title, chat.whole_chat, message.title, message.whole_chat) == ("Gone", True, "Kept", False)
        harness.chat.deletions.restore(chat)
        harness.settle()
        assert (harness.titles(), harness.texts[0]) == (["Gone", "Kept"], "Gone")
        harness.chat.deletions.restore(message)
        harness.settle()
        assert [text for text in harness.texts if text] == ["Kept", REPLY]
        assert harness.chat.deletions.latest() == []


def test_undo_goes_back_deletion_by_deletion(harness: ControllerHarness) -> None:
    harness.say("One")
    harness.chat.delete_chat(harness.chat.chat_id)
    harness.say("Two")
    delete(harness, harness.rows[1].id)
    harness.chat.deletions.undo()
    assert harness.texts == ["Two", REPLY]
    assert harness.titles() == ["Two"]
    harness.chat.deletions.undo()
    assert (sorted(harness.titles()), harness.texts, harness.chat.deletions.can_undo) == (
        ["One", "Two"],
        ["One", REPLY],
        False,
    )


def test_an_emptied_trash_cannot_be_undone(harness: ControllerHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    harness.say("One")
    delete(harness, harness.rows[1].id)
    harness.chat.delete_chat(harness.chat.chat_id)
    with monkeypatch.context() as listing:
        listing.setattr(Trash, "latest", lambda *_: pytest.fail("the whole Trash is read on the GUI thread"))
        harness.chat.deletions.empty()
        harness.settle()
    assert (harness.chat.deletions.latest(), harness.chat.deletions.can_undo) == ([], False)
    harness.say("Two")
    harness.chat.deletions.empty()
    harness.chat.delete_chat(harness.chat.chat_id)  # after it was asked for, and before it is done
    harness.settle()
    assert harness.chat.deletions.can_undo
    harness.chat.deletions.undo()
    assert harness.titles() == ["Two"]


def test_a_copy_that_comes_late_takes_nobody_from_where_they_are(harness: ControllerHarness) -> None:
    harness.say("Question")
    original = harness.chat.chat_id
    harness.controller.duplicate(original)
    harness.controller.new_chat()
    harness.settle()
    assert (harness.chat.chat_id, harness.texts) == (0, [])
    assert len(harness.titles()) == 2
