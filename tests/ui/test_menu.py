"""The menus: every entry does something, acts only where it can, and has a key of its own."""

from __future__ import annotations

from collections import Counter

import pytest
from PySide6.QtCore import SIGNAL, QCoreApplication, QMimeData, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from app.views.shell.menu import IS_MAC
from app.views.shell.shortcuts import ShortcutTable, plain_words, shortcut_text, show_shortcuts
from app.views.widgets.fields import WholeField
from app.views.widgets.labels import TextLabel
from app.words.languages import LANGUAGES
from tests.helpers.app_harness import AppHarness
from tests.helpers.stillness import still

# Entries that macOS's own panels use: Qt finds them by their words in its context.
OF_PANELS = {"cut": "Cut", "copy": "Copy", "paste": "Paste", "select_all": "Select All"}
UNWIRED = {"import_chats", "export_chat", "export_all"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_macos_finds_what_its_panels_use(harness: AppHarness, language: str) -> None:
    harness.application.settings.language = language
    still()
    actions = harness.window.menu.actions
    found = {name for name, each in actions.items() if each.menuRole() is QAction.MenuRole.TextHeuristicRole}
    assert found == set(OF_PANELS)
    for name, words in OF_PANELS.items():
        assert plain_words(actions[name]) == QCoreApplication.translate("QCocoaMenuItem", words)
    of_qt = QCoreApplication.translate("MAC_APPLICATION_MENU", "Preferences...")
    assert language == "en" or of_qt == actions["settings"].text()


class _Copied(QMimeData):
    """Text that another program has copied: macOS asks the user before it is read."""

    asked = 0

    def formats(self) -> list[str]:
        return ["text/plain"]

    def retrieveData(self, kind: str, of: object) -> object:  # noqa: N802  Qt's name
        self.asked += kind == "text/plain"
        return "words" if kind == "text/plain" else None


def test_the_edit_menu_opens_without_reading_what_was_copied(harness: AppHarness) -> None:
    copied = _Copied()
    QApplication.clipboard().setMimeData(copied)
    for field in (harness.window.sidebar.search, harness.window.composer.edit):
        field.setFocus()
        harness.window.menu.menus["edit"].aboutToShow.emit()
        assert harness.window.menu.paste.isEnabled()
    assert copied.asked == 0
    QApplication.clipboard().clear()
    harness.window.sidebar.search.setFocus()
    harness.window.menu.menus["edit"].aboutToShow.emit()
    assert not harness.window.menu.paste.isEnabled()


def unconnected(harness: AppHarness) -> set[str]:
    actions = harness.window.menu.actions
    return {name for name, each in actions.items() if not each.receivers(SIGNAL("triggered(bool)"))}


def test_each_key_has_one_entry_and_the_sheet_and_the_button_have_them_all(harness: AppHarness, qtbot: QtBot) -> None:
    """Qt hears none of two that share one, those of other parts of the window included."""
    keys = Counter(shortcut_text(action) for action in harness.window.actions() if shortcut_text(action))
    assert [key for key, number in keys.items() if number > 1] == []
    assert len(keys) > len([action for action in harness.window.menu.actions.values() if shortcut_text(action)])

    assert unconnected(harness) <= UNWIRED

    button = harness.window.tools.menu_button
    assert (button is None) is IS_MAC  # where the system shows the bar
    titles = ["File", "Edit", "View", "Chat", "Message", "Window", "Help"]
    assert [action.text() for action in harness.window.menu.bar.actions()] == titles
    if button is not None:
        QTest.keyClick(harness.window, Qt.Key.Key_F10)
        shown = QApplication.activePopupWidget()
        assert shown is button.menu
        assert [action.text() for action in shown.actions()] == titles
        shown.close()

    menu = harness.window.menu
    sheet = show_shortcuts(harness.application.theme, menu, harness.window)
    words = [label.text() for label in sheet.findChildren(TextLabel)]
    for action in menu.actions.values():
        if shortcut_text(action):
            assert plain_words(action) in words
            assert shortcut_text(action) in words
    QTest.keyClick(sheet, Qt.Key.Key_Escape)
    assert not sheet.isVisible()

    sheet = show_shortcuts(harness.application.theme, harness.window.menu, harness.window)
    qtbot.waitUntil(sheet.isActiveWindow)
    bar = sheet.findChildren(ShortcutTable)[0].verticalScrollBar()
    assert bar.maximum() > 0
    focused = QApplication.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, Qt.Key.Key_PageDown)
    assert bar.value() > 0
    QTest.keyClick(focused, Qt.Key.Key_Return)
    assert not sheet.isVisible()


def test_entries_follow_what_can_be_done(harness: AppHarness, qtbot: QtBot) -> None:
    menu, settings = harness.window.menu, harness.application.settings
    none = menu.stop, menu.rename, menu.duplicate, menu.delete, menu.usual_size, menu.find
    assert not any(action.isEnabled() for action in none)
    menu.menus["chat"].aboutToShow.emit()
    assert not harness.window.speculation.race.isEnabled()
    menu.menus["chat"].aboutToHide.emit()
    assert harness.window.speculation.race.isEnabled()  # its key is heard
    harness.engine.gate.hold()
    QTest.keyClicks(harness.window.composer.edit, "Long")
    harness.press_return()
    qtbot.waitUntil(menu.stop.isEnabled)
    assert (menu.rename.isEnabled(), menu.find.isEnabled()) == (True, True)
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: not menu.stop.isEnabled())
    settings.text_scale = 2.0
    assert [menu.larger.isEnabled(), menu.smaller.isEnabled(), menu.usual_size.isEnabled()] == [False, True, True]
    settings.text_scale = 0.85
    assert [menu.larger.isEnabled(), menu.smaller.isEnabled()] == [True, False]

    settings.text_scale = 1.0
    harness.chats.new_chat()
    edit = harness.window.composer.edit
    harness.window.activateWindow()
    harness.window.composer.take_focus()
    QApplication.clipboard().clear()
    menu.menus["edit"].aboutToShow.emit()
    assert not any(menu.actions[name].isEnabled() for name in ("redo", "cut", "copy", "paste", "select_all"))
    menu.menus["edit"].aboutToHide.emit()
    QTest.keyClicks(edit, "words")
    edit.selectAll()
    menu.menus["edit"].aboutToShow.emit()
    assert [menu.actions[name].isEnabled() for name in ("undo", "cut", "copy", "redo")] == [True] * 3 + [False]
    menu.menus["edit"].aboutToHide.emit()
    assert menu.redo.isEnabled()  # its key is heard
    menu.cut.trigger()
    assert edit.text() == ""
    menu.paste.trigger()
    assert edit.text() == "words"

    window = harness.show_settings("chat")
    number = window.sampling.fields["top_k"]
    assert isinstance(number, WholeField)
    qtbot.waitUntil(window.isActiveWindow)
    number.setFocus()
    number.selectAll()
    menu.menus["edit"].aboutToShow.emit()
    assert menu.actions["copy"].isEnabled()
    menu.menus["edit"].aboutToHide.emit()
    QApplication.clipboard().setText("40")
    menu.paste.trigger()
    number.interpretText()
    assert number.value() == 40


def test_keys_step_through_chats_and_one_of_two_sends(harness: AppHarness, qtbot: QtBot) -> None:
    chats = []
    for text in ("One", "Two"):
        harness.chats.new_chat()
        harness.ask(qtbot, text)
        chats.append(harness.chats.chat_id)
    harness.chats.new_chat()
    menu = harness.window.menu
    menu.next_chat.trigger()
    seen = [harness.chats.chat_id]
    menu.next_chat.trigger()
    seen.append(harness.chats.chat_id)
    menu.next_chat.trigger()  # there is none below
    assert sorted(seen) == sorted(chats)
    assert harness.chats.chat_id == seen[1]
    menu.previous_chat.trigger()
    assert harness.chats.chat_id == seen[0]

    harness.chats.new_chat()
    harness.ask(qtbot, "whales, few")
    one = harness.chats.chat_id
    harness.chats.new_chat()
    for text in ("whales, more", "whales, most"):
        harness.ask(qtbot, text)
    rows = harness.chats.conversations
    rows.set_query("whales")
    qtbot.waitUntil(lambda: any(row.continues for row in rows.rows))
    harness.window.menu.next_chat.trigger()
    assert harness.chats.chat_id == one

    harness.chats.new_chat()
    edit = harness.window.composer.edit
    harness.application.settings.send_key = "control_return"
    QTest.keyClicks(edit, "one")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    QTest.keyClicks(edit, "two")
    assert edit.text() == "one\ntwo"
    QTest.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    harness.wait_until_quiet(qtbot)
    assert harness.chats.transcript.messages[0].text == "one\ntwo"

    harness.application.settings.send_key = "return"
    harness.chats.new_chat()
    QTest.keyClicks(edit, "one")
    QTest.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(edit, "two")
    assert edit.text() == "one\ntwo"
    QTest.keyClick(edit, Qt.Key.Key_Return)
    harness.wait_until_quiet(qtbot)
    assert harness.chats.transcript.messages[0].text == "one\ntwo"


def message_entries(harness: AppHarness) -> dict[str, QAction]:
    menu = harness.window.menu.menus["message"]
    menu.aboutToShow.emit()
    return {action.text(): action for action in menu.actions() if action.text()}


def test_entries_act_on_the_message_in_focus_and_on_what_is_selected(harness: AppHarness, qtbot: QtBot) -> None:
    menu = harness.window.menu.menus["message"]
    assert not menu.menuAction().isEnabled()
    assert message_entries(harness) == {}
    harness.ask(qtbot, "Question")
    assert menu.menuAction().isEnabled()
    question, answer = harness.chats.transcript.messages
    harness.window.composer.take_focus()
    entries = message_entries(harness)
    assert entries["Continue"].isEnabled()
    entries["Copy as Plain Text"].trigger()
    assert QApplication.clipboard().text() == answer.text
    view = harness.transcript
    view.message_keys.show(0)
    entries = message_entries(harness)
    assert "Continue" not in entries
    entries["Copy as Markdown"].trigger()
    assert QApplication.clipboard().text() == question.text
    harness.window.composer.take_focus()
    assert "Continue" in message_entries(harness)
    view.message_keys.show(0)
    QTest.keyClick(harness.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    (command,) = [
        each
        for each in harness.window.tools.commands.all()
        if each.detail == "Message" and each.text == "Copy as Markdown"
    ]
    QApplication.clipboard().clear()
    command.act()
    assert QApplication.clipboard().text() == question.text
    harness.window.tools.palette.leave()

    harness.chats.new_chat()
    harness.ask(qtbot, "Which whales swim?")
    view, bar, edit = harness.transcript, harness.window.find_bar, harness.window.composer.edit
    harness.window.menu.use_selection.trigger()
    assert not bar.isVisible()
    view.message_keys.show(0)
    view.selection.select_message(harness.chats.transcript.messages[0].id)
    QTest.keyClick(view, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    assert bar.field.text() == "Which whales swim?"
    qtbot.waitUntil(lambda: bar.count.text() == "1 of 1")
    edit.setFocus()
    QTest.keyClicks(edit, "whales")
    edit.selectAll()
    harness.window.menu.use_selection.trigger()
    assert bar.field.text() == "whales"
    assert edit.hasFocus()


def test_a_chat_is_deleted_and_brought_back_by_keys(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "Keep me")
    chat, edit = harness.chats.chat_id, harness.window.composer.edit
    harness.window.composer.take_focus()
    for field in (edit, harness.window.sidebar.search):
        field.setFocus()
        QTest.keyClicks(field, "some words")
        QTest.keyClick(field, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
        assert harness.chats.chat_id == chat
    harness.window.sidebar.search.clear()
    locked = QLineEdit(harness.window, readOnly=True)  # Qt's own would leave it the key only while it is writable
    locked.show()
    locked.setFocus()
    QTest.keyClick(locked, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    assert harness.chats.chat_id == chat
    view = harness.transcript
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: harness.chats.is_new)

    # Until something is typed: then that is what was done last.
    harness.window.composer.set_text("")
    harness.ask(qtbot, "Keep me")
    chat, composer = harness.chats.chat_id, harness.window.composer
    composer.set_text("")
    QTest.keyClicks(composer.edit, "a draft")
    harness.chats.delete_chats([chat])
    harness.wait_until_stored(qtbot)
    for field in (composer.edit, harness.window.sidebar.search):
        field.setFocus()
        QTest.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        harness.wait_until_stored(qtbot)
        assert harness.chats.conversations.index_of(chat).isValid()
        harness.chats.delete_chats([chat])
        harness.wait_until_stored(qtbot)
    QTest.keyClicks(harness.window.sidebar.search, "x")
    QTest.keyClick(harness.window.sidebar.search, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert harness.window.sidebar.search.text() == ""
    assert not harness.chats.conversations.index_of(chat).isValid()
