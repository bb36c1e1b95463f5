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
from tests.helpers.app_harness import open_app
from tests.helpers.faulty_disk import EVERYTHING, Fault, dies, failing, is_possible
from tests.helpers.samples import drilled

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


@pytest.mark.parametrize(("persistent", "step"), [*drilled([(True, 1)]), (False, 1), (True, 2)])
def test_calls_fail_over_settings(tmp_path: Path, persistent: bool, step: int) -> None:
    for at in range(1, _MOST, step):
        _put(tmp_path, json.dumps(_BEFORE))
        with failing(Fault(EVERYTHING, at, errno.EIO, persistent), tmp_path) as fault:
            acknowledged = _change(tmp_path)
        _look(tmp_path, acknowledged)
        if not fault.was_met:
            assert acknowledged
            return
    pytest.fail("it never got through")


@pytest.mark.parametrize(("persistent", "step"), [*drilled([(False, 1), (True, 1)]), (True, 2)])
def test_calls_fail_over_damaged_settings(tmp_path: Path, persistent: bool, step: int) -> None:
    """What stands in the damaged file is still there, under its own name or another."""
    for at in range(1, _MOST, step):
        _put(tmp_path, "{ precious")
        with failing(Fault(EVERYTHING, at, errno.EIO, persistent), tmp_path) as fault:
            acknowledged = _change(tmp_path)
        assert "{ precious" in [file.read_text(encoding="utf-8") for file in tmp_path.iterdir()], f"call {at}"
        if acknowledged:
            assert _settings(tmp_path).system_prompt == _AFTER
        if not fault.was_met:
            return
    pytest.fail("it never got through")


@pytest.mark.parametrize("step", [*drilled([(1,)]), 3])
def test_the_process_dies_at_calls_over_settings(tmp_path: Path, step: int) -> None:
    for at in range(1, _MOST, step):
        _put(tmp_path, json.dumps(_BEFORE))
        killed = dies(Fault(EVERYTHING, at, kills=True), tmp_path, lambda: _change(tmp_path))
        _look(tmp_path, acknowledged=not killed)
        if not killed:
            return
    pytest.fail("it never got through")


@pytest.mark.parametrize(("persistent", "first", "step"), [*drilled([(False, 1, 1), (True, 1, 1)]), (False, 3, 13)])
def test_calls_fail_while_the_app_ends(tmp_path: Path, qtbot: QtBot, persistent: bool, first: int, step: int) -> None:
    """The end comes, and the next start finds every message and preset.

    After a single failure nothing is taken for damaged. Half a frame at the end of the log may be damage to the last
    thing that was stored, so it is rescued, which costs a notice and no word.
    """
    for at in range(first, _MOST, step):
        profile = tmp_path / str(at)
        with open_app(profile, qtbot, put_settings=_BEFORE) as harness:
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
