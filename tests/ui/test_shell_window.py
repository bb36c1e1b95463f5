"""The main window over a scripted engine: asking, chats, shortcuts, notices, closing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.storage import ChatStore, Database, MessageStore
from app.view_models.model_list import PairState
from app.view_models.transcript import ReplyStatus
from app.views.shell.chat_list import RenameField
from engine import ModelTooLarge, OutOfMemory
from tests.helpers.fake_engine import DRAFT, MAIN, Script
from tests.helpers.reply_words import footer_of, notice_of
from tests.helpers.stage import Stage, open_stage

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def stage(tmp_path: Path, qtbot: QtBot) -> Iterator[Stage]:
    with open_stage(tmp_path, qtbot) as stage:
        yield stage


def press(widget: QWidget, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(widget, key, modifiers)


def test_a_question_typed_gets_its_reply(stage: Stage, qtbot: QtBot) -> None:
    assert stage.ask(qtbot, "How does drafting work?") == "A draft guesses, the main model checks."
    rows = stage.chats.transcript.messages
    assert [row.from_user for row in rows] == [True, False]
    assert "accepted" in footer_of(rows[1]).details
    assert stage.window.header.title.text() == "How does drafting work?"
    assert stage.window.transcript is not None
    assert stage.window.transcript.isVisible()
    assert not stage.window.empty_chat.isVisible()


def test_a_message_sent_while_the_model_loads_waits_and_is_answered(tmp_path: Path, qtbot: QtBot) -> None:
    stage = Stage(tmp_path)
    try:
        with qtbot.waitSignal(stage.application.opened):
            stage.application.show()
        assert stage.models.pair.state is PairState.LOADING
        assert "Loading" in stage.window.header.chip.accessibleName()
        assert stage.ask(qtbot, "Quick")
    finally:
        stage.close()


def test_a_question_of_the_empty_chat_is_asked_with_one_click(tmp_path: Path, qtbot: QtBot) -> None:
    with open_stage(tmp_path, qtbot, with_starter=True) as stage:
        question = stage.window.empty_chat.questions[0]
        assert question.isVisible()
        QTest.mouseClick(question, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: not stage.chats.generating)
        assert stage.engine.requests[0].messages[-1].content == question.text()


def test_without_the_starter_pair_nothing_is_offered_that_nobody_can_answer(tmp_path: Path, qtbot: QtBot) -> None:
    stage = Stage(tmp_path, put_settings={"main_folder": "starter", "draft_folder": "starter"}, installed=())
    try:
        with qtbot.waitSignal(stage.application.opened):
            stage.application.show()
        assert not any(question.isVisible() for question in stage.window.empty_chat.questions)
        stage.window.open_picker()
        assert stage.window.picker.mains.model().index(0, 0).data() == "Nothing is installed yet."
    finally:
        stage.close()


def test_with_another_model_the_empty_chat_does_not_speak_of_the_starter_pair(stage: Stage) -> None:
    page = stage.window.empty_chat
    assert not any(question.isVisible() for question in page.questions)
    assert not page.offer.isVisible()


def test_without_a_model_the_text_stays(tmp_path: Path, qtbot: QtBot) -> None:
    stage = Stage(tmp_path, put_settings={"main_folder": "", "draft_folder": ""})
    try:
        with qtbot.waitSignal(stage.application.opened):
            stage.application.show()
        QTest.keyClicks(stage.window.composer.edit, "kept")
        press(stage.window.composer.edit, Qt.Key.Key_Return)
        assert stage.window.composer.text() == "kept"
        assert stage.window.banner.isVisible()
        assert stage.window.empty_chat.offer.text() == "No model is loaded"
        QTest.mouseClick(stage.window.banner.button, Qt.MouseButton.LeftButton)
        assert stage.window.picker.isVisible()
        stage.window.picker.close()
    finally:
        stage.close()


def test_escape_stops_the_reply(stage: Stage, qtbot: QtBot) -> None:
    stage.engine.gate.hold()
    QTest.keyClicks(stage.window.composer.edit, "Long story")
    press(stage.window.composer.edit, Qt.Key.Key_Return)
    assert stage.chats.generating
    press(stage.window.composer.edit, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not stage.chats.generating)
    assert stage.chats.transcript.messages[-1].status is ReplyStatus.STOPPED
    stage.engine.gate.open()


def test_shortcuts(stage: Stage, qtbot: QtBot) -> None:
    stage.ask(qtbot, "One")
    window = stage.window
    press(window, Qt.Key.Key_F, CONTROL)
    qtbot.waitUntil(window.sidebar.search.hasFocus)
    press(window, Qt.Key.Key_L, CONTROL)
    qtbot.waitUntil(window.composer.edit.hasFocus)
    press(window, Qt.Key.Key_Backslash, CONTROL)
    assert not window.sidebar.isVisible()
    assert window.header.show_button.isVisible()
    press(window, Qt.Key.Key_Backslash, CONTROL)
    assert window.sidebar.isVisible()
    press(window, Qt.Key.Key_N, CONTROL)
    assert stage.chats.chat_id == 0
    assert window.empty_chat.isVisible()
    press(window, Qt.Key.Key_Comma, CONTROL)
    settings = stage.application.show_settings()
    assert settings is not None
    assert settings.isVisible()


def test_deleting_a_chat_can_be_undone(stage: Stage, qtbot: QtBot) -> None:
    stage.ask(qtbot, "Precious")
    chat_id = stage.chats.chat_id
    stage.window.sidebar.chats.delete_requested.emit(chat_id)
    assert stage.chats.conversations.row_of(chat_id) is None
    assert "Precious" in stage.window.banner.sentence.text()
    QTest.mouseClick(stage.window.banner.button, Qt.MouseButton.LeftButton)
    assert stage.chats.conversations.row_of(chat_id) is not None
    assert stage.window.header.title.text() == "Precious"


def test_a_chat_is_renamed_in_place(stage: Stage, qtbot: QtBot) -> None:
    stage.ask(qtbot, "Before")
    stage.window.menu.rename.trigger()
    field = stage.window.sidebar.chats.findChild(RenameField)
    assert field is not None
    QTest.keyClicks(field, "After")
    press(field, Qt.Key.Key_Return)
    assert stage.window.header.title.text() == "After"


def test_escape_leaves_the_name_as_it_was(stage: Stage, qtbot: QtBot) -> None:
    stage.ask(qtbot, "Before")
    stage.window.menu.rename.trigger()
    field = stage.window.sidebar.chats.findChild(RenameField)
    assert field is not None
    QTest.keyClicks(field, "After")
    press(field, Qt.Key.Key_Escape)
    assert stage.window.header.title.text() == "Before"


def test_the_field_of_a_name_stays_on_its_row(stage: Stage, qtbot: QtBot) -> None:
    stage.ask(qtbot, "Renamed")
    renamed = stage.chats.chat_id
    stage.window.menu.new_chat.trigger()
    stage.ask(qtbot, "Other")
    chats = stage.window.sidebar.chats
    chats.start_rename(chats.model().index(stage.chats.conversations.row_of(renamed) or 0, 0))
    field = chats.findChild(RenameField)
    assert field is not None
    before = field.geometry()
    stage.chats.pin_chat(renamed, True)  # which takes its row to the top
    qtbot.waitUntil(lambda: field.geometry() == chats.place_of(renamed) != before)
    stage.chats.delete_chat(renamed)
    qtbot.waitUntil(lambda: chats.findChild(RenameField) is None)
    assert stage.chats.conversations.rows[-1].title == "Other"


def test_the_list_is_walked_and_opened_by_key(stage: Stage, qtbot: QtBot) -> None:
    stage.ask(qtbot, "First")
    stage.window.menu.new_chat.trigger()
    stage.ask(qtbot, "Second")
    chats = stage.window.sidebar.chats
    chats.take_focus()
    press(chats, Qt.Key.Key_Down)
    press(chats, Qt.Key.Key_Return)
    assert stage.window.header.title.text() == "First"


def test_search_filters_and_escape_brings_all_back(stage: Stage, qtbot: QtBot) -> None:
    stage.ask(qtbot, "Lisbon")
    stage.window.menu.new_chat.trigger()
    stage.ask(qtbot, "Porto")
    search = stage.window.sidebar.search
    QTest.keyClicks(search, "Lisb")
    qtbot.waitUntil(lambda: [row.title for row in stage.chats.conversations.rows if row.chat_id] == ["Lisbon"])
    QTest.keyClicks(search, "xx")
    qtbot.waitUntil(stage.window.sidebar.nothing.isVisible)
    press(search, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: len([row for row in stage.chats.conversations.rows if row.chat_id]) == 2)
    assert not stage.window.sidebar.nothing.isVisible()


def test_unsent_text_waits_in_its_chat(stage: Stage, qtbot: QtBot) -> None:
    stage.ask(qtbot, "First")
    first = stage.chats.chat_id
    QTest.keyClicks(stage.window.composer.edit, "half a thought")
    stage.window.menu.new_chat.trigger()
    assert stage.window.composer.text() == ""
    stage.chats.open_chat(first)
    assert stage.window.composer.text() == "half a thought"


def test_a_message_is_edited_in_the_composer(stage: Stage, qtbot: QtBot) -> None:
    stage.ask(qtbot, "Wrong")
    QTest.keyClicks(stage.window.composer.edit, "half a thought")
    assert stage.window.transcript is not None
    stage.window.transcript.edit_requested.emit(stage.chats.transcript.messages[0].id)
    assert stage.window.composer.text() == "Wrong"
    stage.window.composer.set_text("Right")
    press(stage.window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not stage.chats.generating)
    assert stage.chats.transcript.messages[0].text == "Right"
    assert stage.chats.transcript.messages[0].siblings == 2
    assert stage.window.composer.text() == "half a thought"


def test_a_failed_reply_can_be_tried_again_from_the_transcript(stage: Stage, qtbot: QtBot) -> None:
    stage.engine.scripts.append(Script(pieces=(), error=OutOfMemory("metal")))
    stage.ask(qtbot, "Big")
    failed = stage.chats.transcript.messages[-1]
    assert failed.status is ReplyStatus.FAILED
    assert stage.window.transcript is not None
    stage.window.transcript.notice_action_requested.emit(failed.id, notice_of(failed).action)
    qtbot.waitUntil(lambda: not stage.chats.generating)
    assert stage.chats.transcript.messages[-1].status is ReplyStatus.DONE


def test_a_model_that_cannot_load_is_said_with_a_way_out(tmp_path: Path, qtbot: QtBot) -> None:
    refusal = ModelTooLarge(MAIN.folder, 48_000_000_000, 16_000_000_000)
    with open_stage(tmp_path, qtbot, models={MAIN.folder: refusal, DRAFT.folder: DRAFT}) as stage:
        banner = stage.window.banner
        qtbot.waitUntil(banner.isVisible)
        assert "could not be loaded" in stage.window.header.chip.accessibleName()


def test_closing_while_a_reply_runs_keeps_what_was_written(tmp_path: Path, qtbot: QtBot) -> None:
    stage = Stage(tmp_path)
    stage.open(qtbot)
    stage.engine.gate.hold()
    QTest.keyClicks(stage.window.composer.edit, "Story")
    press(stage.window.composer.edit, Qt.Key.Key_Return)
    stage.engine.gate.let_through(1)
    qtbot.waitUntil(lambda: stage.chats.transcript.messages[-1].text != "")
    with qtbot.waitSignal(stage.application.ended):
        stage.close()
    assert stage.engine.close()  # its thread has ended
    database = Database(stage.paths.database)
    messages = MessageStore(database, ChatStore(database)).branch(ChatStore(database).leaf(1))
    assert (messages[-1].text, messages[-1].status) == ("A draft ", ReplyStatus.INTERRUPTED)
    database.close()
    assert not (stage.paths.data / "running").exists()


def test_after_a_crash_the_next_start_says_so(tmp_path: Path, qtbot: QtBot) -> None:
    stage = Stage(tmp_path)
    (stage.paths.data / "running").write_text("", encoding="utf-8")
    stage.open(qtbot)
    assert stage.window.banner.isVisible()
    stage.close()


def test_a_model_that_brought_the_app_down_is_not_loaded_again(tmp_path: Path, qtbot: QtBot) -> None:
    stage = Stage(tmp_path)
    (stage.paths.data / "running").write_text(MAIN.folder, encoding="utf-8")
    with qtbot.waitSignal(stage.application.opened):
        stage.application.show()
    assert stage.engine.loads == []
    assert "Main-8B" in stage.window.banner.sentence.text()
    stage.close()


def test_the_window_comes_back_where_it_was(tmp_path: Path, qtbot: QtBot) -> None:
    with open_stage(tmp_path / "profile", qtbot) as stage:
        stage.window.resize(760, 520)
        stage.window.show_sidebar(False)
    with open_stage(tmp_path / "profile", qtbot) as stage:
        assert (stage.window.width(), stage.window.height()) == (760, 520)
        assert not stage.window.sidebar.isVisible()


def test_edit_menu_reaches_the_focused_field(stage: Stage, qtbot: QtBot) -> None:
    stage.window.activateWindow()
    stage.window.composer.take_focus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is stage.window.composer.edit)
    QTest.keyClicks(stage.window.composer.edit, "text")
    menu = stage.window.menu
    menu.edits["selectAll"].trigger()
    menu.edits["cut"].trigger()
    assert stage.window.composer.text() == ""
    menu.edits["paste"].trigger()
    assert stage.window.composer.text() == "text"


def test_what_the_engine_kept_of_chats_goes_with_a_deleted_one(tmp_path: Path, qtbot: QtBot) -> None:
    """The start that purges a deleted chat also empties the cache that may still hold its words."""
    kept = tmp_path / "cache" / "prefixes"
    kept.mkdir(parents=True)
    with open_stage(tmp_path, qtbot) as first:
        first.ask(qtbot, "A secret")
        first.window.sidebar.chats.delete_requested.emit(first.chats.chat_id)
        assert kept.exists()  # it can still be brought back

    with open_stage(tmp_path, qtbot):
        assert not kept.exists()
