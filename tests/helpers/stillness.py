"""Waiting until the interface is still, in place of one turn of the event loop, which may not be enough."""

from __future__ import annotations

import time

import shiboken6
from PySide6.QtCore import QAbstractAnimation, QAbstractEventDispatcher, QEventLoop, QTimer

SHORT_MS = 50
NEVER_MS = 2**31 - 1
_PATIENCE_S = 60.0
_QUIET_TURNS = 3  # of calls by timers of no object, each may make the next one
_ALL = QEventLoop.ProcessEventsFlag.AllEvents
_WAIT = QEventLoop.ProcessEventsFlag.WaitForMoreEvents


def still() -> None:
    """Nothing is posted, no short timer runs and no animation: all that follows at once from what was done is done.

    A timer that repeats in less than 50 ms waits for something, too. Animations that repeat for good are not waited
    for, nor are other threads.
    """
    patience = time.monotonic() + _PATIENCE_S
    quiet = 0
    while quiet < _QUIET_TURNS:
        one_turn()
        moving = _moving()
        quiet = 0 if moving else quiet + 1
        if moving:
            if time.monotonic() > patience:
                raise TimeoutError(f"not still yet: {moving}")
            QAbstractEventDispatcher.instance().processEvents(_WAIT)


def one_turn() -> None:
    """Of the event loop: for tests of what happens in between."""
    QAbstractEventDispatcher.instance().processEvents(_ALL)


class _CanMove(dict[type, bool]):
    """Whether objects of a class may move; a window has ten thousand objects of few classes."""

    def __missing__(self, kind: type) -> bool:
        self[kind] = issubclass(kind, (QTimer, QAbstractAnimation))
        return self[kind]


_CAN_MOVE = _CanMove()


def _moving() -> list[object]:
    return [each for each in shiboken6.getAllValidWrappers() if _CAN_MOVE[type(each)] and _moves(each)]


def _moves(each: object) -> bool:
    if isinstance(each, QTimer):
        return each.isActive() and each.interval() < SHORT_MS
    if isinstance(each, QAbstractAnimation):
        return each.state() is QAbstractAnimation.State.Running and each.loopCount() > 0
    return False
