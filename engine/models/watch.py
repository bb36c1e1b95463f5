"""An end for Python code whose length a stranger's file decides: it may take so long, and is aborted when wanted.

It is looked at from line to line, in `copy` from call to call, so nothing can hold it up but a single line that
computes for long; what such lines are given has to be bounded beforehand. Costs a fraction of a microsecond a line.
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

_BETWEEN_S = 0.002  # from look to look
# `deepcopy` calls itself for each part, so its calls are enough. MEASURED: loading a tokenizer with 20,000 added tokens
# takes 1.2 s of processor time in place of 1.9 s, and 0.5 s unwatched.
_BY_CALLS = copy.__file__

Question = Callable[[], bool]


class TooLong(BaseException):
    """No Exception: what is watched may catch those."""


class Aborted(BaseException):
    """Somebody no longer wants the result."""


def never() -> bool:
    """For callers who always want the result."""
    return False


@contextmanager
def watched(
    limit_s: float,
    aborted: Question = never,
    counted: CodeType | None = None,
    most_calls: int = sys.maxsize,
) -> Iterator[None]:
    """Raise TooLong in functions called from here on, after `limit_s` of this thread's processor time, or when the
    function `counted` has been called too often; and Aborted as soon as `aborted` says so.
    """
    former = sys.gettrace()
    sys.settrace(_Watch(time.thread_time() + limit_s, aborted, counted, most_calls))
    try:
        yield
    finally:
        sys.settrace(former)


class _Watch:
    """A trace function, of every frame."""

    __slots__ = ("_aborted", "_calls_left", "_counted", "_deadline", "_next_look")

    def __init__(self, deadline: float, aborted: Question, counted: CodeType | None, most_calls: int) -> None:
        self._deadline, self._aborted = deadline, aborted
        self._counted, self._calls_left = counted, most_calls
        self._next_look = 0.0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> _Watch | None:
        if event == "call" and frame.f_code is self._counted:
            self._count()
        if (now := time.monotonic()) >= self._next_look:
            self._next_look = now + _BETWEEN_S
            self._look()
        return self if frame.f_code.co_filename != _BY_CALLS else None

    def _count(self) -> None:
        self._calls_left -= 1
        if self._calls_left < 0:
            raise TooLong("too many parts")

    def _look(self) -> None:
        if self._aborted():
            raise Aborted
        if time.thread_time() > self._deadline:
            raise TooLong("takes too long")
