"""Threads of the engine's own, beside the engine thread."""

from __future__ import annotations

import threading


class OwnThread(threading.Thread):
    """May call sinks. What a sink calls there must not wait for the engine thread, which may wait for this one."""
