"""The engine forgets what it keeps of a chat when the chat goes: the real window and database, a scripted engine."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.asking import UNSAVED
from app.storage import Database
from app.storage.storage import Storage
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.trash import nearly_overdue


def ask_in_new_chat(app: AppHarness, qtbot: QtBot, text: str) -> str:
    app.chats.new_chat()
    app.ask(qtbot, text)
    assert app.engine.requests[-1].conversation == str(app.chats.chat_id)
    return str(app.chats.chat_id)


def test_what_was_read_goes_with_its_chat_or_message(app: AppHarness, qtbot: QtBot) -> None:
    assert app.engine.kept == [frozenset()]  # once the main model was loaded: there is no chat yet
    first, second = (ask_in_new_chat(app, qtbot, text) for text in ("One", "Two"))

    app.chats.delete_chats([int(first)])
    app.wait_until_stored(qtbot)
    assert app.engine.kept[1:] == [{second}]
    app.chats.deletions.undo()
    app.wait_until_stored(qtbot)
    assert app.engine.kept[-1] == {first, second}

    app.chats.open_chat(int(second))
    app.chats.edits.delete(app.chats.transcript.messages[-1].id, True)
    app.wait_until_stored(qtbot)
    assert app.engine.kept[-1] == {first}
    app.ask(qtbot, "And?")
    assert app.engine.requests[-1].conversation == second


def test_a_start_that_forgets_chats_for_good_tells_so_without_a_model_too(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as app:
        first = ask_in_new_chat(app, qtbot, "A secret")
        second = ask_in_new_chat(app, qtbot, "Two")
        app.chats.delete_chats([int(first)])
        app.wait_until_stored(qtbot)
    with closing(Database(app.paths.database)) as database:
        nearly_overdue(database)
    with open_app(tmp_path, qtbot) as app:
        assert app.engine.kept == [{second}, {second}]  # at once, and when the main model was loaded


def test_unsaved_chats_say_nothing_of_saved_ones(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their numbers begin anew: none is to be taken for a stored chat, and no stored chat to be forgotten for them."""
    monkeypatch.setattr(Storage, "keeps", False)  # as after `open_in_memory`
    with open_app(tmp_path, qtbot) as app:
        app.ask(qtbot, "One")
        assert app.engine.requests[-1].conversation == UNSAVED
        app.chats.delete_chats([app.chats.chat_id])
        app.wait_until_stored(qtbot)
        assert app.engine.kept == []
