"""What is typed, composed or pasted while the focus is on what takes no text: it goes to the composer."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QInputMethodQueryEvent, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.views.transcript import TranscriptView
from tests.helpers.app_harness import AppHarness, focused
from tests.helpers.composing import compose
from tests.helpers.fake_engine import Script


def clicked_transcript(harness: AppHarness, qtbot: QtBot) -> TranscriptView:
    """Of a chat with a question and its reply."""
    harness.window.composer.set_text("")
    if harness.chats.is_new:
        harness.ask(qtbot, "Hello")
    view = harness.transcript
    harness.window.activateWindow()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    qtbot.waitUntil(view.hasFocus)
    return view


def test_what_is_typed_elsewhere_goes_to_the_composer(harness: AppHarness, qtbot: QtBot) -> None:
    none, control, meta = (getattr(Qt.KeyboardModifier, f"{name}Modifier") for name in ("No", "Control", "Meta"))
    view = clicked_transcript(harness, qtbot)
    for key, modifier in (
        *((Qt.Key.Key_J, each) for each in (control, meta)),
        *((each, none) for each in (Qt.Key.Key_Space, Qt.Key.Key_Down, Qt.Key.Key_Delete)),
    ):
        QTest.keyClick(view, key, modifier)
        assert (view.hasFocus(), harness.window.composer.text()) == (True, ""), key

    button = harness.window.composer.attach_button
    button.setFocus()
    QTest.keyClicks(button, "a")
    assert harness.window.composer.text() == "a"
    assert harness.window.composer.edit.hasFocus()

    view, composer = clicked_transcript(harness, qtbot), harness.window.composer
    composer.set_text("hello")
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert composer.text() == "hello "
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Backspace)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Backspace)
    assert composer.text() == "hell"
    assert composer.edit.hasFocus()

    view = clicked_transcript(harness, qtbot)
    harness.window.composer.take_focus()
    QTest.keyClick(harness.window.composer.edit, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    assert view.hasFocus()
    assert view.focused_row() == 1
    QTest.keyClicks(view, "b")
    assert harness.window.composer.text() == "b"

    clicked_transcript(harness, qtbot)
    bar = harness.window.find_bar
    harness.window.menu.find.trigger()
    QTest.keyClicks(bar.field, "e")
    QTest.mouseClick(bar.next, Qt.MouseButton.LeftButton)
    assert bar.field.hasFocus()


@pytest.mark.parametrize(("platform", "typed"), [("darwin", "@"), ("linux", "")])
def test_letters_that_a_mac_writes_with_option(
    harness: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, platform: str, typed: str
) -> None:
    """As a German keyboard there writes an at sign."""
    view = clicked_transcript(harness, qtbot)
    monkeypatch.setattr("sys.platform", platform)
    QApplication.sendEvent(view, QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_At, Qt.KeyboardModifier.AltModifier, "@"))
    assert harness.window.composer.text() == typed


def test_an_input_method_composes_in_the_composer(harness: AppHarness, qtbot: QtBot) -> None:
    """The focus follows when the syllable is done: a change of focus would end it at its first letter."""
    view, edit = clicked_transcript(harness, qtbot), harness.window.composer.edit
    place, enabled = Qt.InputMethodQuery.ImCursorRectangle, Qt.InputMethodQuery.ImEnabled
    event = QInputMethodQueryEvent(place | enabled)
    QApplication.sendEvent(view, event)
    assert event.value(enabled)
    asked, own = event.value(place), edit.inputMethodQuery(place)
    assert isinstance(asked, QRectF)
    assert isinstance(own, QRectF)
    assert view.mapToGlobal(asked.topLeft()) == edit.mapToGlobal(own.topLeft())

    view, edit = clicked_transcript(harness, qtbot), harness.window.composer.edit
    for preedit in ("ㅎ", "하", "한"):
        compose(view, preedit)
        assert edit.composed == preedit
        assert view.hasFocus()
    compose(view, "", "한")
    assert edit.text() == "한"
    assert not edit.is_composing
    assert edit.hasFocus()

    view = clicked_transcript(harness, qtbot)
    compose(view, "글", "한")  # it goes on after a commit
    assert (edit.text(), edit.composed, view.hasFocus()) == ("한", "글", True)
    compose(view, "", "")

    view = clicked_transcript(harness, qtbot)
    compose(view, "안녕")
    harness.window.composer.button.click()
    harness.wait_until_quiet(qtbot)
    assert [each.text for each in harness.chats.transcript.messages if each.from_user] == ["Hello", "안녕"]


def test_in_the_list_of_chats_letters_are_no_commands(harness: AppHarness, qtbot: QtBot) -> None:
    """Nor is Backspace, as long as no ring shows what it would delete."""
    harness.ask(qtbot, "Hello")
    chats, composer = harness.window.sidebar.chats, harness.window.composer
    chats.setFocus(Qt.FocusReason.MouseFocusReason)
    QTest.keyClick(chats, Qt.Key.Key_Backspace)
    assert [row.chat_id for row in harness.chats.conversations.rows if row.chat_id]
    QTest.keyClicks(chats, "h")
    QTest.keyClicks(composer.edit, "ey")
    assert composer.text() == "hey"
    chats.take_focus()
    QTest.keyClick(chats, Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: not [row for row in harness.chats.conversations.rows if row.chat_id])


def test_stray_keys_in_the_settings_of_a_chat_stay_there(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "Hello")
    window = harness.window
    window.chat_settings.toggle_panel()
    panel = window.chat_settings.panel
    QTest.keyClicks(focused(), "x")
    assert panel.isVisible()
    assert not window.composer.text()


def test_quick_ask_takes_letters_after_a_click_on_its_answer(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.menu.quick_ask.trigger()
    quick = harness.window.tools.desktop.quick_ask
    QTest.keyClicks(quick.edit, "Hello")
    QTest.keyClick(quick.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(quick.model.messages) and not quick.writing)
    quick.answer.setFocus()
    QTest.keyClicks(quick.answer, "m")
    QTest.keyClicks(quick.edit, "ore")
    assert quick.edit.text() == "more"
    assert not harness.window.composer.text()


def test_what_is_pasted_elsewhere_goes_to_the_composer(harness: AppHarness, qtbot: QtBot) -> None:
    composer, entries = harness.window.composer, harness.window.menu.actions
    for entry in ("paste", "paste_plain"):
        clicked_transcript(harness, qtbot)
        QGuiApplication.clipboard().setText("from elsewhere")
        harness.window.tools.edits.judge()
        assert entries[entry].isEnabled()
        entries[entry].trigger()
        assert (composer.text(), composer.edit.hasFocus()) == ("from elsewhere", True)

    composer.set_text("")
    field = harness.window.sidebar.search
    field.setFocus()
    QTest.keyClicks(field, "abc")
    QGuiApplication.clipboard().setText("d")
    for entry in ("paste", "paste_plain"):
        entries[entry].trigger()
    assert (field.text(), composer.text()) == ("abcdd", "")


def test_page_keys_scroll_the_messages_while_one_types(harness: AppHarness, qtbot: QtBot) -> None:
    harness.engine.scripts.append(Script(pieces=("A line.\n\n" * 200,)))
    harness.ask(qtbot, "Hello")
    harness.window.banner.close_button.click()  # the end could be scrolled above a notice
    bar, edit = harness.transcript.verticalScrollBar(), harness.window.composer.edit
    QTest.keyClicks(edit, "one")
    QTest.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(edit, "two")
    end = bar.value()
    assert end == bar.maximum() > 0
    QTest.keyClick(edit, Qt.Key.Key_PageUp)
    assert 0 < end - bar.value() <= bar.pageStep()
    assert (edit.hasFocus(), edit.text(), edit.textCursor().position()) == (True, "one\ntwo", 7)
    QTest.keyClick(edit, Qt.Key.Key_PageDown)
    assert bar.value() == end
    harness.window.composer.set_text("line\n" * 200)
    QTest.keyClick(edit, Qt.Key.Key_PageUp)
    assert bar.value() == bar.maximum()
    assert edit.textCursor().position() < len(edit.text())
