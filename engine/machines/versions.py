"""What two machines must have in common, to the digit: with other code they would compute other numbers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from engine.api.ranks import MachineRefusal
from engine.machines.messages import PROTOCOL, Hello

_NAMES = "Hunch", "mlx", "mlx-lm"  # in the order in which a difference is reported
_SOURCES = Path(__file__).resolve().parents[2] / "pyproject.toml"


@cache
def versions_here() -> tuple[str, ...]:
    return _own(), version("mlx"), version("mlx-lm")


def hello_here() -> Hello:
    return Hello(PROTOCOL, versions_here())


def _own() -> str:
    try:
        return version("hunch-chat")
    except PackageNotFoundError:  # a folder of sources
        return str(tomllib.loads(_SOURCES.read_text(encoding="utf-8"))["project"]["version"])


def difference(theirs: Sequence[str]) -> tuple[MachineRefusal, str] | None:
    """Whether this machine is the older one or the newer one, and what it has; None: both have the same."""
    for name, here, there in zip(_NAMES, versions_here(), (*theirs, "", "", ""), strict=False):
        if here != there:
            return MachineRefusal.OLDER if _age(here) < _age(there) else MachineRefusal.NEWER, f"{name} {here}"
    return None


def _age(named: str) -> tuple[list[int], str]:
    """Grows from version to version; two that differ have no equal one."""
    return [int(number) for number in re.findall(r"\d+", named)[:8]], named
