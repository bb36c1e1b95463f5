"""Ctrl-C and `kill` end the app as closing its window does, so that nothing that was written is lost."""

from __future__ import annotations

import signal
import socket

from PySide6.QtCore import QObject, QSocketNotifier, Signal


class Interrupts(QObject):
    """Emits `received` on SIGINT and SIGTERM. A socket wakes Qt's event loop, because Python cannot interrupt it."""

    received = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._out, self._in = socket.socketpair()
        for end in (self._out, self._in):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._out.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_wake)

    def install(self) -> None:
        signal.set_wakeup_fd(self._in.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda _number, _frame: None)

    def _on_wake(self) -> None:
        self._out.recv(64)
        self.received.emit()
