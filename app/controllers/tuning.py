"""Tuning the loaded pair: plain decoding and every way to draft, on a few texts, through the real engine.

Its requests are background ones, one at a time: a request that is paused for another reply is resumed afterwards, and
its figures leave the pause out.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.models import ModelController
from app.storage.pair_records import Measured, PairRecord, PairRecords
from app.system.worker import ignore
from app.view_models.model_list import DraftState, PairState, PairView
from app.view_models.tuning import WAYS, Content, Reading, TuningState, TuningView, Way, best_way, longer_length
from engine import (
    ChatEngine,
    EngineError,
    Event,
    Failed,
    Finished,
    FinishReason,
    Message,
    MessageRole,
    Queued,
    Request,
    RequestId,
    Sampling,
    Speculation,
    SpeculationMode,
    model_name,
    write_atomically,
)

TOKENS = 64  # of each reply that is measured
PASSES = 2  # through all of them: whatever else the machine does only makes a reply slower, so the faster one counts
_WITHOUT_MODEL = ("lookup", "forced", "prediction")  # the engine's names for guesses that no model makes
_LEAST_TOKENS = 8  # a shorter reply has no reliable speed
_LEAST_STEPS = 4  # of fewer the remaining time cannot be estimated
_SAMPLING = Sampling(temperature=0.0)
PROMPTS = {
    Content.CODE: "Write a Python function that merges two sorted lists, with a docstring and three examples.",
    Content.PROSE: "Explain in a few paragraphs why the sky is blue and sunsets are red.",
}
PROMPTS_BY_LANGUAGE = {
    "en": "Tell a short story about a lighthouse keeper and a lost boat.",
    "ko": "등대지기와 길을 잃은 배에 대한 짧은 이야기를 들려주세요.",
    "ja": "灯台守と迷った小舟の短い物語を聞かせてください。",
    "zh_CN": "讲一个关于灯塔看守人和迷航小船的短故事。",
}
_Step = tuple[Content, Way]


class TuningController(QObject):
    changed = Signal()

    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        models: ModelController,
        records: PairRecords,
        language: Callable[[], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._bridge = bridge
        self._models = models
        self._records = records
        self._language = language
        self._steps: list[_Step] = []  # still to be measured, the present one first
        self._done = 0  # steps
        self._taken_s = 0.0  # by these
        self._readings: list[Reading] = []
        self._own: RequestId | None = None  # the running request
        self._pair = ("", "")
        self._pairs = 0  # how many there were before it
        self._asked_with: dict[RequestId, int] = {}  # running replies: the same, when each was asked for
        self._error: EngineError | None = None  # why the last attempt failed
        self._too_short = False  # … or found nothing
        self._spares = False
        bridge.event_arrived.connect(self._on_event)
        models.pair_changed.connect(self._on_pair)
        models.way_chosen.connect(self._on_chosen)

    @property
    def view(self) -> TuningView:
        pair, chosen = self._models.pair, self._chosen
        can_start = self._loaded(pair) is not None
        if self._steps:
            waits = self._spares or self._models.pair_use.busy
            state = TuningState.WAITING if waits else TuningState.RUNNING
            steps = self._done + len(self._steps)
            figures = steps, self._seconds_left, tuple(self._readings)
            return TuningView(state, can_start, False, self._done, *figures, spares=self._spares)
        readings = _readings(self._records.get(*chosen))
        best, gain = best_way(readings)
        state = TuningState.DONE if readings else TuningState.IDLE
        found = TuningView(
            state, can_start, _is_loading(pair), readings=readings, best=best, gain=gain, refused=pair.error
        )
        return replace(found, error=self._error, too_short=self._too_short) if chosen == self._pair else found

    @property
    def _chosen(self) -> tuple[str, str]:
        """The pair that the card is about, loaded or not; ("", "") where there is no main model or no draft."""
        pair = self._models.pair
        return (pair.main_folder, pair.draft_folder) if pair.main_folder and pair.draft_folder else ("", "")

    @property
    def _seconds_left(self) -> float | None:
        """Of the requests themselves, without what they may have to wait."""
        return None if self._done < _LEAST_STEPS else self._taken_s / self._done * len(self._steps)

    def start(self) -> None:
        pair = self._loaded(self._models.pair)
        if pair is None or self._steps:
            return
        self._pair, self._readings, self._done, self._taken_s = pair, [], 0, 0.0
        self._forget_trouble()
        self._steps = PASSES * list(product(Content, WAYS))
        self._go_on()
        self.changed.emit()

    def set_sparing(self, on: bool) -> None:
        """While on, nothing more is measured: figures of a hot machine say little, and the work heats it."""
        self._spares = on
        if not on and self._steps and self._own is None:
            self._go_on()
        self.changed.emit()

    def cancel(self) -> None:
        """At once; what was measured before stays as it was."""
        self._steps = []
        self._stop_own()
        self.changed.emit()

    def as_json(self) -> str:
        """What is known of the chosen pair, for a file that may be passed on: it does not say where the two lie."""
        main, draft = self._chosen
        record = self._records.get(main, draft)
        pair = {"main": self._called(main), "draft": self._called(draft)}
        return json.dumps({**pair, **asdict(record)}, ensure_ascii=False, indent=2) + "\n"

    def _called(self, folder: str) -> str:
        return self._models.library.repository(folder) or model_name(Path(folder))

    def export(self, file: Path, failed: Callable[[Exception], None]) -> None:
        """`failed` gets what the disk refuses; what was there stays. A deleted folder is not made again."""
        text = self.as_json()

        def write() -> None:
            file.parent.stat()
            write_atomically(file, text, private=False)

        self._records.writer.ask(write, ignore, failed)

    # What arrives

    def _on_event(self, event: Event) -> None:
        match event:
            case Queued(request=request, background=False):
                self._asked_with[request] = self._pairs
                self.changed.emit()
            case Finished(request=request) | Failed(request=request) if request == self._own:
                self._own = None
                self._on_own_end(event)
            case Finished(request=request) | Failed(request=request):
                if self._asked_with.pop(request, None) == self._pairs:
                    self._note_gain(event)
                self.changed.emit()

    def _on_own_end(self, event: Finished | Failed) -> None:
        rate = event.stats.tokens_per_second
        if isinstance(event, Failed):
            self._error = event.error
            self.cancel()
        elif event.reason in (FinishReason.MODEL_CHANGED, FinishReason.CANCELLED):
            self.cancel()
        else:
            content, way = self._steps.pop(0)
            self._done += 1
            self._taken_s += event.stats.prefill_s + event.stats.decode_s
            if rate and event.stats.generated_tokens >= _LEAST_TOKENS:
                self._readings.append(Reading(content, way, rate))
                self._look_further()
            self._go_on() if self._steps else self._finish()
            self.changed.emit()

    def _on_pair(self) -> None:
        pair = self._loaded(self._models.pair)
        if pair is not None and pair != self._pair:
            self._steps = []
            self._stop_own()
            self._leave(self._pair)
            self._pairs += any(self._pair)
            self._forget_trouble()
            self._pair = pair
            self._apply(self._records.get(*pair))
        elif self._steps and pair is None:
            self._steps = []
            self._stop_own()
        self.changed.emit()

    # Small parts

    def _look_further(self) -> None:
        """Another length, where a pass over all kinds of text has shown it to be worth trying."""
        longer = longer_length(self._readings) if self._done >= len(Content) * len(WAYS) else None
        planned = {way for _, way in self._steps} | {reading.way for reading in self._readings}
        if longer is not None and (way := Way("fixed", longer)) not in planned:
            self._steps += PASSES * list(product(Content, (way,)))

    def _go_on(self) -> None:
        content, way = self._steps[0]
        text = PROMPTS.get(content) or PROMPTS_BY_LANGUAGE.get(self._language(), PROMPTS_BY_LANGUAGE["en"])
        request = Request(
            messages=(Message(MessageRole.USER, text),),
            sampling=_SAMPLING,
            speculation=Speculation(SpeculationMode(way.mode), way.tokens or 1),
            max_tokens=TOKENS,
            background=True,
        )
        if not self._spares:
            self._own = self._engine.submit(request, self._bridge.post)
        self.changed.emit()

    def _stop_own(self) -> None:
        own, self._own = self._own, None
        if own is not None:
            self._engine.cancel(own)

    def _forget_trouble(self) -> None:
        self._error, self._too_short = None, False

    def _finish(self) -> None:
        """The engine has learnt prices and rates from the replies themselves; how to draft stays as the user has it.

        What was known of the pair stays where nothing could be compared.
        """
        _, gain = best_way(self._readings)
        self._too_short = not gain
        if self._too_short:
            return
        chosen = self._models.pair.speculation
        measured = tuple(
            Measured(each.content, each.way.mode, each.way.tokens, each.tokens_per_second) for each in self._readings
        )
        record = PairRecord(None, measured, chosen.mode, chosen.tokens, gain)
        self._records.put_tuning(*self._pair, record)

    def _apply(self, record: PairRecord) -> None:
        """What the user has chosen for the pair, where it was tuned."""
        if record.mode:
            self._models.set_speculation(record.mode, record.tokens or self._models.pair.speculation.tokens)

    def _on_chosen(self, mode: str, tokens: int) -> None:
        """A tuned pair keeps what the user chooses for it, too."""
        pair = self._loaded(self._models.pair)
        if pair is not None and (record := self._records.get(*pair)).mode:
            self._records.put_tuning(*pair, replace(record, mode=mode, tokens=tokens))

    def _leave(self, pair: tuple[str, str]) -> None:
        """A length that was chosen for one pair is not the next one's."""
        record, present = self._records.get(*pair), self._models.pair.speculation
        if record.mode == "fixed" and (present.mode, present.tokens) == (record.mode, record.tokens):
            self._models.set_speculation("auto", present.tokens)

    def _note_gain(self, event: Finished | Failed) -> None:
        pair = self._loaded(self._models.pair)
        stats, gain = event.stats, event.stats.speed_up
        if pair is not None and gain is not None and stats.proposer not in _WITHOUT_MODEL and not stats.shared_rounds:
            self._records.put_gain(*pair, gain)

    def _loaded(self, pair: PairView) -> tuple[str, str] | None:
        """None also while the draft is on its way: until it is there the one before it drafts, or none."""
        drafts = pair.draft_folder and pair.draft_state not in (DraftState.NONE, DraftState.LOADING)
        ready = pair.state == PairState.READY and drafts and not pair.error
        return (pair.main_folder, pair.draft_folder) if ready else None


def _is_loading(pair: PairView) -> bool:
    coming = pair.state is PairState.READY and pair.draft_state is DraftState.LOADING
    return coming or (pair.state is PairState.LOADING and bool(pair.draft_folder))


def _readings(record: PairRecord) -> tuple[Reading, ...]:
    contents = {str(content) for content in Content}
    return tuple(
        Reading(Content(each.content), Way(each.mode, each.tokens), each.tokens_per_second)
        for each in record.measured
        if each.content in contents
    )
