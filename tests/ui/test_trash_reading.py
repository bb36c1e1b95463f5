"""A chat in the Trash is read before it is restored: the real window and database, a scripted engine."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QGuiApplication, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.view_models.transcript import ReplyStatus
from app.views.chats.trash_window import TrashWindow
from app.views.files.attachment_dialog import AttachmentDialog
from app.views.transcript.message_footer import MessageFooter, MessageMenu
from app.views.transcript.parts import PartKind
from app.views.transcript.status_parts import NoticePart
from app.views.transcript.view import TranscriptView
from app.views.widgets.buttons import PillButton
from app.views.widgets.dialog import Dialog
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import Script
from tests.helpers.trash import nearly_overdue

LEFT = Qt.MouseButton.LeftButton


def texts(app: AppHarness) -> list[str]:
    return [message.text for message in app.chats.transcript.messages]


def view_of(app: AppHarness) -> TranscriptView:
    return app.transcript


def delete_open_chat(app: AppHarness, qtbot: QtBot) -> int:
    chat_id = app.chats.chat_id
    app.chats.delete_chat(chat_id)
    app.wait_until_stored(qtbot)
    assert (app.chats.chat_id, texts(app)) == (0, [])
    return chat_id


def open_trash(app: AppHarness) -> TrashWindow:
    trash = app.window.sidebar.show_trash()
    QApplication.processEvents()
    return trash


def read_deleted(app: AppHarness, qtbot: QtBot, question: str = "Find the needle") -> int:
    """Asks, deletes the chat, and opens it from the Trash by Return."""
    app.ask(qtbot, question)
    chat_id = delete_open_chat(app, qtbot)
    QTest.keyClick(open_trash(app).list, Qt.Key.Key_Return)
    assert app.chats.reading.chat_id == chat_id
    QApplication.processEvents()
    return chat_id


def acts(app: AppHarness, row: int) -> list[str]:
    menu = MessageMenu(view_of(app).copier.context, app.chats.transcript.messages[row], app.window)
    found = [action.objectName().removeprefix("message ") for action in menu.actions() if not action.isSeparator()]
    menu.deleteLater()
    return found


def footer_buttons(app: AppHarness, row: int) -> list[str]:
    view = view_of(app)
    view.message_keys.show(row)
    QApplication.processEvents()
    number = app.chats.transcript.messages[row].id
    shown = [part for part, _ in view.visible_parts.shown() if part.kind is PartKind.FOOTER]
    footer = next(part.widget for part in shown if part.message_id == number)
    assert isinstance(footer, MessageFooter)
    return [act for act, button in footer.buttons.items() if button.isVisible()]


def press_button(dialog: Dialog | None, text: str) -> None:
    assert dialog is not None
    next(button for button in dialog.findChildren(PillButton) if button.text() == text).click()


def test_a_deleted_chat_is_opened_to_be_read(app: AppHarness, qtbot: QtBot) -> None:
    """By key, click and double click; Tab reaches the buttons of its bar."""
    answer = app.ask(qtbot, "Find the needle")
    chat_id = delete_open_chat(app, qtbot)
    for way in ("return", "click", "double click"):
        app.chats.new_chat()
        trash = open_trash(app)
        place = trash.list.visualRect(trash.list.model().index(0, 0)).center()
        if way == "return":
            QTest.keyClick(trash.list, Qt.Key.Key_Return)
        elif way == "click":
            QTest.mouseClick(trash.list.viewport(), LEFT, pos=place)
            QTest.mouseClick(trash.read_button, LEFT)
        else:
            QTest.mouseClick(trash.list.viewport(), LEFT, pos=place)
            QTest.mouseDClick(trash.list.viewport(), LEFT, pos=place)
        qtbot.waitUntil(app.window.isActiveWindow)
        assert (texts(app), app.chats.reading.chat_id) == (["Find the needle", answer], chat_id)
        assert (trash.isVisible(), view_of(app).isVisible(), view_of(app).hasFocus()) == (False, True, True)
        assert (app.window.composer.isVisible(), app.window.trash_bar.isVisible()) == (False, True)
        assert app.window.header.title.text() == "Find the needle"
        assert app.window.trash_bar.detail.text() == "deleted today · 2 messages · 30 days left"
        assert app.application.storage.read.trash.chat(chat_id) is not None  # it stays where it is
    reached = set()
    for _ in range(60):
        QTest.keyClick(QApplication.focusWidget() or app.window, Qt.Key.Key_Tab)
        reached.add(QApplication.focusWidget())
    assert {app.window.trash_bar.restore_button, app.window.trash_bar.forget_button} <= reached
    assert app.window.composer.edit not in reached


def test_it_is_searched_and_neither_changed_nor_written_in(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    chat_id = read_deleted(app, qtbot)
    assert [acts(app, row) for row in (0, 1)] == [["copy", "copy_plain"], ["copy", "copy_plain", "inspect"]]
    assert [footer_buttons(app, row) for row in (0, 1)] == [["copy", "more"]] * 2
    view, before = view_of(app), texts(app)
    for key in (Qt.Key.Key_F2, Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
        QTest.keyClick(view, key)
    app.wait_until_stored(qtbot)
    assert (texts(app), [message.edit for message in app.chats.transcript.messages]) == (before, [None, None])
    names = ("rename", "pin", "duplicate", "delete", "export_chat", "write", "attach")
    assert [name for name in names if app.window.menu.actions[name].isEnabled()] == []
    assert not app.window.chat_settings.action.isEnabled()
    assert app.application.storage.read.trash.chat(chat_id) is not None

    app.chats.new_chat()
    read_deleted(app, qtbot)
    assert app.window.menu.find.isEnabled()
    app.window.menu.find.trigger()
    bar = app.window.find_bar
    QTest.keyClicks(bar.field, "needle")
    qtbot.waitUntil(lambda: view_of(app).finder.count == 1)
    assert bar.isVisible()
    app.chats.new_chat()
    assert not bar.isVisible()

    read_deleted(app, qtbot)
    view, edit = view_of(app), app.window.composer.edit
    QTest.keyClicks(view, "typed")
    QApplication.sendEvent(view, QInputMethodEvent("", []))
    composed = QInputMethodEvent()
    composed.setCommitString("한")
    QApplication.sendEvent(view, composed)
    QGuiApplication.clipboard().setText("pasted")
    app.window.menu.paste.trigger()
    data = QMimeData()
    (tmp_path / "dropped.txt").write_text("dropped", encoding="utf-8")
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "dropped.txt"))])
    buttons, keys = LEFT, Qt.KeyboardModifier.NoModifier
    drag = QDragEnterEvent(QPoint(400, 300), Qt.DropAction.CopyAction, data, buttons, keys)
    QApplication.sendEvent(app.window, drag)
    assert (edit.text(), drag.isAccepted()) == ("", False)
    assert not app.chats.send("sent all the same")
    app.chats.new_chat()
    QTest.keyClicks(view, "written")
    assert edit.text() == "written"


def test_it_is_deleted_for_good_after_asking_and_what_waited_in_the_composer_is_there_when_it_is_left(
    app: AppHarness, qtbot: QtBot
) -> None:
    chat_id = read_deleted(app, qtbot)
    press_button(app.window.trash_bar.ask_to_forget(), "Cancel")
    app.wait_until_stored(qtbot)
    assert app.chats.reading.chat_id == chat_id
    assert app.application.storage.read.database.rows("SELECT 1 FROM messages")
    press_button(app.window.trash_bar.ask_to_forget(), "Delete permanently")
    app.wait_until_stored(qtbot)
    assert (app.chats.reading.chat_id, app.chats.chat_id, texts(app)) == (0, 0, [])
    assert app.window.composer.isVisible()
    assert not app.application.storage.read.database.rows("SELECT 1 FROM messages")

    app.ask(qtbot, "Another chat")
    other = app.chats.chat_id
    app.chats.new_chat()
    app.ask(qtbot, "Find the needle")
    delete_open_chat(app, qtbot)
    QTest.keyClicks(app.window.composer.edit, "half a thought")
    QTest.keyClick(open_trash(app).list, Qt.Key.Key_Return)
    app.chats.open_chat(other)
    assert (texts(app)[0], app.window.composer.text()) == ("Another chat", "")
    assert app.window.composer.isVisible()
    app.chats.new_chat()
    assert app.window.composer.text() == "half a thought"


def test_it_is_closed_by_whatever_restores_or_forgets_it_alone_and_restored_where_the_reader_was(
    app: AppHarness, qtbot: QtBot
) -> None:
    chat_id = read_deleted(app, qtbot)
    app.window.menu.undo.trigger()
    app.wait_until_stored(qtbot)
    assert (app.chats.chat_id, app.chats.reading.chat_id) == (chat_id, 0)
    assert app.window.composer.isVisible()

    app.chats.new_chat()
    chat_id = read_deleted(app, qtbot)
    app.chats.folders.make()
    app.wait_until_stored(qtbot)
    app.chats.folders.delete(next(iter(app.chats.conversations.tree.folders)), with_chats=False)
    app.wait_until_stored(qtbot)
    app.chats.deletions.undo()
    app.wait_until_stored(qtbot)
    assert (app.chats.reading.chat_id, texts(app)[0]) == (chat_id, "Find the needle")

    app.chats.new_chat()
    read_deleted(app, qtbot)
    press_button(open_trash(app).ask_to_empty(), "Empty")
    app.wait_until_stored(qtbot)
    assert (app.chats.reading.chat_id, texts(app), app.window.composer.isVisible()) == (0, [], True)

    app.engine.scripts.append(Script(pieces=("A line of the long reply.\n\n" * 200,)))
    chat_id = read_deleted(app, qtbot)
    bar = view_of(app).verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    before = bar.value()
    QTest.mouseClick(app.window.trash_bar.restore_button, LEFT)
    app.wait_until_stored(qtbot)
    assert (app.chats.chat_id, app.chats.reading.chat_id, bar.value()) == (chat_id, 0, before)
    assert (app.window.composer.isVisible(), app.window.trash_bar.isVisible()) == (True, False)
    assert app.window.composer.edit.hasFocus()
    assert footer_buttons(app, 0) == ["copy", "edit", "delete", "more"]
    assert app.ask(qtbot, "And now?")


def test_after_its_time_it_is_read_to_the_end_of_the_run_and_gone_at_the_next_start(
    tmp_path: Path, qtbot: QtBot
) -> None:
    with open_app(tmp_path, qtbot) as app:
        read_deleted(app, qtbot)
        app.application.storage.write(
            lambda stores: nearly_overdue(stores.database),
            lambda _done: app.chats.deletions.changed.emit(),
            lambda _refused: None,
        )
        app.wait_until_stored(qtbot)
        assert texts(app)[0] == "Find the needle"
        assert app.window.trash_bar.isVisible()
    with open_app(tmp_path, qtbot) as app:
        assert (app.chats.reading.chat_id, app.chats.deletions.latest()) == (0, [])
        assert app.window.composer.isVisible()


def test_other_versions_and_what_is_attached_can_be_read_and_neither_changed_nor_gone_on_with(
    app: AppHarness, qtbot: QtBot
) -> None:
    app.engine.scripts.extend(Script(pieces=(text,)) for text in ("one", "two"))
    app.ask(qtbot, "Find the needle")
    app.chats.asking.regenerate(app.chats.transcript.messages[1].id)
    app.wait_until_quiet(qtbot)
    chat_id = delete_open_chat(app, qtbot)
    app.chats.reading.open(chat_id)
    assert set(footer_buttons(app, 1)) == {"copy", "more", "earlier", "later"}
    QTest.keyClick(view_of(app), Qt.Key.Key_Left)
    app.wait_until_stored(qtbot)
    assert (texts(app)[1], app.chats.transcript.messages[1].read_only) == ("one", True)
    QTest.mouseClick(app.window.trash_bar.restore_button, LEFT)
    app.wait_until_stored(qtbot)
    assert (texts(app)[1], app.chats.transcript.messages[1].read_only) == ("one", False)

    app.chats.new_chat()
    app.engine.gate.hold()
    QTest.keyClicks(app.window.composer.edit, "Find the needle")
    QTest.keyClick(app.window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: app.chats.generating)
    chat_id = delete_open_chat(app, qtbot)
    app.chats.reading.open(chat_id)
    app.engine.gate.open()
    qtbot.waitUntil(lambda: app.chats.transcript.messages[-1].status is ReplyStatus.STOPPED)
    reply = app.chats.transcript.messages[-1]
    assert (reply.read_only, reply.can_continue) == (True, False)

    app.chats.new_chat()
    app.application.file_controllers.attachments.add_text("pasted words")
    read_deleted(app, qtbot)
    view_of(app).attachment_requested.emit(app.chats.transcript.messages[0].id, 0)
    dialog = app.window.findChild(AttachmentDialog)
    assert dialog is not None
    assert [button.text() for button in dialog.findChildren(PillButton) if button.isVisible()] == ["Close"]
    dialog.close()


def test_a_notice_in_it_has_no_button(app: AppHarness, qtbot: QtBot) -> None:
    app.engine.scripts.append(Script(pieces=("cut",)))
    app.ask(qtbot, "Find the needle")
    number = app.chats.transcript.messages[1].id
    app.application.storage.write(
        lambda stores: stores.database.execute("UPDATE messages SET status = 'interrupted' WHERE id = ?", (number,)),
        lambda _done: None,
        lambda _refused: None,
    )
    chat_id = delete_open_chat(app, qtbot)
    app.chats.reading.open(chat_id)
    QApplication.processEvents()

    def notice() -> NoticePart:
        shown = [part.widget for part, _ in view_of(app).visible_parts.shown()]
        return next(widget for widget in shown if isinstance(widget, NoticePart))

    assert not notice().button.isVisible()
    QTest.mouseClick(app.window.trash_bar.restore_button, LEFT)
    app.wait_until_stored(qtbot)
    QApplication.processEvents()
    assert notice().button.isVisible()
