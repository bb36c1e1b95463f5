"""What ends Python code that runs for too long."""

from __future__ import annotations

import copy
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.models.watch import TooLong, watched


def test_copying_is_ended_too() -> None:
    with pytest.raises(TooLong), watched(0.01):
        copy.deepcopy({number: {number: [number]} for number in range(1_000_000)})


def test_threads_are_watched_at_once() -> None:
    """Beside an audit hook in Python, as tests/conftest.py has one: there sys.settrace refuses a second thread."""

    def watch_often(_: int) -> int:
        for _ in range(1000):
            with watched(1.0):
                pass
        return 1000

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as pool:
            assert sum(pool.map(watch_often, range(3))) == 3000
    finally:
        sys.setswitchinterval(interval)
