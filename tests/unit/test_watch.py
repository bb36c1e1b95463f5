"""What ends Python code that runs for too long, and what it costs."""

from __future__ import annotations

import copy
import sys
from types import FrameType
from typing import Any

import pytest

from engine.models import watch
from engine.models.watch import TooLong, watched


def test_copying_is_ended_too() -> None:
    with pytest.raises(TooLong), watched(0.01):
        copy.deepcopy({number: {number: [number]} for number in range(1_000_000)})


def test_copying_is_looked_at_from_call_to_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tokenizer with many added tokens is loaded by copying each of them several times."""
    seen: list[str] = []
    whole = watch._Watch.__call__

    def noted(self: Any, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename == copy.__file__:
            seen.append(event)
        return whole(self, frame, event, argument)

    monkeypatch.setattr(watch._Watch, "__call__", noted)
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    many = {number: {"content": str(number)} for number in range(100)}
    sys.setprofile(count)
    copy.deepcopy(many)
    sys.setprofile(None)
    with watched(60):
        copy.deepcopy(many)
    assert set(seen) == {"call"}
    assert len(seen) <= calls
