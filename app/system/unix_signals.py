"""Ctrl-C, `kill` and a closed terminal end the app as its window does, with all text; what hangs has a deadline."""

from __future__ import annotations

import ctypes
import faulthandler
import fcntl
import logging
import math
import os
import signal
import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

_log = logging.getLogger(__name__)
_GRACE_S = 5  # then the system ends the process: one call may keep all other Python from running

_set = threading.Event()


def end_process_after(seconds: float) -> None:
    """End the process after that time, with the stacks of all threads in the crash log; only the first call counts."""
    if not _set.is_set():
        _set.set()
        signal.alarm(math.ceil(seconds) + _GRACE_S)
        threading.Thread(target=_end_after, args=(seconds,), name="deadline", daemon=True).start()


def _end_after(seconds: float) -> None:
    threading.Event().wait(seconds)
    _log.error("the app did not end in %.0f s", seconds)
    if faulthandler.is_enabled():
        faulthandler.dump_traceback(all_threads=True)
    os._exit(1)


class Interrupts(QObject):
    """Emits `received` on SIGINT, SIGTERM and SIGHUP, and ends the process even if that is not handled.

    A thread waits for the signal's byte, because Python runs no signal handler while Qt or MLX is running.
    """

    received = Signal()

    def __init__(self, deadline_s: float) -> None:
        super().__init__()
        self._deadline_s = deadline_s
        self._out, self._in = os.pipe()
        os.set_blocking(self._in, False)

    def install(self, close: Callable[[], object]) -> None:
        """`close`: of a QObject, called on its thread."""
        self.received.connect(close)
        signal.set_wakeup_fd(self._in, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # as nohup sets it
                signal.signal(number, lambda _number, _frame: None)
        self._end_without_python()
        threading.Thread(target=self._wait, name="interrupts", daemon=True).start()

    def _end_without_python(self) -> None:
        """Has the system end the process where one call keeps all other Python from running, `_wait` too.

        The signal's byte raises SIGIO, whose handler is C's own `alarm`: it takes the number of the signal as seconds,
        29 on Linux and 23 on macOS. SIGALRM ends the process then, unless `_wait` has set another time.
        """
        c = ctypes.CDLL(None)
        c.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
        c.signal.restype = ctypes.c_void_p
        c.signal(signal.SIGIO, ctypes.cast(c.alarm, ctypes.c_void_p))
        try:
            fcntl.fcntl(self._out, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(self._out, fcntl.F_SETFL, fcntl.fcntl(self._out, fcntl.F_GETFL) | os.O_ASYNC)
        except OSError as error:  # of a system that does not say this of pipes: such a process is for SIGKILL there
            _log.info("a process that is stuck will not hear a signal: %s", error.strerror)

    def _wait(self) -> None:
        while os.read(self._out, 64):
            end_process_after(self._deadline_s)
            self.received.emit()
