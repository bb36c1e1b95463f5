"""The own side of a rank's or a station's process, which ends when the other side of its socket does."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from engine.api.errors import InternalError, as_engine_error
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
        leave_texts_out()
        work()
    except (WireEnded, WireBroken):
        return 0
    except BaseException as error:  # noqa: BLE001  the other side reports it
        known = as_engine_error(error)
        named = error if isinstance(known, InternalError) else known
        wire.send(RankBroken(type(named).__name__, str(error)[:500]))
    return 1


def leave_texts_out() -> None:
    """Before the first import of mlx-lm in this process, which runs a network and reads no text.

    WORKAROUND: mlx-lm's `__init__` imports its command line, and `mlx_lm.utils`, which builds networks, imports a
    tokenizer's wrapper with transformers, and a function that downloads. Networks use none of them. MEASURED: importing
    them takes more than twice as long as all else that a rank imports, and as much memory.
    """
    spec = importlib.util.find_spec("mlx_lm")
    assert spec is not None
    texts = ModuleType("mlx_lm.tokenizer_utils")
    vars(texts).update(TokenizerWrapper=None, load=None)
    hub = ModuleType("huggingface_hub")
    vars(hub).update(snapshot_download=None)
    sys.modules |= {"mlx_lm": importlib.util.module_from_spec(spec), texts.__name__: texts, hub.__name__: hub}


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
