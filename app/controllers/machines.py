"""Other machines: which are paired and how far they are, pairing, and a model that runs with the help of one.

What waits for another machine does so on threads of its own, and each answer comes to the GUI thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.lending import Lending
from app.controllers.machine_discovery import MachineDiscovery
from app.controllers.models import ModelController
from app.controllers.supplying import Supplying
from app.settings import Settings
from app.system.worker import Worker, ask_once
from app.view_models.machines import AskingState, MachineEntry, PairingView, PlanView, is_away
from engine import (
    EngineError,
    Event,
    Failed,
    Helping,
    Identity,
    InternalError,
    Machine,
    RankLost,
    Way,
    pair_machines,
    plan_with,
    ways,
)


class MachinesController(QObject):
    changed = Signal()  # `entries`
    pairing_changed = Signal()
    plan_changed = Signal()

    def __init__(
        self,
        identity: Path,
        bridge: EngineBridge,
        settings: Settings,
        models: ModelController,
        post: Callable[[Callable[[], None]], None],
        parent: QObject | None = None,
    ) -> None:
        """`identity`: the folder with this machine's key. `post` has a call made on the GUI thread."""
        super().__init__(parent)
        self.lending = Lending(identity, settings, models, post, self)
        self.lending.paired.connect(self.look)
        self.entries: tuple[MachineEntry, ...] = ()
        self.pairing = PairingView()
        self.plan = PlanView()
        self.supplying = Supplying(post, self)
        self._identity = identity
        self._models = models
        self._post = post
        self.discovery = MachineDiscovery(post, self)
        self._is_shown = False
        self._machines: dict[str, Machine] = {}  # by fingerprint
        self._measured: dict[str, tuple[str, ...]] = {}  # by fingerprint: addresses that are being tried
        self._workers: list[Worker] = []
        bridge.event_arrived.connect(self._on_event)
        models.pair_changed.connect(self._browse)
        self.discovery.changed.connect(self.look)
        self.lending.follow()

    @cached_property
    def _worker(self) -> Worker:
        """What takes no longer than a file."""
        return self._started("other machines")

    @cached_property
    def _planning(self) -> Worker:
        return self._started("plans over machines")

    def _started(self, name: str) -> Worker:
        self._workers.append(Worker(name, self._post))
        return self._workers[-1]

    def close(self) -> None:
        """At the end of the app. Its own threads are left to what they wait for."""
        for worker in self._workers:
            worker.close(0.0)
        self.discovery.browse(False)
        self.lending.close()
        self.supplying.close()

    def _on_event(self, event: Event) -> None:
        """The engine has no model any more that has lost some layers, and may load it again by itself."""
        if isinstance(event, Failed) and isinstance(event.error, RankLost):
            self._models.make_way()

    # Those that are paired

    def look(self) -> None:
        """At the machines that are paired, and how far each is."""
        self._worker.ask(lambda: _known(self._identity), self._on_machines, lambda _error: None)
        if self.plan.may_change:
            self.make_plan(self.plan.folder, self.plan.fingerprint)

    def _on_machines(self, known: tuple[str, tuple[Machine, ...]]) -> None:
        before = {entry.fingerprint: entry for entry in self.entries}
        own, machines = known
        self._machines = {machine.fingerprint: machine for machine in machines}
        self._show([_entry(machine, before.get(machine.fingerprint)) for machine in reversed(machines)])
        for machine in machines:
            if machine.address:
                self._models.helpers.note_address(machine)
            self._measure(machine)
        self.discovery.leave_out(own, *self._machines)

    def _measure(self, machine: Machine) -> None:
        """By every way to it that is known. On a thread of its own, which waits where it does not answer."""
        found = self.discovery.addresses_of(machine.fingerprint, machine.address)
        tried = (machine.address, *found) if machine.address else found
        if not tried or self._measured.get(machine.fingerprint) == tried:
            return
        self._measured[machine.fingerprint] = tried

        def show(found: list[Way]) -> None:
            if self._measured.get(machine.fingerprint) is tried:  # else others are being tried by now
                del self._measured[machine.fingerprint]
                self._update(machine.fingerprint, found)

        ask_once(
            "round trips",
            self._post,
            lambda: ways(self._identity, machine, tried),
            show,
            lambda error: show([Way(address, error=_problem(error)) for address in tried]),
        )

    def _update(self, fingerprint: str, found: list[Way]) -> None:
        self._show([each.measured(found) if each.fingerprint == fingerprint else each for each in self.entries])
        entry = next((each for each in self.entries if each.fingerprint == fingerprint), None)
        if entry is not None and entry.has_moved:
            self.move(fingerprint)
        elif entry is not None and entry.error is not None and self._is_planned_with(entry):
            self.make_plan(self.plan.folder, fingerprint)

    def _is_planned_with(self, entry: MachineEntry) -> bool:
        return self.plan.state is AskingState.DONE and self.plan.fingerprint == entry.fingerprint

    def move(self, fingerprint: str) -> None:
        """Reach it from now on where it has proven to be as well."""
        found = next((each.elsewhere for each in self.entries if each.fingerprint == fingerprint), None)
        if found is not None:
            self._worker.ask(
                lambda: Identity(self._identity).move(fingerprint, found.address),
                lambda _done: self.look(),
                lambda _error: None,
            )

    def _show(self, entries: list[MachineEntry]) -> None:
        if tuple(entries) != self.entries:
            self.entries = tuple(entries)
            self.changed.emit()

    def helps(self, entry: MachineEntry) -> bool:
        """Whether the model of the pair runs with its help."""
        helper = self._models.pair.helper
        return helper is not None and helper.fingerprint == entry.fingerprint

    def remove(self, fingerprint: str) -> None:
        """Neither machine accepts the other any more. A model that it helps with is loaded without it from now on."""
        self._models.helpers.forget(fingerprint)
        if any(self.helps(entry) for entry in self.entries if entry.fingerprint == fingerprint):
            self._models.eject()
        if self.plan.fingerprint == fingerprint:
            self._set_plan(PlanView())
        self._worker.ask(
            lambda: Identity(self._identity).remove(fingerprint), lambda _done: self.look(), lambda _error: self.look()
        )

    # Those nearby

    def set_shown(self, shown: bool) -> None:
        """Whether the user looks at them, and at what is nearby."""
        self._is_shown = shown
        self._browse()
        if shown:
            self.look()

    def _browse(self) -> None:
        """Also for a machine that the model needs and that no longer answers at its address."""
        self.discovery.browse(self._is_shown or is_away(self._models.pair.error))

    # Pairing

    def pair(self, address: str, code: str, others: tuple[str, ...] = ()) -> None:
        """With the machine there, which shows this code; of several addresses, at the one that answers soonest.

        On a thread of its own: what is cancelled may still wait.
        """
        asked = PairingView(AskingState.ASKING)
        self._set_pairing(asked)

        def show(view: PairingView) -> None:
            if self.pairing is asked:  # else it was cancelled
                self._set_pairing(view)
            self.look()  # it may have been too late for that

        def pair() -> Machine:
            tried = ways(self._identity, None, others) if others else [Way(address.strip())]
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
        """Something else is being typed."""
        if self.pairing.state in (AskingState.REFUSED, AskingState.DONE):
            self._set_pairing(PairingView())

    def _set_pairing(self, view: PairingView) -> None:
        self.pairing = view
        self.pairing_changed.emit()

    # A model over two machines

    def make_plan(self, folder: str, fingerprint: str) -> None:
        """Nothing is loaded for it."""
        machine = self._machines.get(fingerprint)
        if machine is None or not folder:
            self._set_plan(PlanView())
            return
        asked = PlanView(folder, fingerprint, AskingState.ASKING)
        if (self.plan.folder, self.plan.fingerprint) == (folder, fingerprint) and not self.plan.fits:
            asked = replace(self.plan, state=AskingState.ASKING)  # what was refused is shown until the next answer
        self._set_plan(asked)
        source = self._models.library.source(folder)

        def show(view: PlanView) -> None:
            if self.plan is asked:  # else another one is wanted by now
                self._set_plan(view)

        self._planning.ask(
            lambda: plan_with(folder, [self._helping(machine)], source) if self.plan is asked else None,
            lambda plan: show(PlanView(folder, fingerprint, AskingState.DONE, plan)),
            lambda error: show(PlanView(folder, fingerprint, AskingState.REFUSED, error=_problem(error))),
        )

    def run_plan(self) -> None:
        """Load the model of the plan with the help of its machine."""
        machine = self._machines.get(self.plan.fingerprint)
        if machine is not None and self.plan.fits:
            self._run_with(self.plan.folder, (self._helping(machine),))

    def is_helped(self, folder: str) -> bool:
        """Whether that model is loaded with the help of another machine, now or when it is chosen."""
        return bool(self._models.helpers.of(folder))

    def run_alone(self, folder: str) -> None:
        """Load a model on this machine that was loaded with the help of another one."""
        self._run_with(folder, ())

    def _run_with(self, folder: str, helping: tuple[Helping, ...]) -> None:
        self._models.helpers.note(folder, helping)
        load = self._models.reload if folder == self._models.pair.main_folder else self._models.choose_main
        load(folder)

    def _set_plan(self, view: PlanView) -> None:
        self.plan = view
        machine = self._machines.get(view.fingerprint)
        helping = None if machine is None else self._helping(machine)
        self.supplying.follow(view, helping, self._models.library.source(view.folder))
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
