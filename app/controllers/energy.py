"""Heat and power: defers work that no user waits for, and keeps macOS from napping during work.

Nothing is held or polled while idle, so that the Mac may sleep and the app nap. While another machine helps, the app
does not nap: it would count as lost. On mains replies keep the Mac awake, too; downloads do so everywhere.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from app.controllers.chat import ChatController
from app.controllers.machines import MachinesController
from app.controllers.models import ModelController
from app.controllers.server import ServerController
from app.settings import Settings
from app.system.energy import Activity, EnergySource, Power, Slowdown
from app.view_models.downloads import DownloadState
from app.view_models.model_list import PairState
from engine import ChatEngine

POLL_INTERVAL_MS = 5000
_COMING = (DownloadState.WAITING, DownloadState.RUNNING)


class EnergyController(QObject):
    def __init__(
        self,
        machine: EnergySource,
        engine: ChatEngine,
        settings: Settings,
        chats: ChatController,
        models: ModelController,
        server: ServerController,
        machines: MachinesController,
    ) -> None:
        super().__init__(chats)
        self._machine = machine
        self._engine = engine
        self._settings = settings
        self._replies = chats.replies
        self._exchanges = chats.exchanges
        self._models = models
        self._programs = server.requests
        self._lending = machines.lending
        self._file_servings = (machines.file_serving, machines.station.file_serving)
        self.power = Power()
        self.poll = QTimer(self, interval=POLL_INTERVAL_MS)
        self.poll.timeout.connect(self.look)
        for signal in (
            self._replies.changed,
            chats.exchanges.waits_changed,
            server.requests.asked,
            self._lending.changed,
            *(each.changed for each in self._file_servings),
            models.downloads.changed,
            models.pair_changed,
            models.library.changed,
        ):
            signal.connect(self._on_work)
        settings.changed.connect(self._on_setting)
        self.look()

    def look(self) -> None:
        """Read the machine's state, and again later while there is work or a reason to defer it."""
        before = self.power
        power = self._machine.power()
        self.power = power  # set first: the calls below may lead here again
        if (power.spares, power.on_battery) != (before.spares, before.on_battery):
            self._engine.set_sparing(power.spares, on_battery=power.on_battery)
            self._machine.hold(self._activity())
        self._replies.set_slowdown(self._strain())
        if self._activity() is None and not power.spares:
            self.poll.stop()
        elif not self.poll.isActive():
            self.poll.start()

    def _on_work(self) -> None:
        activity = self._activity()
        self._machine.hold(activity)
        if activity is not None and not self.poll.isActive():
            self.look()

    def _on_setting(self, name: str) -> None:
        if name == "draft_on_battery":
            self.look()

    def _activity(self) -> Activity | None:
        helps = self._lending.state.user or any(each.is_used for each in self._file_servings)
        if helps or any(entry.state in _COMING for entry in self._models.downloads.entries):
            return Activity.NO_SLEEP
        written = self._replies.live.keys() - set(self._exchanges.waiting)
        if written or self._programs.is_asked:
            return Activity.NO_NAP if self.power.on_battery else Activity.NO_SLEEP
        pair = self._models.pair
        is_helped = self._engine.state().choice is not None or (pair.state is PairState.READY and pair.station)
        works = is_helped or pair.state is PairState.LOADING or self._models.library.is_verifying
        return Activity.NO_NAP if works else None

    def _strain(self) -> Slowdown:
        if self.power.on_battery and not self._settings.draft_on_battery:  # before heat: it turns drafts off
            return Slowdown.BATTERY
        if self.power.is_hot:
            return Slowdown.HOT
        return Slowdown.SAVING if self.power.saves else Slowdown.NONE
