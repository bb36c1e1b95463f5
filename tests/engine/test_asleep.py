"""A machine that sleeps, or whose clock is set, in the middle of a reply: the text stays what it is."""

from __future__ import annotations

import itertools
import time

import pytest

from engine import Speculation
from tests.engine.batch_harness import GREEDY, Harness, alone, asking, draft, model, prompt

LENGTH = 12


@pytest.mark.parametrize("hours", [1, -24 * 365, 24 * 365])
@pytest.mark.parametrize("speculation", [Speculation.off(), Speculation.auto()], ids=["off", "auto"])
def test_a_reply_goes_on_over_each_step(monkeypatch: pytest.MonkeyPatch, hours: int, speculation: Speculation) -> None:
    """Also where the time that only counts forward leaps, as on systems where it runs on asleep."""
    request = asking(prompt(40), LENGTH, GREEDY, speculation)
    expected = alone("qwen3", request).tokens
    now, forward = time.time, time.monotonic
    asleep = itertools.accumulate(itertools.repeat(3600.0 * hours))
    slept = [0.0]
    monkeypatch.setattr(time, "time", lambda: now() + slept[0])
    monkeypatch.setattr(time, "monotonic", lambda: forward() + abs(slept[0]))
    harness = Harness(model("qwen3"), draft())
    heard = harness.submit(request)
    while not heard.ended:
        harness.scheduler.step()
        slept[0] = next(asleep)
    assert heard.tokens == expected
    stats = heard.finished.stats
    assert 0 <= stats.decode_s < 600
    assert 0 <= stats.prefill_s < 600
