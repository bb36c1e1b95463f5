"""The main window over a scripted engine: asking, chats, shortcuts, notices, closing."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.settings import STARTER_EYES
from app.storage import ChatStore, Database, MessageStore, NotOpened
from app.view_models.model_list import PairState
from app.view_models.transcript import ReplyStatus
from app.views.chats.chat_rows import RenameField
from app.views.shell.chat_settings import ChatSettings
from app.views.shell.inspector import InspectorPanel
from app.views.shell.kept_words import unsaved
from app.views.shell.picker import Picker
from app.views.widgets.banner import BannerText
from app.words.notices import NoticeAction
from engine import OutOfMemory
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import MAIN, Script
from tests.helpers.full_disk import fill_up, make_room
from tests.helpers.reply_words import footer_of, notice_of, title_of
from tests.helpers.stillness import still

CONTROL = Qt.KeyboardModifier.ControlModifier


def press(widget: QWidget, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(widget, key, modifiers)


def test_a_question_is_answered_retried_and_stopped(harness: AppHarness, qtbot: QtBot) -> None:
    window = harness.window
    for panel in (Picker, InspectorPanel, ChatSettings):
        assert not window.findChildren(panel), "made before anybody has opened it"
    page = window.empty_chat  # another model than the starter pair is loaded
    assert not any(each.isVisible() for each in (*page.questions, page.offer))
    assert harness.ask(qtbot, "How does drafting work?") == "A draft guesses, the main model checks."
    rows = harness.chats.transcript.messages
    assert [row.from_user for row in rows] == [True, False]
    assert "accepted" in footer_of(rows[1]).details
    assert window.header.title.text() == "How does drafting work?"
    assert harness.transcript.isVisible()
    assert not window.empty_chat.isVisible()

    harness.engine.scripts.append(Script(pieces=(), error=OutOfMemory("metal")))
    harness.ask(qtbot, "Big")
    failed = harness.chats.transcript.messages[-1]
    assert failed.status is ReplyStatus.FAILED
    harness.transcript.context.notice_action_requested.emit(failed.id, notice_of(failed).action)
    harness.wait_until_quiet(qtbot)
    assert harness.chats.transcript.messages[-1].status is ReplyStatus.DONE

    for place in ("composer", "transcript", "list"):
        harness.engine.gate.hold()
        QTest.keyClicks(window.composer.edit, "Long story")
        press(window.composer.edit, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: harness.chats.generating)
        focused = {"transcript": window.transcript, "list": window.sidebar.chats}.get(place) or window.composer.edit
        focused.setFocus()
        press(focused, Qt.Key.Key_Escape)
        qtbot.waitUntil(lambda: not harness.chats.generating)
        last = harness.chats.transcript.messages[-1]
        assert last.status is ReplyStatus.STOPPED, place
        harness.engine.gate.open()
        harness.wait_until_quiet(qtbot)


def test_closing_keeps_what_was_written(tmp_path: Path, qtbot: QtBot) -> None:
    with AppHarness(tmp_path) as harness:
        with qtbot.waitSignal(harness.application.opened):
            harness.application.show()
        assert harness.models.pair.state is PairState.LOADING
        assert "Loading" in harness.window.header.chip.accessibleName()
        assert harness.ask(qtbot, "Quick")

        harness.engine.gate.hold()
        QTest.keyClicks(harness.window.composer.edit, "Story")
        press(harness.window.composer.edit, Qt.Key.Key_Return)
        harness.engine.gate.let_through(1)
        qtbot.waitUntil(lambda: [row.text for row in harness.chats.transcript.messages[2:]] == ["Story", "A draft "])
        with qtbot.waitSignal(harness.application.ended):
            harness.close()
        assert harness.engine.close()  # its thread has ended
        database = Database(harness.paths.database)
        messages = MessageStore(database, ChatStore(database)).branch(ChatStore(database).leaf(1))
        assert (messages[-1].text, messages[-1].status) == ("A draft ", ReplyStatus.INTERRUPTED)
        database.close()
        assert not (harness.paths.data / "running").exists()


def test_before_the_engine_is_there(tmp_path: Path, qtbot: QtBot) -> None:
    with AppHarness(tmp_path / "eyes", put_settings={"main_folder": STARTER_EYES}, with_starter=True) as harness:
        assert harness.window.header.chip.accessibleName() == "Models: Loading Hunch Starter Eyes…"
        harness.open(qtbot)
    with AppHarness(tmp_path, with_starter=True) as harness:
        window = harness.window
        assert not harness.application.is_open
        assert window.header.chip.accessibleName() == "Models: Loading Hunch Starter…"
        assert window.composer.edit.placeholderText() == "Ask about Hunch"
        harness.open(qtbot)
        question = window.empty_chat.questions[0]
        assert question.isVisible()
        QTest.mouseClick(question, Qt.MouseButton.LeftButton)
        harness.wait_until_quiet(qtbot)
        assert harness.engine.requests[0].messages[-1].content == question.text()


@pytest.mark.parametrize("where", ["settings", "models"])
def test_what_is_asked_for_before_the_parts_are_there_comes_with_them(tmp_path: Path, qtbot: QtBot, where: str) -> None:
    with AppHarness(tmp_path) as harness:
        application, window = harness.application, harness.window
        getattr(window.menu, where).trigger()
        assert not application.is_open
        harness.open(qtbot)
        if where == "models":
            assert window.models_view.is_shown
        else:
            assert application.settings_window().isVisible()


def test_without_a_model_the_text_stays(tmp_path: Path, qtbot: QtBot) -> None:
    with AppHarness(tmp_path, put_settings={"main_folder": "", "draft_folder": ""}) as harness:
        with qtbot.waitSignal(harness.application.opened):
            harness.application.show()
        QTest.keyClicks(harness.window.composer.edit, "kept")
        press(harness.window.composer.edit, Qt.Key.Key_Return)
        assert harness.window.composer.text() == "kept"
        assert harness.window.banner.isVisible()
        assert harness.window.empty_chat.offer.text() == "No model loaded"
        QTest.mouseClick(harness.window.banner.button, Qt.MouseButton.LeftButton)
        assert harness.window.picker.isVisible()
        harness.window.picker.close()


def test_chats_are_opened_and_renamed(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "One")
    one, chats = harness.chats.chat_id, harness.window.sidebar.chats
    harness.window.menu.new_chat.trigger()
    harness.ask(qtbot, "Two")
    chats.take_focus()
    press(chats, Qt.Key.Key_Down)
    press(chats, Qt.Key.Key_Return)
    assert harness.window.header.title.text() == "One"

    harness.chats.new_chat()
    chats.setFocus()
    at = place_of(harness, one).center()
    QTest.mouseClick(chats.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert harness.chats.chat_id == one
    assert harness.window.composer.edit.hasFocus()
    QTest.mouseDClick(chats.viewport(), Qt.MouseButton.LeftButton, pos=at)
    field = QApplication.focusWidget()
    assert isinstance(field, RenameField)
    QTest.keyClicks(field, "After")
    press(field, Qt.Key.Key_Escape)
    assert harness.window.header.title.text() == "One"

    qtbot.waitUntil(lambda: chats.findChild(RenameField) is None)
    chats.start_rename(harness.chats.conversations.index_of(one))
    field = chats.findChild(RenameField)
    assert field is not None
    before = field.geometry()
    harness.chats.pin(one, True)  # which takes its row to the top
    qtbot.waitUntil(lambda: field.geometry() == place_of(harness, one) != before)
    harness.chats.delete_chats([one])
    qtbot.waitUntil(lambda: chats.findChild(RenameField) is None)
    assert harness.chats.conversations.rows[-1].title == "Two"


def test_the_focus_stays_and_shortcuts_move_it(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "One")
    one = harness.chats.chat_id
    harness.chats.new_chat()
    harness.ask(qtbot, "Two")
    harness.window.menu.find.trigger()
    harness.window.sidebar.search.setFocus()
    QApplication.sendEvent(harness.window, QShowEvent())  # as when it was minimized
    harness.chats.open_chat(one)  # closes the search in the chat
    assert not harness.window.find_bar.isVisible()
    assert harness.window.sidebar.search.hasFocus()

    window = harness.window
    press(window, Qt.Key.Key_L, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(window.composer.edit.hasFocus)
    press(window, Qt.Key.Key_F, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(window.sidebar.search.hasFocus)
    press(window, Qt.Key.Key_Backslash, CONTROL)
    assert not window.sidebar.isVisible()
    assert window.header.show_button.isVisible()
    press(window, Qt.Key.Key_Backslash, CONTROL)
    assert window.sidebar.isVisible()
    press(window, Qt.Key.Key_N, CONTROL)
    assert harness.chats.is_new
    assert window.empty_chat.isVisible()
    press(window, Qt.Key.Key_Comma, CONTROL)
    settings = harness.show_settings()
    assert settings.isVisible()


def place_of(harness: AppHarness, chat_id: int) -> QRect:
    conversations = harness.chats.conversations
    return harness.window.sidebar.chats.visualRect(conversations.index_of(chat_id))


def test_after_a_kill_the_saved_reply_is_there(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path / "killed", qtbot) as harness:
        harness.engine.gate.hold()
        type_and_send(harness, "Story")
        harness.engine.gate.let_through(1)
        stored = harness.application.storage.read.messages
        qtbot.waitUntil(lambda: [each.text for each in stored.shown_branch(1)] == ["Story", "A draft "])
        shutil.copytree(harness.paths.data, tmp_path / "after" / "data")  # what is on the disk at that moment
        harness.engine.gate.open()
    with open_app(tmp_path / "after", qtbot) as harness:
        assert "quit unexpectedly" in harness.window.banner.sentence.text()
        harness.chats.open_chat(1)
        reply = harness.chats.transcript.messages[-1]
        assert (reply.text, reply.status, reply.can_continue) == ("A draft ", ReplyStatus.INTERRUPTED, True)
        assert notice_of(reply).action is NoticeAction.CONTINUE


def test_a_model_that_brought_the_app_down_is_not_loaded_again(tmp_path: Path, qtbot: QtBot) -> None:
    with AppHarness(tmp_path) as harness:
        (harness.paths.data / "running").write_text(MAIN.folder, encoding="utf-8")
        with qtbot.waitSignal(harness.application.opened):
            harness.application.show()
        assert harness.engine.loads == []
        assert "Main-8B" in harness.window.banner.sentence.text()


@pytest.mark.parametrize("role", ["", "draft:"])
def test_a_model_that_brought_the_app_down_before_it_was_chosen_leaves_the_pair_as_it_was(
    tmp_path: Path, qtbot: QtBot, role: str
) -> None:
    """The settings name a pair once it is loaded, and never one that another program asked for."""
    with open_app(tmp_path, qtbot) as harness:
        pair = harness.models.pair.main_folder, harness.models.pair.draft_folder
        assert all(pair)
    (harness.paths.data / "running").write_text(f"{role}/models/Huge-70B", encoding="utf-8")
    with open_app(tmp_path, qtbot) as harness:
        assert (harness.models.pair.main_folder, harness.models.pair.draft_folder) == pair
        assert "quit unexpectedly" in harness.window.banner.sentence.text()


@pytest.mark.expect_log("the database was damaged")
def test_a_draft_that_brought_the_app_down_is_not_loaded_again(tmp_path: Path, qtbot: QtBot) -> None:
    """Its main model is, and both the repaired chats and the draft that is left out are told."""
    with open_app(tmp_path, qtbot) as harness:
        folder = harness.models.pair.draft_folder
        assert folder
    harness.paths.database.write_bytes(b"damaged")
    (harness.paths.data / "running").write_text(f"draft:{folder}", encoding="utf-8")
    with open_app(tmp_path, qtbot) as harness:
        assert (harness.models.pair.main_folder, harness.models.pair.draft_folder) == (MAIN.folder, "")
        banner = harness.window.banner
        assert Path(folder).name not in banner.sentence.text()
        banner.close_button.click()
        assert Path(folder).name in banner.sentence.text()


def test_a_second_run_has_its_windows_where_they_were(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as first:
        first.window.resize(760, 520)
        first.window.set_sidebar_wanted(False)
        settings = first.show_settings()
        settings.resize(700, 555)
        settings.close()
        first.ask(qtbot, "R&D")
        first.chats.delete_chats([first.chats.chat_id])
        first.wait_until_stored(qtbot)
    assert not first.paths.database.with_name("chats.db-wal").exists()
    with open_app(tmp_path, qtbot) as second:
        settings = second.application.settings_window()
        assert (second.window.width(), second.window.height()) == (760, 520)
        assert (settings.width(), settings.height()) == (700, 555)
        assert not second.window.sidebar.isVisible()
        menu = second.window.menu.deleted
        menu.aboutToShow.emit()
        assert [action.text() for action in menu.actions()] == ["Restore “R&&D”", "", "Show All…"]
        menu.actions()[0].trigger()
        second.wait_until_stored(qtbot)
        assert second.chats.transcript.messages[0].text == "R&D"
        menu.aboutToShow.emit()
        assert [action.isEnabled() for action in menu.actions()] == [False, True, True]


def type_and_send(harness: AppHarness, text: str) -> None:
    QTest.keyClicks(harness.window.composer.edit, text)
    press(harness.window.composer.edit, Qt.Key.Key_Return)


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_words_that_the_disk_refuses_stay(harness: AppHarness, qtbot: QtBot) -> None:
    storage, window = harness.application.storage, harness.window
    storage.write(fill_up, lambda _: None, lambda _: None)
    words = "precious " * 600
    window.composer.set_text(words)
    press(window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(window.banner.isVisible)
    assert window.composer.text() == words
    assert "is full" in window.banner.sentence.text()
    assert harness.chats.transcript.messages == []
    storage.write(make_room, lambda _: None, lambda _: None)
    harness.wait_until_stored(qtbot)
    assert window.banner.button.text() == "Try again"
    harness.application.settings.not_saved.emit()  # of the same disk: it takes the button from nobody
    assert window.banner.button.text() == "Try again"
    QTest.mouseClick(window.banner.button, Qt.MouseButton.LeftButton)
    assert "Settings" in window.banner.sentence.text()
    harness.wait_until_quiet(qtbot)
    assert (window.composer.text(), len(harness.chats.transcript.messages)) == ("", 2)

    storage.write(fill_up, lambda _: None, lambda _: None)
    window.composer.set_text(words)
    press(window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.banner.button.text() == "Try again")
    storage.write(make_room, lambda _: None, lambda _: None)
    press(window.composer.edit, Qt.Key.Key_Return)
    harness.wait_until_quiet(qtbot)
    assert len(harness.chats.transcript.messages) == 4
    assert window.banner.button.text() != "Try again"


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_the_window_asks_before_it_drops_what_the_disk_has_not_taken(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as harness:
        harness.engine.scripts.append(Script(pieces=("word " * 3000,)))
        harness.engine.gate.hold()
        type_and_send(harness, "Story")
        harness.wait_until_stored(qtbot)
        harness.application.storage.write(fill_up, lambda _: None, lambda _: None)
        harness.engine.gate.open()
        qtbot.waitUntil(lambda: harness.chats.has_unsaved)
        harness.window.close()
        assert harness.window.isVisible()
        assert harness.window.banner.title.text() == unsaved().title
        with qtbot.waitSignal(harness.application.ended):
            harness.window.close()


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_the_window_asks_for_a_running_reply_too(harness: AppHarness, qtbot: QtBot) -> None:
    """What has come since the last save is tried first; nothing is said where the disk takes it."""
    window = harness.window
    harness.chats.replies.save_timer.setInterval(10**6)
    harness.engine.scripts.append(Script(pieces=("First. ", "word " * 3000, "ends")))
    harness.engine.gate.hold()
    type_and_send(harness, "Story")
    harness.wait_until_stored(qtbot)
    harness.engine.gate.let_through(1)
    qtbot.waitUntil(lambda: harness.chats.transcript.messages[-1].text == "First. ")
    assert window.kept_words is not None
    assert not window.kept_words.warn_before_closing()
    harness.application.storage.write(fill_up, lambda _: None, lambda _: None)
    harness.engine.gate.let_through(1)
    qtbot.waitUntil(lambda: "word" in harness.chats.transcript.messages[-1].text)
    window.close()
    assert (window.isVisible(), window.banner.title.text()) == (True, unsaved().title)
    harness.application.storage.write(make_room, lambda _: None, lambda _: None)
    harness.engine.gate.open()
    harness.wait_until_quiet(qtbot)
    assert not harness.chats.has_unsaved


@pytest.mark.expect_log("the database cannot be opened")
def test_a_start_without_its_chats_keeps_what_is_typed_and_can_be_tried_again(tmp_path: Path, qtbot: QtBot) -> None:
    with AppHarness(tmp_path) as harness:
        harness.paths.database.mkdir()  # what stands in the way is no file
        harness.application.show()
        qtbot.waitUntil(harness.window.banner.isVisible)
        type_and_send(harness, "precious")
        assert harness.window.composer.text() == "precious"
        assert harness.window.banner.title.text() == title_of(NotOpened)
        harness.paths.database.rmdir()
        with qtbot.waitSignal(harness.application.opened):
            QTest.mouseClick(harness.window.banner.button, Qt.MouseButton.LeftButton)
        assert harness.window.composer.text() == "precious"
        press(harness.window.composer.edit, Qt.Key.Key_Return)
        harness.wait_until_quiet(qtbot)
        assert harness.chats.transcript.messages[0].text == "precious"


@pytest.mark.expect_log("the database cannot be opened")
def test_what_two_runs_without_a_database_leave_is_all_there(tmp_path: Path, qtbot: QtBot) -> None:
    for words in ("precious", "dear"):
        with AppHarness(tmp_path) as harness:
            harness.paths.database.mkdir(exist_ok=True)
            harness.application.show()
            qtbot.waitUntil(harness.window.banner.isVisible)
            QTest.keyClicks(harness.window.composer.edit, words)
            harness.close()
            assert harness.engine.close()
    harness.paths.database.rmdir()
    with open_app(tmp_path, qtbot) as next_one:
        assert next_one.window.composer.text() == "precious\n\ndear"
        qtbot.waitUntil(lambda: not harness.paths.unsent.exists())


@pytest.mark.expect_log("settings cannot be read", "settings cannot be saved")
def test_a_start_whose_settings_cannot_be_read(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_file: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("app.settings.read_small", refused)
    with open_app(tmp_path, qtbot, with_starter=True) as harness:
        assert harness.window.banner.title.text() == "Settings not read"


def test_unsent_text_survives_quitting(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as first:
        first.ask(qtbot, "Chat")
        QTest.keyClicks(first.window.composer.edit, "half a thought")
        chat_id = first.chats.chat_id
        first.chats.new_chat()
        QTest.keyClicks(first.window.composer.edit, "another")
    with open_app(tmp_path, qtbot) as second:
        assert second.window.composer.text() == "another"
        second.chats.open_chat(chat_id)
        assert second.window.composer.text() == "half a thought"


def test_an_empty_composer_has_nothing_to_undo(harness: AppHarness, qtbot: QtBot) -> None:
    chats, edit, conversations = harness.chats, harness.window.composer.edit, harness.chats.conversations
    harness.application.storage.write(
        lambda stores: stores.chats.create("Precious"), lambda _: conversations.refresh(), lambda _: None
    )
    harness.wait_until_stored(qtbot)
    assert not edit.document().isUndoAvailable()
    (precious,) = (row.chat_id for row in conversations.rows if row.chat_id)
    chats.delete_chats([precious])
    qtbot.waitUntil(lambda: not conversations.index_of(precious).isValid())
    QTest.keyClicks(edit, "a")
    QTest.keyClick(edit, Qt.Key.Key_Backspace)
    edit.set_text("")
    press(harness.window, Qt.Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: conversations.index_of(precious).isValid())


def test_what_a_notice_lies_over_can_be_scrolled_into_sight(harness: AppHarness, qtbot: QtBot) -> None:
    harness.engine.scripts.append(Script(tuple(f"Line {number}\n\n" for number in range(60))))
    harness.ask(qtbot, "A long one")
    view, banner = harness.transcript, harness.window.banner
    banner.close_button.click()  # what marks mean, after the first reply
    still()
    bar = view.verticalScrollBar()
    end = bar.value()
    assert end == bar.maximum() > 0
    banner.show_warning(lambda: BannerText("Something is wrong."))
    still()
    assert bar.value() == end, "nothing moves by itself"
    bar.setValue(bar.maximum())
    still()
    lowest = max(rect.bottom() for _part, rect in view.visible_parts.shown())
    assert view.viewport().mapTo(harness.window, QPoint(0, lowest)).y() < banner.y()
    assert bar.value() == bar.maximum() > end, "and it stays there"
    banner.close_button.click()
    still()
    assert bar.value() == bar.maximum() == end
