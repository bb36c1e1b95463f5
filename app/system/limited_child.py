"""Processes that read untrusted files: starting, limiting and ending them.

The parent calls `lines_of`, which yields what the child prints; the child calls `set_limits` first and prints lines. In
an app that is its own interpreter, the first argument names the child (see `__main__`).
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

CHILDREN = {
    "--read-pages": "app.documents.pages_child",
    "--read-picture": "app.documents.picture_child",
    "--read-chats": "app.portable.child",
    "--fetch-page": "app.tools.builtin.fetch_child",
    "--tool-host": "app.tools.host.child",  # without limits and arguments, see app/tools/host_process.py
}
TOO_MUCH = 4  # exit status of a child over its memory limit
_BETWEEN_LOOKS_S = 0.003  # between two checks of its memory
_OF_LINUX = Path("/proc/self/status")
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """`address_bytes`: limit of reserved memory, if a library reserves more than it uses; 0: as memory."""

    cpu_s: int
    memory_bytes: int
    output_bytes: int
    address_bytes: int = 0


class ChildStopped(Exception):
    """The result is not wanted any more."""


class ChildFailed(Exception):
    """It exceeded a limit, or crashed."""


class ChildTookTooMuch(ChildFailed):
    """It exceeded its memory limit."""


class Stop:
    """A request to stop some work, from any thread; ends its children too."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = False
        self._children: set[subprocess.Popen[bytes]] = set()

    def ask(self) -> None:
        with self._lock:
            self._asked = True
            for child in self._children:
                child.kill()

    def check(self) -> None:
        if self._asked:
            raise ChildStopped

    def hold(self, child: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._children.add(child)
            if self._asked:
                child.kill()

    def let_go(self, child: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._children.discard(child)


def lines_of(flag: str, arguments: Sequence[str], limits: ChildLimits, stop: Stop) -> Iterator[bytes]:
    """Raises Stopped or ChildFailed; closing it early ends the child.

    It gets its arguments by a pipe: they name the user's files, and every program sees a command line.
    """
    stop.check()
    child = subprocess.Popen(
        child_command(flag),
        env=child_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    stop.hold(child)
    assert child.stdin is not None
    assert child.stdout is not None
    with closing(child.stdout) as output:
        try:
            with suppress(OSError), child.stdin as pipe:  # it may have been stopped already
                pipe.write(json.dumps(arguments).encode())
            yield from _limited(output, limits.output_bytes)
            status = child.wait()
        finally:
            stop.let_go(child)
            child.kill()
            child.wait()
    stop.check()
    if status:
        raise ChildTookTooMuch if status == TOO_MUCH else ChildFailed(str(status))


def _limited(output: object, most_bytes: int) -> Iterator[bytes]:
    read = output.readline  # type: ignore[attr-defined]
    taken = 0
    while line := read(most_bytes - taken + 1):
        taken += len(line)
        if taken > most_bytes:
            raise ChildFailed("output")
        yield line


def child_environment() -> dict[str, str]:
    more = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(_ROOT), *more])}


def child_command(flag: str) -> list[str]:
    is_python = not getattr(sys, "frozen", False) and Path(sys.executable).name.lower().startswith("python")
    return [sys.executable, *(["-P", "-m", CHILDREN[flag]] if is_python else [flag])]


def run_child(flag: str) -> int:
    """In an app that is its own interpreter."""
    main = importlib.import_module(CHILDREN[flag]).main
    return int(main() if flag == "--tool-host" else main(given()))


def given() -> list[str]:
    """The child's arguments."""
    return [str(each) for each in json.loads(sys.stdin.buffer.read())]


def set_limits(limits: ChildLimits) -> None:
    """Limits of this process, which is ended beyond them. Call it first in a child, before threads and files."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_s, limits.cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):  # not on every system; the thread below checks, too
        resource.setrlimit(resource.RLIMIT_AS, (limits.address_bytes or limits.memory_bytes,) * 2)
    threading.Thread(target=_watch_memory, args=(limits.memory_bytes,), daemon=True).start()


def _watch_memory(memory_bytes: int) -> None:
    while most_resident_bytes() < memory_bytes:
        time.sleep(_BETWEEN_LOOKS_S)
    os._exit(TOO_MUCH)


def most_resident_bytes() -> int:
    """Of this process alone: Linux has `getrusage` begin with the peak of the one that started it."""
    if _OF_LINUX.exists():
        return int(_OF_LINUX.read_bytes().split(b"VmHWM:")[1].split()[0]) << 10
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
