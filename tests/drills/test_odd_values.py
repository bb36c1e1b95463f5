"""Every column of the file with the chats holds what no version of the app writes: the window opens, shows every chat,
counts, finds and exports, and what was sound stays as it was.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.portable.unfinished import Unfinished
from app.portable.writing import write_json
from app.settings import Option, Settings
from app.storage import Attachment, AttachmentKind, Database, Edit, EditKind, ReplyStatus, ReplyText, Stores, portable
from app.storage.opening import MemoryDatabase
from app.system.limited_child import Stop
from engine import MessageRole, RequestStats
from tests.helpers.app_harness import AppHarness
from tests.helpers.chat_files import SECRET, fill
from tests.helpers.event_loop import after
from tests.helpers.fake_engine import MAIN
from tests.helpers.samples import drilled
from tests.helpers.window_pages import activity

pytestmark = pytest.mark.expect_log("the database was damaged", "is not possible", "settings file")

_LONG = "long " * 100_000
_ROWS = 22
_ODD: tuple[object, ...] = (
    *(None, -1, 0, 2**62, -(2**63), 1e308, -1e308, float("inf"), "", b"\xff\xfe\x00", _LONG),
    *("\u202e\u2066\x00\x1b[31m\r\n\u2028\ud7ff\U000e0001", "[" * 100_000, "9" * 5000, "a/../../b\\c"),
    *('{"a":' * 500 + "1" + "}" * 500, '{"x": 1e999}', "[1, null, {}]", '"text"', "null"),
)
_STATS = RequestStats(generated_tokens=9, rounds=4, drafted=8, accepted=5)
_NUMBERS_OF_ROWS = (
    ("chats", "id"),
    ("messages", "id"),
    ("folders", "id"),
)  # a rescue mends those, see test_damaged_files
_TABLES = ("chats", "messages", "folders", "requests", "edits", "unsent", "notes", "rewritten")


def columns() -> list[tuple[str, str]]:
    with closing(MemoryDatabase("file:/odd-values?vfs=memdb&")) as database:
        return [(table, row[1]) for table in _TABLES for row in database.rows(f"PRAGMA table_info({table})")]


def make(path: Path) -> None:
    """A row of every table for each odd value, and a chat that nothing happens to."""
    fill(path, chats=_ROWS, messages=2)
    with closing(Database(path)) as database:
        stores, parent = Stores(database), None
        for chat in range(1, _ROWS):
            parent = stores.folders.make(f"folder {chat}", parent if chat % 2 else None)
            stores.folders.put_chats([chat], parent)
            stores.edits.put(Edit(2 * chat, EditKind.EDIT, MessageRole.USER, "edited"))
            stores.unsent.put(chat, "unsent")
            stores.unsent.put_attachments(chat, (Attachment("a.txt", AttachmentKind.TEXT, "text", 4),))
            stores.states.put_options(chat, {"temperature": 0.5})
            stores.states.put_place(chat, (2 * chat, 0.5))
            stores.requests.add(ReplyText(2 * chat, f"{SECRET} words", "", 0.0), ReplyStatus.DONE, _STATS)


def spoil(path: Path, table: str, column: str, values: list[object]) -> None:
    """One value in each row, as far as SQLite takes it, and never in those of the last chat."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        rows = [row[0] for row in connection.execute(f"SELECT rowid FROM {table} ORDER BY rowid")]
        for row, value in zip(rows[: 2 * _ROWS - 2], values, strict=False):
            try:
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
            except (sqlite3.IntegrityError, OverflowError):
                continue


def live(harness: AppHarness, qtbot: QtBot, export: Path) -> None:
    """All that reads: the list, each chat, the search, the counts, the settings, an export."""
    harness.open(qtbot)
    harness.wait_until_stored(qtbot)
    for chat in [row.chat_id for row in harness.chats.conversations.rows if row.chat_id]:
        harness.chats.open_chat(chat)
        after(1)
    activity(harness)
    harness.chats.conversations.set_query(SECRET)
    harness.wait_until_stored(qtbot)
    with harness.application.storage.another_reader() as stores:
        write_json(
            portable.chats(stores.database, portable.chat_ids(stores.database), "id"),
            export,
            Unfinished(export.parent),
            Stop(),
            lambda _: None,
        )
    json.loads(export.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("table", "column", "values"),
    [
        *drilled((*each, list(_ODD)) for each in columns() if each not in _NUMBERS_OF_ROWS),
        ("chats", "options", list(_ODD[-10:])),
        ("messages", "stats", list(_ODD[-10:])),
    ],
)
def test_odd_values_of_a_column(tmp_path: Path, qtbot: QtBot, table: str, column: str, values: list[object]) -> None:
    with AppHarness(tmp_path) as harness:
        make(harness.paths.database)
        spoil(harness.paths.database, table, column, values)
        live(harness, qtbot, tmp_path / "export.json")
        whole = harness.application.storage.read.messages.shown_branch(_ROWS)
        assert [message.text.split()[0] for message in whole] == [SECRET, SECRET]


_SETTINGS: tuple[str, ...] = (
    *("null", "true", "-1", "1e999", "-1e308", "9" * 400, '""', '"\\ud800\\u202e\\u0000"', f'"{_LONG}"', '"/dev/zero"'),
    *(
        "[]",
        "[null]",
        "[[[[]]]]",
        '["\\u0000", 5, {}]',
        "[" * 150 + "]" * 150,
        "{}",
        '{"": null}',
        '{"a": {"b": [1e999]}}',
    ),
    *('[{"id": "a", "name": "b", "values": {"temperature": 1e999, "system_prompt": 5}}]', '[{"id": 5}, {"name": {}}]'),
    *(
        '{"starter": {"temperature": "hot", "top_k": 1e999, "max_tokens": [], "nothing": {}}}',
        '{"\\u0000": {"top_p": -5}}',
    ),
)


class OddSettings(AppHarness):
    """Every option is `odd`, but for the language."""

    odd = ""

    def _prepare(self, _values: Mapping[str, object]) -> None:
        names = [name for name, option in vars(Settings).items() if isinstance(option, Option)]
        entries = [f'"{name}": {self.odd}' for name in names if name != "language"]
        self.paths.settings.parent.mkdir(parents=True, exist_ok=True)
        self.paths.settings.write_text("{" + ", ".join(['"language": "en"', *entries]) + "}", encoding="utf-8")


def live_with(folder: Path, qtbot: QtBot, odd: str) -> None:
    """Each page of the settings is shown, a model is loaded, and a reply is written."""
    harness = type("Odd", (OddSettings,), {"odd": odd})(folder)
    try:
        harness.open(qtbot)
        for name in harness.application.settings_window().pages:
            harness.application.show_settings(name)
            after(1)
        harness.models.choose_main(MAIN.folder)
        qtbot.waitUntil(harness.is_settled)
        assert harness.ask(qtbot, "Still there?")
    finally:
        harness.close()


@pytest.mark.drill
@pytest.mark.parametrize("odd", _SETTINGS)
def test_settings_of_one_odd_value(tmp_path: Path, qtbot: QtBot, odd: str) -> None:
    live_with(tmp_path, qtbot, odd)


def test_settings_of_an_odd_value(tmp_path: Path, qtbot: QtBot) -> None:
    live_with(tmp_path, qtbot, _SETTINGS[7])
