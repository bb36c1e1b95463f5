"""A chat without a message has a number of its own, which it keeps: with what waits in it, and once it is stored."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.storage import AttachmentKind
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.full_disk import fill_up, make_room

LONG = " ".join(["First"] * 1000)


def change(harness: AppHarness, qtbot: QtBot, what: object) -> None:
    harness.application.storage.write(what, lambda _: None, lambda _: None)  # type: ignore[arg-type]
    harness.wait_until_stored(qtbot)


def test_what_an_earlier_version_has_left_in_its_new_chat_is_there(tmp_path: Path, qtbot: QtBot) -> None:
    """It had number 0 for that chat, also in the name of the file of its documents."""
    (tmp_path / "notes.txt").write_text("The owl sleeps by day.\n" * 50)
    with open_app(tmp_path, qtbot) as app:
        documents = app.chats.documents
        new_id = app.chats.chat_id
        QTest.keyClicks(app.window.composer.edit, "What does it do?")
        app.application.file_controllers.attachments.search_in_file(str(tmp_path / "notes.txt"))
        qtbot.waitUntil(lambda: documents.has_text(-new_id) and not app.window.composer.attached.is_reading)
        app.wait_until_stored(qtbot)
        database = app.application.storage.path
        documents_at = documents.database(-new_id)
    documents_at.rename(documents_at.with_name("chat-0.db"))
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE unsent SET chat_id = 0")
    with open_app(tmp_path, qtbot) as app:
        chats = app.chats
        assert app.window.composer.text() == "What does it do?"
        assert [row.kind for row in app.window.composer.attached.rows] == [AttachmentKind.SEARCHED]
        qtbot.waitUntil(lambda: chats.documents.has_text(-chats.chat_id))
        app.wait_until_stored(qtbot)
        assert [*app.application.storage.read.unsent.all()] == [chats.chat_id]


def test_chats_that_begin_meanwhile_have_other_numbers(app: AppHarness, qtbot: QtBot) -> None:
    """A copy, and one of Quick Ask."""
    chats = app.chats
    app.ask(qtbot, "First")
    first = chats.chat_id
    chats.new_chat()
    new_id = chats.chat_id
    app.window.composer.set_text("Second")
    chats.duplicate(first)
    qtbot.waitUntil(lambda: not chats.is_new)
    answers: list[int] = []
    assert chats.quick_questions.ask("Quick?", chats.transcript, answers.append)
    app.wait_until_quiet(qtbot)
    numbers = {first, new_id, chats.chat_id, *answers}
    assert len(numbers) == 4
    chats.new_chat()
    assert (chats.chat_id, app.window.composer.text()) == (new_id, "Second")
    QTest.keyClick(app.window.composer.edit, Qt.Key.Key_Return)
    app.wait_until_quiet(qtbot)
    assert (chats.chat_id, chats.title) == (new_id, "Second")
    assert {each.id for each in app.application.storage.read.chats.find()} == numbers
    chats.new_chat()
    assert chats.chat_id not in numbers


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_the_words_of_two_new_chats_stay_apart_also_after_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    """The disk refuses the one, and another is begun."""
    with open_app(tmp_path, qtbot) as app:
        composer = app.window.composer
        change(app, qtbot, fill_up)
        composer.set_text(LONG)
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)
        app.chats.new_chat()
        assert composer.text() == ""
        qtbot.waitUntil(lambda: app.window.banner.button.text() == "Try again")
        change(app, qtbot, make_room)
        composer.set_text("Second")
        composer.unsent.keep()
        app.wait_until_stored(qtbot)
    with open_app(tmp_path, qtbot) as app:
        composer = app.window.composer
        for text in ("Second", LONG):
            assert (app.chats.is_new, composer.text()) == (True, text)
            QTest.keyClick(composer.edit, Qt.Key.Key_Return)
            app.wait_until_quiet(qtbot)
            assert app.chats.title[:5] == text[:5]
            app.chats.new_chat()
        assert composer.text() == ""


def test_the_list_marks_chats_with_unsent_text_also_after_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    """Not the open one, whose field is there."""

    def marked(app: AppHarness) -> list[str]:
        return [row.title for row in app.chats.conversations.rows if row.unsent]

    with open_app(tmp_path, qtbot) as app:
        app.ask(qtbot, "First")
        first = app.chats.chat_id
        QTest.keyClicks(app.window.composer.edit, "And then")
        assert marked(app) == []
        app.chats.new_chat()
        assert marked(app) == ["First"]
        app.wait_until_stored(qtbot)
    with open_app(tmp_path, qtbot) as app:
        qtbot.waitUntil(lambda: marked(app) == ["First"])
        assert any("unsent text" in row.spoken for row in app.chats.conversations.rows)
        app.chats.open_chat(first)
        assert marked(app) == []
        QTest.keyClick(app.window.composer.edit, Qt.Key.Key_Return)
        app.wait_until_quiet(qtbot)
        app.chats.new_chat()
        assert marked(app) == []
