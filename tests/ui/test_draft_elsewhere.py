"""Settings → Other Macs: another machine that drafts for this one, over a scripted engine. No machine is asked."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.controllers.machines import MachinesController
from app.view_models.machines import AskingState
from app.views.settings.machines import MachinesPage
from engine import (
    EngineError,
    Helping,
    HubSource,
    LendingPhase,
    LendingState,
    Machine,
    MachineRefusal,
    MachineUnavailable,
    StationChanged,
    StationEnd,
    StationPhase,
    StationPlace,
    StationState,
)
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import DRAFT, MAIN
from tests.ui.test_machines import BORROWER, COMMIT, GB, STUDIO, Others, harness, machines, others, page

__all__ = ["harness", "machines", "others", "page"]


def place(harness: AppHarness) -> StationPlace:
    return StationPlace(Helping(STUDIO, str(harness.paths.machines)))


def says(harness: AppHarness, phase: StationPhase, **fields: object) -> None:
    state = StationState(phase, STUDIO.name, **fields)  # type: ignore[arg-type]
    harness.application.bridge.event_arrived.emit(StationChanged(state))


def lacks(harness: AppHarness, error: EngineError | None = None) -> None:
    unavailable = MachineUnavailable(STUDIO.address, MachineRefusal.NO_MODEL)
    says(harness, StationPhase.STARTING, end=StationEnd.ENDED, error=error or unavailable)


def choose_station(page: MachinesPage, key: Qt.Key) -> None:
    """The machine beside the present one in the menu."""
    page.station.machine.setFocus()
    QTest.keyClick(page.station.machine, Qt.Key.Key_Space)
    menu = QApplication.activePopupWidget()
    assert menu is not None
    QTest.keyClick(menu, key)
    QTest.keyClick(menu, Qt.Key.Key_Return)


@pytest.fixture
def chosen(harness: AppHarness, page: MachinesPage, qtbot: QtBot) -> MachinesPage:
    qtbot.waitUntil(page.station.isVisible)
    choose_station(page, Qt.Key.Key_Down)
    assert harness.engine.stations == [place(harness)]
    return page


def test_another_machine_drafts_from_the_choice_on_and_after_a_restart(
    harness: AppHarness, chosen: MachinesPage, tmp_path: Path, qtbot: QtBot
) -> None:
    row = chosen.station.row
    assert (row.name.text(), row.explanation.text()) == ("Drafts for this Mac", "Starting…")
    says(harness, StationPhase.READY, memory_bytes=GB)
    assert row.explanation.text() == "Ready, with up to 1.0\N{NO-BREAK SPACE}GB of memory there."
    assert "Studio drafts for it, ahead of time." in harness.window.header.chip.toolTip()
    harness.window.open_picker()
    drafts = harness.window.picker.drafts.model()
    options = [drafts.index(at, 0).data(Qt.ItemDataRole.UserRole) for at in range(drafts.rowCount())]
    assert [option.value for option in options if "also on Studio" in option.detail] == [DRAFT.folder]
    harness.window.picker.close()
    says(harness, StationPhase.READY, drafts=8, hits=6, late=2, gain=1.24, memory_bytes=GB, worked_s=3.21)
    gained = "75% prepared · 1.2× the speed without it · 2 late"
    said = f"{gained} · up to 1.0 GB, 3.2 s of work there"
    assert row.explanation.text().replace("\N{NO-BREAK SPACE}", " ") == said
    heard = QAccessible.queryAccessibleInterface(chosen.station.machine)
    assert heard.text(QAccessible.Text.Name).startswith("Drafts for this Mac")  # on a Mac also its value
    assert said in heard.text(QAccessible.Text.Description).replace("\N{NO-BREAK SPACE}", " ")
    says(harness, StationPhase.STARTING, end=StationEnd.SILENT)
    assert row.explanation.text() == "The other Mac no longer answers. This Mac drafts meanwhile."
    assert "Studio" not in harness.window.header.chip.toolTip()
    harness.close()

    with open_app(tmp_path, qtbot) as second:
        qtbot.waitUntil(lambda: second.engine.stations == [place(second)])
        settings = second.open_page(MachinesPage)
        qtbot.waitUntil(lambda: settings.station.machine.text() == "Studio")
        choose_station(settings, Qt.Key.Key_Up)
        assert second.engine.stations == [place(second), None]
        assert settings.station.row.explanation.text().startswith("A paired Mac can run the draft too")
        says(second, StationPhase.READY)  # the engine had still to hear of it
        assert settings.station.row.explanation.text().startswith("A paired Mac can run the draft too")


def test_what_is_no_draft_for_it_stays_here(harness: AppHarness, chosen: MachinesPage) -> None:
    says(harness, StationPhase.OFF)
    assert chosen.station.row.explanation.text() == "The loaded pair has no draft that another Mac can run."


def test_a_draft_that_is_not_there_is_copied(
    harness: AppHarness, chosen: MachinesPage, machines: MachinesController, others: Others, qtbot: QtBot
) -> None:
    card = chosen.station
    others.missing = MachineRefusal.NO_MODEL
    lacks(harness)
    qtbot.waitUntil(lambda: others.supplies)
    source = HubSource(f"org/{DRAFT.name}", COMMIT)
    assert others.supplied == [(place(harness).helping, DRAFT.folder, source)]
    said = "The Mac at 10.0.0.7:7791 has no model with the same files. Install the same model there. "
    assert card.row.explanation.text() == (
        f"{said}Settings → Other Macs there offers to download org/{DRAFT.name}. This Mac drafts meanwhile."
    )
    assert not card.bar.isVisible()
    machines.make_plan(MAIN.folder, STUDIO.fingerprint)
    qtbot.waitUntil(lambda: machines.plan.state is AskingState.REFUSED)
    asked = len(others.sources)
    machines.look()  # the plan waits: what the machine was asked for last is what it fetches
    qtbot.waitUntil(lambda: len(others.sources) > asked)
    assert others.sources[asked:] == [source]

    others.share = 0.4
    serving = harness.application.machines.station.file_serving
    serving.on_use(True)
    assert card.row.explanation.text() == "Copying the draft to Studio: 40%"
    assert (card.bar.isVisible(), card.bar.share) == (True, 0.4)
    assert card.bar.accessibleName() == card.row.explanation.text()
    others.share = 0.6
    card._second.timeout.emit()
    assert (card.bar.share, card._second.isActive()) == (0.6, True)
    others.missing = None
    serving.on_use(False)  # all was read
    qtbot.waitUntil(lambda: harness.engine.stations == [place(harness)] * 2)
    assert not others.supplies
    assert not card.bar.isVisible()
    assert not card._second.isActive()


def test_a_plan_with_a_third_machine_waits_for_no_files_of_a_draft(
    harness: AppHarness, chosen: MachinesPage, machines: MachinesController, others: Others, qtbot: QtBot
) -> None:
    mini = Machine("Mini", "d" * 64, "10.0.0.9:7791")
    others.known = [STUDIO, mini]
    machines.look()
    qtbot.waitUntil(lambda: len(machines.entries) == 2)
    others.missing = MachineRefusal.NO_MODEL
    lacks(harness)
    machines.make_plan(MAIN.folder, mini.fingerprint)
    qtbot.waitUntil(lambda: others.supplies and machines.plan.state is AskingState.REFUSED)
    others.missing = None
    machines.look()
    assert machines.plan.state is AskingState.ASKING


def test_a_machine_that_has_a_draft_and_has_it_not_is_told_of_it_once(
    harness: AppHarness, chosen: MachinesPage, others: Others, qtbot: QtBot
) -> None:
    for _ in range(3):
        asked = len(others.sources)
        lacks(harness)
        qtbot.waitUntil(partial(lambda before: len(others.sources) > before, asked))
        qtbot.waitUntil(lambda: harness.engine.stations == [place(harness)] * 2)
    says(harness, StationPhase.READY)
    lacks(harness)
    qtbot.waitUntil(lambda: harness.engine.stations == [place(harness)] * 3)


def test_copying_ends_with_the_choice_and_with_another_draft(
    harness: AppHarness, chosen: MachinesPage, others: Others, qtbot: QtBot
) -> None:
    others.missing = MachineRefusal.NO_MODEL
    lacks(harness)
    qtbot.waitUntil(lambda: others.supplies)
    says(harness, StationPhase.STARTING)  # another draft is to be loaded there
    assert not others.supplies
    lacks(harness)
    qtbot.waitUntil(lambda: others.supplies)
    choose_station(chosen, Qt.Key.Key_Up)
    assert not others.supplies
    others.missing = MachineRefusal.DIFFERS
    choose_station(chosen, Qt.Key.Key_Down)
    lacks(harness)
    qtbot.waitUntil(lambda: "Verify it on both Macs" in chosen.station.row.explanation.text())
    assert not others.supplies


def test_a_question_that_fails_by_itself_changes_nothing(
    harness: AppHarness, chosen: MachinesPage, others: Others, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ValueError

    monkeypatch.setattr("app.controllers.station.machine_offer", fails)
    lacks(harness)
    qtbot.waitUntil(lambda: others.supplies)  # it may be asked for them all the same
    assert harness.engine.stations == [place(harness)]


def test_one_that_has_a_part_of_the_model_does_not_draft(
    harness: AppHarness, chosen: MachinesPage, qtbot: QtBot
) -> None:
    qtbot.waitUntil(chosen.plan.run.isEnabled)
    chosen.plan.run.click()
    qtbot.waitUntil(lambda: harness.models.pair.helper == STUDIO)
    lacks(harness, MachineUnavailable(STUDIO.address, MachineRefusal.BUSY, "This very Mac"))
    assert chosen.station.row.explanation.text() == "Studio runs part of the model, so this Mac drafts."
    chosen.plan.alone.click()
    qtbot.waitUntil(lambda: harness.models.pair.helper is None)
    assert not chosen.station.row.explanation.text().startswith("Studio runs part")


def test_one_that_answers_again_is_not_waited_for(
    harness: AppHarness, chosen: MachinesPage, machines: MachinesController, qtbot: QtBot
) -> None:
    lacks(harness, MachineUnavailable(STUDIO.address, MachineRefusal.UNREACHABLE))
    assert "Nothing answers at 10.0.0.7:7791." in chosen.station.row.explanation.text()
    machines.look()
    qtbot.waitUntil(lambda: harness.engine.stations == [place(harness)] * 2)
    assert chosen.station.row.explanation.text() == "Starting…"


def test_a_machine_that_is_unpaired_drafts_no_more(
    harness: AppHarness, chosen: MachinesPage, machines: MachinesController, others: Others, qtbot: QtBot
) -> None:
    machines.remove(STUDIO.fingerprint)
    assert harness.engine.stations[-1] is None
    assert harness.application.settings.draft_machine == ""
    qtbot.waitUntil(lambda: not chosen.station.isVisible())

    others.known = [STUDIO]
    machines.look()
    qtbot.waitUntil(chosen.station.isVisible)
    choose_station(chosen, Qt.Key.Key_Down)
    others.known = [BORROWER]  # removed by the command line
    machines.look()
    qtbot.waitUntil(lambda: harness.application.settings.draft_machine == "")
    assert harness.engine.stations[-2:] == [place(harness), None]


def test_the_machine_that_drafts_says_for_whom(page: MachinesPage, machines: MachinesController) -> None:
    lent = LendingState(LendingPhase.READY, user="Air", folder="/m/Qwen3-0.6B", used_bytes=GB, drafts=True)
    machines.lending.on_state(lent)
    assert page.lend.use_row.name.text() == "This Mac drafts for Air"
    assert page.lend.use_row.explanation.text() == "Qwen3 0.6B · 1.0\N{NO-BREAK SPACE}GB"
