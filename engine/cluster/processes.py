"""The processes of the other ranks, here and on other machines."""

from __future__ import annotations

import threading
from contextlib import suppress

from engine.api.ranks import Helping
from engine.cluster.operations import Reply
from engine.machines.lent import THIS_PROCESS, started_on
from engine.machines.messages import Ping, Start
from engine.machines.process import ChildProcess
from engine.machines.relay import BEAT_S
from engine.machines.wire import Wire, WireBroken, WireEnded
from engine.models.children import RUN_RANK


class RankProcess(ChildProcess):
    machine = ""

    def __init__(self) -> None:
        super().__init__(RUN_RANK, Reply)


class LentRank:
    """A rank's process on another machine, which ends it when the connection closes."""

    def __init__(self, helping: Helping, digest: str, memory_bytes: int, process: str = THIS_PROCESS) -> None:
        """`memory_bytes`: that it needs. `process`: only tests are two at once."""
        self.machine = helping.machine.name
        self.wire = Wire(started_on(helping, Start(digest, process, memory_bytes)), Reply)
        self._ended = threading.Event()
        threading.Thread(target=self._beat, name="beats", daemon=True).start()

    def _beat(self) -> None:
        """That machine takes back what it lends when nothing arrives."""
        with suppress(WireEnded, WireBroken):
            while not self._ended.wait(BEAT_S):
                self.wire.send(Ping())

    def end(self, patience_s: float) -> None:
        """At once: the other machine waits for the process."""
        self._ended.set()
        self.wire.close()
