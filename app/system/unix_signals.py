"""Ctrl-C and `kill` end the app as closing its window does, so that nothing that was written is lost."""

from __future__ import annotations

import signal
import socket
import threading

from PySide6.QtCore import QObject, Signal

from app.system.deadline import end_process_after


class Interrupts(QObject):
    """Emits `received` on SIGINT and SIGTERM, and sees to it that the process ends even where nobody hears that.

    A thread waits for the signal's byte, because Python runs no signal handler while Qt or MLX is at work.
    """

    received = Signal()

    def __init__(self, deadline_s: float, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._deadline_s = deadline_s
        self._out, self._in = socket.socketpair()
        self._in.setblocking(False)

    def install(self) -> None:
        signal.set_wakeup_fd(self._in.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda _number, _frame: None)
        threading.Thread(target=self._wait, name="interrupts", daemon=True).start()

    def _wait(self) -> None:
        while self._out.recv(64):
            end_process_after(self._deadline_s)
            self.received.emit()
