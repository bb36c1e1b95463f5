"""A disk that fails, or a process that dies, at any call while settings are read and saved, or while the app ends."""

from __future__ import annotations

import errno
import json
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.settings import Settings
from app.storage import Database
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.faulty_disk import EVERYTHING, Fault, dies, failing, is_possible

pytestmark = [
    pytest.mark.skipif(not is_possible(), reason="Python's SQLite is not a shared library here"),
    pytest.mark.usefixtures("qapp"),
    pytest.mark.expect_log(
        "settings cannot be read",
        "settings cannot be saved",
        "settings file is damaged",
        "a step of the end failed",
        "was not stored",
        "cannot be opened",
        "a copy could not be made",
        "mark of this run cannot be",
        "index",
        "the database was damaged",
    ),
]

_MOST = 1000  # calls; no run here makes as many
_BEFORE = {"system_prompt": "Be brief.", "presets": [{"id": "a", "name": "Mine", "values": {}}]}
_AFTER = "Be long."


def _settings(folder: Path) -> Settings:
    return Settings(folder / "settings.json", folder / "hub_token")


def _change(folder: Path) -> bool:
    """A run that reads the settings and changes one; whether that was acknowledged."""
    settings = _settings(folder)
    settings.system_prompt = _AFTER
    return settings.save()


def _put(folder: Path, content: str) -> None:
    for file in folder.iterdir():
        file.unlink()
    (folder / "settings.json").write_text(content, encoding="utf-8")


def _look(folder: Path, acknowledged: bool) -> None:
    """All of it is there, in the file or, if this run has replaced something unread, in the copy beside it."""
    settings = _settings(folder)
    assert settings.file.set_aside == ""
    assert [each["name"] for each in settings.presets] == ["Mine"]
    assert settings.system_prompt in ((_AFTER,) if acknowledged else (_AFTER, _BEFORE["system_prompt"]))


def fail_over_settings(folder: Path, persistent: bool, step: int) -> None:
    for at in range(1, _MOST, step):
        _put(folder, json.dumps(_BEFORE))
        with failing(Fault(EVERYTHING, at, errno.EIO, persistent), folder) as fault:
            acknowledged = _change(folder)
        _look(folder, acknowledged)
        if not fault.was_met:
            assert acknowledged
            return
    pytest.fail("it never got through")


def fail_over_damaged_settings(folder: Path, persistent: bool, step: int) -> None:
    """What stands in the damaged file is still there, under its own name or another."""
    for at in range(1, _MOST, step):
        _put(folder, "{ precious")
        with failing(Fault(EVERYTHING, at, errno.EIO, persistent), folder) as fault:
            acknowledged = _change(folder)
        assert "{ precious" in [file.read_text(encoding="utf-8") for file in folder.iterdir()], f"call {at}"
        if acknowledged:
            assert _settings(folder).system_prompt == _AFTER
        if not fault.was_met:
            return
    pytest.fail("it never got through")


def die_over_settings(folder: Path, step: int) -> None:
    for at in range(1, _MOST, step):
        _put(folder, json.dumps(_BEFORE))
        killed = dies(Fault(EVERYTHING, at, kills=True), folder, lambda: _change(folder))
        _look(folder, acknowledged=not killed)
        if not killed:
            return
    pytest.fail("it never got through")


def fail_while_ending(folder: Path, qtbot: QtBot, persistent: bool, step: int, first: int = 1) -> None:
    """The end comes, and the next start finds every message and preset.

    After a single failure nothing is taken for damaged. Half a frame at the end of the log may be damage to the last
    thing that was stored, so it is rescued, which costs a notice and no word.
    """
    for at in range(first, _MOST, step):
        profile = folder / str(at)
        with AppHarness(profile, put_settings=_BEFORE) as harness:
            harness.open(qtbot)
            harness.ask(qtbot, "Question")
            QTest.keyClicks(harness.window.composer.edit, "half a thought")
            harness.application.settings.system_prompt = _AFTER
            ended: list[None] = []
            harness.application.ended.connect(lambda ended=ended: ended.append(None))
            with failing(Fault(EVERYTHING, at, errno.EIO, persistent), profile) as fault:
                harness.close()
            assert len(ended) == 1, f"call {at}"
        with closing(Database(profile / "data" / "chats.db")) as database:
            # A disk that takes the head of a frame, and no page for it ever, leaves what is taken for damage.
            assert persistent or database.rescued is None, f"set aside after call {at}"
            assert "Question" in [row["text"] for row in database.rows("SELECT text FROM messages")]
        _look(profile / "data", acknowledged=False)
        with open_app(profile, qtbot) as next_one:
            assert next_one.chats.conversations.rows, f"call {at}"
            next_one.chats.open_chat(next_one.chats.conversations.rows[-1].chat_id)
            assert persistent or next_one.window.composer.text() == "half a thought", f"call {at}"
        if not fault.was_met:
            return
    pytest.fail("it never got through")


@pytest.mark.drill
@pytest.mark.parametrize("persistent", [False, True])
def test_every_call_fails_over_settings(tmp_path: Path, persistent: bool) -> None:
    fail_over_settings(tmp_path, persistent, 1)
    fail_over_damaged_settings(tmp_path, persistent, 1)


@pytest.mark.drill
def test_the_process_dies_at_every_call_over_settings(tmp_path: Path) -> None:
    die_over_settings(tmp_path, 1)


@pytest.mark.drill
@pytest.mark.parametrize("persistent", [False, True])
def test_every_call_fails_while_the_app_ends(tmp_path: Path, qtbot: QtBot, persistent: bool) -> None:
    fail_while_ending(tmp_path, qtbot, persistent, 1)


def test_some_calls_fail_over_settings(tmp_path: Path) -> None:
    fail_over_settings(tmp_path, persistent=False, step=1)
    fail_over_settings(tmp_path, persistent=True, step=2)
    fail_over_damaged_settings(tmp_path, persistent=True, step=2)
    die_over_settings(tmp_path, 3)


def test_some_calls_fail_while_the_app_ends(tmp_path: Path, qtbot: QtBot) -> None:
    fail_while_ending(tmp_path, qtbot, persistent=False, step=13, first=3)
