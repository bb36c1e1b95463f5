"""A chat without a message has a number of its own, which it keeps: with what waits in it, and once it is stored."""

from __future__ import annotations

import errno
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.storage import AttachmentKind, Database, rescue
from app.tools.builtin.tool import Reach
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.full_disk import fill_up, make_room
from tests.unit.test_builtin_tools import run

LONG = " ".join(["First"] * 1000)
BUSY = pytest.mark.expect_log("was not stored: SQLITE_BUSY", "was not stored: SQLITE_CONSTRAINT")
FULL = pytest.mark.expect_log("was not stored: SQLITE_FULL")


def leave(app: AppHarness, qtbot: QtBot, text: str) -> None:
    """In the composer, and stored if the disk takes it."""
    app.window.composer.set_text(text)
    app.window.composer.unsent.keep()
    app.wait_until_stored(qtbot)


@contextmanager
def refusing(app: AppHarness, qtbot: QtBot) -> Iterator[None]:
    """The disk refuses all until the end of the block."""
    with closing(Database(app.paths.database)) as other:
        app.change(qtbot, lambda stores: stores.database.execute("PRAGMA busy_timeout = 100"))
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def quit_with_refused(app: AppHarness, qtbot: QtBot) -> None:
    """After a stored chat (1), a new one (2) whose words only the file of left words has."""
    app.ask(qtbot, "First")
    app.chats.new_chat()
    app.wait_until_stored(qtbot)
    with refusing(app, qtbot):
        leave(app, qtbot, "precious")
        app.close()


def refuse_second(app: AppHarness, qtbot: QtBot) -> None:
    """A full disk refuses a question in a new chat, and another is begun meanwhile."""
    app.change(qtbot, fill_up)
    app.window.composer.set_text(LONG)
    app.press_return()
    app.chats.new_chat()
    qtbot.waitUntil(lambda: app.window.banner.button.text() == "Try again")


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
    app.press_return()
    app.wait_until_quiet(qtbot)
    assert (chats.chat_id, chats.title) == (new_id, "Second")
    assert {each.id for each in app.application.storage.read.chats.find()} == numbers
    chats.new_chat()
    assert chats.chat_id not in numbers


@FULL
def test_the_words_of_two_new_chats_stay_apart_also_after_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    """The disk refuses the one, and another is begun."""
    with open_app(tmp_path, qtbot) as app:
        composer = app.window.composer
        refuse_second(app, qtbot)
        assert composer.text() == ""
        app.change(qtbot, make_room)
        leave(app, qtbot, "Second")
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
        app.press_return()
        app.wait_until_quiet(qtbot)
        app.chats.new_chat()
        assert marked(app) == []


@BUSY
def test_left_words_keep_their_number_to_themselves(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as app:
        quit_with_refused(app, qtbot)
    with open_app(tmp_path, qtbot) as app:
        assert app.window.composer.text() == "precious"
        app.chats.duplicate(1)
        app.wait_until_stored(qtbot)
        app.chats.new_chat()
        assert (app.chats.title, app.chats.transcript.messages, app.window.composer.text()) == ("", [], "precious")
        app.press_return()
        app.wait_until_quiet(qtbot)
        assert [row.text for row in app.chats.transcript.messages][:1] == ["precious"]


@FULL
@pytest.mark.parametrize("how", ["the disk took them late", "deleted at once"])
def test_words_of_a_chat_that_was_deleted_for_good_do_not_come_back(tmp_path: Path, qtbot: QtBot, how: str) -> None:
    with open_app(tmp_path, qtbot) as app:
        app.ask(qtbot, "First")
        chats, first = app.chats, app.chats.chat_id
        if how == "deleted at once":
            app.window.composer.set_text("secret")
            chats.delete_chats([first])
            chats.deletions.empty()
        else:
            app.change(qtbot, fill_up)
            app.window.composer.set_text(LONG)
            chats.new_chat()
            app.wait_until_stored(qtbot)
            chats.delete_chats([first])  # to make room
            app.wait_until_stored(qtbot)
            chats.deletions.empty()
            app.wait_until_stored(qtbot)
            app.change(qtbot, make_room)
            chats.keeping.try_again()  # as it does every two seconds
        app.wait_until_stored(qtbot)
    with open_app(tmp_path, qtbot) as app:
        assert (app.window.composer.text(), app.application.storage.read.unsent.all()) == ("", {})


def test_what_an_earlier_version_left_of_a_purged_chat_does_not_come_back(tmp_path: Path, qtbot: QtBot) -> None:
    """Such rows: `test_f2…` on `main`, where nothing shows them."""
    with open_app(tmp_path, qtbot) as app:
        app.ask(qtbot, "First")
        app.chats.delete_chats([1])
        app.wait_until_stored(qtbot)
        app.chats.deletions.empty()
        app.wait_until_stored(qtbot)
    with closing(sqlite3.connect(app.paths.database)) as connection, connection:
        connection.execute("INSERT INTO unsent (chat_id, text) VALUES (1, 'secret')")
        connection.execute("PRAGMA user_version = 11")
    with open_app(tmp_path, qtbot) as app:
        assert app.window.composer.text() == ""


@BUSY
def test_left_words_that_are_put_back_a_run_later_are_of_no_other_chat(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as app:
        quit_with_refused(app, qtbot)
    away = app.paths.left.rename(tmp_path / "away")  # as if the disk had refused `_take_over`, which leaves the file
    with open_app(tmp_path, qtbot) as app:
        app.ask(qtbot, "Another")
        app.window.composer.set_text("words of the other chat")
        second = app.chats.chat_id
    away.rename(app.paths.left)
    with open_app(tmp_path, qtbot) as app:
        new = app.window.composer.text()
        app.chats.open_chat(second)
        assert (new, app.window.composer.text()) == ("precious", "words of the other chat")


def test_left_words_of_an_earlier_version_replace_what_was_stored_before(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as app:
        leave(app, qtbot, "half a")
    with closing(sqlite3.connect(app.paths.database)) as connection, connection:
        connection.execute("UPDATE unsent SET chat_id = 0")
    left = {"number": "1", "unsent": [[0, "half a thought"]], "attachments": [], "edits": [], "replies": []}
    app.paths.left.write_text(json.dumps(left))
    with open_app(tmp_path, qtbot) as app:
        assert app.window.composer.text() == "half a thought"


@FULL
def test_options_stay_with_their_new_chat_over_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as app:
        chats = app.chats
        project = app.make_folder(qtbot)
        chats.new_chat_in(project)
        first = chats.chat_id
        chats.options.choose_texts("folders", ["/secret"])
        refuse_second(app, qtbot)
        app.change(qtbot, make_room)
        leave(app, qtbot, "Second")
        assert (chats.options.folder_of(chats.chat_id), chats.tools.folders) == (None, ())
    with open_app(tmp_path, qtbot) as app:
        options, chats = app.chats.options, app.chats
        assert app.window.composer.text() == "Second"
        assert (options.folder_of(chats.chat_id), chats.tools.folders) == (None, ())
        assert (options.folder_of(first), options.texts(first, "folders")) == (project, ("/secret",))


@FULL
def test_the_words_of_a_refused_new_chat_are_reached(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as app:
        composer = app.window.composer
        refuse_second(app, qtbot)
        app.window.banner.close_button.click()
        app.chats.new_chat()
        assert composer.text() == LONG


def test_a_row_without_words_hides_none(tmp_path: Path, qtbot: QtBot) -> None:
    """`_put` is no transaction: of words that a full disk has refused it has the row."""
    with open_app(tmp_path, qtbot) as app:
        leave(app, qtbot, "precious")
    with closing(sqlite3.connect(app.paths.database)) as connection, connection:
        connection.execute("INSERT INTO unsent (chat_id, text) VALUES (7, '')")
    with open_app(tmp_path, qtbot) as app:
        assert app.window.composer.text() == "precious"


@pytest.mark.expect_log("the database was damaged")
def test_a_rescue_gives_lost_messages_no_number_of_a_new_chat(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as app:
        app.ask(qtbot, "First")
        app.chats.new_chat()
        leave(app, qtbot, "precious")
    with closing(sqlite3.connect(app.paths.database)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("UPDATE messages SET chat_id = -5")
    rescue.rebuild(app.paths.database)
    with open_app(tmp_path, qtbot) as app:
        assert app.window.composer.text() == "precious"


def test_the_tool_that_searches_chats_is_given_three_messages_of_each(app: AppHarness, qtbot: QtBot) -> None:
    for number in range(5):
        app.ask(qtbot, f"heron {number}")
    found = run("search_chats", Reach(0, stores=app.application.storage.another_reader), query="heron")
    assert found.text.count("\nheron") == 3


@pytest.mark.expect_log("was not stored")
def test_what_was_refused_and_is_sent_while_the_app_quits_is_there_once(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuses = [True]
    original = Database.is_in_place

    def is_in_place(database: Database) -> bool:
        if refuses[0]:
            raise OSError(errno.ENOSPC, "full")
        return original(database)

    with open_app(tmp_path, qtbot) as app:
        app.wait_until_stored(qtbot)
        monkeypatch.setattr(Database, "is_in_place", is_in_place)
        app.window.composer.edit.long_text_given.emit("pasted")
        app.wait_until_stored(qtbot)
        refuses[0] = False
        app.press_return()
    with open_app(tmp_path, qtbot) as app:
        stores = app.application.storage.read
        assert len(stores.database.rows("SELECT id FROM messages WHERE parts LIKE '%pasted%'")) == 1
        assert stores.unsent.attachments() == {}
