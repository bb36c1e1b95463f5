"""What a second look costs is known: the verdict tells it, and drafts that are always in doubt are parked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from engine import Finished, Sampling, Speculation
from engine.caches.hooks import hooked
from engine.decoding.round import Round, plain_round, speculative_round
from engine.drafting.calibration import WIDTHS
from engine.drafting.costs import Calibration, RoundCosts
from engine.models.loading import LoadedModel
from engine.runtime import reply
from tests.engine.batch_harness import Harness, asking, draft, model, prompt

PLAIN_S, TOKEN_S, DRAFTED_S = 0.010, 0.0005, 0.003
TOKENS = 150


def forward_s(width: int) -> float:
    return PLAIN_S + TOKEN_S * (width - 1)


class Spent:
    """Of a device where each forward takes exactly what was calibrated."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.widths: list[int] = []

    @contextmanager
    def counting(self, main: LoadedModel, small: LoadedModel) -> Iterator[None]:
        with hooked([main.network], self._main), hooked([small.network], self._draft):
            yield

    def _main(self, _: Any, run: Any, tokens: Any, cache: Any = None, **named: Any) -> Any:
        self.seconds += forward_s(tokens.shape[1])
        self.widths.append(tokens.shape[1])
        return run(tokens, cache=cache, **named)

    def _draft(self, _: Any, run: Any, tokens: Any, cache: Any = None, **named: Any) -> Any:
        self.seconds += DRAFTED_S
        return run(tokens, cache=cache, **named)


def written(rounding: float, monkeypatch: pytest.MonkeyPatch, replies: int = 3) -> list[tuple[Finished, Spent]]:
    """Replies one after another under auto, with what each took."""
    monkeypatch.setattr(RoundCosts, "observe", lambda *_: None)
    main, small = model("qwen3"), draft()
    harness = Harness(main, small)
    harness.scheduler._tuner.stop()
    times = {width: forward_s(width) for width in WIDTHS}
    harness.scheduler._history.costs.calibration = Calibration(times, {"draft": DRAFTED_S}, rounding=rounding)
    done = []
    for number in range(replies):
        spent = Spent()
        with spent.counting(main, small):
            sampling = Sampling(temperature=0.8, seed=number)
            recorder = harness.submit(asking(prompt(6, number), TOKENS, sampling, Speculation.auto()))
            harness.run_dry()
        done.append((recorder.finished, spent))
    return done


@pytest.mark.parametrize("rounding", [0.0, 0.02, 0.05, 0.2])
def test_the_verdict_counts_what_second_looks_took(rounding: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the forward over the prompt."""
    for finished, spent in written(rounding, monkeypatch):
        took = (spent.seconds - forward_s(spent.widths[0])) / PLAIN_S
        assert finished.stats.plain_rounds == pytest.approx(took, rel=0.05)
        assert bool(finished.stats.second_looks) == bool(rounding)


def test_where_every_verdict_is_in_doubt_drafting_is_parked(monkeypatch: pytest.MonkeyPatch) -> None:
    for finished, spent in written(1e9, monkeypatch):
        took = (spent.seconds - forward_s(spent.widths[0])) / PLAIN_S
        assert took < 1.05 * TOKENS
        assert finished.stats.accepted == 0


def test_after_a_round_that_left_its_next_token_in_doubt_comes_a_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wide forward could not tell it again."""
    left: list[bool] = []

    def speculated(*args: Any, **named: Any) -> Round:
        assert not (left and left[-1]), "a draft was checked where a plain round was due"
        done = speculative_round(*args, **named)
        left.append(bool(done.second_looks) and not done.decided_alone)
        return done

    def plainly(*args: Any, **named: Any) -> Round:
        left.append(False)
        return plain_round(*args, **named)

    monkeypatch.setattr(reply, "speculative_round", speculated)
    monkeypatch.setattr(reply, "plain_round", plainly)
    written(0.05, monkeypatch)
    assert left.count(True) > 5
