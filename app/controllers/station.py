"""The paired machine that drafts for this one: which, what the engine says of it, and the draft's files there.

The engine chooses for each round who drafts, and goes on without it: no reply waits for what is done here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.file_serving import FileServing
from app.controllers.models import ModelController
from app.settings import Settings
from app.system.worker import Deliver, ask_once
from app.view_models.machines import AskingState, PlanView, is_away
from engine import (
    ChatEngine,
    EngineError,
    Event,
    Helping,
    HubSource,
    Machine,
    MachineRefusal,
    MachineUnavailable,
    StationChanged,
    StationPhase,
    StationPlace,
    StationState,
    machine_offer,
)


class StationController(QObject):
    changed = Signal()  # any of the properties below

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
        super().__init__(parent)
        self.state = StationState()
        self.file_serving = FileServing(post, self)
        self._identity = identity
        self._engine = engine
        self._settings = settings
        self._models = models
        self._post = post
        self._machines: Mapping[str, Machine] = {}
        self._helping: Helping | None = None  # where the engine is to have it drafted
        self._asked: tuple[Helping, str] | None = None  # the machine that is asked for a draft's files, and its folder
        self._found: tuple[Helping, str] | None = None  # the one that said that it has them
        bridge.event_arrived.connect(self._on_event)
        settings.changed.connect(self._on_setting)
        self.file_serving.changed.connect(self._on_file_serving)

    @property
    def chosen(self) -> str:
        """The fingerprint of the machine; "": none."""
        return self._settings.draft_machine

    @property
    def source(self) -> HubSource:
        """Of the draft."""
        return self._models.library.source(self._models.pair.draft_folder)

    @property
    def lacks_files(self) -> bool:
        """Whether the machine does not have the draft, as far as it was asked."""
        error = self.state.error
        return isinstance(error, MachineUnavailable) and error.why is MachineRefusal.NO_MODEL

    def choose(self, fingerprint: str) -> None:
        self._settings.draft_machine = fingerprint

    def forget(self, fingerprint: str) -> None:
        """The machine is no longer paired."""
        if fingerprint == self.chosen:
            self.choose("")

    def note_machines(self, machines: Mapping[str, Machine]) -> None:
        """Those that are paired, at their present addresses."""
        self._machines = machines
        if self.chosen not in machines:
            self.forget(self.chosen)
        self._follow()

    def note_answer(self, fingerprint: str) -> None:
        """The machine answers: it need not be waited for if it was away."""
        if fingerprint == self.chosen and is_away(self.state.error):
            self._tell()

    def close(self) -> None:
        """At the end of the app. The engine ends the station with itself."""
        self.file_serving.close()

    def _follow(self) -> None:
        machine = self._machines.get(self.chosen)
        has_address = machine is not None and machine.address
        helping = Helping(machine, str(self._identity)) if machine is not None and has_address else None
        if helping != self._helping:
            self._helping = helping
            self.file_serving.end()
            self._tell()

    def _tell(self) -> None:
        """Also tries at once what the engine would try again later."""
        place = None if self._helping is None else StationPlace(self._helping)
        self.state = StationState(StationPhase.OFF if place is None else StationPhase.STARTING)
        self._engine.set_station(place)
        self.changed.emit()

    def _on_setting(self, name: str) -> None:
        if name == "draft_machine":
            self._follow()
            self.changed.emit()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, StationChanged) and self._helping is not None:
            self.state = event.station
            if self.state.phase is StationPhase.READY:
                self._found = None
            self.look_for_files()
            self.changed.emit()

    def _on_file_serving(self) -> None:
        if not self.file_serving.is_used:
            self.look_for_files()  # they may all be there
        self.changed.emit()

    def look_for_files(self) -> None:
        """Ask a machine that lacks the draft: it offers its user to fetch it, from here."""
        helping = self._helping
        folder = self._models.pair.draft_folder
        if helping is None or not folder or not self.lacks_files:
            self.file_serving.end()
            return
        asked = helping, folder
        if asked == self._asked:
            return
        self._asked = asked
        source = self.source

        def show(error: EngineError | None) -> None:
            if self._asked is asked:
                self._asked = None
                self._on_answer(asked, source, error)

        ask_once(
            "draft elsewhere",
            self._post,
            lambda: machine_offer(helping, folder, source),
            lambda _offer: show(None),
            lambda error: show(error if isinstance(error, EngineError) else self.state.error),
        )

    def _on_answer(self, asked: tuple[Helping, str], source: HubSource, error: EngineError | None) -> None:
        helping, folder = asked
        if helping is not self._helping or folder != self._models.pair.draft_folder or not self.lacks_files:
            return
        if error is None:
            self.file_serving.end()
            if asked != self._found:  # else it has them and has them not; the engine tries again by itself, ever later
                self._found = asked
                self._tell()
            return
        self._found = None
        refused = PlanView(folder, helping.machine.fingerprint, AskingState.REFUSED, error=error)
        self.file_serving.follow(refused, helping, source)
        self.state = replace(self.state, error=error)
        self.changed.emit()
