"""A thread that does jobs one after another, and hands each outcome to the thread that owns the app's data."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")
Deliver = Callable[[Callable[[], None]], None]  # has a call made on the owner's thread


class Worker:
    """`done` or `failed` of a job is called through `deliver`, in the order of the jobs."""

    def __init__(self, name: str, deliver: Deliver) -> None:
        self._deliver = deliver
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def ask(self, job: Callable[[], T], done: Callable[[T], None], failed: Callable[[Exception], None]) -> None:
        self._jobs.put(lambda: self._do(job, done, failed))

    def close(self, timeout_s: float) -> bool:
        """Ends the thread after the jobs that were asked for; False when that takes longer."""
        self._jobs.put(None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def _do(self, job: Callable[[], T], done: Callable[[T], None], failed: Callable[[Exception], None]) -> None:
        try:
            outcome = job()
        except Exception as error:  # noqa: BLE001  whoever asked is told
            caught = error.with_traceback(None)
            self._deliver(lambda: failed(caught))
        else:
            self._deliver(lambda: done(outcome))
