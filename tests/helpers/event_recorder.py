"""A ModelStore with short waits for tests, and a sink that records its events and can wait for one."""

from __future__ import annotations

import queue
import time
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from engine import DownloadFailed, DownloadFinished, DownloadId, DownloadStopped, Event, ModelStore
from engine.hub.download import Tuning
from engine.hub.stop import HubPatience

E = TypeVar("E")
TIMEOUT_S = 30.0
TERMINAL = (DownloadFinished, DownloadStopped, DownloadFailed)


class QuickStore(ModelStore):
    tuning = Tuning(
        HubPatience(5.0, 5.0, question_tries=2, file_tries=4, last_tries=4, first_delay_s=0.001, longest_delay_s=0.01),
        disk_reserve_bytes=0,
    )


class SlowStore(QuickStore):
    """Waits for a quarter of an hour before it asks again."""

    tuning = replace(
        QuickStore.tuning, patience=replace(QuickStore.tuning.patience, first_delay_s=1000, longest_delay_s=1000)
    )


class EventRecorder:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self._queue: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        self._queue.put(event)

    def wait_for(self, kind: type[E] | tuple[type[E], ...], download: DownloadId | None = None) -> E:
        """The next event of that kind; what comes before it is passed over."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            event = self._queue.get(timeout=max(0.01, deadline - time.monotonic()))
            if isinstance(event, kind) and download in {None, getattr(event, "download", None)}:
                return event

    def end_of(self, download: DownloadId) -> DownloadFinished | DownloadStopped | DownloadFailed:
        """However the download ended, now or earlier."""
        ended = [event for event in self.events if isinstance(event, TERMINAL) and event.download == download]
        while not ended:
            event = self.wait_for(TERMINAL, download)
            ended += [event] if isinstance(event, TERMINAL) else []
        return ended[0]


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below, so that a test can say that nothing else is there, but a Mac's mark for Spotlight."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".metadata_never_index"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
