"""Other people's chats, read by a process of its own (`child`) into a file that waits to be imported."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.portable.problems import NotImported, WhyNotRead
from app.system.limited_child import ChildFailed, Limits, Stop, lines_of

LIMITS = Limits(cpu_s=1200, memory_bytes=3 << 30, output_bytes=2 << 30)
_MOST_PROBLEMS = 1000  # kept; more are only counted


@dataclass(frozen=True, slots=True)
class Found:
    """What some files hold. `spool` has a chat in each line, in our own form."""

    spool: Path
    origins: tuple[str, ...]
    messages: int
    problems: tuple[NotImported, ...]
    more_problems: int = 0
    presets: tuple[dict[str, Any], ...] = ()


def find_chats(paths: Sequence[Path], spool: Path, stop: Stop, progress: Callable[[float], None]) -> Found:
    """Raises Stopped when `stop` is asked. What cannot be read is among the problems."""
    notes = _Notes(progress)
    try:
        for line in lines_of("--read-chats", [str(spool), *map(str, paths)], LIMITS, stop):
            notes.take(json.loads(line))
    except (ChildFailed, ValueError):
        notes.problems.append(NotImported("", WhyNotRead.TOO_MUCH))
    kept = tuple(notes.problems[:_MOST_PROBLEMS])
    more = len(notes.problems) - len(kept)
    return Found(spool, tuple(notes.origins), notes.messages, kept, more, tuple(notes.presets))


class _Notes:
    def __init__(self, progress: Callable[[float], None]) -> None:
        self._progress = progress
        self.origins: list[str] = []
        self.messages = 0
        self.presets: list[dict[str, Any]] = []
        self.problems: list[NotImported] = []

    def take(self, said: dict[str, Any]) -> None:
        if "done" in said:
            self._progress(min(1.0, said["done"] / max(1, said["all"])))
        elif "origin" in said:
            self.origins.append(said["origin"])
            self.messages += said["messages"]
        elif "preset" in said:
            self.presets.append(said["preset"])
        elif "why" in said:
            self.problems.append(NotImported(said["file"], WhyNotRead(said["why"]), said.get("chat", "")))
