"""A time limit for Python code whose duration depends on files that are not trusted; it can also be aborted.

Checked at every line, in some libraries at every call. So only a single line that computes for long can delay it; the
inputs of such lines must be bounded beforehand. Costs a fraction of a microsecond a line.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

_BETWEEN_S = 0.002  # between two checks
# These modules call functions for each part of what they are given, so checking calls is enough. MEASURED: loading a
# tokenizer with 20,000 added tokens takes 1.2 s of processor time instead of 1.9 s, and 0.5 s unwatched; a tiny model
# 46 ms instead of 72 ms, and 23 ms unwatched.
_BY_CALLS = ("copy", "enum", "functools", "inspect", "mlx.nn.layers.base", "mlx.utils", "typing")

Question = Callable[[], bool]


class TooLong(BaseException):
    """Not an Exception: watched code may catch those."""


class Aborted(BaseException):
    """The result is no longer needed."""


def never() -> bool:
    """`aborted` for callers that never abort."""
    return False


@contextmanager
def watched(
    limit_s: float,
    aborted: Question = never,
    counted: CodeType | None = None,
    most_calls: int = sys.maxsize,
) -> Iterator[None]:
    """Limit functions called from here on.

    They raise TooLong after `limit_s` of this thread's processor time or `most_calls` calls of `counted`, and Aborted
    soon after `aborted` returns True.
    """
    former = sys.gettrace()
    _trace(_Watch(time.thread_time() + limit_s, aborted, counted, most_calls))
    try:
        yield
    finally:
        _trace(former)


def _trace(function: Callable[..., Any] | None) -> None:
    # WORKAROUND: where audit hooks are written in Python, as in debuggers and tests, sys.settrace lets other threads
    # run, and is refused to them until it has returned.
    while True:
        try:
            sys.settrace(function)
            return
        except RuntimeError:
            time.sleep(0)


class _Watch:
    """A trace function, of every frame."""

    __slots__ = ("_aborted", "_by_calls", "_calls_left", "_counted", "_deadline", "_next_look")

    def __init__(self, deadline: float, aborted: Question, counted: CodeType | None, most_calls: int) -> None:
        self._deadline = deadline
        self._aborted = aborted
        self._counted = counted
        self._calls_left = most_calls
        self._next_look = 0.0
        self._by_calls = {str(sys.modules[name].__file__) for name in _BY_CALLS if name in sys.modules}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> _Watch | None:
        if event == "call" and frame.f_code is self._counted:
            self._calls_left -= 1
            if self._calls_left < 0:
                raise TooLong("too many parts")
        if (now := time.monotonic()) >= self._next_look:
            self._next_look = now + _BETWEEN_S
            self._look()
        return self if frame.f_code.co_filename not in self._by_calls else None

    def _look(self) -> None:
        if self._aborted():
            raise Aborted
        if time.thread_time() > self._deadline:
            raise TooLong("takes too long")
