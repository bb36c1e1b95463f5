"""What is selected in a chat is quoted in the next message, and a chat goes on in a new one from a message."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.views.transcript.message_footer import add_message_acts
from app.views.widgets.message_edit import LONG_PASTE
from tests.helpers.app_harness import AppHarness
from tests.helpers.fake_engine import Script


def select_question(app: AppHarness) -> None:
    app.transcript.selection.select_message(app.chats.transcript.messages[0].id)


def test_what_is_selected_is_quoted_below_what_is_written(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "Ducks\n\nand geese")
    composer = app.window.composer
    quote = app.window.menu.quote
    assert not quote.isEnabled()
    select_question(app)
    assert quote.isEnabled()
    app.transcript.setFocus()
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(app.transcript, Qt.Key.Key_J, modifiers)
    assert composer.text() == "> Ducks\n>\n> and geese\n\n"
    assert QApplication.focusWidget() is composer.edit
    assert not quote.isEnabled()

    QTest.keyClicks(composer.edit, "Why?")
    select_question(app)
    app.transcript.quote_requested.emit()
    assert composer.text() == "> Ducks\n>\n> and geese\n\nWhy?\n\n> Ducks\n>\n> and geese\n\n"
    composer.edit.undo()
    assert composer.text() == "> Ducks\n>\n> and geese\n\nWhy?"


def test_quoted_code_keeps_its_indentation(app: AppHarness, qtbot: QtBot) -> None:
    app.engine.scripts.append(Script(pieces=("```py\n    if a:\n        b\n```\n",)))
    app.ask(qtbot, "Go")
    app.transcript.selection.select_message(app.chats.transcript.messages[1].id)
    app.transcript.quote_requested.emit()
    assert app.window.composer.text() == "> if a:\n>     b\n\n"


def test_a_long_quotation_is_attached(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "x" * (LONG_PASTE + 1))
    select_question(app)
    app.transcript.quote_requested.emit()
    qtbot.waitUntil(lambda: len(app.window.composer.attached_rows()) == 1)
    assert app.window.composer.text() == ""


def test_a_chat_goes_on_in_a_new_one_from_a_message(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "Ducks")
    app.ask(qtbot, "Geese")
    first = app.chats.chat_id
    before = [message.text for message in app.chats.transcript.messages]
    menu = QMenu(app.window)
    add_message_acts(menu, app.transcript.context, app.chats.transcript.messages[1])
    next(act for act in menu.actions() if act.text() == "New Chat from Here").trigger()
    app.wait_until_stored(qtbot)
    assert (app.chats.chat_id != first, app.chats.title) == (True, "Ducks copy")
    assert [message.text for message in app.chats.transcript.messages] == before[:2]
    app.ask(qtbot, "Swans")
    app.chats.open_chat(first)
    assert [message.text for message in app.chats.transcript.messages] == before
