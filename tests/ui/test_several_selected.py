"""Several chats selected in the sidebar, by pointer and keys: moved, exported, deleted, and undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAccessible, QContextMenuEvent, QDrag
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.controllers.exports import ExportFormat
from app.views.chats.chat_list import ChatList
from app.views.chats.chat_rows import more_place
from app.views.files.export_dialog import ExportDialog
from app.views.widgets.buttons import PillButton
from tests.helpers.app_harness import AppHarness
from tests.ui.test_sidebar import change, drop_data, entries, listed, make_chats, make_folder, point_of, row_named

NONE = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
COMMAND = Qt.KeyboardModifier.ControlModifier


def click(app: AppHarness, title: str, keys: Qt.KeyboardModifier = NONE) -> None:
    viewport = app.window.sidebar.chats.viewport()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, keys, point_of(app, title))


def chats_of(app: AppHarness) -> ChatList:
    return app.window.sidebar.chats


def chosen(app: AppHarness) -> list[str]:
    titles = {row.chat_id: row.title for row in app.chats.conversations.rows}
    return [titles[chat_id] for chat_id in chats_of(app).chosen()]


def menu_on(app: AppHarness, title: str) -> QMenu:
    at = point_of(app, title)
    chats = chats_of(app)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, chats.viewport().mapToGlobal(at))
    QApplication.sendEvent(chats.viewport(), event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def undo(app: AppHarness, qtbot: QtBot) -> None:
    button = app.window.banner.findChild(PillButton)
    assert button is not None
    assert button.isVisible()
    button.click()
    app.wait_until_stored(qtbot)


def four(app: AppHarness, qtbot: QtBot) -> dict[str, int]:
    """D is the newest and the first row."""
    numbers = make_chats(app, qtbot, "A", "B", "C", "D")
    return dict(zip("ABCD", numbers, strict=True))


def test_command_and_shift_select_and_a_plain_click_opens_one(app: AppHarness, qtbot: QtBot) -> None:
    numbers = four(app, qtbot)
    click(app, "D")
    assert (app.chats.chat_id, chosen(app)) == (numbers["D"], [])
    click(app, "B", COMMAND)
    assert (app.chats.chat_id, chosen(app)) == (numbers["D"], ["D", "B"])
    click(app, "A", COMMAND)
    click(app, "D", COMMAND)
    assert chosen(app) == ["B", "A"]
    click(app, "C")
    assert (app.chats.chat_id, chosen(app)) == (numbers["C"], [])
    click(app, "A", SHIFT)
    assert (app.chats.chat_id, chosen(app)) == (numbers["C"], ["C", "B", "A"])


def test_keys_select_and_escape_ends_it(app: AppHarness, qtbot: QtBot) -> None:
    numbers = four(app, qtbot)
    app.chats.open_chat(numbers["C"])
    chats = chats_of(app)
    chats.setFocus(Qt.FocusReason.TabFocusReason)
    assert row_named(app, "C")[0] == chats.currentIndex().row()
    QTest.keyClick(chats, Qt.Key.Key_Down, SHIFT)
    assert chosen(app) == ["C", "B"]
    QTest.keyClick(chats, Qt.Key.Key_Down, SHIFT)
    QTest.keyClick(chats, Qt.Key.Key_Up, SHIFT)
    assert chosen(app) == ["C", "B"]
    QTest.keyClick(chats, Qt.Key.Key_Escape)
    assert chosen(app) == []
    app.window.menu.select_all.trigger()
    assert chosen(app) == ["D", "C", "B", "A"]
    QTest.keyClick(chats, Qt.Key.Key_Down)
    assert chosen(app) == []


def test_a_screen_reader_is_told_which_are_selected(app: AppHarness, qtbot: QtBot) -> None:
    four(app, qtbot)
    click(app, "D")
    click(app, "B", COMMAND)
    told = QAccessible.queryAccessibleInterface(chats_of(app))
    assert told is not None
    rows = [told.child(number) for number in range(told.childCount())]
    assert [row.text(QAccessible.Text.Name) for row in rows if row.state().selected] == ["D", "B"]


def test_folders_and_headings_between_them_are_not_selected(app: AppHarness, qtbot: QtBot) -> None:
    numbers = four(app, qtbot)
    folder = make_folder(app, qtbot, "Sea")
    change(app, qtbot, lambda stores: stores.chats.pin(numbers["A"], True))
    click(app, "A")
    click(app, "D", SHIFT)
    assert chosen(app) == ["A", "D"]
    selection = chats_of(app).selectionModel()
    index = app.chats.conversations.index_of_folder(folder)
    assert index.isValid()
    assert not selection.isSelected(index)


def test_those_selected_stay_selected_and_no_other_where_rows_move(app: AppHarness, qtbot: QtBot) -> None:
    numbers = four(app, qtbot)
    click(app, "A")
    click(app, "C", COMMAND)
    change(app, qtbot, lambda stores: stores.chats.pin(numbers["A"], True))
    assert chosen(app) == ["A", "C"]
    change(app, qtbot, lambda stores: stores.chats.pin(numbers["A"], False))
    assert chosen(app) == ["C", "A"]
    change(app, qtbot, lambda stores: stores.trash.put_chats([numbers["C"]]))
    assert chosen(app) == []
    chats_of(app).setFocus()
    QTest.keyClick(chats_of(app), Qt.Key.Key_Backspace)
    app.wait_until_stored(qtbot)
    assert {"A", "B", "D"} <= set(listed(app))


def test_the_open_chat_is_where_a_selection_begins_also_one_that_is_new_or_moves(app: AppHarness, qtbot: QtBot) -> None:
    four(app, qtbot)
    app.ask(qtbot, "New")
    click(app, "C", COMMAND)
    assert chosen(app) == ["New", "C"]
    click(app, "A")
    app.ask(qtbot, "Which makes it the first")
    assert listed(app)[1] == "A"
    click(app, "C", COMMAND)
    assert chosen(app) == ["A", "C"]


def test_several_are_deleted_by_key_and_come_back_as_one(app: AppHarness, qtbot: QtBot) -> None:
    four(app, qtbot)
    click(app, "D")
    click(app, "B", SHIFT)
    chats_of(app).setFocus()
    before = listed(app)
    QTest.keyClick(chats_of(app), Qt.Key.Key_Backspace)
    app.wait_until_stored(qtbot)
    assert (listed(app)[1:], app.chats.is_new) == (["A"], True)
    assert app.window.banner.sentence.text() == "3 chats deleted."
    undo(app, qtbot)
    assert listed(app) == before
    assert app.chats.title == "D"


def test_all_are_deleted_by_key_where_no_row_is_the_current_one(app: AppHarness, qtbot: QtBot) -> None:
    """After an undo with no chat open."""
    four(app, qtbot)
    app.chats.new_chat()
    chats = chats_of(app)
    chats.setFocus()
    chats.setCurrentIndex(QModelIndex())
    chats.selectAll()
    assert len(chosen(app)) == 4
    QTest.keyClick(chats, Qt.Key.Key_Backspace)
    app.wait_until_stored(qtbot)
    assert listed(app) == []


def test_the_menu_of_one_of_them_acts_on_all_and_of_another_on_that(app: AppHarness, qtbot: QtBot) -> None:
    numbers = four(app, qtbot)
    folder = make_folder(app, qtbot, "Sea")
    click(app, "D")
    click(app, "C", COMMAND)
    menu = menu_on(app, "C")
    assert list(entries(menu)) == ["Export 2 chats…", "Move to", "Delete 2 chats"]
    menu.close()
    places = QMenu(app.window)
    chats_of(app).fill_move_menu(places, row_named(app, "C")[1])
    entries(places)["Sea"].trigger()
    app.wait_until_stored(qtbot)
    assert [app.chats.folders.folder_of(numbers[title]) for title in "ABCD"] == [None, None, folder, folder]
    undo(app, qtbot)
    assert "> D" not in listed(app)
    menu = menu_on(app, "A")
    assert "Rename…" in entries(menu)
    menu.close()


def test_the_button_of_one_of_them_and_the_chat_menu_act_on_all(app: AppHarness, qtbot: QtBot) -> None:
    numbers = four(app, qtbot)
    click(app, "D")
    click(app, "C", COMMAND)
    chats = chats_of(app)
    place = chats.visualRect(app.chats.conversations.index(row_named(app, "C")[0]))
    QTest.mouseClick(
        chats.viewport(), Qt.MouseButton.LeftButton, NONE, more_place(app.application.theme, place).center()
    )
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert "Delete 2 chats" in entries(menu)
    menu.close()
    assert chosen(app) == ["D", "C"]

    chat_menu = app.window.menu.menus["chat"]
    for focused, words in ((chats, "Delete 2 chats"), (app.window.composer.edit, "Delete Chat")):
        focused.setFocus()
        chat_menu.aboutToShow.emit()
        assert app.window.menu.delete.text() == words
    chats.setFocus()
    app.window.menu.move.aboutToShow.emit()
    entries(app.window.menu.move)["New Folder…"].trigger()
    app.wait_until_stored(qtbot)
    (folder,) = app.chats.conversations.tree.folders
    assert [app.chats.folders.folder_of(numbers[title]) for title in "ABCD"] == [None, None, folder, folder]
    app.chats.deletions.undo()
    app.wait_until_stored(qtbot)
    assert [app.chats.folders.folder_of(numbers[title]) for title in "ABCD"] == [None] * 4


def test_several_are_dragged_together_and_moved_back(
    app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = four(app, qtbot)
    folder = make_folder(app, qtbot, "Sea")
    dropped: list[bool] = []

    def drop_on_folder(drag: QDrag, *_actions: Qt.DropAction) -> Qt.DropAction:
        dropped.append(drop_data(app, drag.mimeData(), "Sea"))
        return Qt.DropAction.MoveAction

    monkeypatch.setattr(QDrag, "exec", drop_on_folder)
    click(app, "D")
    click(app, "B", COMMAND)
    chats_of(app).startDrag(Qt.DropAction.MoveAction)
    app.wait_until_stored(qtbot)
    assert dropped == [True]
    assert [app.chats.folders.folder_of(numbers[title]) for title in "ABCD"] == [None, folder, None, folder]
    assert app.window.banner.sentence.text() == "2 chats moved to “Sea”."
    app.window.menu.undo.trigger()
    app.wait_until_stored(qtbot)
    assert [app.chats.folders.folder_of(numbers[title]) for title in "ABCD"] == [None] * 4


def test_one_that_was_moved_is_moved_back_by_undo(app: AppHarness, qtbot: QtBot) -> None:
    numbers = four(app, qtbot)
    first, second = make_folder(app, qtbot, "First"), make_folder(app, qtbot, "Second")
    for folder in (first, second):
        app.chats.folders.move_chats([numbers["A"]], folder)
        app.wait_until_stored(qtbot)
    assert not app.window.banner.isVisible()
    for folder_id in (first, None):
        app.window.menu.undo.trigger()
        app.wait_until_stored(qtbot)
        assert app.chats.folders.folder_of(numbers["A"]) == folder_id


def test_undo_is_offered_until_all_of_them_are_restored_or_gone(app: AppHarness, qtbot: QtBot) -> None:
    numbers = four(app, qtbot)
    app.chats.delete_chats([numbers["A"], numbers["B"], 777])
    app.wait_until_stored(qtbot)
    deletions = app.chats.deletions
    one, other = deletions.latest()
    deletions.restore(one, open_it=False)
    app.wait_until_stored(qtbot)
    assert bool(deletions.last)
    deletions.forget([other])
    app.wait_until_stored(qtbot)
    assert (bool(deletions.last), app.window.banner.isVisible()) == (False, False)


def test_several_are_exported_into_a_folder(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    for words in ("Ducks", "Geese", "Swans"):
        app.chats.new_chat()
        app.ask(qtbot, words)
    click(app, "Swans")
    click(app, "Ducks", COMMAND)
    menu = menu_on(app, "Ducks")
    entries(menu)["Export 2 chats…"].trigger()
    menu.close()
    (dialog,) = app.window.findChildren(ExportDialog)
    assert dialog.title.text() == "Export 2 chats"
    dialog.form.set_value(ExportFormat.MARKDOWN)
    with qtbot.waitSignal(app.application.file_controllers.exports.finished) as done:
        dialog.export_to(str(tmp_path))
    (exported,) = done.args
    assert sorted(each.name for each in exported.path.iterdir()) == ["Ducks.md", "Swans.md"]
