"""Finds what makes the main thread wait: for the disk, for another thread, for a while.

Python's own calls for that are replaced by ones that note who called them there. A read of a small file is none, nor is
the start of a thread, which waits until that runs.
"""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_WAITS: list[tuple[Any, str]] = [
    (os, "fsync"),
    (os, "fdatasync"),
    (os, "waitpid"),
    (time, "sleep"),
    (threading.Thread, "join"),
    (threading.Condition, "wait"),  # also of events
]


@contextmanager
def gui_waits() -> Iterator[list[str]]:
    """The calls that are made meanwhile, each with the few lines of the app that led there."""
    met: list[str] = []
    with_original = [(owner, name, getattr(owner, name)) for owner, name in _WAITS if hasattr(owner, name)]
    for owner, name, original in with_original:
        setattr(owner, name, _noting(original, name, met))
    try:
        yield met
    finally:
        for owner, name, original in with_original:
            setattr(owner, name, original)


def _noting(original: Callable[..., Any], name: str, met: list[str]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        if threading.current_thread() is threading.main_thread():
            frames = traceback.extract_stack(limit=8)[:-1]
            if not any(each.name == "start" and each.filename == threading.__file__ for each in frames):
                places = [f"{each.filename.rpartition('/')[2]}:{each.lineno}" for each in frames]
                met.append(f"{name} by {' '.join(places)}")
        return original(*arguments, **options)

    return call
