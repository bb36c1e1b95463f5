"""A race: one prompt answered without the draft and with it, to compare texts and times.

The laps run one after the other, because two replies at once would share their forwards without drafts. First the
prompt is prefilled, so that both laps find it cached and the device warm. All three are background requests: one that
is paused for another reply is resumed later, and its figures leave the pause out.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.models import ModelController
from app.view_models.model_list import DraftState, PairState
from app.view_models.race import Lap, LapState, RaceState, RaceView
from engine import (
    Acceptance,
    CannotSee,
    ChatEngine,
    ContextTooLong,
    EngineError,
    Event,
    Failed,
    Finished,
    FinishReason,
    Queued,
    Request,
    RequestId,
    Speculation,
    SpeculationMode,
    TextDelta,
)

MOST_TOKENS = 400
_READING = 1  # tokens of the request that only prefills
_LAPS = 2

RaceRequest = Request | None  # None: the reply has none; views do not import `Request`
RequestOf = Callable[[int, Callable[[RaceRequest], None]], None]


class Race(QObject):
    changed = Signal()

    def __init__(
        self, engine: ChatEngine, bridge: EngineBridge, models: ModelController, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._bridge = bridge
        self._models = models
        self._request: Request | None = None
        self._laps: list[Lap] = []
        self._next = -1  # the running lap; -1: prefill
        self._own: RequestId | None = None
        self._main = ""  # folder of the main model of both laps
        self._state = RaceState.IDLE
        self._error: EngineError | None = None
        bridge.text_arrived.connect(self._on_event)
        bridge.event_arrived.connect(self._on_event)
        models.pair_changed.connect(self._on_pair)

    @property
    def view(self) -> RaceView:
        waits = self.under_way and (self._own is None or self._models.busy)
        state = RaceState.WAITING if waits else self._state
        return RaceView(state, tuple(self._laps), self._may_differ, self._error)

    @property
    def under_way(self) -> bool:
        return self._state is RaceState.RUNNING

    @property
    def _may_differ(self) -> bool:
        request = self._request
        rejects = request is not None and request.speculation.acceptance is Acceptance.REJECTION
        return rejects and request is not None and request.sampling.temperature > 0

    @property
    def can_start(self) -> bool:
        return bool(self._models.can_reply and self._models.pair.draft_folder and not self._models.pair.error)

    @property
    def is_refused(self) -> bool:
        """The loaded model refused this prompt, and would again."""
        return isinstance(self._error, ContextTooLong | CannotSee) and self._main == self._models.pair.main_folder

    def start(self, request: Request, *, greedy: bool) -> None:
        """Start; both laps get the same seed."""
        self.cancel()
        self._models.wake()
        self._main = self._models.pair.main_folder
        seed = request.sampling.seed if request.sampling.seed is not None else secrets.randbits(53)
        sampling = replace(request.sampling, seed=seed, temperature=0.0 if greedy else request.sampling.temperature)
        limit = min(request.max_tokens or MOST_TOKENS, MOST_TOKENS)
        self._request = replace(request, sampling=sampling, max_tokens=limit, background=True)
        self._laps = [Lap(), Lap()]
        self._next = -1
        self._state = RaceState.RUNNING
        self._error = None
        self._go_on()

    def cancel(self) -> None:
        """Cancel at once; the text stays on screen."""
        if self.under_way:
            self._end(RaceState.CANCELLED)

    def _on_event(self, event: Event) -> None:
        match event:
            case TextDelta(request=number) if number == self._own:
                self._on_text(event)
            case Finished(request=number) | Failed(request=number) if number == self._own:
                self._own = None
                self._on_own_end(event)
            case Queued() | Finished() | Failed() if self.under_way:
                self.changed.emit()  # it was paused or resumed

    def _on_text(self, delta: TextDelta) -> None:
        if self._next < 0:
            return
        lap = self._laps[self._next]
        self._laps[self._next] = replace(lap, text=lap.text + delta.text, stats=delta.stats, state=LapState.RUNNING)
        self.changed.emit()

    def _on_own_end(self, event: Finished | Failed) -> None:
        if not self.under_way:
            return
        if isinstance(event, Failed):
            self._error = event.error
            self._end(RaceState.FAILED)
        elif event.reason in (FinishReason.MODEL_CHANGED, FinishReason.CANCELLED):
            self._end(RaceState.CANCELLED)
        else:
            self._finish_lap(event)

    def _finish_lap(self, event: Finished) -> None:
        if self._next >= 0:
            lap = self._laps[self._next]
            self._laps[self._next] = replace(lap, state=LapState.DONE, stats=event.stats, tokens=event.tokens)
        self._next += 1
        if self._next == _LAPS:
            self._state = RaceState.DONE
            self.changed.emit()
        else:
            self._go_on()

    def _on_pair(self) -> None:
        """Both laps are the same main model's, and one is a draft's."""
        pair = self._models.pair
        if not self.under_way:
            self.changed.emit()  # a new race may be possible, or not
        elif not self.can_start or pair.state is PairState.UNLOADED or pair.main_folder != self._main:
            self._end(RaceState.CANCELLED)
        else:
            self._go_on()

    def _go_on(self) -> None:
        if not self.under_way or self._own is not None:
            return
        draft_comes = self._next == _LAPS - 1 and self._models.pair.draft_state is DraftState.LOADING
        if not draft_comes:
            if self._next >= 0:
                self._laps[self._next] = Lap()
            self._own = self._engine.submit(self._lap_request(), self._bridge.post)
        self.changed.emit()

    def _lap_request(self) -> Request:
        assert self._request is not None
        if self._next < 0:
            return replace(self._request, speculation=Speculation.off(), max_tokens=_READING)
        if self._next == 0:
            return replace(self._request, speculation=Speculation.off())
        own = self._request.speculation
        drafts = replace(own, mode=SpeculationMode.AUTO) if own.mode is SpeculationMode.OFF else own
        return replace(self._request, speculation=drafts)

    def _end(self, state: RaceState) -> None:
        own = self._own
        self._own = None
        self._state = state
        left_out = Lap(LapState.LEFT_OUT)
        self._laps = [left_out if lap.state is LapState.WAITING else lap for lap in self._laps]
        if own is not None:
            self._engine.cancel(own)
        self.changed.emit()
