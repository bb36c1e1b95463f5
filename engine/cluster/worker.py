"""The process of a rank, which gets a socket's number. It ends when the other side of its socket does."""

from __future__ import annotations

import os
import queue
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from engine.cluster.operations import Gather, Gathered, Join, Operation
from engine.machines.child import serve
from engine.machines.launched import LAUNCHED, launched_place
from engine.machines.versions import hello_here
from engine.machines.wire import MOST_BYTES, Wire, WireBroken

MOST_WAITING = 128  # operations
JOINS = 10  # MLX waits half a minute each time


class Inbox:
    """Operations that wait to be carried out. Rank 0 asks for one forward at a time, so few do, and one has data."""

    def __init__(self) -> None:
        self._waiting = queue.SimpleQueue[tuple[Operation, bytearray]]()
        self._bytes = 0
        self._lock = threading.Lock()

    def put(self, operation: Operation, data: bytearray) -> None:
        """Raises WireBroken if it is more than rank 0 sends before it waits."""
        with self._lock:
            self._bytes += len(data)
            if self._bytes > MOST_BYTES or self._waiting.qsize() >= MOST_WAITING:
                raise WireBroken("too much waits")
        self._waiting.put((operation, data))

    def get(self) -> tuple[Operation, bytearray]:
        operation, data = self._waiting.get()
        with self._lock:
            self._bytes -= len(data)
        return operation, data


def run(descriptor: str, folder: str = "", memory_bytes: str = "0") -> int:
    """The exit status. `folder`, `memory_bytes`: as in `Rank`."""
    wire = Wire(socket.socket(fileno=int(descriptor)), Operation)
    inbox = Inbox()

    def gather(data: bytes) -> bytes:
        wire.send(Gather(), data)
        value, together = inbox.get()
        if not isinstance(value, Gathered):
            raise WireBroken(type(value).__name__)
        return bytes(together)

    def work() -> None:
        from engine.cluster.rank import Rank  # imports MLX

        rank = Rank(wire.send, folder, int(memory_bytes), gather)
        wire.send(hello_here())
        while True:
            rank.carry_out(*inbox.get())

    return serve(wire, inbox.put, work)


def follow(folder: Path) -> NoReturn:
    """Under mlx.launch: carry out what place 0 is asked, until that ends. The exit status ends the others, too."""
    from engine.cluster.fabric import passed_on
    from engine.cluster.rank import Rank

    rank = Rank(lambda *_: None, str(folder.absolute()))
    asked = Join(launched_place() or 0, LAUNCHED, ())
    try:
        for _ in range(JOINS):
            with suppress(RuntimeError):  # rank 0's engine may start its child later than MLX waits for it
                rank.carry_out(asked, bytearray())
                break
        while True:
            rank.carry_out(*passed_on(rank.group, None))
    except Exception as error:  # noqa: BLE001  of MLX, where the group has ended, or of what came then
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        os._exit(1)  # what MLX has still to do for the group would never end
