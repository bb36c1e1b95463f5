"""Attachments as a person uses them, of what is typed or edited: added, counted, removed, sent, opened, kept."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.controllers.asking import block_of, prompt_of
from app.controllers.attachments import MOST_FILES, AttachmentController
from app.documents import reading
from app.documents.reading import read_file
from app.storage import Attachment, AttachmentKind, Database
from app.storage.project_files import FileState, ProjectFiles
from app.system.limited_child import Stop
from app.view_models.attached import AttachedRow
from app.view_models.transcript import EditKind
from app.views.files.attachment_dialog import AttachmentDialog
from app.views.transcript.editor_part import EditorPart
from app.views.transcript.status_parts import AttachmentsPart
from app.views.widgets.attachment_chip import AttachmentChip
from app.views.widgets.message_edit import LONG_PASTE
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.composing import drag_over, drop, paste, text_data
from tests.helpers.fake_engine import Script
from tests.helpers.figures import read
from tests.helpers.pdf_files import pdf_bytes
from tests.helpers.stillness import still
from tests.helpers.tooltips import tooltip_text
from tests.helpers.trash import nearly_overdue

WORDS = "one two three four five"


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "메모.txt"
    path.write_text(WORDS, encoding="utf-8")
    return path


def controller(app: AppHarness) -> AttachmentController:
    return app.application.file_controllers.attachments


def rows(app: AppHarness) -> list[AttachedRow]:
    return controller(app).model.rows


def has_messages(app: AppHarness, number: int) -> bool:
    return len(app.chats.transcript.messages) == number


def files(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    data.setText("\n".join(f"file://{path}" for path in paths))
    return data


def attach(app: AppHarness, qtbot: QtBot, *paths: Path) -> None:
    app.window.composer.edit.insertFromMimeData(files(*paths))
    wait_until_read(app, qtbot)


def wait_until_read(app: AppHarness, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: all(row.tokens is not None for row in rows(app)) and not app.application.storage.pending)


def press(chip: AttachmentChip, key: Qt.Key) -> None:
    chip.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(chip, key)


def test_a_file_becomes_a_chip_however_it_comes(app: AppHarness, qtbot: QtBot, note: Path) -> None:
    attach(app, qtbot, note)
    (chip,) = app.chips
    assert app.window.composer.text() == ""
    assert read(chip.accessibleName()).startswith("메모.txt, 23 bytes · ")
    assert rows(app)[0].tokens == len(block_of(Attachment("메모.txt", AttachmentKind.TEXT, WORDS, 23)).split())

    app.window.menu.attach.trigger()
    (dialog,) = app.window.findChildren(QFileDialog)
    dialog.filesSelected.emit([str(note)])
    dialog.reject()
    wait_until_read(app, qtbot)
    assert len(app.chips) == 2

    # Of what is attached the pasted texts are kept with the words where nothing else keeps them.
    field = app.window.composer.edit
    paste(field, text := "x" * (LONG_PASTE + 1))
    app.window.composer.set_text("And this?")
    assert app.window.composer.text_with_pasted() == f"{text}\n\nAnd this?"

    # The sign for files is there over the field too; a piece of text still goes to its place in that.
    window, data, sign = app.window, files(note), app.window.attachments.drop_target.sign
    for what, shown in ((text_data("some words"), False), (data, True)):
        assert (drag_over(field.viewport(), what, QPoint(4, 4)), sign.isVisible()) == (True, shown)
    assert (drag_over(window, data, QPoint(40, 300)), sign.isVisible()) == (True, True)
    assert sign.size() == window.size()
    drop(window, data, QPoint(40, 300))
    assert not sign.isVisible()
    wait_until_read(app, qtbot)
    assert [row.name for row in rows(app)] == ["메모.txt", "메모.txt", "", "메모.txt"]

    for row in [*rows(app)]:
        controller(app).remove(row.number)
    app.window.composer.set_text("")
    paste(field, "short ")
    paste(field, text := "line\n" * LONG_PASTE)
    assert app.window.composer.text() == "short "
    assert [row.attachment for row in rows(app)] == [Attachment("", AttachmentKind.PASTED, text, len(text))]
    (chip,) = app.chips
    assert chip.title() == "Pasted text"
    chip.put_back_requested.emit()
    assert app.window.composer.text() == "short \n" + text
    assert app.chips == []
    for place, line in ((5, "short\nwords\n tail"), (0, "words\nshort tail"), (10, "short tail\nwords")):
        app.window.composer.set_text("short tail")
        cursor = field.textCursor()
        cursor.setPosition(place)
        field.setTextCursor(cursor)
        field.insert_text("words")
        assert app.window.composer.text() == line


def test_attachments_are_sent_opened_and_removed(app: AppHarness, qtbot: QtBot, note: Path) -> None:
    attach(app, qtbot, note)
    app.ask(qtbot, "What is in it?")
    (sent,) = app.chats.transcript.messages[0].attachments
    assert (sent.name, sent.text, sent.tokens > 4) == ("메모.txt", WORDS, True)
    assert app.engine.requests[0].messages[-1].content == prompt_of("What is in it?", [sent])
    assert app.chips == []
    assert app.application.storage.read.unsent.attachments() == {}
    (part,) = app.transcript.findChildren(AttachmentsPart)
    press(part.chips[0], Qt.Key.Key_Return)
    (dialog,) = app.window.findChildren(AttachmentDialog)
    assert dialog.isVisible()
    assert (dialog.windowTitle(), dialog.text.toPlainText()) == ("메모.txt", WORDS)
    assert dialog.text.isReadOnly()
    assert not dialog.put_back.isVisible()

    dialog.remove.click()
    app.wait_until_quiet(qtbot)
    messages = app.chats.transcript.messages
    assert [(each.text, each.attachments) for each in messages] == [
        ("What is in it?", ()),
        ("A draft guesses, the main model checks.", ()),
    ]
    assert messages[0].siblings == 2
    app.chats.asking.regenerate(messages[1].id)
    app.wait_until_quiet(qtbot)
    assert app.engine.requests[-1].messages[-1].content == "What is in it?"

    app.chats.new_chat()
    assert not app.window.composer.button.isEnabled()
    attach(app, qtbot, note)
    assert app.window.composer.button.isEnabled()
    app.press_return()
    qtbot.waitUntil(lambda: len(app.chats.transcript.messages) == 2)
    app.wait_until_quiet(qtbot)
    message = app.chats.transcript.messages[0]
    assert (app.chats.title, message.text) == ("메모.txt", "")
    app.chats.edits.drop_attachment(message.id, 0)
    app.wait_until_quiet(qtbot)
    assert len(app.chats.transcript.messages[0].attachments) == 1


def attach_long_log(app: AppHarness, qtbot: QtBot, log: Path) -> None:
    log.write_text("".join(f"line {number}\n" for number in range(5000)))
    app.window.composer.edit.insertFromMimeData(files(log))
    qtbot.waitUntil(app.window.banner.isVisible)
    assert not app.window.composer.button.isEnabled()


def test_only_the_beginning_is_kept(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    banner = app.window.banner
    attach_long_log(app, qtbot, tmp_path / "app.log")
    assert banner.other_button.text() == "Keep only its beginning"
    banner.other_button.click()
    qtbot.waitUntil(lambda: app.window.composer.button.isEnabled() and not banner.isVisible())
    (row,) = rows(app)
    assert row.attachment is not None
    first, *_, before, last = row.attachment.text.splitlines()
    assert (first, before[:5], last) == ("line 0", "line ", "[…]")


def test_two_that_are_too_long_are_searched_one_after_the_other(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    """For the beginning of one there is no room beside the other."""
    banner = app.window.banner
    attach_long_log(app, qtbot, tmp_path / "app.log")
    attach_long_log(app, qtbot, tmp_path / "other.log")
    qtbot.waitUntil(lambda: [row.tokens is not None for row in rows(app)] == [True, True])
    assert (banner.button.text(), banner.other_button.isVisible()) == ("Search in it", False)
    banner.button.click()
    qtbot.waitUntil(lambda: {row.kind for row in rows(app)} == {AttachmentKind.TEXT, AttachmentKind.SEARCHED})
    qtbot.waitUntil(banner.isVisible)
    banner.button.click()
    qtbot.waitUntil(lambda: {row.kind for row in rows(app)} == {AttachmentKind.SEARCHED})
    qtbot.waitUntil(lambda: app.window.composer.button.isEnabled() and not banner.isVisible())


def test_what_is_too_long_is_searched(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    """A model that cannot call gets what fits the question; the rest of it is never in a prompt."""
    banner = app.window.banner
    attach_long_log(app, qtbot, tmp_path / "app.log")
    said: list[str] = []
    controller(app).model.changed.connect(lambda: said.extend(chip.detail() for chip in app.chips))
    banner.button.click()
    qtbot.waitUntil(lambda: app.window.composer.button.isEnabled() and not banner.isVisible())
    (row,) = rows(app)
    assert (row.name, row.kind) == ("app.log", AttachmentKind.SEARCHED)
    documents = app.chats.documents
    qtbot.waitUntil(lambda: [each.state for each in documents.files(-app.chats.chat_id)] == [FileState.READY])
    assert "Reading…" in said
    assert said[-1] == "searched"
    app.engine.scripts.append(Script(("It is there [app.log].",)))
    app.window.composer.send("What is in line 3456?")
    qtbot.waitUntil(lambda: len(app.chats.transcript.messages) == 2)
    app.wait_until_quiet(qtbot)
    found, searched = app.chats.transcript.messages[0].attachments
    assert (found.kind, searched.kind) == (AttachmentKind.PASSAGES, AttachmentKind.SEARCHED)
    assert found.text.startswith("[app.log, line ")
    prompt = app.engine.requests[-1].messages[-1].content
    assert "line 3456" in prompt
    assert len(prompt) < 10_000 < (tmp_path / "app.log").stat().st_size / 4
    assert app.chats.documents.database(-app.chats.chat_id).exists()
    app.chats.edits.drop_attachment(app.chats.transcript.messages[0].id, 0)
    app.wait_until_quiet(qtbot)
    assert [each.kind for each in app.chats.transcript.messages[0].attachments] == [AttachmentKind.SEARCHED]


def test_passages_are_seen_and_can_be_left_out_before_they_are_sent(app: AppHarness, qtbot: QtBot) -> None:
    def passages() -> list[AttachedRow]:
        return [row for row in rows(app) if row.kind is AttachmentKind.PASSAGES]

    documents, edit = app.chats.documents, app.window.composer.edit
    documents.add_text(-app.chats.chat_id, "notes", "About zebras and whales.")
    qtbot.waitUntil(lambda: documents.has_text(-app.chats.chat_id))
    QTest.keyClicks(edit, "Zebras?")
    qtbot.waitUntil(lambda: [row.tokens is not None for row in passages()] == [True])
    assert [chip.title() for chip in app.chips] == ["From the documents"]
    edit.clear()
    assert not rows(app)
    QTest.keyClicks(edit, "Zebras")
    qtbot.waitUntil(lambda: bool(passages()))
    controller(app).remove(passages()[0].number)
    assert not rows(app)
    for number, question in enumerate(("?", "And whales?"), start=1):
        QTest.keyClicks(edit, question)
        QTest.keyClick(edit, Qt.Key.Key_Return)
        qtbot.waitUntil(partial(has_messages, app, 2 * number))
        app.wait_until_quiet(qtbot)
    assert not rows(app)
    asked = [each for each in app.chats.transcript.messages if each.attachments]
    assert [(each.text, [part.kind for part in each.attachments]) for each in asked] == [
        ("And whales?", [AttachmentKind.PASSAGES])
    ]


def test_what_is_searched_can_be_taken_out_before_it_is_sent(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    attach_long_log(app, qtbot, tmp_path / "app.log")
    app.window.banner.button.click()
    documents = app.chats.documents
    qtbot.waitUntil(lambda: documents.has_text(-app.chats.chat_id))
    controller(app).remove(rows(app)[0].number)
    qtbot.waitUntil(lambda: not documents.files(-app.chats.chat_id))
    assert not rows(app)


def test_what_is_taken_out_costs_no_earlier_message_its_document(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    """Neither one of the same name, nor the same once more."""
    attached, documents = controller(app), app.chats.documents
    earlier, later = tmp_path / "2025" / "report.txt", tmp_path / "2026" / "report.txt"
    for path in (earlier, later):
        path.parent.mkdir()
        path.write_text(WORDS)
    attached.search_in_file(str(earlier))
    qtbot.waitUntil(lambda: documents.has_text(-app.chats.chat_id) and not attached.model.is_reading)
    app.engine.scripts.append(Script(("Yes.",)))
    app.window.composer.send("What is in it?")
    qtbot.waitUntil(lambda: len(app.chats.transcript.messages) == 2)
    app.wait_until_quiet(qtbot)
    place = -app.chats.chat_id
    qtbot.waitUntil(lambda: [each.path for each in documents.files(place)] == [str(earlier)])
    for again in (later, earlier):
        attached.search_in_file(str(again))
        qtbot.waitUntil(lambda: bool(rows(app)) and rows(app)[0].kind is AttachmentKind.SEARCHED)
        assert rows(app)[0].name == ("2026/report.txt" if again is later else "report.txt")
        attached.remove(rows(app)[0].number)
        attached.search_in_file(str(tmp_path / "none.txt"))  # has another answer come
        qtbot.waitUntil(lambda: bool(rows(app)) and rows(app)[0].name == "none.txt")
        attached.remove(rows(app)[0].number)
        qtbot.waitUntil(lambda: [each.path for each in documents.files(place)] == [str(earlier)])


def ask_here(app: AppHarness, qtbot: QtBot, text: str) -> None:
    """A chat with documents: they are searched before the message is stored."""
    number = len(app.chats.transcript.messages)
    app.window.composer.send(text)
    qtbot.waitUntil(lambda: has_messages(app, number + 2))
    app.wait_until_quiet(qtbot)


def test_what_is_searched_is_taken_out_after_a_restart(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    """But for what a message has, too."""
    (tmp_path / "sent.txt").write_text(WORDS)
    (tmp_path / "later.txt").write_text(WORDS)
    controller(app).search_in_file(str(tmp_path / "sent.txt"))
    qtbot.waitUntil(lambda: app.chats.documents.has_text(-app.chats.chat_id) and not controller(app).model.is_reading)
    ask_here(app, qtbot, "What is in it?")
    chat_id = app.chats.chat_id
    controller(app).search_in_file(str(tmp_path / "later.txt"))
    qtbot.waitUntil(lambda: len(app.chats.documents.files(-chat_id)) == 2 and not controller(app).model.is_reading)
    controller(app).search_in_file(str(tmp_path / "sent.txt"))
    qtbot.waitUntil(lambda: [row.name for row in rows(app) if row.attachment] == ["later.txt", "sent.txt"])
    app.wait_until_quiet(qtbot)
    app.close()
    with open_app(tmp_path / "profile", qtbot) as again:
        again.chats.open_chat(chat_id)
        documents = again.chats.documents
        qtbot.waitUntil(lambda: len(documents.files(-chat_id)) == 2)
        for row in rows(again)[::-1]:
            controller(again).remove(row.number)
        qtbot.waitUntil(lambda: [each.name for each in documents.files(-chat_id)] == ["sent.txt"])
        assert not rows(again)


@pytest.mark.parametrize("in_time", [False, True])
def test_a_document_goes_with_the_last_message_that_has_it(
    app: AppHarness, qtbot: QtBot, tmp_path: Path, in_time: bool
) -> None:
    """Not before that is deleted for good, by the user or by the start of a later day."""
    documents = app.chats.documents
    for name in ("first.txt", "second.txt"):
        (tmp_path / name).write_text(WORDS)
        controller(app).search_in_file(str(tmp_path / name))
        qtbot.waitUntil(lambda: bool(rows(app)) and not controller(app).model.is_reading)
        ask_here(app, qtbot, f"What is in {name}?")
    place = -app.chats.chat_id
    qtbot.waitUntil(lambda: len(documents.files(place)) == 2)
    app.chats.edits.delete(app.chats.transcript.messages[2].id)
    qtbot.waitUntil(lambda: has_messages(app, 3))
    assert len(documents.files(place)) == 2
    if in_time:
        app.close()
        with closing(Database(app.paths.database)) as database:
            nearly_overdue(database)
        with open_app(tmp_path / "profile", qtbot) as again:
            there = again.chats.documents
            qtbot.waitUntil(lambda: [each.name for each in there.files(place)] == ["first.txt"])
    else:
        app.chats.deletions.empty()
        qtbot.waitUntil(lambda: [each.name for each in documents.files(place)] == ["first.txt"])


@pytest.mark.parametrize("leaves", [False, True])
def test_a_document_that_comes_while_a_new_chat_is_stored(
    app: AppHarness, qtbot: QtBot, tmp_path: Path, leaves: bool
) -> None:
    """It goes with the chat, or stays with the next new one where that is open by then."""
    attached, documents = controller(app), app.chats.documents
    for name in ("first.txt", "second.txt"):
        (tmp_path / name).write_text(WORDS)
    attached.search_in_file(str(tmp_path / "first.txt"))
    qtbot.waitUntil(lambda: documents.has_text(-app.chats.chat_id) and not attached.model.is_reading)
    chat_id = app.chats.chat_id
    app.engine.gate.hold()
    app.window.composer.send("What is in it?")
    if leaves:
        app.chats.new_chat()
    attached.search_in_file(str(tmp_path / "second.txt"))
    place = -app.chats.chat_id
    qtbot.waitUntil(lambda: "second.txt" in [each.name for each in documents.files(place)])
    qtbot.waitUntil(lambda: [row.name for row in rows(app) if row.attachment] == ["second.txt"])
    app.engine.gate.open()
    app.wait_until_quiet(qtbot)
    there = ["first.txt"] if leaves else ["first.txt", "second.txt"]
    qtbot.waitUntil(lambda: [each.name for each in documents.files(-chat_id)] == there)
    assert "second.txt" in [each.name for each in documents.files(place)]
    attached.remove(rows(app)[0].number)
    qtbot.waitUntil(lambda: not [each for each in documents.files(place) if each.name == "second.txt"])


def test_a_document_has_a_name_that_none_of_its_project_has(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    folder = app.make_folder(qtbot)
    own, project = tmp_path / "own" / "report.txt", tmp_path / "project" / "report.txt"
    for path, words in ((own, "About whales"), (project, "About tigers")):
        path.parent.mkdir()
        path.write_text(words)
    app.chats.documents.add(folder, [project])
    qtbot.waitUntil(lambda: app.chats.documents.has_text(folder))
    app.chats.new_chat_in(folder)
    controller(app).search_in_file(str(own))
    qtbot.waitUntil(lambda: [row.name for row in rows(app) if row.attachment] == ["own/report.txt"])
    qtbot.waitUntil(lambda: set(app.chats.tools.documents()) == {"report.txt", "own/report.txt"})


def test_a_file_that_is_gone_by_now_is_searched_by_what_was_read_of_it(
    app: AppHarness, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "mail.txt").write_text(WORDS)
    controller(app).add_files([str(tmp_path / "mail.txt")])
    qtbot.waitUntil(lambda: [row.attachment and row.attachment.text for row in rows(app)] == [WORDS])
    (tmp_path / "mail.txt").unlink()
    controller(app).search_in(rows(app)[0].number)
    qtbot.waitUntil(lambda: rows(app)[0].kind is AttachmentKind.SEARCHED)
    assert [(each.name, each.state) for each in app.chats.documents.files(-app.chats.chat_id)] == [
        ("mail.txt", FileState.READY)
    ]


@pytest.mark.expect_log("OperationalError")
def test_a_pasted_text_stays_attached_where_the_disk_takes_no_document(
    app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: object) -> int:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(ProjectFiles, "add_text", full)
    attached = controller(app)
    attached.add_text(WORDS * 1000)
    refused: list[object] = []
    app.chats.documents.refused.connect(lambda _place, reason: refused.append(reason))
    attached.search_in(rows(app)[0].number)
    qtbot.waitUntil(lambda: bool(refused))
    assert [row.attachment and row.attachment.text for row in rows(app)] == [WORDS * 1000]


def test_what_is_too_large_to_attach_is_searched(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("word\n" * 3_400_000 + "zebra\n")
    app.window.composer.edit.insertFromMimeData(files(log))
    qtbot.waitUntil(app.window.banner.isVisible)
    app.window.banner.button.click()
    qtbot.waitUntil(lambda: [row.kind for row in rows(app) if row.attachment] == [AttachmentKind.SEARCHED])
    qtbot.waitUntil(lambda: app.chats.documents.has_text(-app.chats.chat_id))
    assert app.chats.documents.files(-app.chats.chat_id)[0].state is not FileState.UNREADABLE


@pytest.mark.parametrize("limit", ["MOST_FILE_BYTES", "MOST_CHARACTERS"])
def test_the_end_of_what_is_too_large_is_attached(
    app: AppHarness, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    banner, log = app.window.banner, tmp_path / "app.log"
    monkeypatch.setattr(reading, limit, 5000)
    monkeypatch.setattr(reading, "_END_BYTES", 1000)
    log.write_text("".join(f"Zeile für {number}\n" for number in range(1000)), "utf-8")
    app.window.composer.edit.insertFromMimeData(files(log))
    qtbot.waitUntil(banner.isVisible)
    assert (banner.button.text(), banner.other_button.text()) == ("Search in it", "Attach only its end")
    banner.other_button.click()
    wait_until_read(app, qtbot)
    (row,) = rows(app)
    assert row.attachment is not None
    first, second, *_, last = row.attachment.text.splitlines()
    assert (row.name, first, second[:9], last) == ("app.log", "[…]", "Zeile für", "Zeile für 999")
    assert not banner.isVisible()


def test_what_cannot_be_attached_says_why(app: AppHarness, qtbot: QtBot, tmp_path: Path, note: Path) -> None:
    picture, banner = tmp_path / "photo.png", app.window.banner
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99))
    app.window.composer.edit.insertFromMimeData(files(picture))
    qtbot.waitUntil(banner.isVisible)
    assert (banner.title.text(), banner.sentence.text()) == ("photo.png not attached", "Damaged.")
    banner.hide()
    app.window.composer.edit.insertFromMimeData(files(tmp_path, app.paths.data, note))
    qtbot.waitUntil(banner.isVisible)
    assert banner.title.text() == "Files not attached: 2"
    assert "A folder." in banner.sentence.text()
    assert [row.name for row in rows(app)] == ["메모.txt"]
    wait_until_read(app, qtbot)

    app.ask(qtbot, "One?")
    for sent in (True, False):  # of two, none comes back
        for path, title in ((app.paths.data, "not attached"), (picture, "photo.png not attached")):
            app.window.composer.edit.insertFromMimeData(files(path))
            qtbot.waitUntil(lambda title=title: banner.isVisible() and title in banner.title.text())  # type: ignore[misc]
        app.ask(qtbot, "Two?") if sent else app.chats.new_chat()
        qtbot.waitUntil(lambda: banner.isHidden() or "attached" not in banner.title.text())

    paths = [tmp_path / f"{number}.txt" for number in range(MOST_FILES + 2)]
    for path in paths:
        path.write_text(WORDS, encoding="utf-8")
    attach(app, qtbot, *paths)
    assert len(rows(app)) == MOST_FILES, "no more are taken"
    assert "Up to 20 files per message" in banner.sentence.text()


def test_a_file_being_read(app: AppHarness, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    removed = threading.Event()

    def held(
        path: Path, stop: Stop, told: Callable[[float], None], keep: Callable[[bytes], str], *, only_end: bool
    ) -> Attachment:
        """It is not read to its end before the window has looked."""

        def tell(share: float) -> None:
            told(share)
            removed.wait(60)

        return read_file(path, stop, tell, keep, only_end=only_end)

    monkeypatch.setattr("app.controllers.attachments.read_file", held)
    path = tmp_path / "long.pdf"
    path.write_bytes(pdf_bytes([f"Page {number}" for number in range(60)]))
    app.window.composer.edit.insertFromMimeData(files(path))
    app.window.composer.set_text("Sum it up")
    assert not app.window.composer.button.isEnabled()
    app.press_return()
    assert tooltip_text() == "Still reading an attachment."
    qtbot.waitUntil(lambda: rows(app)[0].progress is not None)
    controller(app).remove(rows(app)[0].number)
    removed.set()
    assert app.window.composer.button.isEnabled()
    qtbot.waitUntil(lambda: not controller(app)._stops)
    assert not app.window.banner.isVisible()


def test_fences_of_an_attachment_do_not_end_its_block() -> None:
    text = "before\n````\ncode\n````\nafter"
    block = block_of(Attachment('a"\nb.md', AttachmentKind.TEXT, text, 1))
    lines = block.split("\n")
    assert lines[0] == 'Attachment: a"b.md'
    assert lines[1] == lines[-1] == "`````"
    assert "\n".join(lines[2:-1]) == text


def test_files_attached_while_the_first_message_is_stored(app: AppHarness, qtbot: QtBot, note: Path) -> None:
    free = threading.Event()
    app.application.storage.write(lambda _stores: free.wait(60), lambda _: None, lambda _: None)
    app.window.composer.set_text("Hello")
    app.press_return()
    paste(app.window.composer.edit, WORDS * 2000)
    app.window.composer.edit.insertFromMimeData(files(note))
    free.set()
    app.wait_until_quiet(qtbot)
    wait_until_read(app, qtbot)
    chat_id = app.chats.chat_id
    assert (not app.chats.is_new, [row.name for row in rows(app)]) == (True, ["", note.name])
    stored = app.application.storage.read.unsent.attachments()
    assert {number: len(attached) for number, attached in stored.items()} == {chat_id: 2}
    app.chats.new_chat()
    assert rows(app) == []


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
    still()
    shown = [part for part in app.transcript.findChildren(EditorPart) if part.isVisible()]
    (part,) = [part for part in shown if part.message_id == message.id]
    return part


def names(part: EditorPart) -> list[str]:
    return [chip.title() for chip in part.attached.chips.values()]


def wait_for(part: EditorPart, app: AppHarness, qtbot: QtBot, *expected: str) -> None:
    qtbot.waitUntil(lambda: names(part) == list(expected) and all(row.tokens for row in part.attached.rows))
    app.wait_until_stored(qtbot)


def test_files_come_into_and_out_of_an_edited_message(app: AppHarness, qtbot: QtBot, notes: list[Path]) -> None:
    attach(app, qtbot, notes[0])
    app.ask(qtbot, "What is in it?")
    part = field_of(app, 0)
    wait_for(part, app, qtbot, "first.txt")
    assert not [each for each in app.transcript.findChildren(AttachmentsPart) if each.isVisible()]
    drop(part.field.viewport(), files(notes[1]), QPoint(5, 5))
    wait_for(part, app, qtbot, "first.txt", "second.txt")
    part.attach_button.click()
    (dialog,) = app.window.findChildren(QFileDialog)
    dialog.filesSelected.emit([str(notes[2])])
    dialog.reject()
    wait_for(part, app, qtbot, "first.txt", "second.txt", "third.txt")
    paste(part.field, "x " * LONG_PASTE)
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
        read = app.used_tokens
        part = field_of(app, 0)
        wait_for(part, app, qtbot, "first.txt")
        part.field.insertFromMimeData(files(notes[1]))
        wait_for(part, app, qtbot, "first.txt", "second.txt")
        press(next(iter(part.attached.chips.values())), Qt.Key.Key_Delete)
        QTest.keyClicks(part.field, " And more")
        used = app.used_tokens
        assert used > read
        app.transcript.go_to(None)
    with open_app(tmp_path / "profile", qtbot) as app:
        app.chats.open_chat(1)
        qtbot.waitUntil(lambda: app.used_tokens == used)  # the ring counts the field before it is seen
        assert not any(part.isVisible() for part in app.window.findChildren(EditorPart))
        part = field_of(app, 0)
        wait_for(part, app, qtbot, "second.txt")
        assert part.field.text() == "What is in it? And more"
        part.cancel.click()
        app.wait_until_stored(qtbot)
        assert [each.name for each in app.chats.transcript.messages[0].attachments] == ["first.txt"]
        assert names(field_of(app, 0)) == ["first.txt"]
