"""Ten thousand chats deleted, taken back, restored one by one and deleted for good in the real window."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.storage import Stores
from tests.helpers.app_harness import open_app
from tests.helpers.gui_waits import gui_waits
from tests.helpers.stillness import still

pytestmark = pytest.mark.drill
CHATS = 10_000


def make_chats(stores: Stores) -> list[int]:
    with stores.database.transaction():
        return [stores.chats.create(f"Chat {number}") for number in range(CHATS)]


def test_all_are_deleted_and_come_back(tmp_path: Path, qtbot: QtBot) -> None:
    made: list[int] = []
    with open_app(tmp_path, qtbot) as harness:
        harness.application.storage.write(make_chats, made.extend, lambda _problem: None)
        harness.wait_until_stored(qtbot)
        chats, read = harness.chats, harness.application.storage.read
        assert len(read.chats.ids()) == len(made) == CHATS
        with gui_waits() as met:
            chats.delete_chats(made)
            harness.wait_until_stored(qtbot)
            assert read.chats.ids() == []
            chats.deletions.undo()
            harness.wait_until_stored(qtbot)
            assert sorted(read.chats.ids()) == made
            chats.delete_chats(made)
            harness.wait_until_stored(qtbot)
            deletions = chats.deletions.latest(CHATS)
            assert len(deletions) == CHATS
            for deletion in deletions[:100]:
                chats.deletions.restore(deletion, open_it=False)
            harness.wait_until_stored(qtbot)
            assert len(read.chats.ids()) == 100
            chats.deletions.empty()
            harness.wait_until_stored(qtbot)
        still()
        assert met == []
        assert chats.deletions.latest() == []
        kept = {row.chat_id for row in chats.conversations.rows if row.chat_id}
        assert kept == set(read.chats.ids())
    with open_app(tmp_path, qtbot) as harness:
        assert set(harness.application.storage.read.chats.ids()) == kept
