"""A rank's process that lies, is late or of another version: `python -m` with what it does, and when.

Arguments: KIND NUMBER, then those of the worker. At the NUMBERth step it sends another digest ("lies"), sends none of
it for a while ("late"), or ends as if its own sum had failed ("fails"). "differs": it says that it is of another
version.
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from engine.cluster import worker
from engine.cluster.operations import digest_of_states
from engine.machines import process, versions
from engine.models import children

LATE_S = 1.5
_FOLDER = str(Path(__file__).resolve().parents[2])


def odd_ranks(monkeypatch: pytest.MonkeyPatch, kind: str, number: int, place: int) -> None:
    """Of the next two that start, that of this place; those after them are as they should be."""
    started = itertools.count()
    command = children.command

    def odd(child: str, *arguments: str) -> list[str]:
        if next(started) != place:
            return command(child, *arguments)
        return [sys.executable, "-P", "-m", "tests.helpers.odd_rank", kind, str(number), *arguments]

    monkeypatch.setattr(process, "command", odd)


def main(kind: str, number: int, *arguments: str) -> int:
    if kind == "differs":
        vars(versions)["versions_here"] = lambda: ("0", "0", "0")
        return worker.run(*arguments)
    from engine.cluster import rank  # imports MLX

    steps = itertools.count(1)

    def odd(states: Any) -> str:
        if next(steps) != number:
            return digest_of_states(states)
        if kind == "fails":
            raise RuntimeError("a sum")
        if kind == "late":
            time.sleep(LATE_S)
        return "" if kind == "lies" else digest_of_states(states)

    vars(rank)["digest_of_states"] = odd
    return worker.run(*arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:]))
