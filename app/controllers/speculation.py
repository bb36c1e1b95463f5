"""Drafting beyond single replies: gains of the pair, races, statistics."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.controllers.race import Race
from app.controllers.statistics import Statistics
from app.storage import Storage
from app.view_models.model_list import DraftState, PairState
from app.words.replies import drafted_enough
from engine import ChatEngine, Event, Failed, Finished, Queued, RequestId

_WITHOUT_MODEL = ("lookup", "forced", "prediction")  # sources without a model


class SpeculationParts(QObject):
    opened = Signal(int, int)  # chat and message of a request whose row was clicked

    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        storage: Storage,
        chats: ChatController,
        models: ModelController,
    ) -> None:
        super().__init__(chats)
        self.gains = PairGains(bridge, models, self)
        self.race = Race(engine, bridge, models, self)
        self.statistics = Statistics(storage, chats.requests, chats.replies, self)
        self.request_of = chats.asking.request_of


class PairGains(QObject):
    """Records the gain of a reply for the pair that was loaded during all of it."""

    def __init__(self, bridge: EngineBridge, models: ModelController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._models = models
        self._pair: tuple[str, str] | None = None  # folders of the loaded pair
        self._running: set[RequestId] = set()  # replies that ran with this pair only
        bridge.event_arrived.connect(self._on_event)
        models.pair_changed.connect(self._on_pair)

    def _on_event(self, event: Event) -> None:
        match event:
            case Queued(request=request, background=False):
                self._running.add(request)
            case Finished(request=request) | Failed(request=request) if request in self._running:
                self._running.remove(request)
                self._note(event)

    def _note(self, event: Finished | Failed) -> None:
        pair = self._loaded()
        stats = event.stats
        drafted = stats.proposer not in _WITHOUT_MODEL and not stats.shared_rounds and drafted_enough(stats)
        if pair is not None and drafted and stats.speed_up is not None and stats.is_speed_up_certain:
            self._models.library.note_gain(*pair, stats.speed_up)

    def _on_pair(self) -> None:
        pair = self._loaded()
        if pair is not None and pair != self._pair:
            if self._pair is not None:
                self._running.clear()
            self._pair = pair

    def _loaded(self) -> tuple[str, str] | None:
        """None also while the draft is loading: until then another one drafts, or none."""
        pair = self._models.pair
        drafts = pair.draft_folder and pair.draft_state not in (DraftState.NONE, DraftState.LOADING)
        ready = pair.state is PairState.READY and drafts and not pair.error
        return (pair.main_folder, pair.draft_folder) if ready else None
