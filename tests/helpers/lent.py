"""A machine that lends its memory: a process below this one, with an identity of its own, on loopback."""

from __future__ import annotations

import queue
from collections.abc import Callable
from pathlib import Path

from engine import Helping, HubSource, LendingProcess, LendingState, pair_machines
from tests.helpers.engine_client import PATIENCE_S
from tests.helpers.ports import free_port

GB = 10**9


class Lent:
    def __init__(self, folder: Path) -> None:
        self.states: queue.SimpleQueue[LendingState] = queue.SimpleQueue()
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.process = LendingProcess(folder / "lends", self.address, self.states.put)
        self.process.start()

    def offer(self, *folders: Path) -> None:
        self.process.offer({str(folder): HubSource() for folder in folders}, 3 * GB)

    def until(self, holds: Callable[[LendingState], object]) -> LendingState:
        while not holds(state := self.states.get(timeout=PATIENCE_S)):
            pass
        return state

    def paired(self, own: Path) -> Helping:
        self.process.invite()
        code = self.until(lambda state: state.code).code
        return Helping(pair_machines(own, self.address, code), str(own))
