"""Prompts of one's own, and presets, under "/" in the composer."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.controllers.prompts import SavedPrompt
from app.views.shell.prompts import PromptDialog, PromptList
from app.views.widgets.message_edit import MessageEdit
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.composing import compose


@pytest.fixture
def offered(app: AppHarness) -> PromptList:
    texts = {"Translate": "Translate into English:", "요약": "요약해 주세요:", "Shorter": "Make it\nshorter"}
    for name, text in texts.items():
        app.chats.prompts.put(SavedPrompt(name, text))
    app.window.composer.take_focus()
    return app.window.prompts


def edit_of(app: AppHarness) -> MessageEdit:
    return app.window.composer.edit


def rows(offered: PromptList) -> list[str]:
    if not offered.isVisible():
        return []
    return [offered.list.item(row).text() for row in range(offered.list.count())]


def test_a_sign_offers_them_and_return_puts_one_into_the_field(
    app: AppHarness, offered: PromptList, announced: list[tuple[object, str]]
) -> None:
    edit = edit_of(app)
    QTest.keyClicks(edit, "/")
    assert rows(offered) == ["Shorter", "Translate", "요약", "New Prompt…", "Edit Prompts…"]
    assert offered.geometry().bottom() < app.window.composer.geometry().top()
    QTest.keyClicks(edit, "tr")
    assert rows(offered) == ["Translate"]
    # What Return would insert, once for the letters that leave it as it is.
    assert [words for _, words in announced] == ["Shorter Make it shorter", "Translate Translate into English:"]
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert (edit.text(), rows(offered), app.engine.requests) == ("Translate into English:", [], [])
    edit.undo()
    assert edit.text() == "/tr"


def test_arrows_lead_and_escape_leaves_the_line_as_it_is(app: AppHarness, offered: PromptList) -> None:
    edit = edit_of(app)
    QTest.keyClicks(edit, "Hello")
    QTest.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(edit, "/")
    QTest.keyClick(edit, Qt.Key.Key_Up)
    QTest.keyClick(edit, Qt.Key.Key_Down)
    QTest.keyClick(edit, Qt.Key.Key_Tab)
    assert edit.text() == "Hello\nMake it\nshorter"
    edit.set_text("")
    QTest.keyClicks(edit, "/")
    QTest.keyClick(edit, Qt.Key.Key_Escape)
    assert (edit.text(), rows(offered)) == ("/", [])
    QTest.keyClicks(edit, "tr")
    assert rows(offered) == []
    edit.set_text("")
    QTest.keyClicks(edit, "/tr")
    assert rows(offered) == ["Translate"]


def test_a_path_is_a_message(app: AppHarness, offered: PromptList, qtbot: QtBot) -> None:
    assert app.ask(qtbot, "/etc/hosts")
    assert app.chats.transcript.messages[0].text == "/etc/hosts"
    QTest.keyClicks(edit_of(app), "and/or")
    assert rows(offered) == []


def test_what_is_composed_finds_and_its_return_chooses_nothing(app: AppHarness, offered: PromptList) -> None:
    edit = edit_of(app)
    QTest.keyClicks(edit, "/")
    compose(edit, "요")
    assert rows(offered) == ["요약"]
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.text() == "/"
    compose(edit, "", "요")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.text() == "요약해 주세요:"


def test_the_wide_sign_of_an_input_method_is_one(app: AppHarness, offered: PromptList) -> None:
    edit = edit_of(app)
    compose(edit, "", "／")
    compose(edit, "", "요")
    assert rows(offered) == ["요약"]
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.text() == "요약해 주세요:"


def test_a_preset_is_used_by_its_name(app: AppHarness, offered: PromptList) -> None:
    app.chats.options.presets.add([{"id": "p", "name": "Poet", "values": {"system_prompt": "You are a poet."}}])
    edit = edit_of(app)
    QTest.keyClicks(edit, "/po")
    assert rows(offered) == ["Poet"]
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.text() == ""
    assert app.chats.options.here.system_prompt == "You are a poet."


def test_many_prompts_leave_room_for_a_new_one(app: AppHarness, offered: PromptList) -> None:
    for number in range(10):
        app.chats.prompts.put(SavedPrompt(f"P{number}", "text"))
    QTest.keyClicks(edit_of(app), "/")
    assert len(rows(offered)) == 8
    assert rows(offered)[-2:] == ["New Prompt…", "Edit Prompts…"]


def dialog_of(app: AppHarness) -> PromptDialog:
    (dialog,) = app.window.findChildren(PromptDialog)
    return dialog


def test_prompts_are_written_changed_deleted_and_brought_back(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as app:
        edit = edit_of(app)
        QTest.keyClicks(edit, "/")
        assert rows(app.window.prompts) == ["New Prompt…"]
        QTest.keyClick(edit, Qt.Key.Key_Return)
        dialog = dialog_of(app)
        assert (edit.text(), dialog.focusWidget()) == ("", dialog.name)
        assert not dialog.act_button.isEnabled()
        told = QAccessible.queryAccessibleInterface(dialog)
        heard = [told.child(number).object() for number in range(told.childCount())]
        assert heard.index(dialog.name) < heard.index(dialog.text) < heard.index(dialog.cancel_button)
        QTest.keyClicks(dialog.name, "Explain")
        QTest.keyClicks(dialog.text, "Explain this:")
        dialog.act_button.click()
        qtbot.waitUntil(lambda: not app.window.findChildren(PromptDialog))
        assert [(each.name, each.text) for each in app.chats.prompts.all()] == [("Explain", "Explain this:")]

        QTest.keyClicks(edit, "/")
        QTest.keyClick(edit, Qt.Key.Key_Up)
        QTest.keyClick(edit, Qt.Key.Key_Return)
        dialog = dialog_of(app)
        assert dialog.text.text() == "Explain this:"
        QTest.keyClicks(dialog.name, " it")
        dialog.choice.chosen.emit("")
        assert [each.name for each in app.chats.prompts.all()] == ["Explain it"]
        dialog.choice.chosen.emit(app.chats.prompts.all()[0].id)
        dialog.other_button.click()
        qtbot.waitUntil(lambda: not app.window.findChildren(PromptDialog))
        assert app.chats.prompts.all() == []
        assert app.window.banner.sentence.text() == "Deleted the prompt “Explain it”."
        app.window.banner.button.click()
        assert [each.name for each in app.chats.prompts.all()] == ["Explain it"]
    with open_app(tmp_path, qtbot) as app:
        assert [each.text for each in app.chats.prompts.all()] == ["Explain this:"]
