"""Two machines on loopback, as a person pairs them: the real window and engine here, and a process that lends there."""

from __future__ import annotations

import json
import shutil
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
from engine import LendingPhase, ModeChoice, RankMode
from tests.end2end.person import Person, qt_pointer
from tests.end2end.two_apps import QUESTION, is_ready
from tests.helpers.app_harness import open_page
from tests.helpers.event_loop import until
from tests.helpers.lent import Lent
from tests.helpers.ports import free_port
from tests.helpers.ranks import rank_folder
from tests.helpers.tiny_models import VOCABULARY


@pytest.fixture
def lent(tmp_path: Path) -> Iterator[Lent]:
    made = Lent(tmp_path / "there")
    yield made
    assert made.process.stop()


@pytest.fixture
def person(tmp_path: Path, qtbot: QtBot, lent: Lent) -> Iterator[Person]:
    """With a pair that both machines have, loaded here alone."""
    main, draft = rank_folder("qwen2", tmp_path / "here" / "data" / "models" / "made", vocab_size=VOCABULARY)
    shutil.copytree(main, tmp_path / "there" / "main")
    lent.offer(tmp_path / "there" / "main")
    paths = Paths.for_user(tmp_path / "here")
    settings = Settings(paths.settings, paths.hub_token)
    settings.language, settings.automatic_titles, settings.max_tokens = "en", False, 24
    settings.temperature, settings.seed, settings.main_folder, settings.draft_folder = 0.8, 7, str(main), str(draft)
    settings.model_folders = (str(main.parent),)
    settings.save()
    made = Person(tmp_path / "here", qt_pointer)
    qtbot.waitUntil(lambda: is_ready(made))
    yield made
    made.leave()


def reply(person: Person) -> str:
    person.application.chats.new_chat()
    person.ask(QUESTION)
    return person.application.chats.transcript.messages[-1].text


@pytest.mark.slow
@pytest.mark.expect_log("could not load", "RankLost", "MachineUnavailable", "not whole any more")
@pytest.mark.parametrize("mode", RankMode)
def test_a_model_runs_over_two_paired_machines(mode: RankMode, person: Person, lent: Lent, qtbot: QtBot) -> None:
    app = person.application
    alone = reply(person)
    page = open_page(app, MachinesPage)
    lent.process.invite()
    code = lent.until(lambda state: state.code).code
    for field, words in ((page.pairing.address, lent.address), (page.pairing.code, code)):
        person.click(field)
        QTest.keyClicks(field, words)
    person.click(page.pairing.pair)
    until(lambda: app.machines.pairing.state is AskingState.DONE)
    until(lambda: any("ms" in row.explanation.text() for row in page.paired.rows.values()))
    until(page.plan.run.isEnabled)
    person.click(page.plan.asked_mode.buttons[1 if mode is RankMode.TENSOR else 2])
    until(lambda: app.machines.plan.choice == ModeChoice(mode))
    part, together = ("half", "Both Macs") if mode is RankMode.TENSOR else ("layers", "One Mac after")
    assert f"This Mac: {part}" in page.plan.plan.text()
    assert page.plan.mode.text().startswith(together)

    person.click(page.plan.run)
    qtbot.waitUntil(lambda: app.models.pair.helper is not None and is_ready(person))
    chip = app.window.header.chip
    assert "2 Macs" in chip.accessibleName()
    app.come_to_front()
    over_both = reply(person)
    assert over_both == (reply(person) if mode is RankMode.TENSOR else alone)
    assert bool(page.plan.mode.toolTip()) is (mode is RankMode.TENSOR)
    assert lent.until(lambda state: state.used_bytes).user
    app.models.eject()
    lent.until(lambda state: not state.user)
    app.models.wake()
    qtbot.waitUntil(lambda: is_ready(person))
    assert reply(person) == over_both

    assert lent.process.stop()
    qtbot.waitUntil(lambda: app.models.pair.state is PairState.FAILED)
    assert f"Nothing answers at {lent.address}" in app.window.banner.sentence.text()
    stored = json.loads(app.paths.settings.read_text())["helped_models"]
    assert [each["address"] for each in stored.values()] == [lent.address]


@pytest.mark.slow
def test_this_machine_lends_while_it_is_switched_on(person: Person) -> None:
    app = person.application
    page = open_page(app, MachinesPage)
    app.machines.lending.host, app.machines.lending.port = "127.0.0.1", free_port()
    person.click(page.lend.on)
    until(lambda: app.machines.lending.state.phase is LendingPhase.READY)
    person.click(page.lend.new_code)
    until(lambda: len(page.lend.code.text()) == 9)
    QTest.keyClick(page.lend.on, Qt.Key.Key_Space)
    until(lambda: app.machines.lending.state.phase is LendingPhase.OFF)
    assert not page.lend.code.isVisible()
