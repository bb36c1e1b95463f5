"""A timer for what has failed and is tried again, later each time."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

FIRST_WAIT_MS = 10_000
MOST_WAIT_MS = 600_000


class RetryTimer(QTimer):
    """The wait doubles with each failure, up to ten minutes."""

    def __init__(self, retry: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent, singleShot=True, interval=FIRST_WAIT_MS)
        self.timeout.connect(retry)
        self._failures = 0

    def note_failure(self) -> None:
        self.start(min(FIRST_WAIT_MS << min(self._failures, 10), MOST_WAIT_MS))
        self._failures += 1

    def note_success(self) -> None:
        self.stop()
        self._failures = 0
