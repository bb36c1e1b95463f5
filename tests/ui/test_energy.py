"""A hot machine, one that saves energy, one on battery: what waits, what is said, and what is held for macOS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.energy import EnergyController
from app.system.energy import Activity, Heat, Power
from app.view_models.model_list import PairState
from app.views.settings import advanced
from app.words.replies import reply_footer
from engine import (
    Failed,
    Helping,
    LendingPhase,
    LendingState,
    Machine,
    OutOfMemory,
    PromptProgress,
    RequestId,
    RequestStats,
    SpeculationMode,
    StationChanged,
    StationPhase,
    StationState,
)
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import MAIN
from tests.helpers.tool_calls import MODELS
from tests.ui.test_calls import Window

HOT = Power(Heat.SERIOUS)


class ScriptedMachine:
    def __init__(self) -> None:
        self.now = Power()
        self.held: list[Activity | None] = []

    def power(self) -> Power:
        return self.now

    def hold(self, activity: Activity | None) -> None:
        if activity != (self.held[-1] if self.held else None):
            self.held.append(activity)


@pytest.fixture
def machine() -> ScriptedMachine:
    return ScriptedMachine()


@pytest.fixture
def app(tmp_path: Path, qtbot: QtBot, machine: ScriptedMachine) -> Iterator[AppHarness]:
    with open_app(tmp_path, qtbot, machine=machine) as harness:
        assert machine.held == [Activity.NO_NAP, None]  # while it loaded
        machine.held.clear()
        yield harness


def becomes(app: AppHarness, machine: ScriptedMachine, power: Power) -> EnergyController:
    machine.now = power
    app.application.energy.look()
    return app.application.energy


def footer(app: AppHarness) -> str:
    row = app.chats.transcript.messages[-1]
    line = reply_footer(row.stats, row.status, empty=row.empty, slowdown=row.slowdown)
    return line.note if line else ""


def test_work_holds_an_activity_and_rest_holds_none(app: AppHarness, qtbot: QtBot, machine: ScriptedMachine) -> None:
    app.ask(qtbot, "Why?")
    assert machine.held == [Activity.NO_SLEEP, None]
    app.models.install("owner/model")
    assert machine.held[2:3] == [Activity.NO_SLEEP]
    qtbot.waitUntil(lambda: machine.held[-1] is None)

    machine.held.clear()  # it is then that the app is in the background
    server, arrived = app.application.server, app.application.bridge.event_arrived
    for power, activity in ((Power(), Activity.NO_SLEEP), (Power(on_battery=True), Activity.NO_NAP)):
        becomes(app, machine, power)
        for request in (RequestId(7), RequestId(8)):
            server.requests._programs.add(request)
            arrived.emit(PromptProgress(request, 1, 2))
        assert machine.held == [activity]
        arrived.emit(Failed(RequestId(7), OutOfMemory(""), RequestStats()))
        assert machine.held == [activity]
        arrived.emit(Failed(RequestId(8), OutOfMemory(""), RequestStats()))
        assert machine.held == [activity, None]
        machine.held.clear()

    app.models.library.verify(MAIN.folder)
    app.models.library.stop_verifying(MAIN.folder)
    assert machine.held == [Activity.NO_NAP, None]
    machine.held.clear()
    for user in ("", "Air", "Air", ""):
        app.application.machines.lending.on_state(LendingState(LendingPhase.READY, user=user))
    for serving in (app.application.machines.file_serving, app.application.machines.station.file_serving):
        for used in (True, False):
            serving.on_use(used)
    assert machine.held == [Activity.NO_SLEEP, None] * 3


def test_no_nap_while_another_machine_helps(app: AppHarness, qtbot: QtBot, machine: ScriptedMachine) -> None:
    helping = Helping(Machine("Studio", "f" * 64, "10.0.0.7:7791"), "here")
    app.models.helpers.note(MAIN.folder, (helping,))
    app.models.reload(MAIN.folder)
    assert app.models.pair.state is PairState.LOADING  # which may take minutes
    assert machine.held == [Activity.NO_NAP]
    qtbot.waitUntil(lambda: app.models.pair.state is PairState.READY)
    assert machine.held == [Activity.NO_NAP]
    app.models.eject()
    qtbot.waitUntil(lambda: machine.held == [Activity.NO_NAP, None])
    app.engine.load(MAIN.folder, lambda _event: None, helping=(helping,))  # for a program
    qtbot.waitUntil(lambda: app.engine.state().choice is not None)
    app.models.pair_changed.emit()
    assert machine.held == [Activity.NO_NAP, None, Activity.NO_NAP]


def test_no_nap_while_another_machine_drafts(app: AppHarness, machine: ScriptedMachine) -> None:
    for phase in (StationPhase.READY, StationPhase.READY, StationPhase.STARTING):
        app.application.bridge.event_arrived.emit(StationChanged(StationState(phase, "Studio")))
    assert machine.held == [Activity.NO_NAP, None]


def test_heat_stops_what_nobody_waits_for_and_is_told(app: AppHarness, qtbot: QtBot, machine: ScriptedMachine) -> None:
    """Also where it came while nothing was done."""
    energy = becomes(app, machine, Power())
    assert not energy.poll.isActive()
    machine.now = HOT
    app.ask(qtbot, "Why?")
    assert app.engine.sparing == [(True, False)]
    assert energy.poll.isActive()
    assert "this Mac is hot" in footer(app)
    assert app.engine.requests[-1].speculation.mode is SpeculationMode.AUTO
    becomes(app, machine, Power())
    assert app.engine.sparing == [(True, False), (False, False)]
    app.ask(qtbot, "And now?")
    assert "hot" not in footer(app)
    energy.poll.setInterval(10)
    qtbot.waitUntil(lambda: not energy.poll.isActive())


def test_on_battery(app: AppHarness, qtbot: QtBot, machine: ScriptedMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    becomes(app, machine, Power(on_battery=True))
    assert app.engine.sparing == [(False, True)]
    app.ask(qtbot, "With a draft?")
    monkeypatch.setattr(advanced, "knows_battery", lambda: True)
    (cards,) = app.show_settings("advanced").findChildren(advanced.SpeculationCard)
    cards.battery.click()
    assert not app.application.settings.draft_on_battery
    app.ask(qtbot, "And now?")
    assert "no drafting on battery" in footer(app)
    becomes(app, machine, Power(Heat.SERIOUS, on_battery=True))
    app.ask(qtbot, "And in the sun?")
    becomes(app, machine, Power())
    app.ask(qtbot, "And back on power?")
    modes = [request.speculation.mode for request in app.engine.requests]
    assert modes == [SpeculationMode.AUTO, SpeculationMode.OFF, SpeculationMode.OFF, SpeculationMode.AUTO]


def test_a_question_that_waits_for_the_user_keeps_no_mac_awake(
    tmp_path: Path, qtbot: QtBot, machine: ScriptedMachine
) -> None:
    with open_app(tmp_path, qtbot, models=MODELS, machine=machine) as app:
        Window(app, qtbot)  # until its question is shown
        assert app.chats.exchanges.waiting
        assert machine.held[-2:] == [Activity.NO_SLEEP, None]
