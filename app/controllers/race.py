"""A race: one prompt answered without the draft and with it in turns, until it is known which is faster by how much.

One lap at a time runs, because two replies at once would share their forwards without drafts. The first lap shows the
text, prefills both models and finds how many tokens a lap has; it is not timed. All are background requests: one that
is paused for another reply is resumed later, and its figures leave the pause out. The timed laps draft also where auto
would not: the race measures what the draft brings, and the pair's history learns it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.models import ModelController
from app.view_models.model_list import DraftState, PairState, PairView
from app.view_models.race import RaceState, RaceView, Verdict
from app.view_models.race_times import LEAST_TOKENS, ends_lap
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
    RequestStats,
    Speculation,
    SpeculationMode,
    TextDelta,
)

MOST_TOKENS = 400
_LEAST_DRAFTED = 0.2  # of its rounds, or auto drafts nothing
_END = -1  # no token
_MOST_SHARED = 6  # laps that other replies shared; then the machine is busy

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
        self._own: RequestId | None = None
        self._pair = ("", "")  # folders of main model and draft of all laps
        self._is_first = True  # the next lap is the one that is not timed
        self._is_cut = False  # the running lap has enough tokens, and was cancelled
        self._shared = 0  # laps that did not count because other replies shared their forwards
        self._plain_tokens: tuple[int, ...] = ()  # of the latest lap of each way
        self._drafted_tokens: tuple[int, ...] = ()
        self._view = RaceView()
        bridge.text_arrived.connect(self._on_event)
        bridge.event_arrived.connect(self._on_event)
        models.pair_changed.connect(self._on_pair)

    @property
    def view(self) -> RaceView:
        waits = self.under_way and (self._own is None or self._models.busy)
        return replace(self._view, state=RaceState.WAITING) if waits else self._view

    @property
    def under_way(self) -> bool:
        return self._view.state is RaceState.RUNNING

    @property
    def can_start(self) -> bool:
        return bool(self._models.can_reply and self._models.pair.draft_folder and not self._models.pair.error)

    @property
    def pair(self) -> PairView:
        """That a race would be with."""
        return self._models.pair

    @property
    def is_refused(self) -> bool:
        """The loaded model refused this prompt, and would again."""
        refused = isinstance(self._view.error, ContextTooLong | CannotSee)
        return refused and self._pair[0] == self._models.pair.main_folder

    def start(self, request: Request, *, greedy: bool) -> None:
        """Start; all laps get the same seed."""
        self.cancel()
        self._models.wake()
        seed = request.sampling.seed if request.sampling.seed is not None else secrets.randbits(53)
        sampling = replace(request.sampling, seed=seed, temperature=0.0 if greedy else request.sampling.temperature)
        limit = min(request.max_tokens or MOST_TOKENS, MOST_TOKENS)
        self._request = replace(request, sampling=sampling, max_tokens=limit, background=True)
        self._begin()
        self._go_on()

    def _begin(self) -> None:
        """From the first lap, with the pair there is."""
        request = self._request
        assert request is not None
        pair = self._models.pair
        self._pair = (pair.main_folder, pair.draft_folder)
        self._is_first = True
        self._shared = 0
        self._plain_tokens = ()
        self._drafted_tokens = ()
        rejects = request.speculation.acceptance is Acceptance.REJECTION and request.sampling.temperature > 0
        self._view = RaceView(RaceState.RUNNING, may_differ=rejects)

    def cancel(self) -> None:
        """Cancel at once; what is on screen stays."""
        if self.under_way:
            self._end(RaceState.CANCELLED)

    def _on_event(self, event: Event) -> None:
        match event:
            case TextDelta(request=number) if number == self._own:
                self._on_text(event)
            case Finished(request=number) | Failed(request=number) if number == self._own:
                self._own = None
                self._on_own_end(event)
            case Queued(request=number) | Finished(request=number) | Failed(request=number) if (
                self.under_way and number != self._own
            ):
                self.changed.emit()  # it was paused or resumed

    def _on_text(self, delta: TextDelta) -> None:
        """In timed laps nothing is shown: what the window does would be a part of their times."""
        stats = delta.stats
        if self._is_first:
            self._view = replace(self._view, text=self._view.text + delta.text)
            self.changed.emit()
        if self._own is not None and not self._is_cut and ends_lap(stats.decode_s, stats.generated_tokens):
            self._is_cut = True
            self._engine.cancel(self._own)

    def _on_own_end(self, event: Finished | Failed) -> None:
        if not self.under_way:
            return
        if isinstance(event, Failed):
            self._end(RaceState.FAILED, error=event.error)
        elif event.reason is FinishReason.MODEL_CHANGED or (
            event.reason is FinishReason.CANCELLED and not self._is_cut
        ):
            self._end(RaceState.CANCELLED)
        else:
            self._view = self._after_first(event) if self._is_first else self._after_lap(event)
            self._judge()

    def _after_first(self, event: Finished) -> RaceView:
        stats = event.stats
        self._is_first = False
        self._drafted_tokens = _tokens_of(event)
        return replace(
            self._view,
            tokens=stats.generated_tokens,
            times=self._view.times.with_spent(stats.decode_s),
            drafted=stats,
            is_auto_plain=stats.draft_rounds < _LEAST_DRAFTED * stats.rounds,
        )

    def _after_lap(self, event: Finished) -> RaceView:
        stats = event.stats
        times = self._view.times
        spent_s = stats.prefill_s + stats.decode_s  # without the queue: it may wait for a reply
        if stats.shared_rounds or stats.generated_tokens < 2:
            self._shared += 1
            return replace(self._view, times=times.with_spent(spent_s))
        if times.next_is_drafted:
            self._drafted_tokens = _tokens_of(event)
        else:
            self._plain_tokens = _tokens_of(event)
        return replace(
            self._view,
            tokens=min(self._view.tokens, stats.generated_tokens),
            times=times.with_lap(_token_s(stats), spent_s),
            drafted=stats if times.next_is_drafted else self._view.drafted,
        )

    def _judge(self) -> None:
        """End the race if it is decided; else go on."""
        verdict = self._verdict()
        self._view = replace(self._view, verdict=verdict, differs_at=self._difference())
        if verdict is Verdict.OPEN:
            self._go_on()
            return
        if verdict is Verdict.KNOWN:
            self._teach()
        self._end(RaceState.DONE)

    def _teach(self) -> None:
        """The pair's figure, and the engine's estimate of the next replies, learn what the clock said."""
        factor = self._view.times.factor
        stats = self._view.drafted
        if factor is None:
            return
        self._models.library.note_gain(*self._pair, factor, of_race=True)
        if stats.break_even and stats.tokens_per_pass:
            self._engine.note_race(stats.proposer, stats.tokens_per_pass / stats.break_even / factor)

    def _verdict(self) -> Verdict:
        times = self._view.times
        if self._view.tokens < LEAST_TOKENS:
            return Verdict.TOO_SHORT
        if times.drafted_s and not self._view.drafted.drafted:
            return Verdict.NOTHING_DRAFTED
        if times.is_over or self._shared >= _MOST_SHARED:
            return Verdict.KNOWN if times.is_sure else Verdict.BUSY
        return Verdict.OPEN

    def _difference(self) -> int | None:
        """The first token that differs between a lap without the draft and one with it, from 1; None: none does."""
        pairs = zip(self._plain_tokens, self._drafted_tokens, strict=False)
        return next((at for at, (plain, drafted) in enumerate(pairs, start=1) if plain != drafted), None)

    def _on_pair(self) -> None:
        """All laps are the same pair's: with another draft the race starts over, with another main model it ends."""
        pair = self._models.pair
        if not self.under_way:
            if self._view.state is RaceState.DONE and (pair.main_folder, pair.draft_folder) != self._pair:
                self._view = RaceView()  # what was found is another pair's
            self.changed.emit()  # a new race may be possible, or not
        elif not self.can_start or pair.state is PairState.UNLOADED or pair.main_folder != self._pair[0]:
            self._end(RaceState.CANCELLED)
        elif pair.draft_folder != self._pair[1]:
            self._cancel_lap()
            self._begin()
            self._go_on()
        else:
            self._go_on()

    def _go_on(self) -> None:
        if not self.under_way or self._own is not None:
            return
        if self._models.pair.draft_state is not DraftState.LOADING:
            self._is_cut = False
            self._own = self._engine.submit(self._lap_request(), self._bridge.post)
        self.changed.emit()

    def _lap_request(self) -> Request:
        request = self._request
        assert request is not None
        limit = request.max_tokens if self._is_first else self._view.tokens
        if not self._is_first and not self._view.times.next_is_drafted:
            return replace(request, speculation=Speculation.off(), max_tokens=limit)
        own = request.speculation
        mode = SpeculationMode.AUTO if own.mode is SpeculationMode.OFF else own.mode
        return replace(request, speculation=replace(own, mode=mode, insists=not self._is_first), max_tokens=limit)

    def _end(self, state: RaceState, error: EngineError | None = None) -> None:
        self._view = replace(self._view, state=state, error=error)
        self._cancel_lap()
        self.changed.emit()

    def _cancel_lap(self) -> None:
        own = self._own
        self._own = None
        if own is not None:
            self._engine.cancel(own)


def _tokens_of(event: Finished) -> tuple[int, ...]:
    """With its end, if it came to one, so that a shorter text differs from a longer one."""
    return (*event.tokens, _END) if event.reason is FinishReason.STOP else event.tokens


def _token_s(stats: RequestStats) -> float:
    """Seconds a token of this lap, from its first to its last."""
    return max(stats.decode_s, 1e-9) / (stats.generated_tokens - 1)
