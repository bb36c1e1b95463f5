"""Acts that overlap: the second comes while the first is still read, searched for or stored. Nothing is lost, nothing
gets into another chat, and what is refused is said.
"""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.controllers.asking import block_of
from app.controllers.exports import ExportFormat
from app.controllers.imports import Imported
from app.controllers.prompts import SavedPrompt
from app.storage import Stores, portable
from app.storage.chats import ChatStates, ChatStore
from app.storage.consents import EVERY_CHAT, Consent, ConsentStore
from app.storage.parts import Attachment, AttachmentKind, Text
from app.storage.trash import Trash
from app.system.worker import JobQueue, ignore
from app.view_models.chat_options import Scope
from app.views.chats.chat_rows import RenameField
from app.views.files.picture_viewer import PictureViewer
from tests.helpers.app_harness import AppHarness, open_app, reset_process
from tests.helpers.composing import compose
from tests.helpers.stillness import still
from tests.ui.test_files_dialogs import export, files
from tests.ui.test_message_editing import begin_edit, editor, id_of, texts, type_anew


@contextmanager
def held(worker: JobQueue) -> Iterator[None]:
    """Meanwhile a thread does nothing."""
    gate = threading.Event()
    worker.ask(gate.wait, ignore, ignore)
    try:
        yield
    finally:
        gate.set()


@contextmanager
def full(monkeypatch: pytest.MonkeyPatch, store: object, change: str) -> Iterator[None]:
    """Meanwhile the disk takes no such change."""

    def refused(*_arguments: object, **_keywords: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(store, change, refused)
        yield


def disk(app: AppHarness) -> JobQueue:
    return app.application.storage._writer


def reader(app: AppHarness) -> JobQueue:
    return app.window.attachments._attached._reader


def wait_until_read(app: AppHarness, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not app.window.attachments._attached._stops)
    app.wait_until_stored(qtbot)


def quit_at_once(app: AppHarness) -> None:
    app.window.quit()
    app._closed = True
    reset_process(app.application)


def in_database(app: AppHarness, words: str) -> bool:
    database = app.application.storage.read.database
    tables = [row[0] for row in database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
    kept = ("messages", "edits", "unsent")
    assert set(kept) <= set(tables)
    return any(words in str(tuple(row)) for table in kept for row in database.rows(f"SELECT * FROM {table}"))


# What is attached


def test_pictures_and_files_of_a_models_message_stay_when_it_is_edited(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "Question")
    parts = Attachment("p.txt", AttachmentKind.PASTED, "words", 10), Text("answer")
    app.change(qtbot, lambda stores: stores.messages.put_parts(id_of(app, 1), parts))
    app.wait_until_quiet(qtbot)
    app.chats.update_branch(app.chats.chat_id)
    begin_edit(app, 1).save.click()
    app.wait_until_quiet(qtbot)
    assert app.chats.transcript.messages[1].siblings == 1
    type_anew(begin_edit(app, 1), "Other")
    editor(app, 1).save.click()
    app.wait_until_quiet(qtbot)
    assert [each.name for each in app.chats.transcript.messages[1].attachments] == ["p.txt"]


def test_a_text_pasted_into_a_message_stays_whoever_says_it(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "Question")
    app.transcript.context.act_requested.emit(id_of(app, 0), "insert_after")
    field = editor(app, 0)
    QTest.keyClicks(field.field, "words")
    field.field.long_text_given.emit("a long pasted text")
    field.roles.choose(False)
    still()
    editor(app, 0).save.click()
    app.wait_until_quiet(qtbot)
    assert in_database(app, "a long pasted text")


def test_a_prepared_question_waits_for_a_file_that_is_read(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "a.txt").write_text("words")
    with open_app(tmp_path / "profile", qtbot, with_starter=True) as app:
        with held(reader(app)):
            QTest.keyClicks(app.window.composer.edit, "about this")
            app.window.attachments.take_files([str(tmp_path / "a.txt")])
            next(each for each in app.window.empty_chat.questions if each.isVisible()).click()
            app.wait_until_quiet(qtbot)
        wait_until_read(app, qtbot)
        assert [row.name for row in app.window.composer.attached_rows()] == ["a.txt"]


def test_a_picture_pasted_just_before_the_end_is_there_after_it(tmp_path: Path, qtbot: QtBot) -> None:
    picture = QImage(400, 300, QImage.Format.Format_RGB32)
    picture.fill(0xFF00FF)
    with open_app(tmp_path, qtbot) as app:
        app.window.composer.edit.image_given.emit(picture)
        quit_at_once(app)
    with open_app(tmp_path, qtbot) as app:
        assert len(app.window.composer.attached_rows()) == 1


def test_a_file_that_was_too_long_for_a_chat_that_was_left_goes_into_no_other(
    app: AppHarness, qtbot: QtBot, tmp_path: Path
) -> None:
    log = tmp_path / "big.log"
    log.write_text("line of words\n" * 2_000_000)
    app.ask(qtbot, "A")
    with held(reader(app)):
        app.window.attachments.take_files([str(log)])
        app.chats.new_chat()
    wait_until_read(app, qtbot)
    still()
    assert "big.log" in app.window.banner.accessibleName()
    assert not app.window.banner.button.isVisible()


def test_files_that_are_chosen_for_a_chat_that_was_left_meanwhile_go_into_no_other(
    app: AppHarness, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("words")
    app.ask(qtbot, "Question")
    chat_id = app.chats.chat_id
    app.window.composer.attach_button.click()
    (dialog,) = app.window.findChildren(QFileDialog)
    app.window.tools.desktop.new_chat()  # from the Dock, or the tray
    dialog.filesSelected.emit([str(tmp_path / "a.txt")])
    dialog.reject()
    wait_until_read(app, qtbot)
    assert app.window.composer.attached_rows() == []
    app.chats.open_chat(chat_id)
    assert [row.name for row in app.window.composer.attached_rows()] == ["a.txt"]


def test_a_picture_that_is_removed_once_its_chat_was_left_is_not_there_after_the_end(
    tmp_path: Path, qtbot: QtBot
) -> None:
    picture = QImage(40, 30, QImage.Format.Format_RGB32)
    picture.fill(0xFF00FF)
    with open_app(tmp_path, qtbot) as app:
        app.ask(qtbot, "Question")
        chat_id = app.chats.chat_id
        app.window.composer.edit.image_given.emit(picture)
        wait_until_read(app, qtbot)
        (row,) = app.window.composer.attached_rows()
        app.window.composer.attached.open_requested.emit(row.number)
        (viewer,) = app.window.findChildren(PictureViewer)
        app.window.tools.desktop.new_chat()  # from the Dock, or the tray
        viewer.remove_requested.emit()
        viewer.close()
        app.wait_until_stored(qtbot)
        assert app.application.storage.read.unsent.attachments().get(chat_id, ()) == ()


def test_what_is_read_for_a_chat_that_is_deleted_for_good_is_not_kept(
    app: AppHarness, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("secret")
    app.ask(qtbot, "Question")
    with held(reader(app)):
        app.window.attachments.take_files([str(tmp_path / "a.txt")])
        app.chats.delete_chats([app.chats.chat_id])
        app.wait_until_stored(qtbot)
        app.chats.deletions.empty()
        app.wait_until_stored(qtbot)
    wait_until_read(app, qtbot)
    still()
    assert not in_database(app, "secret")


def test_a_document_that_is_to_be_searched_has_not_the_tokens_of_its_text(app: AppHarness, qtbot: QtBot) -> None:
    """Which is still being counted, as a reply is written, when it is to be searched."""
    model = app.window.attachments.model
    app.engine.gate.hold()
    app.window.composer.send("Question")
    qtbot.waitUntil(lambda: bool(app.engine.state().running))
    app.window.attachments._attached.add_text("many words " * 1000)
    app.window.attachments._attached.search_in(model.rows[0].number)
    qtbot.waitUntil(lambda: model.rows[0].kind is AttachmentKind.SEARCHED)
    app.engine.gate.open()
    app.wait_until_quiet(qtbot)
    qtbot.waitUntil(lambda: model.rows[0].tokens is not None)
    still()
    searched = model.rows[0].attachment
    assert searched is not None
    assert model.rows[0].tokens == len(block_of(searched).split())


def test_a_file_is_refused_aloud_though_what_is_read_after_it_is_removed(
    app: AppHarness, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(range(256)))
    picture = QImage(40, 30, QImage.Format.Format_RGB32)
    picture.fill(0xFF00FF)
    model = app.window.attachments.model
    app.window.attachments.take_files([str(tmp_path / "a.bin")])
    with held(reader(app)):
        app.window.composer.edit.image_given.emit(picture)
        qtbot.waitUntil(lambda: len(model.rows) == 1)
        app.window.attachments._attached.remove(model.rows[0].number)
    qtbot.waitUntil(app.window.banner.isVisible)
    assert "a.bin" in app.window.banner.accessibleName()


# The sidebar


def test_a_title_is_kept_though_a_search_removes_its_row(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "Question")
    chats, rows = app.window.sidebar.chats, app.chats.conversations
    chats.start_rename(rows.index_of(app.chats.chat_id))
    field = chats.findChild(RenameField)
    assert isinstance(field, RenameField)
    QTest.keyClicks(field, "Typed title")
    rows.set_query("zzzz")
    qtbot.waitUntil(lambda: rows.is_answered and not rows.rows)
    still()
    app.wait_until_quiet(qtbot)
    summary = app.application.storage.read.chats.summary(app.chats.chat_id)
    assert summary is not None
    assert summary.title == "Typed title"


def test_return_opens_what_is_found_though_a_folder_is_closed_meanwhile(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "apples")
    wanted = app.chats.chat_id
    app.chats.new_chat()
    app.ask(qtbot, "pears")
    folder = app.make_folder(qtbot)
    app.chats.new_chat()
    search, chats, rows = app.window.sidebar.search, app.window.sidebar.chats, app.chats.conversations
    with held(app.application.storage._searcher):
        search.setFocus()
        QTest.keyClicks(search, "apples")
        QTest.keyClick(search, Qt.Key.Key_Return)
        place = chats.visualRect(rows.index_of_folder(folder)).center()
        QTest.mouseClick(chats.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert app.chats.is_new
    qtbot.waitUntil(lambda: app.chats.chat_id == wanted)


def test_a_reply_that_is_seen_before_it_is_marked_as_unseen_is_seen(app: AppHarness, qtbot: QtBot) -> None:
    gate = threading.Event()
    app.engine.gate.hold()
    app.window.composer.send("Question")
    qtbot.waitUntil(lambda: app.chats.generating)
    chat_id = app.chats.chat_id
    app.chats.new_chat()
    app.wait_until_stored(qtbot)
    app.chats.replies.ended.connect(lambda *_: disk(app).ask(gate.wait, ignore, ignore))
    try:
        with qtbot.waitSignal(app.chats.replies.stored):
            app.engine.gate.open()
        app.chats.open_chat(chat_id)
    finally:
        gate.set()
    app.wait_until_quiet(qtbot)
    still()
    app.wait_until_stored(qtbot)
    summary = app.application.storage.read.chats.summary(chat_id)
    assert summary is not None
    assert not summary.unseen


# Sending


def test_what_is_composed_in_another_chat_goes_on_when_a_message_is_stored(app: AppHarness, qtbot: QtBot) -> None:
    composer = app.window.composer
    app.engine.gate.hold()
    composer.send("First")
    qtbot.waitUntil(lambda: app.chats.generating)
    composer.send("Second")
    chat_id = app.chats.chat_id
    app.chats.new_chat()
    composer.take_focus()
    compose(composer.edit, "ㅎㅏ")
    app.engine.gate.open()
    qtbot.waitUntil(lambda: len(app.application.storage.read.messages.shown_branch(chat_id)) == 4)
    app.wait_until_quiet(qtbot)
    assert composer.edit.composed == "ㅎㅏ"


def test_what_is_sent_after_stop_goes_when_the_reply_has_ended(app: AppHarness, qtbot: QtBot) -> None:
    edit = app.window.composer.edit
    app.engine.gate.hold()
    app.window.composer.send("First")
    qtbot.waitUntil(lambda: app.chats.generating)
    app.engine.gate.let_through(1)
    qtbot.waitUntil(lambda: app.chats.transcript.messages[-1].text != "")
    QTest.keyClick(edit, Qt.Key.Key_Escape)
    QTest.keyClicks(edit, "Second")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    app.engine.gate.open()
    qtbot.waitUntil(lambda: "Second" in texts(app))


@pytest.mark.expect_log("a change was not stored")
def test_a_refused_message_of_a_deleted_chat_is_not_sent_elsewhere(
    app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.ask(qtbot, "Question")
    with full(monkeypatch, Stores, "ask"):
        app.window.composer.send("Second")
        app.wait_until_quiet(qtbot)
    banner = app.window.banner
    assert banner.isVisible()
    app.chats.delete_chats([app.chats.chat_id])
    app.wait_until_quiet(qtbot)
    banner._dismiss()
    assert not banner.isVisible()


def test_a_message_of_a_deleted_chat_comes_back_with_what_was_attached(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "Question")
    app.window.attachments._attached.add_text("a long pasted text")
    with held(disk(app)):
        app.chats.delete_chats([app.chats.chat_id])
        app.window.composer.send("Second")
    app.wait_until_quiet(qtbot)
    assert (app.chats.is_new, app.window.composer.text()) == (True, "Second")
    assert app.window.composer.text_with_pasted() == "a long pasted text\n\nSecond"


@pytest.mark.expect_log("a change was not stored")
def test_a_title_that_was_refused_does_not_come_back_over_a_later_one(
    app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.ask(qtbot, "Question")
    chat_id = app.chats.chat_id
    with full(monkeypatch, ChatStore, "rename"):
        app.chats.rename(chat_id, "One")
        app.wait_until_quiet(qtbot)
    app.chats.rename(chat_id, "Two")
    app.wait_until_quiet(qtbot)
    app.window.banner.button.click()
    app.wait_until_quiet(qtbot)
    assert app.chats.title == "Two"
    app.chats.rename(chat_id, "Three")
    app.wait_until_quiet(qtbot)
    assert app.chats.title == "Three"


@pytest.mark.expect_log("a change was not stored")
def test_a_consent_that_was_refused_and_ended_since_does_not_come_back(
    app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    consents = app.chats.tools.consents
    with full(monkeypatch, ConsentStore, "put"):
        consents.put(EVERY_CHAT, Consent("files", "read", "", "digest", "seen"))
        app.wait_until_quiet(qtbot)
    consents.end(EVERY_CHAT, "files", "read")
    app.wait_until_quiet(qtbot)
    app.window.banner.button.click()
    app.wait_until_quiet(qtbot)
    assert app.application.storage.read.consents.of_chat(EVERY_CHAT) == []


@pytest.mark.expect_log("a change was not stored")
def test_an_option_that_was_refused_is_tried_again_with_its_present_value(
    app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.ask(qtbot, "Question")
    options = app.chats.options
    with full(monkeypatch, ChatStates, "put_options"):
        options.put(Scope.CHAT, "temperature", 1.5)
        options.put(Scope.CHAT, "top_k", 7)
        options.keep()
        app.wait_until_quiet(qtbot)
    options.put(Scope.CHAT, "temperature", 0.5)
    options.keep()
    app.wait_until_quiet(qtbot)
    app.window.banner.button.click()
    options.keep()
    app.wait_until_quiet(qtbot)
    assert app.application.storage.read.states.options(app.chats.chat_id) == {"temperature": 0.5, "top_k": 7}


Act = Callable[[AppHarness], object]
_REFUSED: dict[str, Act] = {
    "another message": lambda app: app.press_return(),
    "another reply": lambda app: app.transcript.context.regenerate_requested.emit(id_of(app, 1)),
    "an edit": lambda app: editor(app, 2).save.click(),
}


@pytest.mark.parametrize("what", _REFUSED)
def test_what_is_asked_while_a_change_is_stored_is_refused_aloud(
    app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    app.ask(qtbot, "First")
    app.ask(qtbot, "Second")
    said: list[str] = []
    monkeypatch.setattr(app.window.composer, "_say", said.append)
    for row in (0, 2):
        type_anew(begin_edit(app, row), "Other")
    QTest.keyClicks(app.window.composer.edit, "Third")
    with held(disk(app)):
        editor(app, 0).save.click()
        _REFUSED[what](app)
    app.wait_until_quiet(qtbot)
    assert said == ["Still saving your last message."]


# The end


def test_what_was_sent_right_before_the_end_is_not_in_the_field_after_it(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as app:
        app.ask(qtbot, "Old")
        chat_id = app.chats.chat_id
        QTest.keyClicks(app.window.composer.edit, "Question")
        app.press_return()
        quit_at_once(app)
    with open_app(tmp_path, qtbot) as app:
        app.chats.open_chat(chat_id)
        assert "Question" in texts(app)
        assert app.window.composer.text() == ""


def test_what_quick_ask_sent_right_before_the_end_is_not_in_its_field_after_it(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as app:
        quick_ask = app.window.tools.desktop.quick_ask
        quick_ask.come_to_front()
        still()
        QTest.keyClicks(quick_ask.edit, "Quick")
        QTest.keyClick(quick_ask.edit, Qt.Key.Key_Return)
        quit_at_once(app)
    with open_app(tmp_path, qtbot) as app:
        assert [chat.title for chat in app.application.storage.read.chats.find()] == ["Quick"]
        assert app.window.tools.desktop.quick_ask.edit.text() == ""


def test_an_edit_saved_right_before_the_end_is_not_open_after_it(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as app:
        app.ask(qtbot, "Question")
        chat_id = app.chats.chat_id
        type_anew(begin_edit(app, 0), "Other")
        editor(app, 0).save.click()
        quit_at_once(app)
    with open_app(tmp_path, qtbot) as app:
        app.chats.open_chat(chat_id)
        assert app.chats.transcript.messages[0].text == "Other"
        assert app.application.storage.read.edits.of_chat(chat_id) == {}


# Files and prompts


def imported(app: AppHarness, qtbot: QtBot, file: Path) -> Imported:
    """The open chat once more."""
    export(app, qtbot, ExportFormat.JSON, file)
    found: list[Imported] = []
    controller = files(app).imports
    controller.previewed.connect(lambda preview: controller.run(preview, again=True))
    controller.imported.connect(found.append)
    controller.look([str(file)])
    qtbot.waitUntil(lambda: bool(found))
    return found[0]


def test_recently_deleted_shows_what_an_undone_import_brought(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    app.ask(qtbot, "Question")
    brought = imported(app, qtbot, tmp_path / "x.json")
    trash = app.window.sidebar.show_trash()
    files(app).imports.undo(brought)
    app.wait_until_quiet(qtbot)
    still()
    assert len(trash._model.rows) == len(app.chats.deletions.latest()) == 1


@pytest.mark.expect_log("a change was not stored")
@pytest.mark.parametrize(("store", "change"), [(Trash, "put_chats"), (portable, "shrink")])
def test_an_import_that_cannot_be_undone_yet_is_undone_when_that_is_tried_again(
    app: AppHarness, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: object, change: str
) -> None:
    app.ask(qtbot, "Question")
    brought = imported(app, qtbot, tmp_path / "x.json")
    trash = app.window.sidebar.show_trash()
    app.chats.open_chat(brought.ids[0])
    with full(monkeypatch, store, change):
        files(app).imports.undo(brought)
        app.wait_until_quiet(qtbot)
    assert app.chats.has(brought.ids[0])
    assert app.chats.chat_id == brought.ids[0]
    app.window.banner.button.click()
    app.wait_until_quiet(qtbot)
    still()
    assert app.chats.is_new
    assert len(trash._model.rows) == len(app.chats.deletions.latest()) == 1


def test_an_import_that_is_cancelled_twice_ends_no_later_one(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    app.ask(qtbot, "Question")
    export(app, qtbot, ExportFormat.JSON, tmp_path / "x.json")
    imports = files(app).imports
    imports.previewed.connect(lambda preview: imports.run(preview, again=True))
    imports.previewed.connect(imports.cancel)
    cancelled: list[bool] = []
    imports.cancelled.connect(lambda: cancelled.append(True))
    with qtbot.waitSignal(imports.previewed):
        imports.look([str(tmp_path / "x.json")])
    with held(disk(app)):
        qtbot.waitUntil(lambda: imports._importing is None)  # what it has stored is taken back next
        imports.cancel()
        assert not cancelled
    qtbot.waitUntil(lambda: bool(cancelled))
    still()
    assert len(cancelled) == 1


def test_the_folder_of_an_import_is_deleted_by_another_thread(
    app: AppHarness, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.ask(qtbot, "Question")
    threads: list[threading.Thread] = []
    remove = shutil.rmtree

    def noted(folder: Path, *, ignore_errors: bool) -> None:
        threads.append(threading.current_thread())
        remove(folder, ignore_errors=ignore_errors)

    monkeypatch.setattr(shutil, "rmtree", noted)
    imported(app, qtbot, tmp_path / "x.json")
    qtbot.waitUntil(lambda: bool(threads))
    assert threading.main_thread() not in threads


def test_a_prompt_without_a_name_is_not_left(app: AppHarness) -> None:
    app.chats.prompts.put(SavedPrompt("One", "text one"))
    dialog = app.window.prompts.edit_prompts()
    still()
    QTest.keyClicks(dialog.text, "long typed prompt")
    dialog.choice.chosen.emit(app.chats.prompts.all()[0].id)
    assert (dialog.choice.value, dialog.text.text()) == ("", "long typed prompt")
