"""The next forward is started before a token is read where that saves time, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mlx.core as mx
import pytest

from engine import Speculation
from engine.decoding.round import forwards_overlap
from engine.models.loading import LoadedModel
from tests.engine.batch_harness import Harness, Recorder, alone, asking, model, prompt

ASKED = [asking(prompt(6, salt), 40, speculation=Speculation.off()) for salt in range(3)]
WRITTEN = 9  # tokens before the end


class Counted:
    """A network that knows how often it was called."""

    def __init__(self, network: Any) -> None:
        self._network, self.calls = network, 0

    def __call__(self, *args: Any, **named: Any) -> Any:
        self.calls += 1
        return self._network(*args, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)


def ended_early(patch: pytest.MonkeyPatch, replies: int) -> tuple[list[Recorder], int]:
    """Replies side by side that an end token ends, and how many forwards they took."""
    end = alone("qwen3", ASKED[0]).tokens[WRITTEN]
    patch.setattr(LoadedModel, "ends", frozenset({end}))
    network = Counted(model("qwen3").network)
    harness = Harness(replace(model("qwen3"), network=network))
    heard = [harness.submit(asked) for asked in ASKED[:replies]]
    harness.run_dry()
    return heard, network.calls


def set_overlap(monkeypatch: pytest.MonkeyPatch, overlap: bool) -> None:
    for module in ("reply", "scheduler"):
        monkeypatch.setattr(f"engine.runtime.{module}.forwards_overlap", lambda: overlap)


def test_forwards_overlap_on_a_gpu_only() -> None:
    assert forwards_overlap() == (mx.default_device() != mx.cpu)


@pytest.mark.parametrize(("overlap", "wasted"), [(False, 0), (True, 1)])
def test_the_forward_after_the_end_is_not_computed_where_nothing_is_won(
    monkeypatch: pytest.MonkeyPatch, overlap: bool, wasted: int
) -> None:
    set_overlap(monkeypatch, overlap)
    heard, forwards = ended_early(monkeypatch, 1)
    assert forwards == len(heard[0].tokens) + wasted


def test_a_batch_and_each_reply_alone_say_the_same_with_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    said, forwards = [], []
    for overlap in (False, True):
        set_overlap(monkeypatch, overlap)
        heard, calls = ended_early(monkeypatch, 3)
        said.append([recorder.tokens for recorder in heard])
        forwards.append(calls)
    assert said[0] == said[1]
    assert forwards[0] < forwards[1]
