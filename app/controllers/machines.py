"""Other machines: pairing, round-trip times, models that run with another machine's help, and lending memory to others.

Calls to other machines run on their own threads; results come to the GUI thread.
"""

from __future__ import annotations

import logging
import socket
import time
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.file_serving import FileServing
from app.controllers.models import ModelController
from app.controllers.station import StationController
from app.settings import Settings
from app.system.machine import network_address
from app.system.retry_timer import RetryTimer
from app.system.worker import Deliver, JobThread, ask_once, ignore
from app.view_models.downloads import UNDER_WAY, DownloadEntry
from app.view_models.machines import AskingState, MachineEntry, PairingView, PlanView, is_away
from app.view_models.model_list import PairState
from engine import (
    DEFAULT_PORT,
    Browsing,
    ChatEngine,
    EngineError,
    Event,
    Failed,
    FoundMachine,
    Helping,
    HubSource,
    Identity,
    InternalError,
    LendingPhase,
    LendingProcess,
    LendingState,
    Machine,
    MachineRoute,
    ModeChoice,
    RankLost,
    RankMode,
    model_memory_bytes,
    pair_machines,
    plan_with,
    set_aside,
    ways,
)

_MOST_TRIED = 16  # addresses that claim to be one machine
EVERYWHERE = "[::]"  # by IPv4 as well; only while lending: an unpaired machine may try a code, and nothing else
_log = logging.getLogger(__name__)
_ENDED = (LendingPhase.OFF, LendingPhase.FAILED)


class MachinesController(QObject):
    changed = Signal()  # `entries`
    pairing_changed = Signal()
    plan_changed = Signal()

    def __init__(
        self,
        identity: Path,
        engine: ChatEngine,
        bridge: EngineBridge,
        settings: Settings,
        models: ModelController,
        post: Deliver,
        parent: QObject | None = None,
    ) -> None:
        """`identity`: the folder with this machine's key."""
        super().__init__(parent)
        self.station = StationController(identity, engine, bridge, settings, models, post, self)
        self.lending = Lending(identity, settings, models, post, self)
        self.lending.paired.connect(self.look)
        self.entries: tuple[MachineEntry, ...] = ()
        self.pairing = PairingView()
        self.plan = PlanView()
        self.file_serving = FileServing(post, self)
        self._identity = identity
        self._models = models
        self._post = post
        self.discovery = MachineDiscovery(post, self)
        self._is_shown = False
        self._machines: dict[str, Machine] = {}  # by fingerprint
        self._measured: dict[str, tuple[str, ...]] = {}  # addresses being tried, by fingerprint
        self._workers: list[JobThread] = []
        bridge.event_arrived.connect(self._on_event)
        for changed in (models.pair_changed, self.station.changed):
            changed.connect(self._browse)
        self.discovery.changed.connect(self.look)
        self.lending.follow()
        if self.station.chosen:
            self.look()

    @cached_property
    def _worker(self) -> JobThread:
        """For work that takes no longer than a file."""
        return self._started("other machines")

    @cached_property
    def _planning(self) -> JobThread:
        return self._started("plans over machines")

    def _started(self, name: str) -> JobThread:
        self._workers.append(JobThread(name, self._post))
        return self._workers[-1]

    def close(self) -> None:
        """At the end of the app. Threads that wait for other machines are abandoned."""
        for worker in self._workers:
            worker.close(0.0)
        self.discovery.browse(False)
        self.lending.close()
        self.file_serving.close()
        self.station.close()

    def _on_event(self, event: Event) -> None:
        """The engine has dropped a model that lost layers, and may load it again."""
        if isinstance(event, Failed) and isinstance(event.error, RankLost):
            self._models.rest_pair()

    def look(self) -> None:
        """Read the paired machines, and measure the round trip to each."""
        self._worker.ask(lambda: _known(self._identity), self._on_machines, ignore)
        fetches = self.station.chosen if self.station.lacks_files else ""  # what it was asked for last
        if fetches:
            self.station.look_for_files()
        if self.plan.may_change and self.plan.fingerprint != fetches:
            self.make_plan(self.plan.folder, self.plan.fingerprint)

    def _on_machines(self, known: tuple[str, tuple[Machine, ...]]) -> None:
        before = {entry.fingerprint: entry for entry in self.entries}
        own, machines = known
        self._machines = {machine.fingerprint: machine for machine in machines}
        self.station.note_machines(self._machines)
        for removed in self._models.helpers.fingerprints - self._machines.keys():  # by another program
            self._models.helpers.forget(removed)
        self._show([_entry(machine, before.get(machine.fingerprint)) for machine in reversed(machines)])
        for machine in machines:
            if machine.address:
                self._models.helpers.note_address(machine)
            self._measure(machine)
        self.discovery.leave_out(own, *self._machines)

    def _measure(self, machine: Machine) -> None:
        """Try every known address, on a thread that may wait for answers."""
        found = self.discovery.addresses_of(machine.fingerprint, machine.address)
        tried = (machine.address, *found) if machine.address else found
        if not tried or self._measured.get(machine.fingerprint) == tried:
            return
        self._measured[machine.fingerprint] = tried

        def show(found: list[MachineRoute]) -> None:
            if self._measured.get(machine.fingerprint) is tried:  # else newer addresses are being tried
                del self._measured[machine.fingerprint]
                self._update(machine.fingerprint, found)

        ask_once(
            "round trips",
            self._post,
            lambda: ways(self._identity, machine, tried),
            show,
            lambda error: show([MachineRoute(address, error=_problem(error)) for address in tried]),
        )

    def _update(self, fingerprint: str, found: list[MachineRoute]) -> None:
        self._show([each.measured(found) if each.fingerprint == fingerprint else each for each in self.entries])
        entry = next((each for each in self.entries if each.fingerprint == fingerprint), None)
        if entry is not None and entry.error is None:
            self.station.note_answer(fingerprint)
        if entry is not None and entry.has_moved:
            self.move(fingerprint)
        elif entry is not None and entry.error is not None and self._is_planned_with(entry):
            self.make_plan(self.plan.folder, fingerprint)

    def _is_planned_with(self, entry: MachineEntry) -> bool:
        return self.plan.state is AskingState.DONE and self.plan.fingerprint == entry.fingerprint

    def move(self, fingerprint: str) -> None:
        """Use this address, where the machine has proven itself."""
        found = next((each.elsewhere for each in self.entries if each.fingerprint == fingerprint), None)
        if found is not None:
            self._worker.ask(
                lambda: Identity(self._identity).move(fingerprint, found.address),
                lambda _done: self.look(),
                ignore,
            )

    def _show(self, entries: list[MachineEntry]) -> None:
        if tuple(entries) != self.entries:
            self.entries = tuple(entries)
            self.changed.emit()

    def helps(self, entry: MachineEntry) -> bool:
        """Whether it helps with the loaded model."""
        helper = self._models.pair.helper
        return helper is not None and helper.fingerprint == entry.fingerprint

    @property
    def drafter_helps(self) -> bool:
        """Whether the machine that is to draft has a part of the model instead: it does one thing at a time."""
        helper = self._models.pair.helper
        return helper is not None and helper.fingerprint == self.station.chosen

    def remove(self, fingerprint: str) -> None:
        """Remove a pairing on both sides. Models that it helped with are loaded without it."""
        self._models.helpers.forget(fingerprint)
        self.station.forget(fingerprint)
        pair = self._models.pair
        if pair.helper is not None and pair.helper.fingerprint == fingerprint:
            if pair.state is PairState.LOADING:
                self._models.reload(pair.main_folder)
            else:
                self._models.eject()
        if self.plan.fingerprint == fingerprint:
            self._set_plan(PlanView())
        self._worker.ask(
            lambda: Identity(self._identity).remove(fingerprint), lambda _done: self.look(), lambda _error: self.look()
        )

    def set_shown(self, shown: bool) -> None:
        """Whether the list of machines is shown, so that the network is searched."""
        self._is_shown = shown
        self._browse()
        if shown:
            self.look()

    def _browse(self) -> None:
        """Also search for a machine that the model or the draft needs and that has left its address."""
        needed = is_away(self._models.pair.error) or is_away(self.station.state.error)
        self.discovery.browse(self._is_shown or needed)

    def pair(self, address: str, code: str, others: tuple[str, ...] = ()) -> None:
        """Pair with the machine that shows this code, at the first address that answers.

        Runs on its own thread, which may still wait after `cancel`.
        """
        asked = PairingView(AskingState.ASKING)
        self._set_pairing(asked)

        def show(view: PairingView) -> None:
            if self.pairing is asked:  # else it was cancelled
                self._set_pairing(view)
            self.look()  # it may have been too late for that

        def pair() -> Machine:
            tried = ways(self._identity, None, others) if others else [MachineRoute(address.strip())]
            soonest = min(tried, key=lambda way: way.trip_s).address
            return pair_machines(self._identity, soonest, code, lambda: self.pairing is not asked)

        ask_once(
            "pairing",
            self._post,
            pair,
            lambda machine: show(PairingView(AskingState.DONE, machine.name)),
            lambda error: show(PairingView(AskingState.REFUSED, error=_problem(error))),
        )

    def cancel_pairing(self) -> None:
        self._set_pairing(PairingView())

    def forget_refusal(self) -> None:
        """The user types another code."""
        if self.pairing.state in (AskingState.REFUSED, AskingState.DONE):
            self._set_pairing(PairingView())

    def _set_pairing(self, view: PairingView) -> None:
        self.pairing = view
        self.pairing_changed.emit()

    # A model over two machines

    def make_plan(self, folder: str, fingerprint: str) -> None:
        """Plan a model over two machines, without loading it."""
        is_same = folder == self.plan.folder
        self._make_plan(folder, fingerprint, self.plan.mode if is_same else self._models.helpers.mode_of(folder))

    def set_mode(self, mode: RankMode | None) -> None:
        """In which the planned model is to run; None: in whichever is faster."""
        self._make_plan(self.plan.folder, self.plan.fingerprint, mode)

    def _make_plan(self, folder: str, fingerprint: str, mode: RankMode | None) -> None:
        machine = self._machines.get(fingerprint)
        if machine is None or not folder:
            self._set_plan(PlanView())
            return
        asked = PlanView(folder, fingerprint, AskingState.ASKING, mode=mode)
        if (self.plan.folder, self.plan.fingerprint) == (folder, fingerprint) and not self.plan.fits:
            # a refusal stays on screen until the answer
            asked = replace(self.plan, mode=mode, state=AskingState.ASKING)
        self._set_plan(asked)
        source = self._models.library.source(folder)

        def show(view: PlanView) -> None:
            if self.plan is asked:  # else another plan was requested meanwhile
                self._set_plan(view)

        self._planning.ask(
            lambda: plan_with(folder, [self._helping(machine)], source, mode) if self.plan is asked else None,
            lambda plan: show(replace(asked, state=AskingState.DONE, plan=plan, error=None)),
            lambda error: show(replace(asked, state=AskingState.REFUSED, plan=None, error=_problem(error))),
        )

    def run_plan(self) -> None:
        """Load the planned model with its machine's help."""
        machine = self._machines.get(self.plan.fingerprint)
        if machine is not None and self.plan.fits:
            self._models.run_with(self.plan.folder, (self._helping(machine),), self.plan.mode)

    @property
    def running(self) -> ModeChoice | None:
        """How the planned model runs over both now; None: it does not."""
        pair = self._models.pair
        if pair.helper is None or pair.state is not PairState.READY:
            return None
        loaded = pair.main_folder, pair.helper.fingerprint
        return pair.choice if loaded == (self.plan.folder, self.plan.fingerprint) else None

    @property
    def runs_as_planned(self) -> bool:
        """Whether that is in the mode that the plan asks for."""
        return self.running is not None and self._models.helpers.mode_of(self.plan.folder) is self.plan.mode

    def is_helped(self, folder: str) -> bool:
        """Whether that model is, or will be, loaded with another machine's help."""
        return bool(self._models.helpers.of(folder))

    def run_alone(self, folder: str) -> None:
        """Load on this machine alone a model that another one helped with."""
        self._models.run_with(folder, (), None)

    def _set_plan(self, view: PlanView) -> None:
        self.plan = view
        machine = self._machines.get(view.fingerprint)
        helping = None if machine is None else self._helping(machine)
        self.file_serving.follow(view, helping, self._models.library.source(view.folder))
        self.plan_changed.emit()

    def _helping(self, machine: Machine) -> Helping:
        return Helping(machine, str(self._identity))


def _known(folder: Path) -> tuple[str, tuple[Machine, ...]]:
    """This machine's fingerprint, and those that it is paired with."""
    identity = Identity(folder)
    return identity.fingerprint, identity.machines()


def _entry(machine: Machine, before: MachineEntry | None) -> MachineEntry:
    if before is None:
        return MachineEntry(machine.fingerprint, machine.name, machine.address)
    return replace(before, name=machine.name).at(machine.address)


def _problem(error: Exception) -> EngineError:
    return error if isinstance(error, EngineError) else InternalError(str(error))


class MachineDiscovery(QObject):
    """Discovery of machines in this network that lend their memory."""

    changed = Signal()  # `found`, or `strangers`

    def __init__(self, post: Deliver, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.found: tuple[FoundMachine, ...] = ()
        self._known: tuple[str, ...] = ()  # fingerprints
        self._post = post
        self._browsing: Browsing | None = None
        self._round = 0  # increments, so that late results are dropped

    def browse(self, wanted: bool) -> None:
        if wanted == (self._browsing is not None):
            return
        self._round += 1
        if self._browsing is not None:
            self._browsing.stop()
            self._browsing = None
            self._on_found(self._round, ())
        else:
            self._browsing = Browsing(partial(self._hear, self._round))

    def leave_out(self, *known: str) -> None:
        """Leave out these fingerprints: this machine's own, and paired ones."""
        before = self.strangers
        self._known = known
        if self.strangers != before:
            self.changed.emit()

    @property
    def strangers(self) -> tuple[FoundMachine, ...]:
        return tuple(each for each in self.found if not any(each.may_be(other) for other in self._known))

    def addresses_of(self, fingerprint: str, besides: str) -> tuple[str, ...]:
        """Addresses where a machine claims that fingerprint; unproven."""
        known = besides, f"{besides}:{DEFAULT_PORT}"
        says_so = (machine for machine in self.found if machine.may_be(fingerprint))
        found = (address for machine in says_so for address in machine.addresses if address not in known)
        return tuple(islice(dict.fromkeys(found), _MOST_TRIED))

    def _hear(self, of: int, found: tuple[FoundMachine, ...]) -> None:
        """On a thread."""
        self._post(partial(self._on_found, of, found))

    def _on_found(self, of: int, found: tuple[FoundMachine, ...]) -> None:
        if of == self._round and found != self.found:
            self.found = found
            self.changed.emit()


class Lending(QObject):
    """Lends this machine's memory while the settings say so: any installed model, one user at a time."""

    changed = Signal()  # any of the properties below
    paired = Signal()  # a machine was paired with this one, or removed

    def __init__(
        self,
        identity: Path,
        settings: Settings,
        models: ModelController,
        post: Deliver,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.state = LendingState()
        self.host = EVERYWHERE
        self.port = DEFAULT_PORT
        self._identity = identity
        self._settings = settings
        self._models = models
        self._post = post
        self._process: LendingProcess | None = None
        self._offered: tuple[dict[str, HubSource], int] = {}, 0  # models by folder, and memory
        self._code_until = 0.0
        self._closed = False
        self.retry = RetryTimer(self._try_again, self)
        settings.changed.connect(self._on_setting)
        for react in (self.follow, self._offer):
            models.models_changed.connect(react)
        for what in (models.models_changed, models.downloads.changed):
            what.connect(self._look_at_wanted)

    @property
    def is_on(self) -> bool:
        """Whether the user wants it; `state` has whether it runs."""
        return self._settings.lends_memory

    @property
    def is_ready(self) -> bool:
        return self.state.phase is LendingPhase.READY

    @property
    def address(self) -> str:
        """The address to type on another machine; on a cable alone, its name there."""
        address = network_address() or f"{socket.gethostname().partition('.')[0]}.local"
        return address if self.port == DEFAULT_PORT else f"{address}:{self.port}"

    @property
    def code_left_s(self) -> float:
        """Seconds that the code is valid for."""
        return max(0.0, self._code_until - time.monotonic()) if self.state.code else 0.0

    @property
    def wanted(self) -> str:
        """The repository of a model that another machine wants to use here; "" if it is here or being downloaded."""
        repository = self.state.wanted_repository
        revision = self.state.wanted_revision
        here = {(model.repository, model.revision) for model in self._models.library.installed}
        comes = (repository, revision) in here or self._models.downloads.brings(repository, revision)
        return "" if comes else repository

    @property
    def coming(self) -> DownloadEntry | None:
        """The running download of that model."""
        entries = (entry for entry in self._models.downloads.entries if entry.state in UNDER_WAY)
        return next((entry for entry in entries if self.state.wanted_repository in entry.repositories), None)

    def set_on(self, on: bool) -> None:
        self._settings.lends_memory = on

    def invite(self) -> None:
        """A new code comes with a state."""
        if self._process is not None:
            self._process.invite()

    def take_back(self) -> None:
        """End another machine's use."""
        if self._process is not None:
            self._process.take_back()

    def fetch_wanted(self) -> None:
        """Download the wanted model."""
        if repository := self.wanted:
            self._models.install(repository, self.state.wanted_revision)

    def leave_wanted(self) -> None:
        """End that download, and delete what has come."""
        if self.coming is not None:
            self._models.downloads.cancel(self.coming.id)

    def follow(self) -> None:
        """One step towards the settings, once it is known which models are here; a process that has ended is started
        again, later if it failed.
        """
        wanted = self.is_on and not self._closed and self._models.library.scanned
        if wanted and self._process is None and self.state.phase is not LendingPhase.FAILED:
            address = f"{self.host}:{self.port}"
            self._process = LendingProcess(self._identity, address, self._hear)
            self._offered = ({}, 0)
            self._process.start()
            self._offer()
        elif not wanted and self._process is not None:
            self._process.end()

    def _try_again(self) -> None:
        if self.state.phase is LendingPhase.FAILED:
            self.state = LendingState()
            self.follow()

    def close(self) -> None:
        """At the end of the app."""
        self._closed = True
        self.retry.stop()
        if self._process is not None and not self._process.stop():
            _log.warning("lending did not end in time")

    def _on_setting(self, name: str) -> None:
        if name == "lends_memory":
            if self.state.phase is LendingPhase.FAILED:
                self.retry.note_success()
                self.state = LendingState()  # try again at once when it is switched on again
            self.follow()
            self.changed.emit()

    def _offer(self) -> None:
        """Offer every model that can run partly here, and the memory that the loaded models leave."""
        if self._process is None:
            return
        models = self._models.models
        used = self._models.in_memory
        if self._models.pair.state in (PairState.LOADING, PairState.READY):
            used |= {model.folder for model in models if model.is_main or model.is_draft}
        own = sum(model.fit.needed_bytes for model in models if model.fit and model.folder in used)
        offers = (model.folder for model in models if model.drafter is None)
        offered = {folder: self._models.library.source(folder) for folder in offers}, max(0, model_memory_bytes() - own)
        if offered != self._offered:
            self._offered = offered
            self._process.offer(*offered)

    def _look_at_wanted(self) -> None:
        if self.state.wanted_repository:
            self.changed.emit()

    def _hear(self, state: LendingState) -> None:
        """On a thread of the process's."""
        self._post(partial(self.on_state, state))

    def on_state(self, state: LendingState) -> None:
        before = self.state
        self.state = state
        set_aside(state.promised_bytes)
        peer = state.peer_model(str(self._identity))
        if peer != before.peer_model(str(self._identity)):
            self._models.sources.set_peer_model(peer)
        if state.code != before.code:
            self._code_until = time.monotonic() + state.code_s
        if state.phase is LendingPhase.READY:
            self.retry.note_success()
        elif state.phase is LendingPhase.FAILED:
            self.retry.note_failure()
        if state.phase in _ENDED:
            self._process = None
            self.follow()
        self.changed.emit()
        if state.paired != before.paired and state.phase not in _ENDED:
            self.paired.emit()
