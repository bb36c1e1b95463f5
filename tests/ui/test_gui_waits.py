"""Nothing that the person does has the window wait for the disk or for a thread; what was to be written is written."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.system.crash_marker import SessionMark
from tests.helpers.app_harness import AppHarness
from tests.helpers.fake_engine import DRAFT, MAIN, model_info
from tests.helpers.gui_waits import gui_waits

OTHER = "/models/other"
MODELS = {MAIN.folder: MAIN, DRAFT.folder: DRAFT, OTHER: model_info(OTHER)}


def stored(harness: AppHarness, name: str) -> object:
    return json.loads(harness.paths.settings.read_text()).get(name)


def test_the_window_waits_for_nothing(tmp_path: Path, qtbot: QtBot) -> None:
    with AppHarness(tmp_path, MODELS) as harness:
        with gui_waits() as met:
            harness.open(qtbot)
            settings = harness.application.settings
            settings.hub_token = "hf_secret"
            settings.temperature = 0.3
            harness.ask(qtbot, "Question")
            harness.models.choose_main(OTHER)
            harness.models.set_off_for_pair(True)
            qtbot.waitUntil(lambda: stored(harness, "main_folder") == OTHER)
            qtbot.waitUntil(lambda: harness.paths.pairs.exists() and harness.paths.hub_token.exists())
            harness.wait_until_quiet(qtbot)
        assert met == []
        assert stored(harness, "temperature") == 0.3


def test_a_load_waits_for_its_mark_on_the_disk(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by a slow disk, which the window does not wait for."""
    with AppHarness(tmp_path, MODELS) as harness:
        harness.open(qtbot)
        mark, slow, reached = tmp_path / "data" / "running", threading.Event(), threading.Event()
        replace = os.replace

        def replaced(source: Path, target: Path) -> None:
            if Path(target) == mark and OTHER in Path(source).read_text():
                reached.set()
                slow.wait()
            replace(source, target)

        monkeypatch.setattr(os, "replace", replaced)
        harness.models.choose_main(OTHER)
        qtbot.waitUntil(reached.is_set)
        assert harness.engine.state().main == MAIN
        slow.set()
        qtbot.waitUntil(lambda: harness.engine.state().main == MODELS[OTHER])
        qtbot.waitUntil(lambda: mark.read_text() == "")


def test_a_mark_of_a_load_that_ends_after_the_app_is_not_left(tmp_path: Path) -> None:
    mark = SessionMark(tmp_path / "running")
    mark.begin()
    mark.set_loading("/models/a")
    assert SessionMark(tmp_path / "running").was_loading == "/models/a"
    mark.end()
    mark.set_loading("")
    assert not (tmp_path / "running").exists()
