"""What concerns drafting as a whole and no single reply: tuning, the pair's switch, races, statistics."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.controllers.race import Race
from app.controllers.statistics import Statistics
from app.controllers.tuning import TuningController
from app.storage import Storage
from engine import ChatEngine, SpeculationMode


class SpeculationParts(QObject):
    opened = Signal(int, int)  # chat and message of a request whose row was clicked

    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        storage: Storage,
        chats: ChatController,
        models: ModelController,
        language: Callable[[], str],
    ) -> None:
        super().__init__(chats)
        self.models, records = models, models.records
        self.tuning = TuningController(engine, bridge, models, records, language, self)
        self.switch = PairSwitch(models, self)
        self.race = Race(engine, bridge, models, self)
        self.statistics = Statistics(storage, chats.requests, chats.replies, self)
        self.request_of = chats.asking.request_of


class PairSwitch(QObject):
    changed = Signal()

    def __init__(self, models: ModelController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._models = models
        models.speculation_chosen.connect(self._on_chosen)

    @property
    def is_off(self) -> bool:
        """For the pair that is loaded."""
        return self._models.pair.off_for_pair

    def set_off(self, off: bool) -> None:
        pair = self._models.pair
        if pair.draft_folder and off != self.is_off:
            self._models.records.put_off(pair.main_folder, pair.draft_folder, off)
            self._models.pair_changed.emit()
            self.changed.emit()

    def _on_chosen(self, mode: str) -> None:
        """A user who chooses a way to draft wants to draft."""
        if mode != SpeculationMode.OFF:
            self.set_off(False)
