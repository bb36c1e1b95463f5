"""The app is ended while its disk refuses everything: the next start has what was typed, attached and written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.storage import Database, EditKind, Project, Stores
from app.storage.left_words import Left, LeftWords
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import Script
from tests.helpers.full_disk import fill_up

LONG = "precious " * 6000  # more than SQLite's free pages take
NOTHING: dict[str, object] = {"number": "1", "unsent": [], "attachments": [], "edits": [], "replies": []}
EDITED, REPLIED = LONG + "edited", LONG + "replied"

pytestmark = pytest.mark.expect_log(
    "was not stored", "cannot be read", "a copy could not be made", "not as it should be"
)


def end_in_mid_work(harness: AppHarness, qtbot: QtBot) -> tuple[int, int]:
    """With something typed in a chat and in Quick Ask, a message in its field, and a reply under way.

    Returns the chat that was typed in, and the reply.
    """
    harness.ask(qtbot, "First")
    typed_in, edited = harness.chats.chat_id, harness.chats.transcript.messages[0].id
    harness.chats.new_chat()
    harness.engine.scripts.append(Script(pieces=("begun ", REPLIED)))
    harness.engine.gate.hold()
    harness.window.composer.set_text("Second")
    harness.window.composer.edit.submitted.emit()
    qtbot.waitUntil(lambda: harness.chats.generating)
    harness.wait_until_stored(qtbot)
    reply = harness.chats.transcript.messages[-1].id
    harness.application.storage.write(fill_up, lambda _: None, lambda _: None)
    harness.wait_until_stored(qtbot)
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: harness.chats.has_unsaved)
    harness.chats.open_chat(typed_in)
    harness.chats.edits.begin(edited, EditKind.EDIT)
    harness.chats.edits.type(edited, EDITED)
    harness.window.tools.desktop.quick_ask.edit.set_text(LONG + "asked")
    harness.window.composer.edit.long_text_given.emit(LONG + "pasted")
    harness.window.composer.set_text(LONG + "typed")
    harness.close()
    return typed_in, reply


def assert_all_is_there(folder: Path, qtbot: QtBot, typed_in: int, reply: int) -> None:
    with open_app(folder, qtbot) as harness:
        message = harness.application.storage.read.messages.message(reply)
        assert message is not None
        assert message.text == "begun " + REPLIED
        harness.chats.open_chat(typed_in)
        assert harness.window.composer.text() == LONG + "typed"
        assert [row.attachment.text for row in harness.window.composer.attached.rows if row.attachment] == [
            LONG + "pasted"
        ]
        edit = harness.chats.transcript.messages[0].edit
        assert edit is not None
        assert edit.text == EDITED
        assert harness.window.tools.desktop.quick_ask.edit.text() == LONG + "asked"
        assert not list(folder.parent.rglob("*left*.json"))


def test_what_the_database_does_not_take_is_there_at_the_next_start(harness: AppHarness, qtbot: QtBot) -> None:
    typed_in, reply = end_in_mid_work(harness, qtbot)
    left = harness.paths.data / "left.json"
    assert left.stat().st_mode & 0o777 == 0o600
    assert_all_is_there(harness.paths.data.parent, qtbot, typed_in, reply)


def test_a_sound_disk_leaves_no_file(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "First")
    QTest.keyClicks(harness.window.composer.edit, "half a thought")
    harness.close()
    assert not harness.paths.left.exists()


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    database = Database(tmp_path / "chats.db")
    yield Stores(database)
    database.close()


def test_a_file_that_cannot_be_deleted_is_taken_over_once(tmp_path: Path, stores: Stores) -> None:
    file = tmp_path / "left.json"
    LeftWords(file).leave(Left(unsent={1: "left"}, new_chats=[1]))
    content = file.read_bytes()
    LeftWords(file).put_back(stores)
    assert (stores.unsent.all(), file.exists()) == ({1: "left"}, False)
    stores.unsent.put(1, "typed since")
    file.write_bytes(content)
    LeftWords(file).put_back(stores)
    assert stores.unsent.all() == {1: "typed since"}


def test_a_project_is_put_back_where_its_folder_is(tmp_path: Path, stores: Stores) -> None:
    file = tmp_path / "left.json"
    folder = stores.folders.make("Tea", None)
    tea = Project("We sell tea.", {"seed": 3})
    LeftWords(file).leave(Left(projects={folder: tea, 77: Project("of a folder that is gone")}))
    LeftWords(file).put_back(stores)
    assert (stores.folders.project(folder), stores.folders.project(77)) == (tea, None)


def test_what_has_no_place_any_more_costs_nothing_else(tmp_path: Path, stores: Stores) -> None:
    file = tmp_path / "left.json"
    LeftWords(file).leave(Left(unsent={77: "of a chat that is gone", 1: "new"}, new_chats=[1]))
    LeftWords(file).put_back(stores)
    assert stores.unsent.all() == {1: "new"}


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"{", b"\xff", b"[" * 100_000, json.dumps({"number": "a", "unsent": [[0]]}).encode()),
        json.dumps(NOTHING | {"replies": "long " * 100}).encode(),
        *(json.dumps(NOTHING | {"edits": [[each, "edit", "user", "x", None]]}).encode() for each in (2**63, "x", [1])),
        json.dumps(NOTHING | {"unsent": [[1, "a\ud800b"]], "new_chats": [1]}).encode(),
    ],
)
def test_a_damaged_file_is_passed_over_and_stays(tmp_path: Path, stores: Stores, content: bytes) -> None:
    damaged = tmp_path / "left.json"
    damaged.write_bytes(content)
    LeftWords(damaged).put_back(stores)
    assert (stores.unsent.all(), damaged.exists()) == ({}, True)


def test_what_is_no_plain_file_is_not_read(tmp_path: Path, stores: Stores) -> None:
    pipe = tmp_path / "left.json"
    os.mkfifo(pipe)
    LeftWords(pipe).put_back(stores)
    assert stores.unsent.all() == {}


def test_a_disk_that_takes_no_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "left.json" / "in the way").mkdir(parents=True)
    assert not LeftWords(tmp_path / "left.json").leave(Left(unsent={1: "typed"}))
