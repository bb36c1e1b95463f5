"""Processes of tool servers: finding all that a server has started, and ending them.

A server's processes have a mark in their environment. A process may have another environment, or macOS may not show it,
so descendants and members of process groups count as well, and those that were noted while they were seen.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MARK = "HUNCH_TOOL_SERVER"  # the environment variable
MOST_NOTED = 512
_PROC = Path("/proc")
_PS = ("ps", "-axww", "-E", "-o", "pid=,ppid=,pgid=,lstart=,command=")
_PS_FIELDS = 8  # before the command: the start has five
_LOOK_S = 0.02
_ROUNDS = 50  # of killing what appears meanwhile


@dataclass(frozen=True, slots=True)
class Process:
    id: int
    parent: int
    group: int
    started: str  # differs from that of another process with this id
    marked: bool


def family(mark: str, noted: Mapping[int, str]) -> dict[int, str]:
    """Start times by process id: marked processes, noted ones, their descendants and their groups' members."""
    running = _running(mark)
    own = {0, 1, os.getpid(), os.getppid()}
    others = [each for each in running if each.id not in own]
    found = {each.id for each in others if each.marked or noted.get(each.id) == each.started}
    while True:
        groups = {each.group for each in others if each.id in found} - {os.getpgrp()}
        more = {each.id for each in others if each.parent in found or each.group in groups} - found
        if not more:
            return {each.id: each.started for each in others if each.id in found}
        found |= more


def is_child(mark: str, parent: int) -> bool:
    """Whether a process with this mark is a child of that one: of a process that has ended it is another's child."""
    return any(each.marked and each.parent == parent for each in _running(mark))


def end_family(mark: str, noted: Mapping[int, str], patience_s: float) -> dict[int, str]:
    """End them: SIGTERM, and SIGKILL for what is left after `patience_s`. Returns those that cannot be ended."""
    left = family(mark, noted)
    _send(left, signal.SIGTERM)
    until = time.monotonic() + patience_s
    while left and time.monotonic() < until:
        time.sleep(_LOOK_S)
        left = family(mark, dict(noted) | left)
    for _ in range(_ROUNDS):
        if not left:
            break
        _send(left, signal.SIGKILL)
        time.sleep(_LOOK_S)
        left = family(mark, dict(noted) | left)
    return left


def parse_ps(text: str, mark: str) -> list[Process]:
    """From macOS's ps, which prints the environment after the command."""
    found = []
    sign = f"{MARK}={mark}"
    for line in text.splitlines():
        fields = line.split(None, _PS_FIELDS)
        if len(fields) >= _PS_FIELDS and all(each.isdigit() for each in fields[:3]):
            rest = fields[_PS_FIELDS] if len(fields) > _PS_FIELDS else ""
            number, parent, group = map(int, fields[:3])
            started = " ".join(fields[3:_PS_FIELDS])
            found.append(Process(number, parent, group, started, bool(mark) and sign in rest))
    return found


def _running(mark: str) -> list[Process]:
    return _linux(mark) if (_PROC / "self" / "stat").exists() else parse_ps(_ps(), mark)


def _ps() -> str:
    environment = {"PATH": "/bin:/usr/bin", "LC_ALL": "C", "TZ": "UTC"}  # so that start times stay the same text
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(_PS, env=environment, capture_output=True, timeout=5, check=False)
        return done.stdout.decode("utf-8", "replace")
    return ""


def _linux(mark: str) -> list[Process]:
    found = []
    sign = f"{MARK}={mark}".encode()
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            with suppress(OSError, ValueError, IndexError):  # it has ended, or is another user's
                fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
                if fields[0] in (b"Z", b"X"):
                    continue
                marked = bool(mark) and sign in (folder / "environ").read_bytes()
                found.append(Process(int(folder.name), int(fields[1]), int(fields[2]), fields[19].decode(), marked))
    return found


def _send(processes: Mapping[int, str], number: signal.Signals) -> None:
    for each in processes:
        with suppress(OSError):
            os.kill(each, number)
