"""`--shake`: each test of tests/ui many times, in random order, on a busy machine where nothing comes when it should.

Timers take up to 30 ms longer, and so does what other threads post. Signals queued in one thread come as ever.
"""

from __future__ import annotations

import copy
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from PySide6.QtCore import QTimer
from shiboken6 import isValid

from app.bridge import EngineBridge, GuiCalls

_MOST_MS = 30
_LONGEST_MS = 2**31 - 1
_BUSY = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
_FOLDER = "tests/ui/"


def repeated(items: list[pytest.Item], seed: int, times: int) -> list[pytest.Item]:
    """In random order; each has a name of its own, by which pytest-xdist tells them apart."""
    shaken = []
    for item in items:
        for number in range(1, times + 1 if item.nodeid.startswith(_FOLDER) else 0):
            again: Any = copy.copy(item)
            again._id = again.parent.id.child(f"{item.name}#{number}")
            again._initrequest()
            shaken.append(again)
    random.Random(seed).shuffle(shaken)
    return shaken


@contextmanager
def busy_core() -> Iterator[None]:
    busy = subprocess.Popen([sys.executable, "-c", _BUSY])
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


def delay_all(patch: pytest.MonkeyPatch, dice: random.Random) -> None:
    """A timer still tells the interval that it was given."""
    given: WeakKeyDictionary[QTimer, int] = WeakKeyDictionary()
    start, interval, set_interval, single_shot = QTimer.start, QTimer.interval, QTimer.setInterval, QTimer.singleShot

    def given_interval(timer: QTimer) -> int:
        return given[timer] if timer in given else interval(timer)

    def start_later(timer: QTimer, *ms: int) -> None:
        if not isValid(timer):  # Qt disconnects its own slots of what is deleted, and does not disconnect this one
            return
        given[timer] = ms[0] if ms else given_interval(timer)
        start(timer, min(given[timer] + dice.randint(0, _MOST_MS), _LONGEST_MS))

    def set_another(timer: QTimer, ms: int) -> None:
        given.pop(timer, None)
        set_interval(timer, ms)

    def shoot_later(ms: int, *rest: Any) -> None:
        single_shot(ms + dice.randint(0, _MOST_MS), *rest)

    def delay_posts(kind: type[GuiCalls | EngineBridge]) -> None:
        post: Callable[[Any, Any], None] = kind.post

        def post_later(to: GuiCalls | EngineBridge, what: Any) -> None:
            if threading.current_thread() is not threading.main_thread():
                time.sleep(dice.randint(0, _MOST_MS) / 1000)
            post(to, what)

        patch.setattr(kind, "post", post_later)

    delay_posts(GuiCalls)
    delay_posts(EngineBridge)
    patch.setattr(QTimer, "start", start_later)
    patch.setattr(QTimer, "interval", given_interval)
    patch.setattr(QTimer, "setInterval", set_another)
    patch.setattr(QTimer, "singleShot", staticmethod(shoot_later))
