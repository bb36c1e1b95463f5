"""The sidebar as a person uses it: folders by pointer, key and menu, marks, copies, results, and the Trash."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import (
    QAccessible,
    QAction,
    QCursor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFontMetrics,
    QKeyEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.storage import Stores
from app.view_models.conversation_list import ROW, ConversationRow
from app.views.chats.chat_list import ChatList, carried
from app.views.chats.chat_rows import RenameField, centred
from app.views.widgets.buttons import PillButton
from app.views.widgets.dialog import Dialog
from app.views.widgets.scrolling import RestingBar
from app.words.chat_groups import copy_titles
from tests.helpers.app_harness import AppHarness, open_app


def change(app: AppHarness, qtbot: QtBot, act: Callable[[Stores], object]) -> None:
    app.application.storage.write(act, lambda _done: app.chats.conversations.refresh(), lambda _refused: None)
    app.wait_until_stored(qtbot)


def make_chats(app: AppHarness, qtbot: QtBot, *titles: str) -> list[int]:
    made: list[int] = []

    def make(stores: Stores) -> None:
        made.extend(stores.chats.create(title) for title in titles)

    change(app, qtbot, make)
    return made


def make_folder(app: AppHarness, qtbot: QtBot, name: str, parent: int | None = None) -> int:
    made: list[int] = []
    change(app, qtbot, lambda stores: made.append(stores.folders.make(name, parent)))
    return made[0]


def listed(app: AppHarness) -> list[str]:
    """The rows, with a sign for each folder that they stand in."""
    return ["> " * row.depth + row.text for row in app.chats.conversations.rows]


def row_named(app: AppHarness, title: str) -> tuple[int, ConversationRow]:
    return next((number, row) for number, row in enumerate(app.chats.conversations.rows) if row.text == title)


def point_of(app: AppHarness, title: str) -> QPoint:
    number, _ = row_named(app, title)
    place = app.window.sidebar.chats.visualRect(app.chats.conversations.index(number))
    return QPoint(place.left() + 40, place.center().y())


def choose(app: AppHarness, title: str) -> ChatList:
    chats = app.window.sidebar.chats
    chats.setCurrentIndex(app.chats.conversations.index(row_named(app, title)[0]))
    chats.setFocus()
    return chats


def press(app: AppHarness, title: str, key: Qt.Key) -> None:
    QTest.keyClick(choose(app, title), key)


def carried_row(app: AppHarness, title: str) -> QMimeData:
    row = row_named(app, title)[1]
    return carried(row.folder_id, *([row.chat_id] if row.chat_id else ()))


def drop(app: AppHarness, title: str, target: str | None) -> bool:
    """Drags a row onto another one, or into the space below all; returns whether it was taken there."""
    return drop_data(app, carried_row(app, title), target)


def drop_data(app: AppHarness, data: QMimeData, target: str | None) -> bool:
    chats = app.window.sidebar.chats
    at = point_of(app, target) if target is not None else QPoint(40, chats.viewport().height() - 4)
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(at, Qt.DropAction.MoveAction, data, buttons, keys)
    move = QDragMoveEvent(at, Qt.DropAction.MoveAction, data, buttons, keys)
    dropped = QDropEvent(QPointF(at), Qt.DropAction.MoveAction, data, buttons, keys)
    for event in (enter, move, dropped):
        QApplication.sendEvent(chats.viewport(), event)
    return dropped.isAccepted()


def entries(menu: QMenu) -> dict[str, QAction]:
    return {action.text().strip(): action for action in menu.actions() if action.text()}


def move_menu(app: AppHarness, title: str) -> QMenu:
    menu = QMenu(app.window)
    app.window.sidebar.chats.fill_move_menu(menu, row_named(app, title)[1])
    return menu


def press_button(dialog: Dialog | None, text: str) -> None:
    assert dialog is not None
    next(button for button in dialog.findChildren(PillButton) if button.text() == text).click()


def test_after_renaming_by_key_the_ring_is_back_and_return_opens_nothing(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "Whales")
    chats = choose(app, "Whales")
    for by_key in (True, False):
        if by_key:
            QTest.keyClick(chats, Qt.Key.Key_F2)
        else:
            QTest.mouseClick(chats.viewport(), Qt.MouseButton.LeftButton, pos=point_of(app, "Whales"))
            chats.start_rename(chats.currentIndex())
        field = QApplication.focusWidget()
        assert isinstance(field, RenameField)
        QTest.keyClick(field, Qt.Key.Key_Escape)
        assert (chats.hasFocus(), chats.has_ring) == (True, by_key)

    folder_id = make_folder(app, qtbot, "Sea")
    app.chats.new_chat()
    app.ask(qtbot, "Birds")
    opened = app.chats.chat_id
    for name in ("Whales", "Sea"):
        chats = choose(app, name)
        chats.start_rename(chats.currentIndex())
        field = QApplication.focusWidget()
        assert isinstance(field, RenameField)
        QTest.keyClicks(field, "Other")
        QTest.keyClick(field, Qt.Key.Key_Return)
        app.wait_until_stored(qtbot)
    assert app.chats.chat_id == opened
    folder = app.chats.conversations.tree.folders[folder_id]
    assert (folder.name, folder.opened) == ("Other", True)


def test_folders_open_close_and_are_named(app: AppHarness, qtbot: QtBot) -> None:
    chat = make_chats(app, qtbot, "Chat")[0]
    folder = make_folder(app, qtbot, "Folder")
    app.chats.folders.move_chats([chat], folder)
    app.wait_until_stored(qtbot)
    assert listed(app) == ["Folders", "Folder", "> Chat"]
    press(app, "Chat", Qt.Key.Key_Left)
    assert app.window.sidebar.chats.currentIndex().data() == "Folder"
    press(app, "Folder", Qt.Key.Key_Left)
    assert listed(app) == ["Folders", "Folder"]
    app.wait_until_stored(qtbot)
    assert [each.opened for each in app.application.storage.read.folders.all()] == [False]
    press(app, "Folder", Qt.Key.Key_Right)
    app.wait_until_stored(qtbot)
    assert listed(app) == ["Folders", "Folder", "> Chat"]
    QTest.mouseClick(app.window.sidebar.chats.viewport(), Qt.MouseButton.LeftButton, pos=point_of(app, "Folder"))
    assert listed(app) == ["Folders", "Folder"]
    app.wait_until_stored(qtbot)

    app.window.menu.new_folder.trigger()
    app.wait_until_stored(qtbot)
    field = app.window.sidebar.chats.findChild(RenameField)
    assert isinstance(field, RenameField)
    assert field.text() == "New Folder"
    QTest.keyClicks(field, "Work")
    QTest.keyClick(field, Qt.Key.Key_Return)
    app.wait_until_stored(qtbot)
    assert listed(app) == ["Folders", "Folder", "Work"]
    assert [each.parent_id for each in app.application.storage.read.folders.all()] == [None] * 2
    app.window.menu.new_folder.trigger()
    app.wait_until_stored(qtbot)
    app.window.menu.new_folder.trigger()
    app.wait_until_stored(qtbot)
    assert listed(app) == ["Folders", "Folder", "New Folder", "New Folder 2", "Work"]


def test_rows_are_dragged_into_folders_and_out_but_nothing_of_other_programs(app: AppHarness, qtbot: QtBot) -> None:
    make_chats(app, qtbot, "Chat")
    make_folder(app, qtbot, "Inner")
    make_folder(app, qtbot, "Outer")
    for title, target in (("Inner", "Outer"), ("Chat", "Inner")):
        assert drop(app, title, target)
        app.wait_until_stored(qtbot)
    assert listed(app) == ["Folders", "Outer", "> Inner", "> > Chat"]
    assert not drop(app, "Outer", "Chat")  # a folder does not go into itself
    assert drop(app, "Inner", None)
    app.wait_until_stored(qtbot)
    assert listed(app) == ["Folders", "Inner", "> Chat", "Outer"]
    assert drop(app, "Chat", "Folders")
    app.wait_until_stored(qtbot)
    assert listed(app) == ["Folders", "Inner", "Outer", "Today", "Chat"]

    words, left = QMimeData(), Qt.MouseButton.LeftButton
    words.setText("1 0")
    place = QPointF(point_of(app, "Inner"))
    event = QDropEvent(place, Qt.DropAction.MoveAction, words, left, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(app.window.sidebar.chats.viewport(), event)
    assert not event.isAccepted()


def test_a_click_ends_where_it_began(app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is pressed on a heading, or on another row, and let go on a folder leaves it as it is; on a heading no ring
    shows, and no key means anything.
    """
    make_folder(app, qtbot, "Folder")
    chats, viewport = app.window.sidebar.chats, app.window.sidebar.chats.viewport()
    opened: list[bool] = []
    set_opened = app.chats.folders.set_opened

    def note(folder_id: int, opens: bool) -> None:
        opened.append(opens)
        set_opened(folder_id, opens)

    monkeypatch.setattr(app.chats.folders, "set_opened", note)
    for begin in (point_of(app, "Folders"), QPoint(40, viewport.height() - 4)):
        QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=begin)
        QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=point_of(app, "Folder"))
    assert opened == []
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=point_of(app, "Folder"))
    make_folder(app, qtbot, "Above")  # moves the row on under the pointer
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=point_of(app, "Above"))
    assert opened == []
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=point_of(app, "Folder"))
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=point_of(app, "Folder"))
    assert len(opened) == 1
    app.wait_until_stored(qtbot)

    make_chats(app, qtbot, *(f"Chat {number}" for number in range(40)))
    chats = choose(app, "Chat 20")
    for key in (Qt.Key.Key_Home, Qt.Key.Key_PageDown, Qt.Key.Key_End, Qt.Key.Key_PageUp, Qt.Key.Key_PageUp):
        QTest.keyClick(chats, key)
        row: ConversationRow = chats.currentIndex().data(ROW)
        assert not row.is_heading, key
    QTest.keyClick(chats, Qt.Key.Key_Home)
    assert chats.currentIndex().data(ROW).text == "Above"


def test_the_menu_moves_a_row_where_it_can_go(app: AppHarness, qtbot: QtBot) -> None:
    chat = make_chats(app, qtbot, "Chat")[0]
    outer = make_folder(app, qtbot, "Outer")
    make_folder(app, qtbot, "Inner", outer)
    can_go = {text: action.isEnabled() for text, action in entries(move_menu(app, "Outer")).items()}
    assert can_go == {"No Folder": False, "Outer": False, "Inner": False}
    entries(move_menu(app, "Chat"))["Inner"].trigger()
    app.wait_until_stored(qtbot)
    assert listed(app) == ["Folders", "Outer", "> Inner", "> > Chat"]
    app.chats.open_chat(chat)
    menu = app.window.menu.move
    menu.aboutToShow.emit()
    assert not entries(menu)["Inner"].isEnabled()
    entries(menu)["New Folder…"].trigger()
    app.wait_until_stored(qtbot)
    assert "> Chat" in listed(app)
    assert listed(app)[:2] == ["Folders", "New Folder"]


def test_a_folder_is_deleted_as_the_person_chooses(app: AppHarness, qtbot: QtBot) -> None:
    chat, deep = make_chats(app, qtbot, "Chat", "Deep")
    outer = make_folder(app, qtbot, "Outer")
    folder = make_folder(app, qtbot, "Folder", outer)
    inner = make_folder(app, qtbot, "Inner", folder)
    app.chats.folders.move_chats([chat], folder)
    app.chats.folders.move_chats([deep], inner)
    app.wait_until_stored(qtbot)
    before = listed(app)
    for button, left, in_trash in (
        ("Move contents up", ["Folders", "Outer", "> Inner", "> > Deep", "> Chat"], 0),
        ("Delete everything", ["Folders", "Outer"], 2),
    ):
        app.chats.open_chat(deep)
        press_button(app.window.sidebar.chats.delete_folder(folder), button)
        app.wait_until_stored(qtbot)
        assert listed(app) == left
        assert len(app.chats.deletions.latest()) == in_trash
        assert app.chats.is_new if in_trash else app.chats.chat_id == deep
        app.window.banner.button.click()  # Undo
        app.wait_until_stored(qtbot)
        assert listed(app) == before

    make_folder(app, qtbot, "Empty")
    held = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier, "", True)
    QApplication.sendEvent(choose(app, "Empty"), held)  # it would go on with the next ones
    app.wait_until_stored(qtbot)
    assert "Empty" in listed(app)
    press(app, "Empty", Qt.Key.Key_Delete)
    app.wait_until_stored(qtbot)
    assert listed(app) == before
    app.chats.deletions.undo()
    app.wait_until_stored(qtbot)
    assert "Empty" in listed(app)


def test_a_reply_that_ends_out_of_sight_is_marked_until_it_is_seen(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as app:
        app.ask(qtbot, "Seen")
        chat = app.chats.chat_id
        assert app.chats.send("Out of sight")
        app.chats.new_chat()
        app.wait_until_quiet(qtbot)
        qtbot.waitUntil(lambda: row_named(app, "Seen")[1].unseen)
        app.wait_until_stored(qtbot)
    with open_app(tmp_path, qtbot) as app:
        number, row = row_named(app, "Seen")
        assert row.unseen
        spoken = app.chats.conversations.index(number).data(Qt.ItemDataRole.AccessibleTextRole)
        assert spoken == "Seen, new reply"
        app.chats.open_chat(chat)
        app.wait_until_stored(qtbot)
        assert not row_named(app, "Seen")[1].unseen


def filed_in_two(app: AppHarness, qtbot: QtBot, title: str) -> int:
    """A chat in an open folder that stands in a closed one; returns the closed one."""
    app.ask(qtbot, title)
    chat = app.chats.chat_id
    outer = make_folder(app, qtbot, "Outer")
    inner = make_folder(app, qtbot, "Inner", outer)
    change(app, qtbot, lambda stores: stores.folders.put_chats([chat], inner))
    change(app, qtbot, lambda stores: stores.folders.set_opened(outer, False))
    return outer


def spoken(app: AppHarness, title: str) -> object:
    return app.chats.conversations.index(row_named(app, title)[0]).data(Qt.ItemDataRole.AccessibleTextRole)


def test_a_closed_folder_shows_what_was_not_seen(app: AppHarness, qtbot: QtBot) -> None:
    outer = filed_in_two(app, qtbot, "Deep")
    assert listed(app) == ["Folders", "Outer"]
    app.engine.gate.hold()
    assert app.chats.send("Out of sight")
    app.chats.new_chat()
    qtbot.waitUntil(lambda: row_named(app, "Outer")[1].generating)
    assert spoken(app, "Outer") == "Outer, closed folder, writing a reply"
    app.chats.folders.set_opened(outer, True)
    assert not row_named(app, "Outer")[1].generating
    assert row_named(app, "Deep")[1].generating
    app.chats.folders.set_opened(outer, False)
    app.engine.gate.open()
    app.wait_until_quiet(qtbot)
    qtbot.waitUntil(lambda: row_named(app, "Outer")[1].unseen)
    assert spoken(app, "Outer") == "Outer, closed folder, new reply"
    app.chats.folders.set_opened(outer, True)
    app.wait_until_stored(qtbot)
    assert not row_named(app, "Outer")[1].unseen
    assert row_named(app, "Deep")[1].unseen


def test_keys_open_the_menu_of_a_row_that_is_not_open_and_delete_it(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "Open")
    make_chats(app, qtbot, "Gone")
    QTest.keyClick(choose(app, "Gone"), Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    app.wait_until_stored(qtbot)
    assert [row.title for row in app.chats.conversations.rows if row.chat_id] == ["Open"]

    app.chats.new_chat()
    make_folder(app, qtbot, "Outer")
    make_chats(app, qtbot, "Other")
    return_key, f10 = Qt.Key.Key_Return, Qt.Key.Key_F10
    meta, shift = Qt.KeyboardModifier.MetaModifier, Qt.KeyboardModifier.ShiftModifier
    for title, entry, key, modifier in (
        ("Outer", "New Subfolder", return_key, meta),
        ("Other", "Pin", f10, shift),
    ):
        QTest.keyClick(choose(app, title), key, modifier)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        entries(menu)[entry].trigger()
        menu.close()
        app.wait_until_stored(qtbot)
    assert app.chats.is_new
    assert listed(app)[:2] == ["Pinned", "Other"]
    assert "> New Folder" in listed(app)


def test_a_chat_is_renamed_pinned_and_moved_from_the_menu_wherever_it_is(app: AppHarness, qtbot: QtBot) -> None:
    chat = make_chats(app, qtbot, "Hidden")[0]
    outer = make_folder(app, qtbot, "Outer")
    inner = make_folder(app, qtbot, "Inner", outer)
    app.chats.folders.move_chats([chat], inner)
    app.wait_until_stored(qtbot)
    for folder in (inner, outer):
        app.chats.folders.set_opened(folder, False)
    app.chats.open_chat(chat)
    app.window.sidebar.search.setText("no such words")
    app.window.toggle_sidebar()
    app.chats.conversations.set_query("no such words")
    qtbot.waitUntil(lambda: not app.chats.conversations.rows)
    menu = app.window.menu
    menu.menus["move"].aboutToShow.emit()
    assert entries(menu.move)["No Folder"].isEnabled()
    assert not entries(menu.move)["Inner"].isEnabled()
    menu.menus["chat"].aboutToShow.emit()
    assert menu.pin.text() == "Pin Chat"
    menu.pin.trigger()
    app.wait_until_stored(qtbot)
    menu.menus["chat"].aboutToShow.emit()
    assert menu.pin.text() == "Unpin Chat"
    menu.rename.trigger()
    qtbot.waitUntil(lambda: app.window.sidebar.chats.findChild(RenameField) is not None)
    field = app.window.sidebar.chats.findChild(RenameField)
    assert isinstance(field, RenameField)
    assert field.hasFocus()
    QTest.keyClicks(field, "Found")
    QTest.keyClick(field, Qt.Key.Key_Return)
    app.wait_until_stored(qtbot)
    assert app.chats.title == "Found"


def test_days_pass_and_copies_are_named(app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    (chat,) = make_chats(app, qtbot, "Chat")
    assert listed(app) == ["Today", "Chat"]
    monkeypatch.setattr(app.chats.conversations, "_today", lambda: date.today() + timedelta(days=1))
    app.show_settings()
    qtbot.waitUntil(lambda: listed(app) == ["Yesterday", "Chat"])

    for _ in range(2):
        app.chats.duplicate(chat)
        app.wait_until_stored(qtbot)
    app.chats.duplicate(app.chats.chat_id)  # a copy of "Chat copy 2"
    app.wait_until_stored(qtbot)
    assert sorted(listed(app)) == ["Chat", "Chat copy", "Chat copy 2", "Chat copy 3", "Yesterday"]
    for language, name in (("ko", "여행 사본"), ("ja", "여행のコピー"), ("zh_CN", "여행 副本")):
        app.application.settings.language = language
        titles = copy_titles("여행")
        assert (next(titles), next(titles)) == (name, f"{name} 2")
        assert next(copy_titles(f"{name} 2")) == name


def test_results_show_each_message_with_what_was_found_in_sight(app: AppHarness, qtbot: QtBot) -> None:
    words = "x " * 300 + "needle" + " y" * 300
    app.ask(qtbot, words)
    app.ask(qtbot, f"again {words}")
    app.window.sidebar.search.setText("NEEDLE")
    qtbot.waitUntil(lambda: len([row for row in app.chats.conversations.rows if row.match]) == 2)
    rows = [row for row in app.chats.conversations.rows if row.match]
    assert [row.continues for row in rows] == [False, True]
    metrics = QFontMetrics(app.application.theme.ui_font())
    text = rows[0].snippet
    at = text.index("needle")
    shown = centred(text, (at, at + 6), metrics, 200)
    assert "needle" in shown
    assert metrics.horizontalAdvance(shown) <= 200
    assert abs(shown.index("needle") - (len(shown) - shown.index("needle") - 6)) <= 4


def test_results_say_that_a_chat_has_more_than_are_shown(app: AppHarness, qtbot: QtBot) -> None:
    """The last row goes on to the next message with the words."""
    for number in range(5):
        app.ask(qtbot, f"needle {number}")
    app.chats.new_chat()
    app.window.sidebar.search.setText("needle")
    qtbot.waitUntil(lambda: len([row for row in app.chats.conversations.rows if row.match]) == 4)
    rows = [row for row in app.chats.conversations.rows if row.match]
    assert [row.snippet for row in rows] == ["needle 4", "needle 3", "needle 2", "More in this chat"]
    chats = app.window.sidebar.chats
    index = app.chats.conversations.index(app.chats.conversations.rows.index(rows[-1]))
    QTest.mouseClick(chats.viewport(), Qt.MouseButton.LeftButton, pos=chats.visualRect(index).center())
    qtbot.waitUntil(app.window.find_bar.isVisible)
    assert app.chats.chat_id == rows[-1].chat_id
    assert app.chats.transcript.message(rows[-1].match.message_id).text == "needle 1"  # type: ignore[union-attr]


def test_screen_readers_read_it_from_the_top(app: AppHarness) -> None:
    sidebar = app.window.sidebar
    parts = QAccessible.queryAccessibleInterface(sidebar)
    heard = [
        part.object() for number in range(parts.childCount()) if not (part := parts.child(number)).state().invisible
    ]
    above = [sidebar.new_button, sidebar.hide_button, sidebar.search]
    assert heard == [*above, sidebar.chats, sidebar.models_button, sidebar.settings_button]


def test_the_search_by_keys_and_button(app: AppHarness, qtbot: QtBot, announced: list[tuple[object, str]]) -> None:
    search = app.window.sidebar.search
    assert not search.clear_button.isVisible()
    search.setText("needle")
    QTest.mouseClick(search.clear_button, Qt.MouseButton.LeftButton)
    assert (search.text(), search.hasFocus(), search.clear_button.isVisible()) == ("", True, False)

    app.ask(qtbot, "A question about Lisbon")
    chat, search = app.chats.chat_id, app.window.sidebar.search
    app.chats.new_chat()
    search.setFocus()
    QTest.keyClicks(search, "lisb")
    QTest.keyClick(search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: app.chats.chat_id == chat)
    qtbot.waitUntil(lambda: app.window.find_bar.count.text() == "1 of 1")
    assert search.hasFocus()
    app.chats.new_chat()
    QTest.keyClick(search, Qt.Key.Key_Return)
    assert app.chats.chat_id == chat
    app.chats.new_chat()
    QTest.keyClicks(search, "xyz")
    QTest.keyClick(search, Qt.Key.Key_Return)
    qtbot.waitUntil(app.window.sidebar.nothing.isVisible)
    assert app.chats.is_new
    assert announced[-1] == (search, "No results.")

    search.clear()
    qtbot.waitUntil(lambda: bool(app.chats.conversations.rows))
    make_chats(app, qtbot, "Needle one", "Needle two", "Hay")
    chats = choose(app, "Needle one")
    search.setFocus()
    QTest.keyClicks(search, "needle")
    qtbot.waitUntil(lambda: listed(app) == ["Today", "Needle two", "Needle one"])
    QTest.keyClick(search, Qt.Key.Key_Down)
    assert (chats.hasFocus(), chats.currentIndex().row()) == (True, 1)
    QTest.keyClick(chats, Qt.Key.Key_Down)
    assert chats.currentIndex().row() == 2
    QTest.keyClick(chats, Qt.Key.Key_Escape)
    assert (search.hasFocus(), search.text()) == (True, "")
    qtbot.waitUntil(lambda: "Hay" in listed(app))


def test_the_scroll_bar_of_the_list_shows_only_while_it_moves(app: AppHarness, qtbot: QtBot) -> None:
    make_chats(app, qtbot, *(f"Chat {number}" for number in range(40)))
    bar = app.window.sidebar.chats.verticalScrollBar()
    (resting,) = bar.findChildren(RestingBar)
    resting.finish()
    assert bar.property("rests") is True
    bar.setValue(bar.maximum())
    assert bar.property("rests") is False
    resting.finish()
    assert bar.property("rests") is True


def test_a_long_list_stays_where_it_is_when_a_chat_moves(app: AppHarness, qtbot: QtBot) -> None:
    """What is dragged to its top, or becomes the latest, takes nobody there."""
    made = make_chats(app, qtbot, *(f"Chat {number:02}" for number in range(60)))
    folder, chats = make_folder(app, qtbot, "Folder"), app.window.sidebar.chats
    bar = chats.verticalScrollBar()
    choose(app, "Chat 03")
    bar.setValue(0)
    assert drop(app, "Chat 03", "Folder")
    app.wait_until_stored(qtbot)
    assert (app.chats.folders.folder_of(made[3]), bar.value()) == (folder, 0)
    choose(app, "Chat 02")
    bar.setValue(0)
    change(app, qtbot, lambda stores: stores.chats.touch(made[2], None))
    assert (row_named(app, "Chat 02")[0] < 6, bar.value()) == (True, 0)


def test_the_trash_gives_back_and_forgets(app: AppHarness, qtbot: QtBot) -> None:
    chats = make_chats(app, qtbot, "One", "Two", "Three")
    for chat in chats:
        app.chats.delete_chats([chat])
        app.wait_until_stored(qtbot)
    trash = app.window.sidebar.show_trash()
    shown = [trash.list.model().index(row, 0).data() for row in range(3)]
    assert shown == ["Three", "Two", "One"]
    QTest.mouseClick(trash.restore_button, Qt.MouseButton.LeftButton)  # the first one is chosen
    app.wait_until_stored(qtbot)
    assert (listed(app), app.chats.chat_id) == (["Today", "Three"], chats[2])
    for way in ("return", "double click"):
        app.chats.delete_chats([chats[2]])
        app.wait_until_stored(qtbot)
        assert listed(app) == []
        first = trash.list.visualRect(trash.list.model().index(0, 0)).center()
        QTest.mouseClick(trash.list.viewport(), Qt.MouseButton.LeftButton, pos=first)
        if way == "return":
            QTest.keyClick(trash.list, Qt.Key.Key_Return)
        else:
            QTest.mouseDClick(trash.list.viewport(), Qt.MouseButton.LeftButton, pos=first)
        app.wait_until_stored(qtbot)
        assert (listed(app), app.chats.chat_id) == (["Today", "Three"], chats[2])
    QTest.keyClick(trash.list, Qt.Key.Key_Delete)
    press_button(trash.findChild(Dialog), "Cancel")
    assert trash.list.model().rowCount() == 2
    press_button(trash.ask_to_forget(), "Delete permanently")
    app.wait_until_stored(qtbot)
    assert trash.list.model().rowCount() == 1
    press_button(trash.ask_to_empty(), "Empty")
    app.wait_until_stored(qtbot)
    assert trash.list.model().rowCount() == 0
    assert trash.nothing.isVisible()
    assert not any(button.isVisible() for button in (trash.restore_button, trash.forget_button, trash.empty_button))
    app.chats.deletions.undo()  # what is forgotten cannot be undone
    app.wait_until_stored(qtbot)
    assert listed(app) == ["Today", "Three"]
    QTest.keyClick(trash, Qt.Key.Key_Escape)
    assert not trash.isVisible()


def test_a_search_that_takes_long_or_is_given_up(
    app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That one asked the closed storage for chats, and was told as a fault of the program."""
    make_chats(app, qtbot, "Lisbon", "Porto")
    sidebar, goes_on = app.window.sidebar, threading.Event()
    sidebar._slow.setInterval(0)
    app.application.storage.count(lambda _stores: goes_on.wait(60), lambda _waited: None)
    QTest.keyClicks(sidebar.search, "porto")
    qtbot.waitUntil(sidebar.still.isVisible)
    assert not sidebar.nothing.isVisible()
    goes_on.set()
    qtbot.waitUntil(lambda: not sidebar.still.isVisible())
    assert [row.text for row in app.chats.conversations.rows if row.chat_id] == ["Porto"]

    asked: list[str] = []
    monkeypatch.setattr(app.chats.conversations, "set_query", asked.append)
    QTest.keyClicks(app.window.sidebar.search, "needle")
    app.window.close_at_once()
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    assert not any(timer.isActive() for timer in app.window.sidebar.findChildren(QTimer, options=direct))
    assert asked == []


def test_a_long_list_scrolls_under_a_hand_that_trembles(app: AppHarness, qtbot: QtBot) -> None:
    """Every move would begin anew what Qt does by itself. It ends where the drag does."""
    make_chats(app, qtbot, *(f"Chat {number:02}" for number in range(60)))
    chats = app.window.sidebar.chats
    bar, data = chats.verticalScrollBar(), carried_row(app, "Chat 59")
    edge = QPoint(40, chats.viewport().height() - 5)
    QCursor.setPos(chats.viewport().mapToGlobal(edge))
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(40, 200), Qt.DropAction.MoveAction, data, buttons, keys)
    QApplication.sendEvent(chats.viewport(), enter)

    def tremble() -> None:
        move = QDragMoveEvent(edge, Qt.DropAction.MoveAction, data, buttons, keys)
        QApplication.sendEvent(chats.viewport(), move)

    hand = QTimer(app.window, interval=10)
    hand.timeout.connect(tremble)
    bar.setValue(0)
    hand.start()
    qtbot.waitUntil(lambda: bar.value() > 100)
    hand.stop()
    QApplication.sendEvent(chats.viewport(), QDragLeaveEvent())
    left_at = bar.value()
    assert left_at < bar.maximum()
    qtbot.wait(150)
    assert bar.value() == left_at


def test_results_open_at_the_top_and_the_chats_where_they_were(app: AppHarness, qtbot: QtBot) -> None:
    make_chats(app, qtbot, *(f"Chat {number}" for number in range(60)))
    sidebar = app.window.sidebar
    bar = sidebar.chats.verticalScrollBar()
    bar.setValue(700)
    for words in ("chat 59", "chat"):
        with qtbot.waitSignal(app.chats.conversations.refreshed):
            sidebar.search.setText(words)
        qtbot.waitUntil(lambda: not app.chats.conversations.is_searching)
        assert (bar.value(), bar.maximum() > 0) == (0, words == "chat")
    sidebar.leave_search()
    assert bar.value() == 700
