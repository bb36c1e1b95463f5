"""Waiting in the GUI thread of a child process, whose event loop goes on meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QEventLoop, QTimer

_PATIENCE_S = 120.0


def until(condition: Callable[[], bool]) -> None:
    """Looks after each turn of the event loop."""
    loop, look = QEventLoop(), QTimer(interval=1)
    patience = time.monotonic() + _PATIENCE_S

    def look_after() -> None:
        if condition():
            loop.quit()
        elif time.monotonic() > patience:
            loop.exit(1)

    look.timeout.connect(look_after)
    look.start()
    try:
        if not condition() and loop.exec():
            raise TimeoutError
    finally:  # its slots would keep both for good, and they are deleted once the outer loop goes on
        look.stop()
        look.deleteLater()
        loop.deleteLater()


def after(ms: int) -> None:
    loop = QEventLoop()
    QTimer.singleShot(ms, loop.quit)
    loop.exec()
