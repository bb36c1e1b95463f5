"""Threads that run jobs one after another, and deliver each result on the thread that owns the app's data."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Protocol, TypeVar

RETRY_INTERVAL_MS = 2000  # what the disk has refused is tried again after this long
_CLOSE_S = 3.0  # for jobs that take no longer than a small file

T = TypeVar("T")
Deliver = Callable[[Callable[[], None]], None]  # has a call made on the owner's thread


def ignore(_outcome: object) -> None:
    """For a result that is not needed."""


class JobQueue(Protocol):
    """Runs a job, then calls `done` or `failed` on the owner's thread."""

    def ask(self, job: Callable[[], T], done: Callable[[T], None], failed: Callable[[Exception], None]) -> None: ...


class JobPanicked(Exception):
    """A job raised something else than an Exception, such as a panic of an extension."""


class JobThread:
    """`done` or `failed` of a job is called through `deliver`, in the order of the jobs."""

    def __init__(self, name: str, deliver: Deliver) -> None:
        self._deliver = deliver
        self.pending = 0  # jobs without an answer, as counted on the owner's thread
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def ask(self, job: Callable[[], T], done: Callable[[T], None], failed: Callable[[Exception], None]) -> None:
        self.pending += 1
        self._jobs.put(lambda: _do(job, done, failed, self._answer))

    def close(self, timeout_s: float = _CLOSE_S) -> bool:
        """End the thread after the queued jobs; False if that takes longer."""
        self._jobs.put(None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _answer(self, call: Callable[[], None]) -> None:
        def answered() -> None:
            self.pending -= 1
            call()

        self._deliver(answered)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


def ask_once(
    name: str,
    deliver: Deliver,
    job: Callable[[], T],
    done: Callable[[T], None],
    failed: Callable[[Exception], None],
) -> None:
    """Run on a thread that ends with the job, however long it waits."""
    worker = JobThread(name, deliver)
    worker.ask(job, done, failed)
    worker.close(0.0)


class _InPlace:
    """For programs without threads, such as one that only prepares a profile."""

    def ask(self, job: Callable[[], T], done: Callable[[T], None], failed: Callable[[Exception], None]) -> None:
        _do(job, done, failed, lambda call: call())


IN_PLACE = _InPlace()


def _do(job: Callable[[], T], done: Callable[[T], None], failed: Callable[[Exception], None], deliver: Deliver) -> None:
    try:
        outcome = job()
    except BaseException as error:  # noqa: BLE001  the caller gets it, and the thread goes on with the next jobs
        caught = (error if isinstance(error, Exception) else JobPanicked(type(error).__name__)).with_traceback(None)
        deliver(lambda: failed(caught))
    else:
        deliver(lambda: done(outcome))
