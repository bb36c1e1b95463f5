"""How long all that works in slices on one transcript may take of one turn of the event loop."""

from collections.abc import Callable
from time import thread_time

from PySide6.QtCore import QObject, QTimer

_SLICE_S = 0.001  # MEASURED: 4 ms were seen in the slowest frames of scrolling


class SharedSlice(QObject):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._left_s = _SLICE_S
        self._next_turn = QTimer(self, singleShot=True, interval=0)
        self._next_turn.timeout.connect(self._renew)

    def work(self, step: Callable[[], bool]) -> bool:
        """Calls `step` as long as it says that there is more, and the slice lasts; returns whether there is more."""
        more = True
        while more and self._left_s > 0:
            started_s = thread_time()
            more = step()
            self._left_s -= thread_time() - started_s
        if not self._next_turn.isActive():  # started again and again it would never end
            self._next_turn.start()
        return more

    def _renew(self) -> None:
        self._left_s = _SLICE_S
