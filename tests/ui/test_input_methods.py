"""An input method that is composing: what stands in the field is never lost or put elsewhere, wherever one types.

The events are those that Qt sends; `QGuiApplication.inputMethod()` offscreen has nothing to commit, as with an input
method that does not answer.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.views.chats.chat_list import RenameField
from app.views.settings.options import PromptField
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.composing import compose


def two_chats(harness: AppHarness, qtbot: QtBot) -> tuple[int, int]:
    harness.ask(qtbot, "first")
    first = harness.chats.chat_id
    harness.chats.new_chat()
    harness.ask(qtbot, "second")
    return first, harness.chats.chat_id


def test_leaving_a_chat_or_the_app_commits_what_is_composed_there(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as harness:
        first, second = two_chats(harness, qtbot)
        edit = harness.window.composer.edit
        QTest.keyClicks(edit, "to two: ")
        compose(edit, "안녕")
        harness.chats.open_chat(first)
        assert harness.window.composer.text() == ""
        compose(edit, "", "하")
        assert harness.window.composer.text() == "하"
        harness.chats.open_chat(second)
        assert harness.window.composer.text() == "to two: 안녕"
        harness.chats.new_chat()
        compose(edit, "かんじ")
    with open_app(tmp_path, qtbot) as harness:
        assert harness.window.composer.text() == "かんじ"
        harness.chats.open_chat(first)
        assert harness.window.composer.text() == "하"


def test_what_is_composed_is_kept_though_never_committed(harness: AppHarness, qtbot: QtBot) -> None:
    """A crash in the middle of a long composition costs none of it."""
    QTest.keyClicks(harness.window.composer.edit, "a ")
    with qtbot.waitSignal(harness.window.composer.unsent.changed) as told:
        compose(harness.window.composer.edit, "にほんご")
    assert told.args == [0, "a にほんご"]
    assert harness.window.composer.edit.is_composing

    composer = harness.window.composer  # what is composed while a message is stored stays, too
    composer.set_text("")
    for by_key in (True, False):
        harness.chats.new_chat()
        if by_key:
            QTest.keyClicks(composer.edit, "Hello")
            QTest.keyClick(composer.edit, Qt.Key.Key_Return)
        compose(composer.edit, "다")
        if not by_key:
            harness.window.empty_chat.question_asked.emit("Hello")
        harness.wait_until_quiet(qtbot)
        assert (harness.chats.transcript.messages[0].text, composer.text()) == ("Hello", "다")

    composer.set_text("")
    compose(composer.edit, "글")
    for leave in ("return", "focus"):
        harness.window.menu.rename.trigger()
        assert composer.text() == "글"
        field = harness.window.findChild(RenameField)
        assert field is not None
        field.clear()
        compose(field, f"제목 {leave}")
        if leave == "return":
            QTest.keyClick(field, Qt.Key.Key_Return)
        else:
            harness.window.composer.take_focus()
        harness.wait_until_stored(qtbot)
        qtbot.waitUntil(lambda: harness.window.findChild(RenameField) is None)
        assert harness.chats.title == f"제목 {leave}"


def test_korean_is_searched_for_while_it_is_composed(harness: AppHarness, qtbot: QtBot) -> None:
    """Its last syllable is committed only by the next key; kana and pinyin will be other characters."""
    harness.window.composer.send("번역 질문")
    harness.wait_until_quiet(qtbot)
    rows, search = harness.chats.conversations, harness.window.sidebar.search
    harness.window.menu.find.trigger()
    bar, finder = harness.window.find_bar, harness.transcript.finder
    for field in (bar.field, search):
        field.setFocus()
        compose(field, "", "번")
        compose(field, "역")
        assert field.words() == "번역"
        compose(field, "ほん")
        assert field.words() == "번"
        compose(field, "없")
    qtbot.waitUntil(lambda: rows.query == "번없" and not rows.rows)
    assert (finder.query, finder.count) == ("번없", 0)
    QTest.keyClick(search, Qt.Key.Key_Escape)
    assert search.composed, "which the input method ends"
    compose(search, "역")
    qtbot.waitUntil(lambda: rows.query == "번역" and bool(rows.rows))

    window = harness.show_settings("chat")
    prompt = window.findChild(PromptField)
    assert prompt is not None
    prompt.setFocus()
    compose(prompt, "", "짧게 ")
    compose(prompt, "대답")
    window.close()
    assert harness.application.settings.system_prompt == "짧게 대답"
