"""What holds a scripted engine between its steps."""

from __future__ import annotations

import threading
from collections.abc import Callable

PATIENCE_S = 60.0


class Gate:
    """Open, or held: then it lets through as many steps as it is told to."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._permits: int | None = None
        self._waiting = False

    def hold(self) -> None:
        with self._condition:
            self._permits = 0

    def let_through(self, steps: int) -> None:
        with self._condition:
            self._permits = (self._permits or 0) + steps
            self._condition.notify_all()

    def open(self) -> None:
        with self._condition:
            self._permits = None
            self._condition.notify_all()

    def wake(self) -> None:
        """Somebody who waits has a reason to look around."""
        with self._condition:
            self._condition.notify_all()

    def wait(self, must_leave: Callable[[], bool]) -> bool:
        """Whether it must leave; else a step is let through."""
        with self._condition:
            passed = self._condition.wait_for(lambda: must_leave() or self._permits != 0, timeout=PATIENCE_S)
            assert passed, "a test held the gate and forgot it"
            leaves = must_leave()
            if self._permits and not leaves:
                self._permits -= 1
            return leaves
