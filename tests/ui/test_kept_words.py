"""What was typed, attached or edited is neither lost nor there twice: a disk that refuses, other chats and windows."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.storage import Database, EditKind
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.full_disk import fill_up, make_room

LONG = "precious " * 600


def change(harness: AppHarness, qtbot: QtBot, what: object) -> None:
    harness.application.storage.write(what, lambda _: None, lambda _: None)  # type: ignore[arg-type]
    harness.wait_until_stored(qtbot)


def press_return(harness: AppHarness) -> None:
    QTest.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)


def unsent(harness: AppHarness) -> dict[int, str]:
    return harness.application.storage.read.unsent.all()


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_what_is_sent_by_trying_again_is_sent_once(harness: AppHarness, qtbot: QtBot) -> None:
    """In a new chat, and in one that is there."""
    window, chats = harness.window, harness.chats
    for in_new_chat in (True, False):
        if not in_new_chat:
            harness.ask(qtbot, "First")
        chat_id, before = chats.chat_id, len(chats.transcript.messages)
        change(harness, qtbot, fill_up)
        window.composer.edit.long_text_given.emit(LONG)
        window.composer.set_text(LONG)
        press_return(harness)
        qtbot.waitUntil(lambda: window.banner.button.text() == "Try again")
        change(harness, qtbot, make_room)
        QTest.mouseClick(window.banner.button, Qt.MouseButton.LeftButton)
        harness.wait_until_quiet(qtbot)
        assert len(chats.transcript.messages) == before + 2
        assert chats.transcript.messages[before].attachments[0].text == LONG
        assert (window.composer.text(), window.composer.attached.chips) == ("", {})
        if in_new_chat:
            chats.new_chat()
            assert window.composer.text() == ""
        harness.wait_until_stored(qtbot)
        assert unsent(harness).get(chat_id, "") == ""


def test_a_quick_question_leaves_what_waits_in_a_new_chat(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as first:
        composer = first.window.composer
        QTest.keyClicks(composer.edit, "half a thought")
        composer.edit.long_text_given.emit(LONG)
        composer.unsent.keep()
        first.wait_until_stored(qtbot)
        answers: list[int] = []
        assert first.chats.asides.ask("Quick?", first.chats.transcript, answers.append)
        first.wait_until_quiet(qtbot)
        first.chats.open_chat(answers[0])
    with open_app(tmp_path, qtbot) as second:
        assert second.window.composer.text() == "half a thought"
        assert len(second.window.composer.attached.chips) == 1


def test_what_is_sent_in_a_chat_that_is_being_deleted_stays_in_the_field(harness: AppHarness, qtbot: QtBot) -> None:
    """By itself, and with the folder that it is in."""
    chats, composer = harness.chats, harness.window.composer
    for in_folder in (False, True):
        chats.new_chat()
        harness.ask(qtbot, "First")
        chat_id, asked = chats.chat_id, len(harness.engine.requests)
        chats.folders.make(chat_id=chat_id)
        harness.wait_until_stored(qtbot)
        composer.set_text("Second")
        if in_folder:
            chats.folders.delete(chats.folders.folder_of(chat_id) or 0, with_chats=True)
        else:
            chats.delete_chat(chat_id)
        press_return(harness)
        harness.wait_until_stored(qtbot)
        assert (chats.chat_id, composer.text(), len(harness.engine.requests)) == (0, "Second", asked)
        chats.deletions.undo()
        harness.wait_until_stored(qtbot)
        chats.open_chat(chat_id)
        assert ([row.text for row in chats.transcript.messages[2:]], composer.text()) == ([], "")
        chats.new_chat()
        press_return(harness)
        harness.wait_until_quiet(qtbot)
        assert [row.text for row in chats.transcript.messages[:1]] == ["Second"]


def test_no_reply_is_written_in_a_chat_that_is_being_deleted(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "First")
    chats = harness.chats
    for again in (chats.exchanges.regenerate, chats.exchanges.continue_reply):
        reply = chats.transcript.messages[1]
        chats.delete_chat(chats.chat_id)
        assert again(reply.id)
        harness.wait_until_quiet(qtbot)
        assert len(harness.engine.requests) == 1
        chats.deletions.undo()
        harness.wait_until_stored(qtbot)
        assert [row.id for row in chats.transcript.messages[1:]] == [reply.id]
        assert chats.transcript.messages[1].status is reply.status


def test_undo_in_the_banner_brings_back_what_the_banner_names(harness: AppHarness, qtbot: QtBot) -> None:
    chats, banner, numbers = harness.chats, harness.window.banner, []
    for name in ("First", "Second", "Third"):
        chats.new_chat()
        harness.ask(qtbot, name)
        numbers.append(chats.chat_id)
    for number in numbers:
        chats.delete_chat(number)
        harness.wait_until_stored(qtbot)
    third, second, first = chats.deletions.latest()
    chats.deletions.forget([first])
    harness.wait_until_stored(qtbot)
    chats.deletions.restore(second)
    harness.wait_until_stored(qtbot)
    assert (banner.isVisible(), banner.sentence.text()) == (True, "Deleted “Third”.")
    chats.delete_chat(second.chat_id)
    harness.wait_until_stored(qtbot)
    second = chats.deletions.latest()[0]
    act = banner._message.acts[0]
    assert act is not None
    chats.deletions.forget([second])
    harness.wait_until_stored(qtbot)
    assert not banner.isVisible()
    act()
    harness.wait_until_stored(qtbot)
    assert [each.chat_id for each in chats.deletions.latest()] == [third.chat_id]


def test_what_is_typed_on_stays_in_the_chat_that_begins(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.composer.set_text("Hello")
    press_return(harness)
    QTest.keyClicks(harness.window.composer.edit, " and more")
    harness.wait_until_quiet(qtbot)
    assert harness.chats.chat_id
    assert harness.window.composer.text() == "and more"
    harness.window.composer.unsent.keep()
    harness.wait_until_stored(qtbot)
    assert unsent(harness) == {harness.chats.chat_id: "and more"}


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_what_a_full_disk_has_refused_is_kept_once_there_is_room(tmp_path: Path, qtbot: QtBot) -> None:
    """Typed in a chat that is left, attached, and typed into a message: nobody touches any of it again."""
    with open_app(tmp_path, qtbot) as first:
        first.ask(qtbot, "First")
        change(first, qtbot, fill_up)
        first.window.composer.set_text(LONG)
        first.window.composer.edit.long_text_given.emit(LONG)
        first.chats.edits.begin(1)
        first.chats.edits.type(1, LONG)
        first.chats.edits.keep()
        first.chats.new_chat()
        first.wait_until_stored(qtbot)
        assert unsent(first) == {}
        change(first, qtbot, make_room)
    with open_app(tmp_path, qtbot) as second:
        second.chats.open_chat(1)
        assert second.window.composer.text() == LONG
        assert len(second.window.composer.attached.chips) == 1
        edit = second.chats.transcript.messages[0].edit
        assert edit is not None
        assert edit.text == LONG


def test_words_of_a_run_without_chats_stay_in_their_file_until_the_chats_have_them(
    tmp_path: Path, qtbot: QtBot
) -> None:
    with AppHarness(tmp_path) as harness:
        application, file = harness.application, harness.paths.unsent
        file.write_text("precious", encoding="utf-8")
        free = threading.Event()
        hold = partial(application.storage.write, lambda _stores: free.wait(60), lambda _: None, lambda _: None)
        application.window.painted_first.connect(lambda: QTimer.singleShot(0, hold))  # behind the opening
        application.show()
        qtbot.waitUntil(lambda: application.storage.pending > 0)
        assert file.exists()
        with qtbot.waitSignal(application.opened):
            free.set()
        assert not file.exists()
        assert unsent(harness) == {0: "precious"}
        assert harness.window.composer.text() == "precious"


def test_what_is_typed_into_quick_ask_waits_there_until_it_is_asked(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as first:
        quick = first.window.tools.desktop.quick_ask
        quick.come_to_front()
        QTest.keyClicks(quick.edit, "half a ")
        QApplication.sendEvent(quick.edit, QInputMethodEvent("생각", []))
    with open_app(tmp_path, qtbot) as second:
        assert (second.window.composer.text(), unsent(second)) == ("", {})
        quick = second.window.tools.desktop.quick_ask
        assert quick.edit.text() == "half a 생각"
        quick.come_to_front()
        QTest.keyClick(quick.edit, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: bool(quick._model.messages))
        second.wait_until_quiet(qtbot)
        assert second.application.storage.read.unsent.in_quick_ask() == ""


@pytest.mark.expect_log("the database cannot be opened")
def test_what_is_typed_into_quick_ask_while_nothing_is_saved_waits_in_the_next_run(
    tmp_path: Path, qtbot: QtBot
) -> None:
    with AppHarness(tmp_path) as first:
        first.paths.database.mkdir()
        first.application.show()
        qtbot.waitUntil(first.window.banner.isVisible)
        with qtbot.waitSignal(first.application.opened):
            first.window.banner.other_button.click()
        quick = first.window.tools.desktop.quick_ask
        quick.come_to_front()
        QTest.keyClicks(quick.edit, "precious")
        first.close()
        first.paths.database.rmdir()
        with open_app(tmp_path, qtbot) as second:
            assert second.window.composer.text() == "precious"


@pytest.mark.expect_log("the database cannot be opened")
def test_words_for_a_later_start_wait_in_their_file_while_nothing_is_saved(tmp_path: Path, qtbot: QtBot) -> None:
    with AppHarness(tmp_path) as first:
        first.paths.unsent.write_text("precious", encoding="utf-8")
        first.paths.database.mkdir()
        first.application.show()
        qtbot.waitUntil(first.window.banner.isVisible)
        with qtbot.waitSignal(first.application.opened):
            first.window.banner.other_button.click()
        first.wait_until_stored(qtbot)
        assert first.paths.unsent.read_text(encoding="utf-8") == "precious"  # whatever ends this run
        QTest.keyClicks(first.window.composer.edit, "dear")
        first.close()
        first.paths.database.rmdir()
        with open_app(tmp_path, qtbot) as second:
            assert second.window.composer.text() == "precious\n\ndear"


def test_what_is_deleted_twice_is_brought_back_by_one_undo(harness: AppHarness, qtbot: QtBot) -> None:
    """A disk that takes its time invites to press the key once more."""
    harness.ask(qtbot, "First")
    chats, chat_id, stored = harness.chats, harness.chats.chat_id, harness.application.storage.read
    chats.folders.make(chat_id=chat_id)
    harness.wait_until_stored(qtbot)
    folder, question = chats.folders.folder_of(chat_id) or 0, chats.transcript.messages[0].id
    for delete in (
        partial(chats.delete_chat, chat_id),
        partial(chats.edits.delete, question),
        partial(chats.edits.delete, question, following=True),
        partial(chats.folders.delete, folder, with_chats=True),
    ):
        chats.open_chat(chat_id)
        for _ in range(2):
            delete()
        harness.wait_until_stored(qtbot)
        assert harness.window.banner.button.text() == "Undo"
        harness.window.banner.button.click()
        harness.wait_until_stored(qtbot)
        summary = stored.chats.summary(chat_id)
        assert summary is not None
        assert (summary.folder_id, len(stored.messages.shown_branch(chat_id))) == (folder, 2), delete
        assert (chats.deletions.latest(), chats.deletions.can_undo) == ([], False)


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_an_edit_that_is_tried_again_is_saved_as_its_field_says_by_then(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "First")
    change(harness, qtbot, fill_up)
    edits = harness.chats.edits
    edits.begin(2)
    edits.type(2, LONG)
    assert edits.save(2)
    qtbot.waitUntil(lambda: harness.window.banner.button.text() == "Try again")
    edits.type(2, LONG + "and more")
    change(harness, qtbot, make_room)
    harness.window.banner.button.click()
    harness.wait_until_stored(qtbot)
    assert harness.chats.transcript.messages[1].text == LONG + "and more"


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
@pytest.mark.parametrize("kind", list(EditKind))
def test_what_was_saved_after_all_is_not_saved_once_more(harness: AppHarness, qtbot: QtBot, kind: EditKind) -> None:
    harness.ask(qtbot, "First")
    change(harness, qtbot, fill_up)
    edits = harness.chats.edits
    edits.begin(2, kind)
    edits.type(2, LONG)
    assert edits.save(2)
    qtbot.waitUntil(lambda: harness.window.banner.button.text() == "Try again")
    change(harness, qtbot, make_room)
    assert edits.save(2)
    harness.wait_until_stored(qtbot)
    stored = harness.application.storage.read.database
    before = stored.rows("SELECT id FROM messages")
    harness.window.banner.button.click()
    harness.wait_until_stored(qtbot)
    assert stored.rows("SELECT id FROM messages") == before


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_the_window_asks_before_it_drops_what_was_typed_just_now(harness: AppHarness, qtbot: QtBot) -> None:
    """Before the disk has been asked to keep it; and once more, when somebody stayed and has typed on."""
    window, banner = harness.window, harness.window.banner
    change(harness, qtbot, fill_up)
    window.composer.set_text(LONG)
    window.close()
    assert (window.isVisible(), banner.title.text()) == (True, "Not everything is saved")
    banner.close_button.click()
    QTest.keyClicks(window.composer.edit, "and more")
    window.close()
    assert (window.isVisible(), banner.title.text()) == (True, "Not everything is saved")
    change(harness, qtbot, make_room)
    window.composer.unsent.keep()
    harness.wait_until_stored(qtbot)
    assert not harness.chats.has_unsaved


@pytest.mark.expect_log("was not stored: SQLITE_BUSY")
def test_the_window_asks_while_what_was_refused_is_being_tried_again(harness: AppHarness, qtbot: QtBot) -> None:
    other = Database(harness.paths.database)
    change(harness, qtbot, lambda stores: stores.database.execute("PRAGMA busy_timeout = 100"))
    other.execute("BEGIN IMMEDIATE")
    harness.window.composer.set_text("precious")
    harness.window.composer.unsent.keep()
    harness.wait_until_stored(qtbot)
    harness.chats.keeping._try_again()
    harness.window.close()
    assert harness.window.isVisible()
    other.execute("ROLLBACK")
    other.close()
    harness.window.composer.unsent.keep()
    harness.wait_until_stored(qtbot)
    assert not harness.chats.has_unsaved


def test_a_reply_that_is_deleted_before_it_is_asked_for_is_not_under_way_when_it_is_back(
    harness: AppHarness, qtbot: QtBot
) -> None:
    chats = harness.chats
    for how in ("send", "regenerate", "continue_reply"):
        chats.new_chat()
        harness.ask(qtbot, "First")
        question, reply = chats.transcript.messages
        asked = len(harness.engine.requests)
        assert chats.send("Second") if how == "send" else getattr(chats.exchanges, how)(reply.id)
        chats.edits.delete(question.id, following=True)
        assert harness.chats.keeping.try_now(60)  # both are on the disk before the window hears of either
        harness.wait_until_quiet(qtbot)
        chats.deletions.undo()
        harness.wait_until_stored(qtbot)
        assert chats.transcript.messages
        assert not any(message.under_way for message in chats.transcript.messages), how
        assert len(harness.engine.requests) == asked


def test_what_can_be_undone_stays_in_sight_when_another_chat_is_opened(harness: AppHarness, qtbot: QtBot) -> None:
    """Qt raises the page that it shows, here over the banner."""
    harness.ask(qtbot, "One")
    kept = harness.chats.chat_id
    harness.chats.new_chat()
    harness.ask(qtbot, "Other")
    harness.chats.delete_chat(harness.chats.chat_id)
    harness.wait_until_stored(qtbot)
    window, banner = harness.window, harness.window.banner
    for chat_id in (kept, 0):
        harness.chats.open_chat(chat_id) if chat_id else harness.chats.new_chat()
        QApplication.processEvents()
        hit = window.childAt(banner.geometry().center())
        assert hit is not None
        assert hit is banner or banner.isAncestorOf(hit)
