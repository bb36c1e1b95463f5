"""Two real apps with engines: the starter pair's draft runs in the other one, until that is lost or switched off."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.settings import Settings
from app.system.paths import Paths
from app.view_models.machines import AskingState
from app.view_models.model_list import PairState
from app.views.settings.machines import MachinesPage
from engine import HubSource, Speculation, StationPhase
from engine.drafting.controller import make_controller
from engine.hub.repository import choose_files
from engine.hub.staging import write_manifest
from tests.end2end.person import Person, qt_pointer
from tests.helpers.app_harness import open_page
from tests.helpers.event_loop import until
from tests.helpers.ports import free_port
from tests.helpers.stations import await_stations
from tests.helpers.tinyhub import _entry
from tests.ui.test_draft_elsewhere import choose_station

STARTER = Path("resources/starter")
QUESTION = "What is a draft model?"
REPO = "org/starter-draft"
COMMIT = "c" * 40
WORKER = "engine.station.worker"


class OtherApp:
    """On this machine, with a folder of its own, which stays when it is killed."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None

    def start(self, model: str = "draft") -> str:
        """With a model of the starter pair. Returns digits to pair it by."""
        command = [sys.executable, "-m", "tests.end2end.two_apps", "draft"]
        self._process = subprocess.Popen(
            [*command, str(self._folder), str(STARTER / model), str(self.port)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        )
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    @property
    def models(self) -> Path:
        return Paths.for_user(self._folder).models

    def stations(self) -> list[int]:
        return [] if self._process is None else stations_below(self._process.pid)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None


def stations_below(pid: int) -> list[int]:
    """Processes of stations that this one or one below it has started."""
    listed = subprocess.run(["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    below = {pid}
    while more := {int(row[0]) for row in rows if int(row[1]) in below} - below:
        below |= more
    return [int(row[0]) for row in rows if int(row[0]) in below and len(row) > 2 and WORKER in row[2]]


def runs(pid: int) -> bool:
    return bool(subprocess.run(["ps", "-p", str(pid), "-o", "pid="], capture_output=True, check=False).stdout.strip())


@pytest.fixture
def other(tmp_path: Path) -> Iterator[OtherApp]:
    made = OtherApp(tmp_path / "there")
    yield made
    made.kill()


@pytest.fixture
def person(tmp_path: Path, qtbot: QtBot, other: OtherApp, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    await_stations(monkeypatch)
    fixed = Speculation.fixed(4)  # auto takes whichever draft is faster here
    monkeypatch.setattr("engine.runtime.pair.make_controller", lambda _, history: make_controller(fixed, history))
    paths = Paths.for_user(tmp_path / "here")
    for half in ("main", "draft"):
        shutil.copytree(STARTER / half, paths.models / "made" / half)
    note_hub(paths.models / "made" / "draft")
    settings = Settings(paths.settings, paths.hub_token)
    settings.language, settings.automatic_titles, settings.max_tokens = "en", False, 40
    settings.temperature, settings.seed = 0.8, 7
    settings.main_folder, settings.draft_folder = (str(paths.models / "made" / half) for half in ("main", "draft"))
    settings.save()
    made = Person(tmp_path / "here", qt_pointer)
    qtbot.waitUntil(lambda: made.application.models.pair.state is PairState.READY)
    yield made
    made.leave()
    assert not station_threads()


def station_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name in ("station", "station sends")]


def reply(person: Person) -> tuple[str, str]:
    """Its words, and who drafted."""
    person.application.come_to_front()
    person.application.chats.new_chat()
    person.ask(QUESTION)
    row = person.application.chats.transcript.messages[-1]
    assert row.stats is not None
    return row.text, row.stats.proposer


def pair(person: Person, page: MachinesPage, other: OtherApp, code: str) -> None:
    for field, words in ((page.pairing.address, f"127.0.0.1:{other.port}"), (page.pairing.code, code)):
        person.click(field)
        QTest.keyClicks(field, words)
    person.click(page.pairing.pair)
    until(lambda: person.application.machines.pairing.state is AskingState.DONE)
    until(page.station.isVisible)


def choose(page: MachinesPage, key: Qt.Key) -> None:
    """The machine beside the present one in the menu, by the keyboard."""
    page.window().activateWindow()
    choose_station(page, key)


def drafts_there(person: Person) -> bool:
    return person.application.machines.station.state.phase is StationPhase.READY


@pytest.mark.slow
@pytest.mark.expect_log("MachineUnavailable", "the station")
def test_the_other_app_drafts_until_it_is_lost_or_switched_off(
    person: Person, other: OtherApp, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = person.application
    alone = reply(person)
    page = open_page(person.application, MachinesPage)
    said = page.station.row.explanation
    pair(person, page, other, other.start())
    assert (page.station.machine.text(), other.stations()) == ("No other Mac", [])

    choose(page, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: drafts_there(person))
    assert said.text().startswith("Ready, with up to")
    there = reply(person)
    assert (alone[0], "station") == there
    until(lambda: "prepared" in said.text() and "of work there" in said.text())
    (process,) = other.stations()
    assert stations_below(os.getpid()) == [process], "none of this app's own"
    assert "drafts for it" in app.window.header.chip.toolTip()

    app.settings.max_tokens = 400
    app.come_to_front()
    app.chats.new_chat()
    with monkeypatch.context() as patch:
        person.send(QUESTION)
        until(lambda: len(app.chats.transcript.messages[-1].text) > len(alone[0]) / 2)
        patch.setattr("tests.helpers.stations.PATIENCE_S", 0.0)  # from here on it is not waited for
        other.kill()
        until(lambda: not app.chats.generating)
    assert app.chats.transcript.messages[-1].text.startswith(alone[0][: len(alone[0]) // 2])
    until(lambda: "This Mac drafts meanwhile." in said.text())
    until(lambda: not runs(process))
    app.settings.max_tokens = 40
    assert "drafts for it" not in app.window.header.chip.toolTip()

    other.start()
    qtbot.waitUntil(lambda: drafts_there(person))
    assert reply(person) == there
    choose(page, Qt.Key.Key_Up)
    until(lambda: not other.stations() and not station_threads())
    assert reply(person) == alone
    assert said.text().startswith("A paired Mac can run the draft too")

    choose(page, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: drafts_there(person))
    app.machines.remove(app.machines.station.chosen)
    until(lambda: not other.stations() and not station_threads())
    assert app.settings.draft_machine == ""
    until(lambda: not page.station.isVisible())


@pytest.mark.slow
@pytest.mark.expect_log("MachineUnavailable", "the station")
def test_a_draft_that_the_other_app_lacks_is_copied_there(person: Person, other: OtherApp, qtbot: QtBot) -> None:
    """From this app, once its user wants that. The hub that it came from is out of reach for both."""
    app = person.application
    until(lambda: app.machines.station.source == HubSource(REPO, COMMIT))
    page = open_page(person.application, MachinesPage)
    pair(person, page, other, other.start("main"))
    said: list[str] = []
    app.machines.station.changed.connect(lambda: said.append(page.station.row.explanation.text()))
    choose(page, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: drafts_there(person))

    assert any(f"there offers to download {REPO}" in words for words in said)
    assert any(words.startswith("Copying the draft to ") for words in said)
    copied = other.models / REPO / "model.safetensors"
    assert copied.read_bytes() == (STARTER / "draft" / "model.safetensors").read_bytes()
    assert reply(person)[1] == "station"
    until(lambda: not app.machines.station.file_serving.is_used)


def note_hub(model: Path) -> None:
    """As if the model had come from a hub."""
    files = [_entry(path.name, path.read_bytes()) for path in model.iterdir() if path.is_file()]
    write_manifest(model, REPO, COMMIT, choose_files(REPO, files))
