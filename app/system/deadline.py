"""The end of the process, whatever hangs: a step of closing that does not return must not keep a process alive."""

from __future__ import annotations

import faulthandler
import logging
import math
import os
import signal
import threading

_GRACE_S = 5  # then the system ends the process: one call may keep all other Python from running

_log = logging.getLogger(__name__)
_set = threading.Event()


def end_process_after(seconds: float) -> None:
    """Ends it then, with the stacks of all threads in the crash log; the first call counts."""
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
