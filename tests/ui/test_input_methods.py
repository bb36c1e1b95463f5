"""An input method that is composing: what stands in a field is never lost, sent, doubled or put elsewhere.

The events are those that Qt sends; `QGuiApplication.inputMethod()` offscreen has nothing to commit, as with an input
method that does not answer. One walk goes through every field of the app, also those that are not named here.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSpinBox, QLineEdit, QPlainTextEdit, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app.view_models.conversation_list import ConversationRow
from app.views.chats.chat_rows import RenameField
from app.views.settings.options import PromptField
from app.views.widgets.composing import Composing
from app.views.widgets.fields import LineField
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.composing import compose


def test_leaving_a_chat_or_the_app_commits_what_is_composed_there(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as harness:
        harness.ask(qtbot, "first")
        first = harness.chats.chat_id
        harness.chats.new_chat()
        harness.ask(qtbot, "second")
        second = harness.chats.chat_id
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
    assert told.args == [harness.chats.chat_id, "a にほんご"]
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


def test_the_keys_of_an_input_method_close_nothing(harness: AppHarness, qtbot: QtBot) -> None:
    """Some systems hand them on while it composes."""
    quick = harness.window.tools.desktop.quick_ask
    quick.come_to_front()
    harness.ask(qtbot, "Hello")
    chats = harness.window.sidebar.chats
    chats.start_rename(chats.index_of(ConversationRow(chat_id=harness.chats.chat_id)))
    (rename,) = chats.findChildren(RenameField)
    dialog = harness.window.prompts.edit_prompts()
    for field, place in ((quick.edit, quick), (rename, rename), (dialog.name, dialog), (dialog.text, dialog)):
        compose(field, "하")
        QTest.keyClick(field, Qt.Key.Key_Escape)
        if not isinstance(field, LineField):  # there Return takes what is composed, too
            QTest.keyClick(field, Qt.Key.Key_Return)
        assert (place.isVisible(), field.is_composing) == (True, True), field
        compose(field, "", "하")
        assert field.text().endswith("하")


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
    prompt = window.pages["chat"].findChild(PromptField)
    assert prompt is not None
    prompt.setFocus()
    compose(prompt, "", "짧게 ")
    compose(prompt, "대답")
    window.close()
    assert harness.application.settings.system_prompt == "짧게 대답"


_TYPED = (QLineEdit, QPlainTextEdit, QTextEdit)
Field = QLineEdit | QPlainTextEdit | QTextEdit


def fields(window: QWidget) -> list[Field]:
    found = [each for each in window.findChildren(QWidget) if isinstance(each, _TYPED)]
    return [each for each in found if each.isVisible() and each.isEnabled() and not each.isReadOnly()]


def words_in(field: Field) -> str:
    return field.text() if isinstance(field, QLineEdit) else field.toPlainText()


def takes(field: Field) -> str:
    """What an input method would commit there: letters where letters are taken, else digits."""
    number = isinstance(field.parent(), QAbstractSpinBox) or (isinstance(field, QLineEdit) and field.validator())
    if name_of(field) == "LineField Token":  # a hub's token is ASCII
        return "a"
    return "1" if number else "한"


def empty(field: Field) -> None:
    field.selectAll()
    compose(field, "", "")
    QTest.keyClick(field, Qt.Key.Key_Delete)


def walk(window: QWidget, other: QWidget | None = None) -> int:
    """Composes, presses Return, and leaves each field; the words must be there once."""
    walked = fields(window)
    for field in walked:
        field.setFocus()
        empty(field)
        word = takes(field)
        compose(field, word)
        QTest.keyClick(field, Qt.Key.Key_Return)
        if not isinstance(field.parent(), QAbstractSpinBox):  # Return writes its number out
            assert word not in words_in(field), f"{name_of(field)}: committed by Return"
        field.selectAll()
        compose(field, "", word)
        assert words_in(field) == word, f"{name_of(field)}: lost or doubled"
        if isinstance(field, Composing):
            compose(field, word)
            (other or window).setFocus()
            field.clearFocus()
            left = words_in(field)
            if word == "1":  # a number that is too small becomes the least one
                assert left in ("11", "512"), f"{name_of(field)}: lost or doubled when it was left"
            else:
                assert left.count(word) == 2, f"{name_of(field)}: lost or doubled when it was left"
            assert not field.composed
        empty(field)
    return len(walked)


def name_of(field: QObject) -> str:
    return f"{type(field).__name__} {field.accessibleName() if isinstance(field, QWidget) else ''}"


def test_the_window_with_a_chat_and_with_the_models_and_the_settings(harness: AppHarness, qtbot: QtBot) -> None:
    assert walk(harness.window) >= 2  # the message and the search
    assert harness.engine.requests == []
    for tab in ("yours", "find"):
        view = harness.show_models(tab)
        assert walk(harness.window) >= 1
        assert view.isVisible()

    harness.models.choose_speculation("fixed", 4)
    for page in ("chat", "advanced"):
        window = harness.show_settings(page)
        qtbot.waitUntil(window.isActiveWindow)
        assert walk(window) >= 2  # the search, and what is on the page
        assert window.isVisible()
