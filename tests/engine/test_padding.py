"""Forwards that are wider than their tokens, because that is faster: nothing of it is seen but the time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from engine import Event, Finished, Request, RequestId, Sampling, Speculation
from engine.caches.base import CacheSet
from engine.runtime.queued import QueuedReply
from engine.runtime.scheduler import Scheduler
from tests.helpers.loading import load_draft, load_model
from tests.helpers.samples import sampled
from tests.helpers.tiny_families import FAMILIES

PROMPT = tuple(5 + 7 * number % 90 for number in range(40))


def to_fours(width: int) -> int:
    """As on a device with tiles of four."""
    return width if width > 33 else 4 * ((width + 3) // 4)


def written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, speculation: Speculation, sampling: Sampling, *, padded: bool
) -> tuple[tuple[int, ...], set[int]]:
    """The tokens of a reply, and how wide its forwards were."""
    scheduler, events, widths = Scheduler(), list[Event](), set[int]()
    main = load_model(folder)
    scheduler.set_main(main)
    scheduler.set_draft(load_draft(folder, main))
    if padded:
        monkeypatch.setattr(scheduler.pair.history.costs, "padded", to_fours)
    forward = CacheSet.forward

    def recorded(caches: CacheSet, width: int, run: Any) -> mx.array:
        widths.add(width)
        return forward(caches, width, run)

    with monkeypatch.context() as patch:
        patch.setattr(CacheSet, "forward", recorded)
        asked = Request(tokens=PROMPT, sampling=sampling, max_tokens=24, speculation=speculation)
        scheduler.add(QueuedReply(RequestId(1), asked, events.append))
        while scheduler.busy:
            scheduler.step()
    finished = events[-1]
    assert isinstance(finished, Finished)
    return finished.tokens, widths


@pytest.mark.costly
@pytest.mark.parametrize(
    ("kind", "speculation", "sampling"),
    sampled(
        list(FAMILIES),
        {"drafted": Speculation.fixed(2), "plain": Speculation.off()},
        {"greedy": Sampling(temperature=0), "warm": Sampling(temperature=0.9, seed=4)},
        rest=pytest.mark.slow,
    ),
)
def test_padding_changes_no_token(
    folders: dict[str, Path], kind: str, speculation: Speculation, sampling: Sampling, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain steps with the next one in flight, verified drafts and the tail of the prompt alike."""
    tokens, widths = written(folders[kind], monkeypatch, speculation, sampling, padded=False)
    padded_tokens, padded_widths = written(folders[kind], monkeypatch, speculation, sampling, padded=True)

    assert padded_tokens == tokens
    assert len(set(tokens)) > 10
    assert 4 in padded_widths - widths  # of the draft's own forwards some are narrow still
