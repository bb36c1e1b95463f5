"""What ends Python code that runs for too long."""

from __future__ import annotations

import copy

import pytest

from engine.models.watch import TooLong, watched


def test_copying_is_ended_too() -> None:
    with pytest.raises(TooLong), watched(0.01):
        copy.deepcopy({number: {number: [number]} for number in range(1_000_000)})
