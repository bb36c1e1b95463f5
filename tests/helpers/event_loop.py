"""Waiting in the GUI thread of a child process, whose event loop goes on meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEventLoop, QTimer

_PATIENCE_MS = 120_000


def until(condition: Callable[[], bool]) -> None:
    """Looks after each turn of the event loop."""
    loop, look = QEventLoop(), QTimer(interval=1)

    def look_after() -> None:
        if condition():
            loop.quit()

    look.timeout.connect(look_after)
    look.start()
    QTimer.singleShot(_PATIENCE_MS, loop, lambda: loop.exit(1))
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
