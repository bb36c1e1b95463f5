"""Lends this machine's memory, in another process that ends with this one."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from engine.api.ranks import HubSource, LendingPhase, LendingState
from engine.models.children import LEND, command, environment

_FIELDS = frozenset(field.name for field in fields(LendingState))
_END_S = 5.0  # for a process that was asked to end


class LendingProcess:
    """Any thread. `on_state` is called on threads of its own; the last state is OFF or FAILED."""

    def __init__(self, identity: Path, address: str, on_state: Callable[[LendingState], None]) -> None:
        """`address`: to listen at, as host:port."""
        self._arguments = str(identity), address
        self._on_state = on_state
        self._commands: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._ends = False
        self._thread = threading.Thread(target=self._run, name="lending", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def offer(self, models: Mapping[str, HubSource], memory_bytes: int) -> None:
        """What others may ask for from now on: models, by folder, and memory for the layers of one."""
        listed = [(folder, source.repository, source.revision) for folder, source in models.items()]
        self._commands.put({"models": listed, "memory_bytes": memory_bytes})

    def invite(self) -> None:
        """New digits, which come with a state."""
        self._commands.put({"invite": True})

    def take_back(self) -> None:
        """End what others use; a reply that runs partly here ends with its words kept."""
        self._commands.put({"take_back": True})

    def end(self) -> None:
        """Ends what others use, and then itself, which a state says."""
        self._ends = True
        self._commands.put(None)

    def stop(self, timeout_s: float = _END_S + 1.0) -> bool:
        """Waits for that; False when it takes longer."""
        self.end()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        self._on_state(LendingState(LendingPhase.STARTING))
        try:
            process = subprocess.Popen(
                command(LEND, *self._arguments),
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            self._on_state(LendingState(LendingPhase.FAILED))
            return
        reader = threading.Thread(target=self._read, args=(process,), name="lending reads", daemon=True)
        reader.start()
        with process:
            self._write(process)
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
            reader.join()

    def _write(self, process: subprocess.Popen[bytes]) -> None:
        """Commands, until there are no more or the process has ended. Closing its input ends it."""
        assert process.stdin is not None
        try:
            with process.stdin as pipe:
                while (order := self._commands.get()) is not None:
                    pipe.write(json.dumps(order).encode() + b"\n")
                    pipe.flush()
        except OSError:  # it has ended
            return

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        last = LendingState(LendingPhase.STARTING)
        for line in process.stdout:
            if not line.endswith(b"\n"):  # it was ended in the middle of it
                break
            if (state := _state(line)) is not None:
                last = state
                self._on_state(last)
        if last.phase is not LendingPhase.FAILED:
            self._on_state(LendingState(LendingPhase.OFF if self._ends else LendingPhase.FAILED))
        self._commands.put(None)


def _state(line: bytes) -> LendingState | None:
    """As the process says it; None: a library in it has printed something."""
    try:
        said = {name: value for name, value in json.loads(line).items() if name in _FIELDS}
        return LendingState(**said | {"phase": LendingPhase(said["phase"])})
    except (ValueError, TypeError, AttributeError, KeyError):
        return None
