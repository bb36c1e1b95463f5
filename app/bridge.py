"""Delivers the engine's events, and calls that other threads ask for, on the GUI thread.

`EngineBridge.post` is the sink that the engine and the model store get; any thread may call it. It appends to a queue
and wakes the GUI thread, which emits `text_arrived` or `event_arrived` for each queued event: at most every 33 ms while
text streams, and at once when something begins or ends.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from engine import (
    DownloadProgress,
    DrafterExamined,
    Event,
    ModelLoadProgress,
    ModelMeasured,
    PromptProgress,
    StationChanged,
    TextDelta,
)

DRAIN_INTERVAL_MS = 33

# These may wait for the next drain, where neighbouring text and the news of one prompt or download are joined.
_FREQUENT = (TextDelta, PromptProgress, DownloadProgress, ModelLoadProgress)


class GuiCalls(QObject):
    """Makes calls on the GUI thread, in the order in which they were posted."""

    _posted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._closed = False
        self._posted.connect(self._make, Qt.ConnectionType.QueuedConnection)

    def post(self, call: Callable[[], None]) -> None:
        """Any thread may call this; it returns at once."""
        if not self._closed:
            self._posted.emit(call)

    def close(self) -> None:
        """GUI thread only. Calls that were not made yet are dropped, and so are later ones."""
        self._closed = True

    @Slot(object)
    def _make(self, call: Callable[[], None]) -> None:
        if not self._closed:
            call()


class EngineBridge(QObject):
    text_arrived = Signal(object)  # TextDelta; apart, for most controllers have no use for it
    event_arrived = Signal(object)  # any other

    _wake = Signal()
    _wake_now = Signal()

    def __init__(
        self,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
        note: Callable[[Event], None] | None = None,
    ) -> None:
        """`note` gets each event on the thread that posts it, which goes on when it has returned."""
        super().__init__(parent)
        self._note = note
        self._clock = clock
        self._queue: deque[Event] = deque()
        self._armed = False
        self._closed = False
        self._drained_at = -math.inf
        self._timer = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._drain_when_due)
        self._wake.connect(self._drain_when_due, Qt.ConnectionType.QueuedConnection)
        self._wake_now.connect(self._drain, Qt.ConnectionType.QueuedConnection)

    def post(self, event: Event) -> None:
        """Any thread may call this. But for what `note` does it returns at once, and never raises."""
        if self._closed:
            return
        if self._note is not None:
            self._note(event)
        self._queue.append(event)
        if not isinstance(event, _FREQUENT):
            self._wake_now.emit()
        elif not self._armed:
            # `_drain` disarms before it takes events, so this event is either taken there or wakes the thread again.
            self._armed = True
            self._wake.emit()

    def post_figures(self, event: Event) -> None:
        """For `subscribe`: what the engine says by itself. All else comes by the sink of a call."""
        if isinstance(event, ModelMeasured | DrafterExamined | StationChanged):
            self.post(event)

    def close(self) -> None:
        """GUI thread only. Drops undelivered events; later ones are ignored."""
        self._closed = True
        self._timer.stop()
        self._queue.clear()

    @Slot()
    def _drain_when_due(self) -> None:
        wait_ms = DRAIN_INTERVAL_MS - (self._clock() - self._drained_at) * 1000
        if wait_ms <= 0:
            self._drain()
        elif not self._timer.isActive():
            self._timer.start(int(wait_ms) + 1)

    @Slot()
    def _drain(self) -> None:
        self._timer.stop()
        self._armed = False
        taken = [self._queue.popleft() for _ in range(len(self._queue))]
        for event in merged(taken):
            if self._closed:  # a slot may close the bridge
                return
            signal = self.text_arrived if isinstance(event, TextDelta) else self.event_arrived
            signal.emit(event)
        self._drained_at = self._clock()


def merged(events: Iterable[Event]) -> list[Event]:
    """Joins neighbouring deltas and progress of one request or download; keeps the order within each."""
    kept: list[list[Event]] = []
    latest: dict[tuple[str, int], int] = {}
    for event in events:
        source = _source(event)
        at = latest.get(source) if source else None
        if at is not None and _join(kept[at][-1], event):
            kept[at].append(event)
            continue
        if source:
            latest[source] = len(kept)
        kept.append([event])
    return [each[0] if len(each) == 1 else _joined(each) for each in kept]


def _source(event: Event) -> tuple[str, int] | None:
    if hasattr(event, "request"):
        return "request", event.request
    if hasattr(event, "download"):
        return "download", event.download
    return None


def _join(first: Event, second: Event) -> bool:
    if isinstance(first, TextDelta):
        return isinstance(second, TextDelta) and first.kind is second.kind
    return isinstance(first, PromptProgress | DownloadProgress) and type(first) is type(second)


def _joined(events: Sequence[Event]) -> Event:
    """Of one kind; the latest progress has all of it."""
    deltas = [each for each in events if isinstance(each, TextDelta)]
    if not deltas:
        return events[-1]
    text = "".join(each.text for each in deltas)
    return replace(deltas[-1], text=text, marks=tuple(mark for each in deltas for mark in each.marks))
