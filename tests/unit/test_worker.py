"""A thread that does jobs: whatever one of them raises, whoever asked is told, and the next one is done."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator

import pytest

from app.system.worker import JobThread

Calls = queue.SimpleQueue[Callable[[], None]]


class _Panic(BaseException):
    """As extensions raise that are written in Rust."""


@pytest.fixture
def calls() -> Calls:
    return queue.SimpleQueue()


@pytest.fixture
def worker(calls: Calls) -> Iterator[JobThread]:
    worker = JobThread("jobs", calls.put)
    yield worker
    assert worker.close()


@pytest.mark.parametrize("error", [ValueError("words"), MemoryError(), _Panic("words"), SystemExit(3), GeneratorExit()])
def test_a_job_that_fails_is_told_and_ends_no_other(worker: JobThread, calls: Calls, error: BaseException) -> None:
    def fails() -> None:
        raise error

    failed: list[Exception] = []
    done: list[int] = []
    worker.ask(fails, lambda _: done.append(0), failed.append)
    worker.ask(lambda: 1, done.append, failed.append)
    for _ in range(2):
        calls.get(timeout=60)()
    assert done == [1]
    (told,) = failed
    assert isinstance(told, Exception)
    assert told is error or (type(error).__name__ in str(told) and "words" not in str(told))
    assert told.__traceback__ is None
