"""What ends Python code that runs for too long, and what it costs."""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType, ModuleType
from typing import Any

import pytest

from engine.models import watch
from engine.models.watch import TooLong, watched


def test_copying_is_ended_too() -> None:
    with pytest.raises(TooLong), watched(0.01):
        copy.deepcopy({number: {number: [number]} for number in range(1_000_000)})


WORK: dict[str, tuple[ModuleType, Callable[[], object]]] = {
    "copy": (copy, partial(copy.deepcopy, {number: {"content": str(number)} for number in range(100)})),
    "inspect": (inspect, partial(inspect.signature, watched)),
}


@pytest.mark.parametrize("library", WORK)
def test_some_libraries_are_looked_at_from_call_to_call(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tokenizer with many added tokens is loaded by copying each of them several times."""
    seen: list[str] = []
    whole = watch._Watch.__call__
    module, work = WORK[library]

    def noted(self: Any, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename == module.__file__:
            seen.append(event)
        return whole(self, frame, event, argument)

    monkeypatch.setattr(watch._Watch, "__call__", noted)
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    work()
    sys.setprofile(None)
    with watched(60):
        work()
    assert set(seen) == {"call"}
    assert len(seen) <= calls
