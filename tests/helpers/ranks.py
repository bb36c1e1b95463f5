"""Models for several processes, the processes that there are, and faults in them at chosen places."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from engine.cluster import loading
from engine.cluster.crew import Crew
from engine.cluster.process import RankProcess
from tests.families.configs import config
from tests.families.harness import build, noised
from tests.helpers.tiny_models import save


def rank_folder(family: str, folder: Path, **changes: Any) -> tuple[Path, Path]:
    """A tiny model of a family, and a draft that is often right."""
    network, told = build(family, **changes), config(family) | changes
    main = save(network, told, folder / "main")
    return main, save(noised(network), told, folder / "draft")


def processes_below(parent: int) -> list[int]:
    """Its children, but for those that have ended."""
    numbers = [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]
    return [number for number in numbers if _stat(number)[1] == str(parent) and runs(number)]


def runs(number: int) -> bool:
    return _stat(number)[0] not in {"", "Z"}


def _stat(number: int) -> list[str]:
    """State and parent of a process; empty texts if there is none."""
    with suppress(OSError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[:2]
    return ["", ""]


def open_sockets() -> int:
    targets = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # that of this list
            targets.append(str(entry.readlink()))
    return sum(target.startswith("socket:") for target in targets)


class Witness:
    """Knows the processes of ranks, and does something to the newest at a chosen operation."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started: list[RankProcess] = []
        self.act: Callable[[int], None] = self.kill
        self._left: dict[str, int] = {}
        monkeypatch.setattr(loading, "RankProcess", self._start)
        for name in ("loaded", "forward", "commit"):
            monkeypatch.setattr(Crew, name, self._noting(name, getattr(Crew, name)))

    def kill_before_forward(self, number: int) -> None:
        self.act_before("forward", number)

    def act_before(self, operation: str, number: int) -> None:
        """At the `number`th from now on, 1 is the next."""
        self._left[operation] = number

    def kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)

    def _start(self) -> RankProcess:
        self.started.append(RankProcess())
        return self.started[-1]

    def _noting(self, name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            left = self._left[name] = self._left.get(name, 0) - 1
            if left == 0:
                self.act(self.started[-1].pid)
            return run(*arguments)

        return call
