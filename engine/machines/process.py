"""A rank's or a station's process: started with one end of a socket, and ended by closing the other."""

from __future__ import annotations

import signal
import socket
import subprocess
from contextlib import suppress
from types import UnionType
from typing import Protocol

from engine.machines.launched import launched_place
from engine.machines.wire import FRAME_S, MOST_BYTES, Wire, socket_pair
from engine.models.children import command, environment
from engine.models.openblas import is_in_front

# Set outside, these would have MLX join a group by itself, or wait for the GPU in a way that can hang a Mac.
_WAITS = "MLX_METAL_FAST_SYNCH"
_UNWANTED = (_WAITS, "MLX_RANK", "MLX_HOSTFILE", "MLX_IBV_DEVICES", "MLX_JACCL_", "JACCL_")

END_S = 15.0  # that a process may take to end once it is asked to


class Helper(Protocol):
    """A rank's or a station's process, here or elsewhere."""

    wire: Wire
    machine: str  # where it runs, if that is another one
    silent_s: float | None  # for which it may say nothing; None: its end is noticed

    def end(self, patience_s: float) -> None:
        """Returns once it has ended, which it has so many seconds to do by itself."""


class ChildProcess:
    """It has no port and no file; when this process ends, however that may be, its socket closes and it ends, too."""

    machine = ""
    silent_s: float | None = None

    def __init__(self, child: str, receives: UnionType, frame_s: float = FRAME_S, most_bytes: int = MOST_BYTES) -> None:
        """As `start_child`, on this machine; the rest as in `Wire`."""
        ours, theirs = socket_pair()
        try:
            self._process = start_child(theirs, child)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self.wire = Wire(ours, receives, frame_s, most_bytes)

    @property
    def pid(self) -> int:
        return self._process.pid

    def end(self, patience_s: float) -> None:
        """Until it has ended its number is no other process's: we are its parent."""
        self.wire.close()
        end_rank(self._process, patience_s)


def start_child(connected: socket.socket, child: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A rank or a station, which ends when the other side of its socket is closed. `arguments`: of its `run`."""
    return subprocess.Popen(
        command(child, str(connected.fileno()), *arguments),
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[connected.fileno()],
    )


def end_rank(process: subprocess.Popen[bytes], patience_s: float) -> None:
    """It is asked to end before it is killed, which on a Mac can leave memory taken until the next start."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(patience_s)
        return
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)  # where it is stopped
    with suppress(subprocess.TimeoutExpired):
        process.wait(END_S)
        return
    process.kill()
    process.wait()


def _environment() -> dict[str, str]:
    """The ranks must compute alike, so all use the same matrix library."""
    unwanted = _UNWANTED if launched_place() is None else _WAITS
    kept = {name: value for name, value in environment().items() if not name.startswith(unwanted)}
    return kept | {"HUNCH_OPENBLAS": "1" if is_in_front() else "0"}
