"""An engine that a test can call as if it were synchronous, and the events that it heard."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from engine import (
    ChatEngine,
    EngineError,
    Event,
    Failed,
    Finished,
    FinishReason,
    ModelFailed,
    ModelReady,
    ModelRole,
    ModelUnloaded,
    PromptProgress,
    Queued,
    Request,
    RequestEvent,
    RequestId,
    RequestStats,
    Sink,
    SpanKind,
    TextDelta,
)

PATIENCE_S = 120.0


class Ended:
    """A request by its events, of which the last is its end."""

    events: Sequence[Event]

    @property
    def finished(self) -> Finished:
        assert isinstance(self.events[-1], Finished), self.events[-1]
        return self.events[-1]

    @property
    def failed(self) -> Failed:
        assert isinstance(self.events[-1], Failed), self.events[-1]
        return self.events[-1]

    @property
    def tokens(self) -> tuple[int, ...]:
        return self.finished.tokens


@dataclass(frozen=True)
class Outcome(Ended):
    events: tuple[RequestEvent, ...]

    @property
    def reason(self) -> FinishReason:
        return self.finished.reason

    @property
    def stats(self) -> RequestStats:
        return self.finished.stats

    def text(self, kind: SpanKind = SpanKind.ANSWER) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextDelta) and event.kind is kind)


class Recorder:
    """A sink that waits."""

    def __init__(self) -> None:
        self.heard: list[Event] = []
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def __call__(self, event: Event) -> None:
        self.events.put(event)

    def until(self, *kinds: type[Event]) -> Event:
        while True:
            self.heard.append(self.events.get(timeout=PATIENCE_S))
            if isinstance(self.heard[-1], kinds):
                return self.heard[-1]

    def finished(self) -> Finished:
        event = self.until(Finished, Failed)
        assert isinstance(event, Finished), event
        return event

    def failed(self) -> Failed:
        event = self.until(Finished, Failed)
        assert isinstance(event, Failed), event
        return event

    def error(self, kind: type[ModelFailed] | type[Failed]) -> EngineError:
        event = self.until(kind)
        assert isinstance(event, ModelFailed | Failed)
        return event.error


class EngineClient:
    def __init__(self, engine: ChatEngine) -> None:
        self.engine = engine

    def load(self, folder: Path, draft: Path | None = None, **options: Any) -> ModelReady | ModelFailed:
        """The last of the model events: of the draft, when one was asked for."""
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.engine.load(folder, events.put, draft, **options)
        result = self._model_result(events)
        return result if draft is None or isinstance(result, ModelFailed) else self._model_result(events)

    def set_draft(self, folder: Path | None) -> ModelReady | ModelFailed | None:
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.engine.set_draft(folder, events.put)
        if folder is None:
            assert isinstance(events.get(timeout=PATIENCE_S), ModelUnloaded)
            return None
        return self._model_result(events)

    def unload(self) -> None:
        events = Recorder()
        self.engine.unload(events)
        while events.until(ModelUnloaded) != ModelUnloaded(ModelRole.MAIN):
            pass

    def run(self, request: Request, on_event: Callable[[RequestId, Event], None] | None = None) -> Outcome:
        """Submit and listen to the end. `on_event` sees each event on this thread, as it comes."""
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        request_id = self.engine.submit(request, events.put)
        return self._outcome(events, None if on_event is None else partial(on_event, request_id))

    def run_all(self, requests: Sequence[Request]) -> list[Outcome]:
        """Submit them all at once, however busy the machine is, and listen to every end."""
        heard: list[queue.SimpleQueue[Event]] = [queue.SimpleQueue() for _ in requests]
        submitted = threading.Event()

        def hold(event: Event) -> None:  # as the first begins, on the engine's thread
            heard[0].put(event)
            if isinstance(event, PromptProgress):
                submitted.wait(PATIENCE_S)

        sinks: list[Sink] = [hold, *(events.put for events in heard[1:])]
        for request, sink in zip(requests, sinks, strict=True):
            self.engine.submit(request, sink)
        submitted.set()
        return [self._outcome(events) for events in heard]

    def _outcome(self, events: queue.SimpleQueue[Event], on_event: Callable[[Event], None] | None = None) -> Outcome:
        heard: list[RequestEvent] = []
        while not heard or not isinstance(heard[-1], (Finished, Failed)):
            event = events.get(timeout=PATIENCE_S)
            assert isinstance(event, RequestEvent)
            heard.append(event)
            if on_event is not None:
                on_event(event)
        assert isinstance(heard[0], Queued)
        return Outcome(tuple(heard))

    def _model_result(self, events: queue.SimpleQueue[Event]) -> ModelReady | ModelFailed:
        while True:
            event = events.get(timeout=PATIENCE_S)
            if isinstance(event, (ModelReady, ModelFailed)):
                return event
