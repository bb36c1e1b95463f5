"""The engine's command line, for a program that has one of its own."""

from __future__ import annotations

import importlib
import queue
from collections.abc import Callable, Sequence

from engine.api.events import Event
from engine.api.types import Request
from engine.runtime.service import Engine

# What `generate` does with its request once the models are loaded; returns the exit code. It may raise EngineError.
WriteReply = Callable[[Engine, Request, queue.SimpleQueue[Event]], int]


def run_command_line(arguments: Sequence[str], write: WriteReply | None = None, key: str | None = None) -> int:
    """As `python -m engine` with these arguments, in this process; returns the exit code.

    `write`: what `generate` does in place of writing one reply. `key`: of `serve`, unless the arguments name a file.
    """
    try:
        return int(importlib.import_module("engine.__main__").main(arguments, write, key))
    except SystemExit as end:  # of the parser
        return end.code if isinstance(end.code, int) else 1
