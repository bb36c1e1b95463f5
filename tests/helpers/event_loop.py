"""Waiting in the GUI thread, whose event loop goes on meanwhile, as do other threads: `QTest.qWait` holds the lock of
the interpreter, so that the engine runs at a fraction of its speed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QEventLoop, QTimer

_PATIENCE_S = 120.0
_LOOK_MS = 5


def until(condition: Callable[[], object]) -> None:
    """Looks after each turn of the event loop."""
    loop, look = QEventLoop(), QTimer(interval=_LOOK_MS)
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
            raise TimeoutError("waited in vain")
    finally:  # its slots would keep both for good, and they are deleted once the outer loop goes on
        look.stop()
        look.deleteLater()
        loop.deleteLater()


def after(ms: int) -> None:
    loop = QEventLoop()
    QTimer.singleShot(ms, loop.quit)
    loop.exec()
