"""What was typed, attached or edited is neither lost nor there twice: a disk that refuses, other chats and windows."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.storage import Database, EditKind
from app.views.shell.kept_words import unsaved
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.composing import compose
from tests.helpers.full_disk import fill_up, make_room
from tests.helpers.stillness import still

LONG = "precious " * 600


def unsent(harness: AppHarness) -> dict[int, str]:
    return harness.application.storage.read.unsent.all()


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_what_is_sent_by_trying_again_is_sent_once(harness: AppHarness, qtbot: QtBot) -> None:
    """In a new chat, and in one that is there."""
    window, chats = harness.window, harness.chats
    window.composer.set_text("Hello")
    harness.press_return()
    QTest.keyClicks(window.composer.edit, " and more")
    harness.wait_until_quiet(qtbot)
    assert (chats.is_new, window.composer.text()) == (False, "and more")
    window.composer.unsent.keep()
    harness.wait_until_stored(qtbot)
    assert unsent(harness) == {chats.chat_id: "and more"}
    chats.new_chat()
    for in_new_chat in (True, False):
        if not in_new_chat:
            harness.ask(qtbot, "First")
        chat_id, before = chats.chat_id, len(chats.transcript.messages)
        harness.change(qtbot, fill_up)
        window.composer.edit.long_text_given.emit(LONG)
        window.composer.set_text(LONG)
        harness.press_return()
        qtbot.waitUntil(lambda: window.banner.button.text() == "Try again")
        harness.change(qtbot, make_room)
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


def test_what_is_sent_in_a_chat_that_is_being_deleted_stays_in_the_field(harness: AppHarness, qtbot: QtBot) -> None:
    """By itself, and with the folder that it is in."""
    chats, composer = harness.chats, harness.window.composer
    for in_folder in (False, True):
        chats.new_chat()
        harness.ask(qtbot, "First")
        chat_id, asked = chats.chat_id, len(harness.engine.requests)
        chats.folders.make(chats=[chat_id])
        harness.wait_until_stored(qtbot)
        composer.set_text("Second")
        if in_folder:
            chats.folders.delete(chats.folders.folder_of(chat_id) or 0, with_chats=True)
        else:
            chats.delete_chats([chat_id])
        harness.press_return()
        harness.wait_until_stored(qtbot)
        assert (chats.is_new, composer.text(), len(harness.engine.requests)) == (True, "Second", asked)
        chats.deletions.undo()
        harness.wait_until_stored(qtbot)
        chats.open_chat(chat_id)
        assert ([row.text for row in chats.transcript.messages[2:]], composer.text()) == ([], "")
        chats.new_chat()
        harness.press_return()
        harness.wait_until_quiet(qtbot)
        assert [row.text for row in chats.transcript.messages[:1]] == ["Second"]


def test_no_reply_is_written_where_its_chat_or_its_question_is_being_deleted(harness: AppHarness, qtbot: QtBot) -> None:
    """Nor is one under way when what was deleted is back."""
    chats = harness.chats
    harness.ask(qtbot, "First")
    for again in (chats.asking.regenerate, chats.asking.continue_reply):
        reply = chats.transcript.messages[1]
        chats.delete_chats([chats.chat_id])
        assert again(reply.id)
        harness.wait_until_quiet(qtbot)
        assert len(harness.engine.requests) == 1
        chats.deletions.undo()
        harness.wait_until_stored(qtbot)
        assert [row.id for row in chats.transcript.messages[1:]] == [reply.id]
        assert chats.transcript.messages[1].status is reply.status
    for how in ("send", "regenerate", "continue_reply"):
        chats.new_chat()
        harness.ask(qtbot, "First")
        question, reply = chats.transcript.messages
        asked = len(harness.engine.requests)
        assert chats.send("Second") if how == "send" else getattr(chats.asking, how)(reply.id)
        chats.edits.delete(question.id, following=True)
        assert chats.keeping.try_now(60)  # both are on the disk before the window hears of either
        harness.wait_until_quiet(qtbot)
        chats.deletions.undo()
        harness.wait_until_stored(qtbot)
        assert chats.transcript.messages
        assert not any(message.under_way for message in chats.transcript.messages), how
        assert len(harness.engine.requests) == asked


def test_undo_in_the_banner_brings_back_what_it_names(harness: AppHarness, qtbot: QtBot) -> None:
    """Also what was deleted twice: a disk that takes its time invites to press the key once more."""
    chats, banner, numbers = harness.chats, harness.window.banner, []
    for name in ("First", "Second", "Third"):
        chats.new_chat()
        harness.ask(qtbot, name)
        numbers.append(chats.chat_id)
    for number in numbers:
        chats.delete_chats([number])
        harness.wait_until_stored(qtbot)
    third, second, first = chats.deletions.latest()
    chats.deletions.forget([first])
    harness.wait_until_stored(qtbot)
    chats.deletions.restore(second)
    harness.wait_until_stored(qtbot)
    assert (banner.isVisible(), banner.sentence.text()) == (True, "Deleted “Third”.")
    for chat_id in (second.chat_id, 0):
        chats.open_chat(chat_id) if chat_id else chats.new_chat()
        still()
        hit = harness.window.childAt(banner.geometry().center())  # Qt raises the page that it shows
        assert hit is not None
        assert hit is banner or banner.isAncestorOf(hit)
    chats.delete_chats([second.chat_id])
    harness.wait_until_stored(qtbot)
    second = chats.deletions.latest()[0]
    chats.deletions.forget([second])
    harness.wait_until_stored(qtbot)
    assert not banner.isVisible()
    assert [each.chat_id for each in chats.deletions.latest()] == [third.chat_id]

    chats.deletions.empty()
    chats.new_chat()
    harness.ask(qtbot, "Fourth")
    chat_id, stored = chats.chat_id, harness.application.storage.read
    chats.folders.make(chats=[chat_id])
    harness.wait_until_stored(qtbot)
    moved = chats.deletions.last  # which stays for Undo
    folder, question = chats.folders.folder_of(chat_id) or 0, chats.transcript.messages[0].id
    for delete in (
        partial(chats.delete_chats, [chat_id]),
        partial(chats.edits.delete, question),
        partial(chats.edits.delete, question, following=True),
        partial(chats.folders.delete, folder, with_chats=True),
    ):
        chats.open_chat(chat_id)
        for _ in range(2):
            delete()
        harness.wait_until_stored(qtbot)
        assert banner.button.text() == "Undo"
        banner.button.click()
        harness.wait_until_stored(qtbot)
        summary = stored.chats.summary(chat_id)
        assert summary is not None
        assert (summary.folder_id, len(stored.messages.shown_branch(chat_id))) == (folder, 2), delete
        assert (chats.deletions.latest(), chats.deletions.last) == ([], moved)


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_what_a_full_disk_has_refused_is_kept_once_there_is_room(tmp_path: Path, qtbot: QtBot) -> None:
    """Typed in a chat that is left, attached, and typed into a message: nobody touches any of it again."""
    with open_app(tmp_path, qtbot) as first:
        first.ask(qtbot, "First")
        first.change(qtbot, fill_up)
        first.window.composer.set_text(LONG)
        first.window.composer.edit.long_text_given.emit(LONG)
        first.chats.edits.begin(1)
        first.chats.edits.type(1, LONG)
        first.chats.keeping.keep_due()
        first.chats.new_chat()
        first.wait_until_stored(qtbot)
        assert unsent(first) == {}
        first.change(qtbot, make_room)
    with open_app(tmp_path, qtbot) as second:
        second.chats.open_chat(1)
        assert second.window.composer.text() == LONG
        assert len(second.window.composer.attached.chips) == 1
        edit = second.chats.transcript.messages[0].edit
        assert edit is not None
        assert edit.text == LONG


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_what_is_typed_while_refused_words_are_tried_again_is_kept(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as first:
        first.ask(qtbot, "First")
        first.change(qtbot, fill_up)
        first.chats.edits.begin(1)
        first.chats.edits.type(1, LONG)
        qtbot.waitUntil(lambda: first.chats.keeping.has_refused)
        first.change(qtbot, make_room)
        first.chats.edits.type(1, "newest")
        first.chats.keeping.try_again()
    with open_app(tmp_path, qtbot) as second:
        second.chats.open_chat(1)
        edit = second.chats.transcript.messages[0].edit
        assert edit is not None
        assert edit.text == "newest"


def test_words_of_a_run_without_chats_stay_until_the_chats_have_them(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with AppHarness(tmp_path) as harness:
        application, file = harness.application, harness.paths.unsent
        file.write_text("precious", encoding="utf-8")
        free = threading.Event()
        hold = partial(application.storage.write, lambda _stores: free.wait(60), lambda _: None, lambda _: None)
        opens = application.open
        monkeypatch.setattr(application, "open", lambda: (opens(), hold()))
        application.show()
        qtbot.waitUntil(lambda: application.storage.pending > 0)
        assert file.exists()
        with qtbot.waitSignal(application.opened):
            free.set()
        assert not file.exists()
        assert unsent(harness) == {harness.chats.chat_id: "precious"}
        assert harness.window.composer.text() == "precious"


def test_what_waits_in_quick_ask_and_in_a_new_chat_stays_apart(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as first:
        composer = first.window.composer
        new_id = first.chats.chat_id
        QTest.keyClicks(composer.edit, "half a thought")
        composer.edit.long_text_given.emit(LONG)
        composer.unsent.keep()
        first.wait_until_stored(qtbot)
        answers: list[int] = []
        assert first.chats.quick_questions.ask("Quick?", first.chats.transcript, answers.append)
        first.wait_until_quiet(qtbot)
        first.chats.open_chat(answers[0])
        quick = first.window.tools.desktop.quick_ask
        quick.come_to_front()
        QTest.keyClicks(quick.edit, "half a ")
        compose(quick.edit, "생각")
    with open_app(tmp_path, qtbot) as second:
        assert (second.window.composer.text(), unsent(second)) == ("half a thought", {new_id: "half a thought"})
        assert len(second.window.composer.attached.chips) == 1
        quick = second.window.tools.desktop.quick_ask
        assert quick.edit.text() == "half a 생각"
        quick.come_to_front()
        QTest.keyClick(quick.edit, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: bool(quick.model.messages))
        second.wait_until_quiet(qtbot)
        assert second.application.storage.read.unsent.in_quick_ask() == ""


@pytest.mark.expect_log("the database cannot be opened")
def test_what_is_typed_while_nothing_is_saved_waits_for_the_next_run(tmp_path: Path, qtbot: QtBot) -> None:
    """In the window and in Quick Ask."""
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
        quick = first.window.tools.desktop.quick_ask
        quick.come_to_front()
        QTest.keyClicks(quick.edit, "quick")
        first.close()
        first.paths.database.rmdir()
        with open_app(tmp_path, qtbot) as second:
            assert second.window.composer.text() == "precious\n\ndear\n\nquick"


@pytest.mark.expect_log("was not stored: SQLITE_FULL", "was not stored: SQLITE_CONSTRAINT_TRIGGER")
def test_an_edit_that_was_refused_is_saved_once(harness: AppHarness, qtbot: QtBot) -> None:
    edits, banner = harness.chats.edits, harness.window.banner

    def refused(kind: EditKind) -> int:
        harness.chats.new_chat()
        harness.ask(qtbot, "First")
        reply = harness.chats.transcript.messages[1].id
        harness.change(qtbot, fill_up)
        edits.begin(reply, kind)
        edits.type(reply, LONG)
        assert edits.save(reply)
        qtbot.waitUntil(lambda: banner.isVisible() and banner.button.text() == "Try again")
        return reply

    stored = harness.application.storage.read.database
    for kind in EditKind:
        reply = refused(kind)
        harness.change(qtbot, make_room)
        assert edits.save(reply)
        harness.wait_until_stored(qtbot)
        before = stored.rows("SELECT id FROM messages")
        banner.button.click()
        harness.wait_until_stored(qtbot)
        assert stored.rows("SELECT id FROM messages") == before, kind
    reply = refused(EditKind.EDIT)
    edits.type(reply, LONG + "and more")
    harness.change(qtbot, make_room)
    banner.button.click()
    harness.wait_until_stored(qtbot)
    assert harness.chats.transcript.messages[1].text == LONG + "and more"
    stays = "CREATE TRIGGER stays BEFORE DELETE ON edits BEGIN SELECT raise(ABORT, ''); END"
    harness.change(qtbot, lambda stores: stores.database.execute(stays))
    before = stored.rows("SELECT id FROM messages")
    reply = harness.chats.transcript.messages[1].id
    edits.begin(reply)
    edits.type(reply, "or less")
    assert edits.save(reply)
    harness.wait_until_stored(qtbot)
    assert stored.rows("SELECT id FROM messages") == before


@pytest.mark.expect_log("was not stored: SQLITE_FULL", "was not stored: SQLITE_BUSY")
def test_the_window_asks_before_it_drops_what_was_typed_just_now(harness: AppHarness, qtbot: QtBot) -> None:
    """Before the disk has been asked to keep it; once more, when somebody stayed and has typed on; and while it is
    being tried again.
    """
    window, banner = harness.window, harness.window.banner
    harness.change(qtbot, fill_up)
    window.composer.set_text(LONG)
    window.close()
    assert (window.isVisible(), banner.title.text()) == (True, unsaved().title)
    banner.close_button.click()
    QTest.keyClicks(window.composer.edit, "and more")
    window.close()
    assert (window.isVisible(), banner.title.text()) == (True, unsaved().title)
    harness.change(qtbot, make_room)
    window.composer.unsent.keep()
    harness.wait_until_stored(qtbot)
    assert not harness.chats.has_unsaved

    other = Database(harness.paths.database)
    harness.change(qtbot, lambda stores: stores.database.execute("PRAGMA busy_timeout = 100"))
    other.execute("BEGIN IMMEDIATE")
    window.composer.set_text("precious")
    window.composer.unsent.keep()
    harness.wait_until_stored(qtbot)
    harness.chats.keeping.try_again()
    window.close()
    assert window.isVisible()
    other.execute("ROLLBACK")
    other.close()
    window.composer.unsent.keep()
    harness.wait_until_stored(qtbot)
    assert not harness.chats.has_unsaved


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_what_comes_after_a_refused_question_is_on_disk_when_that_is_sent(harness: AppHarness, qtbot: QtBot) -> None:
    """Text in place of it and a file beside it, also where another chat is open by then."""
    window, chats = harness.window, harness.chats
    harness.ask(qtbot, "First")
    other = chats.chat_id
    chats.new_chat()
    new_id = chats.chat_id
    harness.change(qtbot, fill_up)
    window.composer.set_text(LONG)
    harness.press_return()
    qtbot.waitUntil(lambda: window.banner.button.text() == "Try again")
    harness.change(qtbot, make_room)
    window.composer.set_text("Something else")
    window.composer.edit.long_text_given.emit(LONG)
    window.composer.unsent.keep()
    harness.wait_until_stored(qtbot)
    QTest.mouseClick(window.banner.button, Qt.MouseButton.LeftButton)
    chats.open_chat(other)
    harness.wait_until_quiet(qtbot)
    waiting = harness.application.storage.read.unsent
    assert (waiting.all(), [each.text for each in waiting.attachments()[new_id]]) == (
        {new_id: "Something else"},
        [LONG],
    )


def test_what_is_typed_after_a_question_stays_where_it_was_left(harness: AppHarness, qtbot: QtBot) -> None:
    """The question leaves the field of the chat, though another one is open when the disk has it."""
    chats, composer = harness.chats, harness.window.composer
    harness.ask(qtbot, "First")
    first = chats.chat_id
    free = threading.Event()
    harness.application.storage.write(lambda _: free.wait(60), lambda _: None, lambda _: None)
    composer.set_text("Second")
    harness.press_return()
    QTest.keyClicks(composer.edit, " and more")
    chats.new_chat()
    free.set()
    harness.wait_until_quiet(qtbot)
    assert unsent(harness) == {first: "and more"}
    chats.open_chat(first)
    assert composer.text() == "and more"
