"""Models for several processes, the processes that there are, and faults in them at chosen places."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import UnionType
from typing import Any

import pytest

from engine.cluster import loading
from engine.cluster.operations import Commit
from engine.cluster.rank_group import RankGroup
from engine.machines.process import ChildProcess
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


_MOST = 1 << 16


class Line:
    """Between two machines: a port of its own, whose connections go on to another, and can be hurt."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self._strands: list[_Strand] = []
        # Of connections from now on: bytes from the far side before they are cut, and at most so many at a time.
        self.cut_after: int | None = None
        self.most = _MOST
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def cut(self) -> None:
        """In the middle of what comes next."""
        for strand in self._strands:
            strand.left = 7

    def hush(self) -> None:
        """Nothing comes any more, and nothing ends."""
        for strand in self._strands:
            strand.hushed = True

    def close(self) -> None:
        with suppress(OSError):  # on Linux, `accept` returns only so
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()
        for strand in self._strands:
            strand.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near = self._listening.accept()[0]
                far = socket.create_connection(("127.0.0.1", self._port))
                self._strands += _Strand(near, far, self), _Strand(far, near, self, self.cut_after)


class _Strand:
    def __init__(self, source: socket.socket, sink: socket.socket, line: Line, left: int | None = None) -> None:
        self.left, self.hushed, self.most = left, False, line.most
        self._line = line
        self._ends = source, sink
        sink.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._thread = threading.Thread(target=self._carry)
        self._thread.start()

    def close(self) -> None:
        self._end()
        self._thread.join()
        for end in self._ends:
            end.close()

    def _end(self) -> None:
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _carry(self) -> None:
        source, sink = self._ends
        with suppress(OSError):
            while self.left != 0 and (data := source.recv(self.most)):
                data = data if self.left is None else data[: self.left]
                self.left = None if self.left is None else self.left - len(data)
                if not self.hushed:
                    sink.sendall(data)
                if self.most < _MOST:
                    time.sleep(0.001)
        self._end()


class Witness:
    """Knows the processes of ranks, and does something to one at a chosen operation."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started: list[ChildProcess] = []
        self.act: Callable[[int], None] = self.kill
        self.victim = -1  # of those that were started
        self._left: dict[str, int] = {}
        monkeypatch.setattr(loading, "ChildProcess", self._start)
        for operation, name in (("loaded", "loaded"), ("forward", "forward"), ("commit", "send")):
            monkeypatch.setattr(RankGroup, name, self._noting(operation, getattr(RankGroup, name)))

    def kill_before_forward(self, number: int) -> None:
        self.act_before("forward", number)

    def act_before(self, operation: str, number: int) -> None:
        """At the `number`th "loaded", "forward" or "commit" from now on, 1 is the next."""
        self._left[operation] = number

    def kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)

    @property
    def waits(self) -> bool:
        """Whether it has still something to do."""
        return any(left > 0 for left in self._left.values())

    def _start(self, child: str, receives: UnionType) -> ChildProcess:
        self.started.append(ChildProcess(child, receives))
        return self.started[-1]

    def _noting(self, operation: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if operation == "commit" and not isinstance(arguments[1], Commit):
                return run(*arguments)
            left = self._left[operation] = self._left.get(operation, 0) - 1
            if left == 0:
                self.act(self.started[self.victim].pid)
            return run(*arguments)

        return call
