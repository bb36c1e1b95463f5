"""Settings → Other Macs over a scripted engine: what is shown, asked for and kept. No other machine is asked."""

from __future__ import annotations

import math
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.controllers import machines as controller
from app.controllers.machines import MachinesController
from app.view_models.downloads import DownloadState
from app.view_models.machines import AskingState
from app.view_models.model_list import PairState
from app.views.settings.machines import MachinesPage
from app.views.widgets.labels import TextLabel
from engine import (
    FoundMachine,
    Helping,
    HubSource,
    LendingPhase,
    LendingState,
    Machine,
    MachineRefusal,
    MachineRoute,
    MachineUnavailable,
    ModeChoice,
    ModelFailed,
    ModelLoading,
    ModelReady,
    ModelRole,
    ModeReason,
    PeerModel,
    RankEnd,
    RankLost,
    RankMode,
    RankPlan,
    RankShare,
)
from engine.machines.discovery import announced
from engine.machines.messages import PROTOCOL
from engine.models import fit
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import DRAFT, MAIN, Script, model_info
from tests.helpers.fake_model_store import installed
from tests.helpers.ports import free_port
from tests.helpers.stillness import still
from tests.helpers.window_pages import dialog

GB = 10**9
STUDIO = Machine("Studio", "f" * 64, "10.0.0.7:7791")
BORROWER = Machine("Air", "a" * 64, "")
CODE = "12345678"
COMMIT = "c" * 40


def is_found(name: str, *addresses: str, fingerprint: str = "e" * 64, protocol: int = PROTOCOL) -> FoundMachine:
    return FoundMachine(name, announced(fingerprint)["id"], protocol, addresses)


class Others:
    """In place of the machines that the controller asks: none is asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.known = [STUDIO]
        self.fingerprint = "b" * 64  # this machine's
        self.found: Callable[[tuple[FoundMachine, ...]], None] | None = None  # while somebody looks for machines
        self.trips: dict[str, float] = {}  # at other addresses than the one that is known
        self.memory_bytes = 9 * GB
        self.trip: Callable[[], float] = lambda: 0.0004
        self.paired: list[tuple[str, str]] = []
        self.sources: list[HubSource] = []  # of the models that were planned
        self.missing: MachineRefusal | None = None  # why there is no plan
        self.choice = ModeChoice()  # of plans without a mode
        self.lacking: ModeReason | None = None  # of those, what tensor mode does
        self.divides = True
        monkeypatch.setattr(controller, "Identity", lambda _folder: self)
        monkeypatch.setattr(controller, "ways", self._ways)
        monkeypatch.setattr("app.controllers.machines.Browsing", self._browse)
        monkeypatch.setattr(controller, "plan_with", self._plan)
        monkeypatch.setattr(controller, "pair_machines", self._pair)
        self.supplied: list[tuple[Helping, str, HubSource]] = []
        self.supplies = False
        self.share = 0.0  # of what is supplied, that was read
        monkeypatch.setattr("app.controllers.file_serving.ModelFileServer", self._supply)
        monkeypatch.setattr("app.controllers.station.machine_offer", self._offer)

    def machines(self) -> tuple[Machine, ...]:
        return tuple(self.known)

    def _browse(self, on_found: Callable[[tuple[FoundMachine, ...]], None]) -> Others:
        self.found = on_found
        return self

    def stop(self) -> None:
        self.found = None

    def finds(self, *machines: FoundMachine) -> None:
        """As a thread of the engine says it."""
        assert self.found is not None
        thread = threading.Thread(target=self.found, args=(machines,))
        thread.start()
        thread.join()

    def _ways(self, _folder: Path, machine: Machine | None, addresses: tuple[str, ...]) -> list[MachineRoute]:
        return [self._way(machine, address) for address in addresses]

    def _way(self, machine: Machine | None, address: str) -> MachineRoute:
        if machine is not None and address == machine.address and address not in self.trips:
            try:
                return MachineRoute(address, self.trip())
            except MachineUnavailable as error:
                return MachineRoute(address, error=error)
        refused = None if address in self.trips else MachineUnavailable(address, MachineRefusal.UNREACHABLE)
        return MachineRoute(address, self.trips.get(address, math.inf), refused)

    def move(self, fingerprint: str, address: str) -> None:
        self.known = [
            replace(machine, address=address) if machine.fingerprint == fingerprint else machine
            for machine in self.known
        ]

    def remove(self, fingerprint: str) -> None:
        self.known = [machine for machine in self.known if machine.fingerprint != fingerprint]

    def _offer(self, _helping: Helping, _folder: str, source: HubSource) -> None:
        self.sources.append(source)
        if self.missing is not None:
            self.refuse(self.missing)

    def _supply(self, helping: Helping, folder: str, source: HubSource, _on_use: object) -> Others:
        self.supplied.append((helping, folder, source))
        return self

    def start(self) -> None:
        self.supplies = True

    def end(self, _timeout_s: float = 0.0) -> None:
        self.supplies = False

    @property
    def is_over(self) -> bool:
        return not self.supplies

    def refuse(self, why: MachineRefusal) -> float:
        raise MachineUnavailable(STUDIO.address, why)

    def _pair(self, _folder: Path, address: str, code: str, cancelled: Callable[[], bool]) -> Machine:
        self.paired.append((address, code))
        if address == "silent":
            while not cancelled():
                threading.Event().wait(0.001)
            self.refuse(MachineRefusal.UNREACHABLE)
        if code != CODE:
            self.refuse(MachineRefusal.CODE)
        self.known = [STUDIO]
        return STUDIO

    def _plan(self, folder: str, helping: list[Helping], source: HubSource, mode: RankMode | None) -> RankPlan:
        self.sources.append(source)
        if self.missing is not None:
            self.refuse(self.missing)
        here = RankShare(14, 28, 4 * GB, 5 * GB, 8 * GB)
        there = RankShare(0, 14, 4 * GB, 4 * GB, self.memory_bytes, helping[0])
        choice = self.choice if mode is None else ModeChoice(mode)
        return RankPlan(folder, 4096, (here, there), choice, self.lacking, self.divides)


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> Others:
    return Others(monkeypatch)


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot, others: Others) -> Iterator[AppHarness]:
    with open_app(tmp_path, qtbot) as harness:
        yield harness


@pytest.fixture
def page(harness: AppHarness) -> MachinesPage:
    return harness.open_page(MachinesPage)


@pytest.fixture
def machines(harness: AppHarness) -> MachinesController:
    return harness.application.machines


def test_pairing_by_keyboard_and_what_is_lent(
    page: MachinesPage, machines: MachinesController, others: Others, qtbot: QtBot
) -> None:
    others.known = []
    machines.look()
    qtbot.waitUntil(lambda: not machines.entries)
    assert not page.paired.isVisible()
    assert not page.plan.isVisible()
    page.pairing.address.setFocus()
    QTest.keyClicks(page.pairing.address, " 10.0.0.7 ")
    assert not page.pairing.pair.isEnabled()
    page.pairing.code.setFocus()
    QTest.keyClicks(page.pairing.code, "1234")
    QTest.keyClick(page.pairing.code, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: machines.pairing.state is AskingState.REFUSED)
    assert "another code" in page.pairing.outcome.text()
    QTest.keyClicks(page.pairing.code, "5678")
    assert not page.pairing.outcome.isVisible()

    QTest.keyClick(page.pairing.code, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: machines.pairing.state is AskingState.DONE)
    assert page.pairing.outcome.text() == "Paired with Studio."
    assert page.pairing.code.text() == page.pairing.address.text() == ""
    qtbot.waitUntil(page.plan.isVisible)
    assert others.paired == [("10.0.0.7", "1234"), ("10.0.0.7", CODE)]

    lending = machines.lending
    lending.on_state(LendingState(LendingPhase.READY, offered_bytes=11 * GB, code=CODE, code_s=90.5))
    assert "11.0\N{NO-BREAK SPACE}GB" in page.lend.on_row.explanation.text()
    assert page.lend.code.text() == "1234 5678"
    assert "1:30 left" in page.lend.code_row.explanation.text()
    assert not page.lend.stop.isVisible()
    lending.on_state(
        LendingState(
            LendingPhase.READY,
            offered_bytes=11 * GB,
            user="Air",
            folder="/m/Qwen3-8B-4bit",
            used_bytes=3 * GB,
            promised_bytes=4 * GB,
        )
    )
    assert fit.aside_bytes() == 4 * GB
    assert page.lend.stop.isVisible()
    assert page.lend.use_row.name.text() == "Air uses this Mac"
    assert page.lend.use_row.explanation.text() == "Qwen3 8B · 3.0\N{NO-BREAK SPACE}GB"
    assert not page.lend.code.isVisible()
    lending.on_state(LendingState())
    assert fit.aside_bytes() == 0


def test_pairing_is_cancelled_at_once(
    page: MachinesPage, machines: MachinesController, others: Others, qtbot: QtBot
) -> None:
    card = page.pairing
    for address in ("silent", "silent", "10.0.0.7"):
        for field, words in ((card.address, address), (card.code, CODE)):
            field.clear()
            QTest.keyClicks(field, words)
        QTest.keyClick(card.code, Qt.Key.Key_Return)
        assert card.cancel.isVisible()
        if address == "silent":
            card.cancel.click()
            assert machines.pairing.state is AskingState.NONE
            assert not card.outcome.isVisible()
            assert card.address.text() == address
            assert card.pair.isEnabled()
    qtbot.waitUntil(lambda: machines.pairing.state is AskingState.DONE)
    assert not card.cancel.isVisible()


def test_what_each_machine_says(
    harness: AppHarness, page: MachinesPage, machines: MachinesController, others: Others, qtbot: QtBot
) -> None:
    qtbot.waitUntil(page.plan.run.isEnabled)
    others.memory_bytes = GB
    machines.make_plan(MAIN.folder, STUDIO.fingerprint)
    assert not page.plan.run.isEnabled()
    qtbot.waitUntil(lambda: "Not enough memory on Studio." in page.plan.plan.text())
    assert not page.plan.run.isEnabled()

    others.known.append(BORROWER)
    machines.look()
    rows = page.paired.rows
    qtbot.waitUntil(lambda: list(page.paired.rows) == [BORROWER.fingerprint, STUDIO.fingerprint])
    said = {name: row.explanation for name, row in page.paired.rows.items()}
    qtbot.waitUntil(lambda: said[STUDIO.fingerprint].text() == "10.0.0.7:7791 · 0.4 ms")
    assert said[BORROWER.fingerprint].text() == "May use this Mac."
    assert rows is not page.paired.rows

    others.memory_bytes = 9 * GB
    machines.make_plan(MAIN.folder, STUDIO.fingerprint)
    qtbot.waitUntil(page.plan.run.isEnabled)
    others.missing = MachineRefusal.UNREACHABLE
    others.trip = lambda: others.refuse(MachineRefusal.UNREACHABLE)
    machines.look()
    qtbot.waitUntil(lambda: "Nothing answers at 10.0.0.7:7791." in said[STUDIO.fingerprint].text())
    qtbot.waitUntil(lambda: "Nothing answers at 10.0.0.7:7791." in page.plan.plan.text())
    assert not page.plan.run.isEnabled()
    others.missing = None

    others.trip = lambda: others.refuse(MachineRefusal.NO_ROUTE)
    machines.look()
    qtbot.waitUntil(lambda: "Local Network" in said[STUDIO.fingerprint].text())
    helpers = harness.models.helpers  # one that is paired at another address is asked there
    helpers.note(MAIN.folder, (Helping(STUDIO, "here"),))
    others.known = [moved := replace(STUDIO, address="10.0.0.8:7791")]
    machines.look()
    qtbot.waitUntil(lambda: helpers.of(MAIN.folder) == (Helping(moved, "here"),))
    others.known = []  # another program has removed it: nothing on the page could take it from the model
    machines.look()
    qtbot.waitUntil(lambda: helpers.of(MAIN.folder) == ())


def test_a_model_runs_over_two_machines_and_again_after_a_restart(
    harness: AppHarness, page: MachinesPage, machines: MachinesController, qtbot: QtBot, tmp_path: Path
) -> None:
    qtbot.waitUntil(page.plan.run.isEnabled)
    assert page.plan.plan.text().replace("\N{NO-BREAK SPACE}", " ").splitlines() == [
        "Studio: layers 1–14, 4.0 GB of 9.0 GB",
        "This Mac: layers 15–28, 5.0 GB of 8.0 GB",
        "Fits, with room for a chat.",
    ]
    helping = Helping(STUDIO, str(harness.paths.machines))
    page.plan.run.click()
    pair = harness.models
    qtbot.waitUntil(lambda: pair.pair.state is PairState.READY and pair.pair.helper == STUDIO)
    assert harness.engine.helping[-1] == (helping,)
    chip = harness.window.header.chip
    assert "Main 8B on 2 Macs" in chip.accessibleName()
    assert "Studio holds some of its layers." in chip.toolTip()
    said = page.paired.rows[STUDIO.fingerprint].explanation.text()
    assert said.splitlines() == ["10.0.0.7:7791 · 0.4 ms", "Runs part of Main 8B."]
    assert page.plan.plan.text().splitlines()[-1] == "Runs over both Macs now."
    assert not page.plan.run.isVisible()
    harness.close()
    with open_app(tmp_path, qtbot) as second:
        assert second.engine.helping == [(helping,)]
        settings = second.open_page(MachinesPage)
        qtbot.waitUntil(settings.plan.alone.isVisible)
        settings.plan.alone.click()
        qtbot.waitUntil(lambda: second.models.pair.helper is None and second.models.pair.state is PairState.READY)
        assert second.engine.helping[-1] == ()


def test_a_model_that_both_compute_together(
    harness: AppHarness, page: MachinesPage, machines: MachinesController, others: Others, qtbot: QtBot
) -> None:
    others.choice = ModeChoice(RankMode.TENSOR, ModeReason.FASTER)
    machines.make_plan(MAIN.folder, STUDIO.fingerprint)
    qtbot.waitUntil(lambda: machines.plan.choice == others.choice)
    assert page.plan.plan.text().replace("\N{NO-BREAK SPACE}", " ").splitlines() == [
        "Studio: half of every layer, 4.0 GB of 9.0 GB",
        "This Mac: half of every layer, 5.0 GB of 8.0 GB",
        "Fits, with room for a chat.",
    ]
    assert page.plan.mode.text().startswith("Both Macs compute every layer together, if that proves faster.")
    assert page.plan.mode.toolTip() == ""  # nothing is measured before the model is loaded
    harness.engine.choice = ModeChoice(RankMode.TENSOR, ModeReason.FASTER, 0.08, 0.0256)
    page.plan.run.click()
    qtbot.waitUntil(lambda: machines.running == harness.engine.choice)
    assert page.plan.mode.text().splitlines()[0] == "Both Macs compute every layer together: faster."
    assert "about 80.0 ms on one Mac" in page.plan.mode.toolTip()
    spoken = QAccessible.queryAccessibleInterface(page.plan.mode)
    assert "25.6 ms for the exchange" in spoken.text(QAccessible.Text.Description)
    assert "Studio holds half of every layer." in harness.window.header.chip.toolTip()

    harness.engine.choice = ModeChoice(RankMode.PIPELINE, ModeReason.SUMS, 0.08, 0.3)  # slower than it looked
    machines.run_plan()
    qtbot.waitUntil(lambda: machines.running == harness.engine.choice)
    assert page.plan.plan.text() == "Runs over both Macs now."
    assert "the exchange takes too long" in page.plan.mode.text()
    assert "300.0 ms" in page.plan.mode.toolTip()
    assert "Studio holds some of its layers." in harness.window.header.chip.toolTip()

    others.choice, others.memory_bytes = ModeChoice(), GB
    harness.models.eject()
    machines.make_plan(MAIN.folder, STUDIO.fingerprint)
    qtbot.waitUntil(lambda: "Not enough memory" in page.plan.plan.text())
    assert not page.plan.mode.isVisible()


def test_the_mode_is_chosen_and_kept(
    harness: AppHarness, page: MachinesPage, machines: MachinesController, qtbot: QtBot, tmp_path: Path
) -> None:
    """Another one than that in which the model runs takes another load."""
    automatic, faster, roomy = page.plan.asked_mode.buttons
    qtbot.waitUntil(page.plan.run.isEnabled)
    assert (automatic.isChecked(), faster.isEnabled(), roomy.isEnabled()) == (True, True, True)
    faster.click()
    qtbot.waitUntil(lambda: machines.plan.choice == ModeChoice(RankMode.TENSOR))
    assert page.plan.mode.text().startswith("Both Macs compute every layer together.")
    harness.engine.choice = ModeChoice(RankMode.TENSOR)
    page.plan.run.click()
    qtbot.waitUntil(lambda: machines.running == harness.engine.choice)
    assert harness.engine.modes[-1] is RankMode.TENSOR
    assert not page.plan.run.isVisible()
    machines.look()
    roomy.click()
    qtbot.waitUntil(lambda: machines.plan.choice == ModeChoice(RankMode.PIPELINE))
    assert page.plan.run.isVisible()
    faster.click()
    qtbot.waitUntil(lambda: machines.plan.choice == ModeChoice(RankMode.TENSOR))
    assert not page.plan.run.isVisible()
    harness.close()
    with open_app(tmp_path, qtbot) as second:
        assert second.engine.modes == [RankMode.TENSOR]
        settings = second.open_page(MachinesPage)
        qtbot.waitUntil(settings.plan.asked_mode.buttons[1].isChecked)
        settings.plan.alone.click()
        qtbot.waitUntil(lambda: second.engine.helping[-1] == ())
        assert second.engine.modes[-1] is None


def test_a_mode_that_cannot_be_had_says_why(
    page: MachinesPage, machines: MachinesController, others: Others, qtbot: QtBot
) -> None:
    _, faster, roomy = page.plan.asked_mode.buttons
    others.lacking = ModeReason.LINK
    machines.make_plan(MAIN.folder, STUDIO.fingerprint)
    qtbot.waitUntil(lambda: not faster.isEnabled())
    assert "Faster needs a Thunderbolt 5 cable" in page.plan.mode_row.explanation.text()
    assert "write into part of this Mac’s memory" in page.plan.mode_row.explanation.text()
    assert faster.toolTip().startswith("Faster needs a Thunderbolt 5 cable")
    assert roomy.isEnabled()
    others.lacking, others.divides = None, False
    machines.make_plan(MAIN.folder, STUDIO.fingerprint)
    qtbot.waitUntil(lambda: not roomy.isEnabled())
    assert faster.isEnabled()
    assert page.plan.mode_row.explanation.text() == "More room is not possible with models of this family."
    others.divides = True
    machines.make_plan(MAIN.folder, STUDIO.fingerprint)
    qtbot.waitUntil(roomy.isEnabled)
    assert page.plan.mode_row.explanation.text() == "Automatic measures which is faster."


def test_a_model_that_is_not_there(
    harness: AppHarness, page: MachinesPage, machines: MachinesController, others: Others, qtbot: QtBot
) -> None:
    qtbot.waitUntil(page.plan.run.isEnabled)
    others.missing = MachineRefusal.NO_MODEL
    machines.make_plan(MAIN.folder, STUDIO.fingerprint)
    qtbot.waitUntil(lambda: f"download org/{MAIN.name}" in page.plan.plan.text())
    assert others.sources[-1] == HubSource(f"org/{MAIN.name}", COMMIT)
    qtbot.waitUntil(lambda: others.supplies)
    machines.look()
    machines.make_plan(MAIN.folder, STUDIO.fingerprint)
    given = Helping(STUDIO, str(harness.paths.machines)), MAIN.folder, HubSource(f"org/{MAIN.name}", COMMIT)
    assert others.supplied == [given]
    others.missing = None
    machines.look()
    qtbot.waitUntil(page.plan.run.isEnabled)
    qtbot.waitUntil(lambda: not others.supplies)

    others.missing = MachineRefusal.DIFFERS
    machines.make_plan(MAIN.folder, STUDIO.fingerprint)
    qtbot.waitUntil(lambda: "Verify it on both Macs" in page.plan.plan.text())
    others.missing = MachineRefusal.NO_MODEL
    machines.make_plan(MAIN.folder, STUDIO.fingerprint)
    qtbot.waitUntil(lambda: others.supplies)
    machines.make_plan(DRAFT.folder, STUDIO.fingerprint)
    qtbot.waitUntil(lambda: not others.supplies)


def test_a_model_that_another_machine_needs(
    harness: AppHarness, page: MachinesPage, machines: MachinesController
) -> None:
    card, needed = page.lend, LendingState(LendingPhase.READY, wanted_by="Air", wanted_revision=COMMIT)
    machines.lending.on_state(replace(needed, wanted_repository=f"org/{MAIN.name}"))  # its files differ, or it was here
    assert not card.wanted_row.isVisible()
    machines.lending.on_state(replace(needed, wanted_repository="org/New-4bit"))
    assert card.wanted_row.name.text() == "Air needs a model that is not on this Mac"
    assert card.wanted_row.explanation.text() == "org/New-4bit"
    assert harness.store.peer_models == []
    needed = replace(needed, wanted_repository="org/New-4bit", wanted_revision=COMMIT, peer_name="Air")
    machines.lending.on_state(replace(needed, peer_endpoint="https://10.0.0.7:9", peer_fingerprint="a" * 64))
    assert "copied from Air" in card.wanted_row.explanation.text()
    assert harness.store.peer_models == [
        PeerModel("org/New-4bit", COMMIT, "https://10.0.0.7:9", "a" * 64, str(harness.paths.machines))
    ]
    card.fetch.click()
    assert harness.application.settings.going_downloads == (f"org/New-4bit {COMMIT}",)
    assert [card.fetch.text(), card.bar.isVisible()] == ["Cancel", True]
    card.fetch.click()
    assert not harness.models.downloads.brings("org/New-4bit", COMMIT)
    assert [card.fetch.text(), card.bar.isVisible()] == ["Download", False]
    machines.lending.on_state(LendingState())
    assert harness.store.peer_models[1:] == [None]


def test_a_failed_download_leaves_the_offer(
    harness: AppHarness, page: MachinesPage, machines: MachinesController, qtbot: QtBot
) -> None:
    card = page.lend
    needed = LendingState(LendingPhase.READY, wanted_by="Air", wanted_repository="org/New-4bit", wanted_revision=COMMIT)
    harness.application.settings.hub_offline = True
    machines.lending.on_state(needed)
    card.fetch.click()
    qtbot.waitUntil(lambda: harness.models.downloads.entries[-1].state is DownloadState.FAILED)
    qtbot.waitUntil(card.wanted_row.isVisible)
    machines.lending.on_state(replace(needed, wanted_repository=f"org/{MAIN.name}", wanted_revision="d" * 40))
    assert card.wanted_row.isVisible()

    harness.application.settings.hub_offline = False  # what was refused goes on
    qtbot.waitUntil(lambda: harness.models.downloads.entries[-1].state is DownloadState.FINISHED)
    machines.lending.on_state(older := replace(needed, wanted_repository="org/Old-4bit", wanted_revision="e" * 40))
    harness.store.gate.hold()
    harness.store.gate.let_through(2)
    card.fetch.click()
    qtbot.waitUntil(lambda: 0 < card.bar.share < 1)
    assert " of " in card.wanted_row.explanation.text()
    assert [card.fetch.text(), card.bar.isVisible()] == ["Cancel", True]
    harness.store.gate.open()
    qtbot.waitUntil(lambda: harness.models.downloads.entries[-1].state is DownloadState.FINISHED)
    assert not card.wanted_row.isVisible()
    machines.lending.on_state(replace(older, wanted_revision=COMMIT))
    harness.models.library.installed = ()  # the next look at the disk is still to come
    assert machines.lending.wanted == "org/Old-4bit"


def test_a_pair_that_is_downloaded_is_not_cancelled_where_another_machine_needs_one_of_it(
    harness: AppHarness, page: MachinesPage, machines: MachinesController, qtbot: QtBot
) -> None:
    card = page.lend
    harness.store.gate.hold()
    harness.store.gate.let_through(2)
    harness.models.install_pair("org/New-4bit", "org/Draft-4bit")
    needed = LendingState(LendingPhase.READY, wanted_by="Air", wanted_repository="org/New-4bit", wanted_revision="main")
    machines.lending.on_state(needed)
    qtbot.waitUntil(card.bar.isVisible)
    assert not card.fetch.isVisible()
    harness.store.gate.open()


def test_a_lost_machine_is_asked_again(
    harness: AppHarness, page: MachinesPage, machines: MachinesController, others: Others, qtbot: QtBot
) -> None:
    qtbot.waitUntil(page.plan.run.isEnabled)
    page.plan.run.click()
    qtbot.waitUntil(lambda: harness.models.pair.helper == STUDIO and harness.models.pair.state is PairState.READY)
    harness.engine.scripts.append(Script(error=RankLost(1, RankEnd.ENDED, "")))
    assert harness.ask(qtbot, "First") == "A draft guesses, the main model checks."
    qtbot.waitUntil(lambda: harness.models.pair.state is PairState.UNLOADED)
    before = len(harness.engine.loads)
    harness.ask(qtbot, "Second")
    assert len(harness.engine.loads) == before + 1
    assert harness.engine.helping[-1][0].machine == STUDIO

    away = ModelFailed(ModelRole.MAIN, MAIN.folder, MachineUnavailable(STUDIO.address, MachineRefusal.UNREACHABLE))
    harness.application.bridge.event_arrived.emit(away)
    qtbot.waitUntil(lambda: harness.models.pair.state is PairState.FAILED)
    harness.ask(qtbot, "Third")
    assert len(harness.engine.loads) == before + 2
    harness.application.bridge.event_arrived.emit(away)
    harness.models.try_again()
    assert len(harness.engine.loads) == before + 3

    qtbot.waitUntil(lambda: harness.models.pair.helper == STUDIO and harness.models.pair.state is PairState.READY)
    button = page.paired.buttons[STUDIO.fingerprint]
    assert button.accessibleName() == "Remove Studio"
    QTest.keyClick(button, Qt.Key.Key_Return)
    asked = dialog()
    assert "unloaded" in asked.detail.text()  # type: ignore[attr-defined]
    asked.act_button.click()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: not machines.entries)
    assert others.known == []
    qtbot.waitUntil(lambda: harness.models.pair.state is PairState.UNLOADED)
    assert "2 Macs" not in harness.window.header.chip.accessibleName()
    harness.ask(qtbot, "Again")
    assert harness.engine.helping[-1] == ()


def test_a_model_that_is_too_large_leads_to_two_machines(tmp_path: Path, qtbot: QtBot, others: Others) -> None:
    """One whose layers cannot be divided says why, there and in the picker."""
    huge = model_info("/models/Huge-4T", 4_000_000_000_000)
    whole = replace(model_info("/models/Whole-4T", 4_000_000_000_000), model_type="gemma3")
    reason = "Model cannot be divided · The layers of Whole-4T (“gemma3”) cannot run apart from each other."
    models = [installed(each) for each in (MAIN, DRAFT, huge, whole)]
    with open_app(tmp_path, qtbot, installed=models) as harness:
        rows = {row.folder: row for row in harness.show_models("yours").yours.installed.rows}
        assert [folder for folder, row in rows.items() if row.machines_button.isVisible()] == [huge.folder]
        labels = rows[whole.folder].findChildren(TextLabel)
        assert reason in [label.text() for label in labels if label.isVisible()]
        harness.window.open_picker()
        mains = harness.window.picker.mains.model()
        options = [mains.index(at, 0).data(Qt.ItemDataRole.UserRole) for at in range(mains.rowCount())]
        assert [option.value for option in options if reason in option.detail] == [whole.folder]
        harness.window.picker.close()
        rows[huge.folder].machines_button.click()
        assert harness.application.settings_window().shown == "machines"
        page = harness.open_page(MachinesPage)
        qtbot.waitUntil(page.plan.run.isEnabled)
        assert page.plan.model.text() == "Huge 4T"


def test_a_machine_nearby_is_paired(
    page: MachinesPage, machines: MachinesController, others: Others, qtbot: QtBot
) -> None:
    others.known = [BORROWER]
    machines.look()
    qtbot.waitUntil(lambda: [entry.name for entry in machines.entries] == ["Air"])
    assert not page.nearby.isVisible()
    mine = is_found("Me", "10.0.0.5:1", fingerprint=others.fingerprint)
    paired = is_found("Air", "10.0.0.6:1", fingerprint=BORROWER.fingerprint)
    studio, old = is_found("Studio", "10.0.0.7:1", "10.9.9.7:1"), is_found("Old", "10.0.0.8:1", protocol=1)
    new = is_found("New", "10.0.0.9:1", protocol=PROTOCOL + 1)
    others.finds(mine, paired, studio, old, new)
    qtbot.waitUntil(page.nearby.isVisible)
    assert [(row.name.text(), row.explanation.text()[:15]) for row in page.nearby.rows] == [
        ("Studio", "10.0.0.7:1"),
        ("Old", "Has an older ve"),
        ("New", "Has a newer ver"),
    ]
    assert [button.isEnabled() for button in page.nearby.buttons] == [True, False, False]
    assert page.nearby.buttons[0].accessibleName() == "Pair with Studio"

    page.nearby.buttons[0].click()
    assert page.pairing.code.hasFocus()
    assert page.pairing.address.text() == "10.0.0.7:1"
    others.trips = {"10.9.9.7:1": 0.0004, "10.0.0.7:1": 0.005}
    QTest.keyClicks(page.pairing.code, CODE)
    QTest.keyClick(page.pairing.code, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: machines.pairing.state is AskingState.DONE)
    assert others.paired == [("10.9.9.7:1", CODE)]
    others.finds()
    qtbot.waitUntil(lambda: not page.nearby.isVisible())

    page.nearby.chosen.emit(studio.addresses)  # an address that somebody types is the one that is meant
    QTest.keyClicks(page.pairing.address, "1")
    QTest.keyClicks(page.pairing.code, CODE)
    QTest.keyClick(page.pairing.code, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(others.paired) == 2)
    assert others.paired[-1] == ("10.0.0.7:11", CODE)


def test_another_address_of_a_paired_machine(
    page: MachinesPage, machines: MachinesController, others: Others, qtbot: QtBot
) -> None:
    def finds(*addresses: str) -> None:
        others.finds(is_found("Studio", *addresses, fingerprint=STUDIO.fingerprint))

    others.trip = lambda: 0.005
    others.trips = {"10.9.9.7:7791": 0.0004}
    machines.look()
    qtbot.waitUntil(lambda: STUDIO.fingerprint in page.paired.rows)
    said, change = page.paired.rows[STUDIO.fingerprint].explanation, page.paired.moves[STUDIO.fingerprint]
    qtbot.waitUntil(lambda: said.text() == "10.0.0.7:7791 · 5.0 ms")
    assert not change.isVisible()
    finds(STUDIO.address, "10.9.9.7:7791", "[fe80::7%en0]:7791")
    qtbot.waitUntil(change.isVisible)
    assert said.text() == "10.0.0.7:7791 · 5.0 ms. Sooner at 10.9.9.7:7791: 0.4 ms."
    assert others.known == [STUDIO]
    change.click()
    qtbot.waitUntil(lambda: said.text() == "10.9.9.7:7791 · 0.4 ms · was at 10.0.0.7:7791")
    assert not change.isVisible()

    others.trips = {"10.0.0.7:7791": 0.005}  # the cable is pulled: what is slower is for somebody to choose
    others.trip = lambda: others.refuse(MachineRefusal.UNREACHABLE)
    finds("10.0.0.7:7791")
    qtbot.waitUntil(change.isVisible)
    assert said.text() == "Does not answer at 10.9.9.7:7791, but at 10.0.0.7:7791: 5.0 ms."
    change.click()
    qtbot.waitUntil(lambda: "10.0.0.7:7791 · 5.0 ms" in said.text())

    others.trips = {"10.0.0.9:7791": 0.005}  # the network has given it another one: by its certificate it is the same
    finds("10.0.0.9:7791", "10.0.0.10:7791")
    qtbot.waitUntil(lambda: said.text() == "10.0.0.9:7791 · 5.0 ms · was at 10.0.0.7:7791")
    assert [machine.address for machine in others.known] == ["10.0.0.9:7791"]


def test_the_focus_stays_among_the_machines_when_one_leaves(
    machines: MachinesController, page: MachinesPage, others: Others, qtbot: QtBot
) -> None:
    page.window().activateWindow()
    qtbot.waitUntil(page.window().isActiveWindow)
    removed, last = (Machine(name, name[0] * 64, f"10.0.0.{name[0]}:7791") for name in ("8 Mini", "9 Air"))
    others.known = [last, removed]
    machines.look()
    qtbot.waitUntil(lambda: len(machines.entries) == 2)
    page.paired.buttons[removed.fingerprint].setFocus()
    others.known = [last]
    machines.look()
    qtbot.waitUntil(lambda: len(machines.entries) == 1)
    still()
    assert page.paired.buttons[last.fingerprint].hasFocus()


def test_without_a_network_a_cable_leads_to_this_machine_by_its_name(
    machines: MachinesController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 127.0.0.1 the other one would find itself."""
    monkeypatch.setattr(controller, "network_address", lambda: "")
    monkeypatch.setattr(socket, "gethostname", lambda: "Annas-Mac.local")
    assert machines.lending.address == "Annas-Mac.local"
    monkeypatch.setattr(socket, "gethostname", lambda: "mac-3.fritz.box")
    assert machines.lending.address == "mac-3.local"


def test_what_is_lent_is_reached_by_addresses_of_both_kinds(machines: MachinesController, qtbot: QtBot) -> None:
    """Both are announced, and a cable between two Macs may have those of IPv6 alone."""
    lending = machines.lending
    lending.port = free_port()
    lending.set_on(True)
    qtbot.waitUntil(lambda: lending.is_ready)
    for host in ("127.0.0.1", "::1"):
        socket.create_connection((host, lending.port), 10).close()


def test_lending_that_has_failed_is_tried_again_without_the_user(
    machines: MachinesController, page: MachinesPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process was ended for memory, say; the user may be at the other Mac."""

    class Process:
        def __init__(self, *_: object) -> None:
            started.append(self)

        def start(self) -> None:
            """Nothing runs."""

        def stop(self) -> bool:
            return True

        def offer(self, *_: object) -> None:
            """Nobody asks."""

        end = start

    started: list[object] = []
    monkeypatch.setattr("app.controllers.machines.LendingProcess", Process)
    lending = machines.lending
    machines._models.library.scanned = False  # until then it would answer that it has no model
    lending.set_on(True)
    assert not started
    machines._models.library.scanned = True
    machines._models.models_changed.emit()
    for wait_ms in (10_000, 20_000, 40_000):
        assert len(started) == 1
        lending.on_state(LendingState(LendingPhase.FAILED))
        assert (lending.retry.interval(), lending.retry.isActive()) == (wait_ms, True)
        assert page.lend.on_row.explanation.text() == "Lending ended by itself. It starts again soon."
        assert len(started) == 1
        lending.retry.timeout.emit()
        assert len(started) == 2
        started.pop()
    lending.on_state(LendingState(LendingPhase.READY))
    lending.on_state(LendingState(LendingPhase.FAILED))
    assert lending.retry.interval() == 10_000
    lending.set_on(False)
    assert not lending.retry.isActive()
    lending.retry.timeout.emit()
    assert len(started) == 1


def test_a_lost_machine_that_comes_back_by_itself_is_reported_once(
    harness: AppHarness, page: MachinesPage, qtbot: QtBot
) -> None:
    """The engine loads the model again, later each time, and the user need not be there."""
    qtbot.waitUntil(page.plan.run.isEnabled)
    page.plan.run.click()
    qtbot.waitUntil(lambda: harness.models.pair.helper == STUDIO and harness.models.pair.state is PairState.READY)
    shown: list[object] = []
    harness.models.problem_raised.connect(shown.append)
    away = MachineUnavailable(STUDIO.address, MachineRefusal.UNREACHABLE)
    arrive = harness.application.bridge.event_arrived.emit
    for again_at in (10.0, 30.0, 70.0):
        arrive(ModelLoading(ModelRole.MAIN, MAIN.folder))
        arrive(ModelFailed(ModelRole.MAIN, MAIN.folder, away, again_at=again_at))
        assert harness.models.pair.state is PairState.FAILED
    assert shown == [away]
    arrive(ModelLoading(ModelRole.MAIN, MAIN.folder))
    arrive(ModelReady(ModelRole.MAIN, MAIN))
    assert (harness.models.pair.state, harness.models.pair.error) == (PairState.READY, None)
    arrive(ModelFailed(ModelRole.MAIN, MAIN.folder, away, again_at=100.0))
    assert shown == [away, away]


def test_when_machines_are_looked_for(harness: AppHarness, page: MachinesPage, others: Others, qtbot: QtBot) -> None:
    qtbot.waitUntil(page.plan.run.isEnabled)
    page.plan.run.click()
    qtbot.waitUntil(lambda: harness.models.pair.helper == STUDIO and harness.models.pair.state is PairState.READY)
    qtbot.waitUntil(lambda: others.found is not None)
    page.window().hide()
    qtbot.waitUntil(lambda: others.found is None)

    away = ModelFailed(ModelRole.MAIN, MAIN.folder, MachineUnavailable(STUDIO.address, MachineRefusal.UNREACHABLE))
    harness.application.bridge.event_arrived.emit(away)
    qtbot.waitUntil(lambda: others.found is not None)
    others.trip, others.trips = lambda: others.refuse(MachineRefusal.UNREACHABLE), {"10.0.0.9:7791": 0.001}
    moved = replace(STUDIO, address="10.0.0.9:7791")
    others.finds(is_found("Studio", moved.address, fingerprint=STUDIO.fingerprint))
    qtbot.waitUntil(lambda: [each.machine for each in harness.models.helpers.of(MAIN.folder)] == [moved])
    harness.models.try_again()
    assert harness.engine.helping[-1][0].machine == moved
    qtbot.waitUntil(lambda: harness.models.pair.state is PairState.READY)
    assert others.found is None
