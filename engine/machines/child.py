"""The own side of a rank's or a station's process, which ends when the other side of its socket does."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

from engine.machines.messages import Ping, Pong, RankBroken
from engine.machines.wire import Wire, WireBroken, WireEnded
from engine.models.openblas import put_in_front


def serve(wire: Wire, take: Callable[[Any, bytearray], None], work: Callable[[], object]) -> int:
    """The exit status: 1 after a failure that was reported.

    `take`: called on a thread of its own with what arrives, but for pings. `work`: goes on until it raises.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the engine, which ends this process
    threading.Thread(target=_listen, args=(wire, take), daemon=True).start()
    try:
        put_in_front()
        work()
    except (WireEnded, WireBroken):
        return 0
    except BaseException as error:  # noqa: BLE001  the other side reports it
        wire.send(RankBroken(type(error).__name__, str(error)[:500]))
    return 1


def _listen(wire: Wire, take: Callable[[Any, bytearray], None]) -> None:
    """Answers pings whatever MLX does meanwhile, and ends the process with the socket, also in the middle of a step."""
    try:
        while True:
            wire.arrives(None)
            value, data = wire.receive()
            if isinstance(value, Ping):
                wire.send(Pong())
            else:
                take(value, data)
    except (WireEnded, WireBroken):
        pass
    finally:
        os._exit(0)
