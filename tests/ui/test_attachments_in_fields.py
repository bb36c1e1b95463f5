"""Attachments of a message that is being edited, or written beside another: dropped, pasted, chosen, removed, kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from app.view_models.transcript import EditKind
from app.views.transcript.editor_part import EditorPart
from app.views.transcript.status_parts import AttachmentsPart
from app.views.widgets.message_edit import LONG_PASTE
from tests.helpers.app_harness import AppHarness, open_app
from tests.ui.test_attachments import attach, files, press

REPLY = "A draft guesses, the main model checks."


@pytest.fixture
def notes(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{name}.txt" for name in ("first", "second", "third")]
    for path in paths:
        path.write_text(f"words of the {path.stem}", encoding="utf-8")
    return paths


def field_of(app: AppHarness, row: int, kind: EditKind = EditKind.EDIT) -> EditorPart:
    message = app.chats.transcript.messages[row]
    app.chats.edits.begin(message.id, kind)
    app.transcript.editing.focus(message.id)
    QApplication.processEvents()
    shown = [part for part in app.transcript.findChildren(EditorPart) if part.isVisible()]
    (part,) = [part for part in shown if part.message_id == message.id]
    return part


def names(part: EditorPart) -> list[str]:
    return [chip.title() for chip in part.attached.chips.values()]


def wait_for(part: EditorPart, app: AppHarness, qtbot: QtBot, *expected: str) -> None:
    qtbot.waitUntil(lambda: names(part) == list(expected) and all(row.tokens for row in part.attached.rows))
    app.wait_until_stored(qtbot)


def used_tokens(app: AppHarness) -> int:
    return app.window.composer.ring.used_tokens


def test_files_come_into_and_out_of_an_edited_message(app: AppHarness, qtbot: QtBot, notes: list[Path]) -> None:
    attach(app, qtbot, notes[0])
    app.ask(qtbot, "What is in it?")
    part = field_of(app, 0)
    wait_for(part, app, qtbot, "first.txt")
    assert not [each for each in app.transcript.findChildren(AttachmentsPart) if each.isVisible()]
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    data, field = files(notes[1]), part.field.viewport()
    QApplication.sendEvent(field, QDragEnterEvent(QPoint(5, 5), copy, data, left, none))
    QApplication.sendEvent(field, QDropEvent(QPointF(5, 5), copy, data, left, none))
    wait_for(part, app, qtbot, "first.txt", "second.txt")
    part.attach_button.click()
    (dialog,) = app.window.findChildren(QFileDialog)
    dialog.filesSelected.emit([str(notes[2])])
    dialog.reject()
    wait_for(part, app, qtbot, "first.txt", "second.txt", "third.txt")
    long = QMimeData()
    long.setText("x " * LONG_PASTE)
    part.field.insertFromMimeData(long)
    wait_for(part, app, qtbot, "first.txt", "second.txt", "third.txt", "Pasted text")
    first, _, third, _ = part.attached.chips.values()
    for chip in (first, third):
        press(chip, Qt.Key.Key_Delete)
    assert (names(part), part.field.text()) == (["second.txt", "Pasted text"], "What is in it?")
    assert app.window.composer.attached.chips == {}
    assert part.height() >= part.attached.height() + part.field.height() + part.save.height()
    part.save.click()
    app.wait_until_quiet(qtbot)
    message = app.chats.transcript.messages[0]
    assert ([each.name for each in message.attachments], message.siblings) == (["second.txt", ""], 2)
    assert all(each.tokens for each in message.attachments)
    content = app.engine.requests[-1].messages[-1].content
    assert ("words of the second" in content, "words of the first" in content) == (True, False)
    part = field_of(app, 0)
    assert names(part) == ["second.txt", "Pasted text"]
    part.save.click()
    app.wait_until_quiet(qtbot)
    assert len(app.chats.transcript.messages[0].attachments) == 2

    app.chats.new_chat()
    app.ask(qtbot, "Hello")
    reply = field_of(app, 1)
    assert not reply.attach_button.isVisible()
    assert not reply.field.canInsertFromMimeData(files(notes[0]))  # what is dropped there goes on to the window
    reply.cancel.click()
    new = field_of(app, 1, EditKind.AFTER)
    new.field.insertFromMimeData(files(notes[0]))
    wait_for(new, app, qtbot, "first.txt")
    new.save.click()  # nothing but the file
    app.wait_until_quiet(qtbot)
    sent = [(each.text, len(each.attachments)) for each in app.chats.transcript.messages]
    assert sent == [("Hello", 0), (REPLY, 0), ("", 1)]


def test_files_in_a_field_survive_a_restart(tmp_path: Path, qtbot: QtBot, notes: list[Path]) -> None:
    with open_app(tmp_path / "profile", qtbot) as app:
        attach(app, qtbot, notes[0])
        app.ask(qtbot, "What is in it?")
        app.window.composer.edit.insertPlainText("word\n" * 200)  # what stands above is out of sight
        app.ask(qtbot, "And in these?")
        read = used_tokens(app)
        part = field_of(app, 0)
        wait_for(part, app, qtbot, "first.txt")
        part.field.insertFromMimeData(files(notes[1]))
        wait_for(part, app, qtbot, "first.txt", "second.txt")
        press(next(iter(part.attached.chips.values())), Qt.Key.Key_Delete)
        QTest.keyClicks(part.field, " And more")
        used = used_tokens(app)
        assert used > read
        app.transcript.go_to(None)
    with open_app(tmp_path / "profile", qtbot) as app:
        app.chats.open_chat(1)
        qtbot.waitUntil(lambda: used_tokens(app) == used)  # the ring counts the field before it is seen
        assert not any(part.isVisible() for part in app.window.findChildren(EditorPart))
        part = field_of(app, 0)
        wait_for(part, app, qtbot, "second.txt")
        assert part.field.text() == "What is in it? And more"
        part.cancel.click()
        app.wait_until_stored(qtbot)
        assert [each.name for each in app.chats.transcript.messages[0].attachments] == ["first.txt"]
        assert names(field_of(app, 0)) == ["first.txt"]
