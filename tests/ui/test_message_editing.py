"""Messages that are edited in their place, written beside others, given to the other side, and deleted."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QInputMethodEvent, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.view_models.transcript import ReplyStatus
from app.views.transcript.editor_part import _REPORT_DELAY_MS, EditorPart
from app.views.transcript.parts import PartKind
from app.views.widgets.dialog import Dialog
from engine import MessageRole
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.event_loop import after
from tests.helpers.fake_engine import Script
from tests.helpers.stillness import still

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def harness(app: AppHarness) -> AppHarness:
    begin(app)
    return app


def begin(harness: AppHarness) -> None:
    """A new chat, in which the model answers "one", then "two" and so on."""
    harness.chats.new_chat()
    harness.engine.scripts.clear()
    harness.engine.scripts.extend(Script(pieces=(text,)) for text in ("one", "two", "three", "four"))


def texts(harness: AppHarness) -> list[str]:
    return [message.text for message in harness.chats.transcript.messages]


def id_of(harness: AppHarness, row: int) -> int:
    return harness.chats.transcript.messages[row].id


def editor(harness: AppHarness, row: int) -> EditorPart:
    still()
    view = harness.transcript
    shown = [part.widget for part, _ in view.visible_parts.shown() if part.message_id == id_of(harness, row)]
    return next(widget for widget in shown if isinstance(widget, EditorPart))


def begin_edit(harness: AppHarness, row: int) -> EditorPart:
    harness.transcript.context.edit_requested.emit(id_of(harness, row))
    return editor(harness, row)


def type_anew(field: EditorPart, text: str) -> None:
    field.field.selectAll()
    QTest.keyClicks(field.field, text)


def words_as(harness: AppHarness) -> list[PartKind]:
    """As what the words of all messages are shown, each time that they are."""
    view = harness.transcript
    return [part.kind for item in view.items for part in item.parts if part.kind in (PartKind.TEXT, PartKind.BUBBLE)]


def fields(harness: AppHarness) -> int:
    return sum(message.edit is not None for message in harness.chats.transcript.messages)


def test_a_question_is_edited_and_asked_anew(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "Wrong")
    field = begin_edit(harness, 0)
    assert (field.field.text(), field.field.hasFocus()) == ("Wrong", True)
    type_anew(field, "Right")
    QTest.keyClick(field.field, Qt.Key.Key_Return, CTRL)
    harness.wait_until_quiet(qtbot)
    assert (texts(harness), fields(harness)) == (["Right", "two"], 0)
    assert harness.chats.transcript.messages[0].siblings == 2
    listed = harness.chats.conversations.index(1).data()
    header, window = harness.window.header.title.accessibleName(), harness.window.windowTitle()
    assert (listed, header) == ("Right", "Right")
    assert window.startswith("Right"), "it names the chat"

    begin(harness)
    asked = len(harness.engine.requests)
    harness.ask(qtbot, "First")
    harness.ask(qtbot, "Second")
    type_anew(begin_edit(harness, 1), "my own")
    editor(harness, 1).save.click()
    harness.wait_until_quiet(qtbot)
    type_anew(begin_edit(harness, 0), "My first")
    editor(harness, 0).other.click()
    harness.wait_until_quiet(qtbot)
    assert texts(harness) == ["My first", "my own", "Second", "two"]
    assert len(harness.engine.requests) == asked + 2
    harness.chats.show_version(id_of(harness, 0), -1)
    assert texts(harness) == ["First"]

    begin(harness)
    harness.ask(qtbot, "Question")
    type_anew(begin_edit(harness, 1), "The answer is ")
    editor(harness, 1).other.click()
    harness.wait_until_quiet(qtbot)
    assert texts(harness) == ["Question", "The answer istwo"]
    last = harness.engine.requests[-1].messages[-1]
    assert (last.role, last.content) == (MessageRole.ASSISTANT, "The answer is")


def test_return_begins_a_line_but_where_it_sends_and_escape_gives_up(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "Question")
    field = begin_edit(harness, 0)
    QTest.keyClick(field.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(field.field, "more")
    assert field.field.text() == "Question\nmore"
    QTest.keyClick(field.field, Qt.Key.Key_Escape)
    harness.wait_until_stored(qtbot)
    assert (texts(harness), fields(harness)) == (["Question", "one"], 0)
    assert begin_edit(harness, 0).field.text() == "Question"
    QTest.keyClick(editor(harness, 0).field, Qt.Key.Key_Escape)

    answer = begin_edit(harness, 1)  # whose words are not sent
    QTest.keyClick(answer.field, Qt.Key.Key_Return)
    QTest.keyClicks(answer.field, "more")
    assert answer.field.text() == "one\nmore"
    QTest.keyClick(answer.field, Qt.Key.Key_Return, CTRL)
    harness.wait_until_quiet(qtbot)
    assert (texts(harness), fields(harness)) == (["Question", "one\nmore"], 0)

    field = begin_edit(harness, 0)
    type_anew(field, "Right")
    harness.application.settings.send_key = "control_return"
    QTest.keyClick(field.field, Qt.Key.Key_Return)
    assert field.field.text() == "Right\n"
    harness.application.settings.send_key = "return"
    QTest.keyClick(field.field, Qt.Key.Key_Return)
    harness.wait_until_quiet(qtbot)
    assert (texts(harness), fields(harness)) == (["Right", "two"], 0)

    begin(harness)
    harness.ask(qtbot, "Q")
    field = begin_edit(harness, 1)
    field.field.selectAll()
    QApplication.sendEvent(field.field, QInputMethodEvent("하", []))
    QTest.keyClick(field.field, Qt.Key.Key_Return, CTRL)
    QTest.keyClick(field.field, Qt.Key.Key_Escape)
    assert fields(harness) == 1, "composing neither saves nor gives up"
    field.save.click()
    harness.wait_until_quiet(qtbot)
    assert texts(harness) == ["Q", "하"]


def test_an_edit_survives_scrolling_and_leaving_the_chat(harness: AppHarness, qtbot: QtBot) -> None:
    harness.engine.scripts.clear()
    harness.engine.scripts.extend(Script(pieces=("long\n\n" * 30,)) for _ in range(3))
    for question in "abc":
        harness.ask(qtbot, question)
    first = harness.chats.chat_id
    type_anew(begin_edit(harness, 0), "half a thought")
    harness.transcript.jump_to_end()
    still()
    focused = QApplication.focusWidget()
    assert focused is not None
    QTest.keyClicks(focused, " and more")
    assert editor(harness, 0).y() >= 0, "typing brings the caret back into sight"
    harness.window.menu.new_chat.trigger()
    harness.chats.open_chat(first)
    assert harness.chats.transcript.messages[0].edit is not None
    harness.transcript.editing.focus(id_of(harness, 0))
    assert editor(harness, 0).field.text() == "half a thought and more"


def test_what_was_typed_a_while_ago_is_kept(tmp_path: Path, qtbot: QtBot) -> None:
    """In another chat, at another text size, and after a restart, until it is given up."""
    with open_app(tmp_path, qtbot) as harness:
        harness.ask(qtbot, "Question")
        chat, field = harness.chats.chat_id, begin_edit(harness, 0).field
        QTest.keyClicks(field, " one")
        pause()
        assert harness.chats.transcript.messages[0].edit is not None
        harness.chats.new_chat()
        harness.ask(qtbot, "Other")
        begin_edit(harness, 0)
        harness.chats.open_chat(chat)
        assert editor(harness, 0).field.text() == "Question one"
        QTest.keyClicks(editor(harness, 0).field, " two")
        pause()
        harness.application.settings.text_scale = 1.3
        assert editor(harness, 0).field.text() == "Question one two"
        QTest.keyClicks(editor(harness, 0).field, " three")
        QApplication.sendEvent(editor(harness, 0).field, QInputMethodEvent("하", []))
    with open_app(tmp_path, qtbot) as harness:
        harness.chats.open_chat(chat)
        harness.transcript.editing.focus(id_of(harness, 0))
        assert editor(harness, 0).field.text() == "Question one two three하"
        QTest.keyClick(editor(harness, 0).field, Qt.Key.Key_Escape)
        harness.wait_until_stored(qtbot)
        assert harness.application.storage.read.edits.of_chat(chat) == {}


def pause() -> None:
    """Longer than a field waits before it tells what was typed."""
    after(_REPORT_DELAY_MS + 50)


def test_both_sides_can_be_written(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "Question")
    harness.act(0, "Insert Before")
    field = editor(harness, 0)
    assert not field.save.isEnabled()
    QTest.keyClicks(field.field, "a greeting")
    field.roles.chosen.emit(True)
    editor(harness, 0).save.click()
    harness.wait_until_quiet(qtbot)
    harness.act(0, "Insert After")
    QTest.keyClicks(editor(harness, 0).field, "hello")
    editor(harness, 0).save.click()
    harness.wait_until_quiet(qtbot)
    assert texts(harness) == ["a greeting", "hello", "Question", "one"]
    assert [message.from_user for message in harness.chats.transcript.messages] == [True, False, True, False]
    harness.act(3, "Insert After")
    QTest.keyClicks(editor(harness, 3).field, "And?")
    editor(harness, 3).other.click()
    harness.wait_until_quiet(qtbot)
    assert texts(harness)[4:] == ["And?", "two"]
    roles = [message.role for message in harness.engine.requests[-1].messages]
    assert roles == [MessageRole.USER, MessageRole.ASSISTANT] * 2 + [MessageRole.USER]

    begin(harness)
    harness.ask(qtbot, "Question")
    harness.act(0, "Change to Model's Reply")
    harness.wait_until_quiet(qtbot)
    assert [message.from_user for message in harness.chats.transcript.messages] == [False, False]
    assert words_as(harness) == [PartKind.TEXT, PartKind.TEXT]
    harness.act(0, "Change to My Message")
    harness.wait_until_quiet(qtbot)
    assert harness.chats.transcript.messages[0].from_user
    assert words_as(harness) == [PartKind.BUBBLE, PartKind.TEXT]
    harness.act(1, "Change to My Message")
    harness.wait_until_quiet(qtbot)
    assert words_as(harness) == [PartKind.BUBBLE, PartKind.BUBBLE]


def test_messages_are_deleted_and_brought_back(harness: AppHarness, qtbot: QtBot) -> None:
    for question in ("First", "Second"):
        harness.ask(qtbot, question)
    before, banner = texts(harness), harness.window.banner
    harness.act(1, "Delete")
    harness.wait_until_quiet(qtbot)
    assert texts(harness) == ["First", "Second", "two"]
    assert "deleted" in banner.accessibleName()
    harness.window.menu.undo.trigger()
    harness.wait_until_quiet(qtbot)
    assert not banner.isVisible()  # there is nothing left to undo
    assert texts(harness) == before == ["First", "one", "Second", "two"]

    for agrees in (False, True):
        harness.act(1, "Delete This and Later Messages…")
        dialog = next(each for each in harness.window.findChildren(Dialog) if each.isVisible())
        assert "2" in dialog.title.text()
        (dialog.act_button if agrees else dialog.cancel_button).click()
        harness.wait_until_quiet(qtbot)
        assert texts(harness) == (["First"] if agrees else before)
    assert "3" in banner.accessibleName()
    banner.button.click()
    harness.wait_until_quiet(qtbot)
    assert texts(harness) == before

    begin(harness)
    harness.ask(qtbot, "First")
    harness.engine.gate.hold()
    harness.window.composer.send("Second")
    qtbot.waitUntil(lambda: harness.chats.generating)
    harness.act(0, "Delete")
    harness.wait_until_stored(qtbot)
    harness.engine.gate.open()
    harness.wait_until_quiet(qtbot)
    assert texts(harness) == ["one", "Second", "two"], "a reply below what is deleted goes on"
    assert harness.chats.transcript.messages[-1].status is ReplyStatus.DONE


def test_keys_act_on_the_message_in_focus_which_goes_on_when_messages_go(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "Question")
    view = harness.transcript
    view.context.regenerate_requested.emit(id_of(harness, 1))
    harness.wait_until_quiet(qtbot)
    view.message_keys.step(-1)
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert texts(harness) == ["Question", "one"]
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert texts(harness) == ["Question", "two"]
    QTest.keyClick(view, Qt.Key.Key_F2)
    QTest.keyClick(editor(harness, 1).field, Qt.Key.Key_Escape)
    assert view.hasFocus()
    view.message_keys.step(1)
    QTest.keyClick(view, Qt.Key.Key_Delete)
    harness.wait_until_quiet(qtbot)
    assert texts(harness) == ["Question", "one"], "another version takes its place"

    begin(harness)
    for question in ("First", "Second", "Third"):
        harness.ask(qtbot, question)
    seen = []
    view.message_keys.show(3)
    held = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier, "", True)
    QApplication.sendEvent(view, held)  # one that is held deletes nothing
    for gone in (3, 0, 3):
        view.context.delete_requested.emit(id_of(harness, gone))
        harness.wait_until_quiet(qtbot)
        still()
        seen.append(view.focused_row())
    assert texts(harness) == ["one", "Second", "Third"]
    assert seen == [3, 2, 2], "the next one, the same one, and the last"
    view.message_keys.step(-1)
    assert view.accessibleName() == "Your message, 2 of 3"


def test_what_is_typed_while_an_edit_is_saved_stays(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "Question")
    field, free = begin_edit(harness, 1), threading.Event()
    type_anew(field, "other words")
    harness.application.storage.write(lambda _stores: free.wait(60), lambda _: None, lambda _: None)
    QTest.mouseClick(field.save, Qt.MouseButton.LeftButton)
    QTest.keyClicks(field.field, " and more")
    free.set()
    harness.wait_until_quiet(qtbot)
    assert (texts(harness)[1], fields(harness)) == ("other words", 1)
    field = editor(harness, 1)
    assert (field.field.text(), field.field.hasFocus()) == ("other words and more", True)
    QTest.mouseClick(field.save, Qt.MouseButton.LeftButton)
    harness.wait_until_quiet(qtbot)
    assert (texts(harness)[1], fields(harness)) == ("other words and more", 0)

    begin(harness)
    harness.ask(qtbot, "Question")
    for waits in (False, True):
        QTest.keyClicks(begin_edit(harness, 0).field, " that nobody asks")
        if waits:
            pause()
        editor(harness, 0).cancel.click()
        assert begin_edit(harness, 0).field.text() == "Question", "given up"

    field = editor(harness, 0)
    type_anew(field, "one")
    for words in ("two", "three"):
        pause()
        QTest.keyClick(field.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        QTest.keyClicks(field.field, words)
    assert field.field.text() == "one\ntwo\nthree"
    edits = harness.application.storage.read.edits
    qtbot.waitUntil(
        lambda: [edit.text for edit in edits.of_chat(harness.chats.chat_id).values()] == ["one\ntwo\nthree"]
    )
