"""Versions of messages, deleting with undo, chats as a whole: nothing that was written is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.view_models.transcript import ReplyStatus
from tests.helpers.desk import Desk, open_desk, recorded
from tests.helpers.fake_engine import Script


@pytest.fixture
def desk(tmp_path: Path, qtbot: QtBot) -> Iterator[Desk]:
    with open_desk(tmp_path, qtbot) as desk:
        desk.load_pair()
        yield desk


def will_say(desk: Desk, *replies: str) -> None:
    desk.engine.scripts.extend(Script(pieces=(reply,)) for reply in replies)


def versions(desk: Desk) -> list[tuple[int, int]]:
    return [(row.sibling, row.siblings) for row in desk.rows]


def test_regenerate_makes_another_version_and_keeps_the_first(desk: Desk) -> None:
    will_say(desk, "one", "two")
    desk.say("Question")
    assert desk.chat.regenerate(desk.rows[1].id)
    desk.wait_until_quiet()
    assert (desk.texts, versions(desk)) == (["Question", "two"], [(1, 1), (2, 2)])
    desk.chat.show_version(desk.rows[1].id, -1)
    assert (desk.texts, versions(desk)) == (["Question", "one"], [(1, 1), (1, 2)])


def test_version_comes_with_all_that_followed_it(desk: Desk) -> None:
    will_say(desk, "one", "one more", "two")
    desk.say("Question")
    first = desk.rows[1].id
    desk.say("And?")
    desk.chat.regenerate(first)
    desk.wait_until_quiet()
    assert desk.texts == ["Question", "two"]
    desk.chat.show_version(desk.rows[1].id, -1)
    assert desk.texts == ["Question", "one", "And?", "one more"]
    desk.chat.show_version(first, -1)
    assert desk.texts == ["Question", "one", "And?", "one more"]


def test_regenerate_while_generating_stops_the_old_and_starts_the_new(desk: Desk) -> None:
    will_say(desk, "old", "new")
    desk.engine.gate.hold()
    desk.chat.send("Question")
    old = desk.rows[1].id
    desk.qtbot.waitUntil(lambda: desk.rows[1].progress is not None)
    desk.chat.regenerate(old)
    desk.engine.gate.open()
    desk.wait_until_quiet()
    assert desk.texts == ["Question", "new"]
    desk.chat.show_version(desk.rows[1].id, -1)
    assert (desk.rows[1].id, desk.rows[1].status) == (old, ReplyStatus.STOPPED)


def test_edit_of_a_question_asks_again_and_keeps_the_old_branch(desk: Desk) -> None:
    will_say(desk, "one", "two")
    desk.say("First wording")
    assert desk.chat.edit(desk.rows[0].id, "Second wording")
    desk.wait_until_quiet()
    assert (desk.texts, versions(desk)) == (["Second wording", "two"], [(2, 2), (1, 1)])
    assert desk.titles() == ["Second wording"]
    assert [m.content for m in desk.engine.requests[-1].messages] == ["Second wording"]
    desk.chat.show_version(desk.rows[0].id, -1)
    assert desk.texts == ["First wording", "one"]


def test_edit_of_a_reply_asks_nothing(desk: Desk) -> None:
    will_say(desk, "one", "three")
    desk.say("Question")
    assert desk.chat.edit(desk.rows[1].id, "my own")
    assert (desk.texts, versions(desk)[1], len(desk.engine.requests)) == (["Question", "my own"], (2, 2), 1)
    desk.say("And?")
    assert [m.content for m in desk.engine.requests[-1].messages] == ["Question", "my own", "And?"]


def test_delete_message_takes_what_follows_and_undo_brings_it_back(desk: Desk) -> None:
    will_say(desk, "one", "two")
    desk.say("Question")
    desk.say("And?")
    desk.chat.delete_message(desk.rows[1].id)
    assert desk.texts == ["Question"]
    desk.chat.undo_delete()
    assert desk.texts == ["Question", "one", "And?", "two"]


def test_delete_of_a_version_shows_its_neighbour(desk: Desk) -> None:
    will_say(desk, "one", "two")
    desk.say("Question")
    desk.chat.regenerate(desk.rows[1].id)
    desk.wait_until_quiet()
    desk.chat.delete_message(desk.rows[1].id)
    assert (desk.texts, versions(desk)[1]) == (["Question", "one"], (1, 1))


def test_deleted_message_is_not_sent_again(desk: Desk) -> None:
    will_say(desk, "one", "two")
    desk.say("Question")
    desk.chat.delete_message(desk.rows[1].id)
    desk.say("And?")
    assert [m.content for m in desk.engine.requests[-1].messages] == ["Question\n\nAnd?"]


def test_delete_chat_with_undo(desk: Desk) -> None:
    desk.say("Question")
    said, chat_id = recorded(desk.chat.chat_deleted), desk.chat.chat_id
    desk.chat.delete_chat(chat_id)
    assert (said, desk.titles(), desk.rows, desk.chat.chat_id) == ([(chat_id, "Question")], [], [], 0)
    desk.chat.undo_delete()
    assert (desk.titles(), desk.texts[0], desk.chat.chat_id) == (["Question"], "Question", chat_id)
    desk.chat.undo_delete()
    assert desk.titles() == ["Question"]


def test_delete_of_a_generating_chat_stops_it_and_undo_keeps_its_text(desk: Desk) -> None:
    desk.engine.gate.hold()
    desk.chat.send("Question")
    desk.engine.gate.let_through(1)
    desk.wait_for_text("A draft ")
    chat_id = desk.chat.chat_id
    desk.chat.delete_chat(chat_id)
    desk.qtbot.waitUntil(lambda: not any(row.status.under_way for row in desk.chat.requests.rows))
    desk.chat.undo_delete()
    assert (desk.rows[-1].text, desk.rows[-1].status) == ("A draft ", ReplyStatus.STOPPED)


def test_deleted_things_are_gone_after_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    with open_desk(tmp_path, qtbot) as desk:
        desk.load_pair()
        desk.say("Kept")
        desk.chat.delete_message(desk.rows[1].id)
        desk.chat.new_chat()
        desk.say("Gone")
        desk.chat.delete_chat(desk.chat.chat_id)
    with open_desk(tmp_path, qtbot) as desk:
        assert desk.titles() == ["Kept"]
        assert [row["text"] for row in desk.database.rows("SELECT text FROM messages")] == ["Kept"]


def test_duplicate_copies_all_versions_and_opens_the_copy(desk: Desk) -> None:
    will_say(desk, "one", "two")
    desk.say("Question")
    desk.chat.regenerate(desk.rows[1].id)
    desk.wait_until_quiet()
    original = desk.chat.chat_id
    desk.chat.duplicate_chat(original)
    assert desk.chat.chat_id != original
    assert (desk.texts, versions(desk)) == (["Question", "two"], [(1, 1), (2, 2)])
    desk.say("Only in the copy")
    desk.chat.open_chat(original)
    assert desk.texts == ["Question", "two"]


def test_pinned_chats_come_first(desk: Desk) -> None:
    desk.say("Older")
    older = desk.chat.chat_id
    desk.chat.new_chat()
    desk.say("Newer")
    assert desk.titles() == ["Newer", "Older"]
    desk.chat.pin_chat(older, True)
    assert [row.text for row in desk.chat.conversations.rows] == ["Pinned", "Older", "Today", "Newer"]


def test_search_finds_titles_and_messages(desk: Desk) -> None:
    will_say(desk, "草稿模型先猜测。", "Nothing special.")
    desk.say("这是什么?")
    desk.chat.new_chat()
    desk.say("Weather")
    desk.chat.search("猜测")
    desk.qtbot.waitUntil(lambda: desk.titles() == ["这是什么?"])
    assert "猜测" in next(row.snippet for row in desk.chat.conversations.rows if row.chat_id)
    desk.chat.search("weather")
    desk.qtbot.waitUntil(lambda: desk.titles() == ["Weather"])
    desk.chat.search("")
    desk.qtbot.waitUntil(lambda: len(desk.titles()) == 2)
