"""What a reply's figures say when its draft changes while it is written, and what is left of the draft."""

from __future__ import annotations

import gc
import weakref

import pytest

from engine import Speculation
from engine.drafting.costs import Calibration
from tests.engine.batch_harness import Harness, Recorder, asking, draft, model, prompt

ROUND_S = 1.0
FREE = Calibration({1: ROUND_S, 33: ROUND_S}, {"draft": 0.0})
DEAR = Calibration({1: ROUND_S, 33: ROUND_S}, {"draft": 0.5})


def started(calibration: Calibration) -> tuple[Harness, Recorder]:
    harness = Harness(model("qwen3"), draft())
    harness.scheduler.pair.history.costs.calibration = calibration
    recorder = harness.submit(asking(prompt(9), 60, speculation=Speculation.fixed(4)))
    harness.until_written(recorder, 20)
    return harness, recorder


def test_rounds_are_priced_by_the_draft_that_they_had() -> None:
    """A dear one comes after one that cost nothing: only its own rounds are dear, and they are."""
    harness, recorder = started(FREE)
    before = recorder.reply.stats.freeze()
    assert before.plain_rounds == pytest.approx(before.rounds - 1, rel=0.3)
    harness.scheduler.set_draft(draft())
    harness.scheduler.pair.history.costs.calibration = DEAR
    harness.run_dry()
    after = recorder.finished.stats
    drafted = after.draft_rounds - before.draft_rounds
    assert drafted > 3
    assert after.plain_rounds > before.plain_rounds + 1.5 * drafted


def test_nothing_is_kept_of_a_draft_that_was_replaced() -> None:
    """Its caches, too, are of no use to another one, and would hold its weights."""
    former = draft.__wrapped__()  # other tests keep the shared one
    left = weakref.ref(former.network)
    harness = Harness(model("qwen3"), former)
    harness.submit(asking(prompt(9), 20, speculation=Speculation.fixed(4)))
    harness.run_dry()
    del former
    harness.scheduler.set_draft(None)
    gc.collect()
    assert left() is None
