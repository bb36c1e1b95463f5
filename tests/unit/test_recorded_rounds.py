"""The verdict on replies that were written while other processes came and went, beside what drafting gains at rest.

`tests/bench/record.py` wrote them down on a real machine, with and without other processes beside them, and what a
token takes there without a draft.
"""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.api.stats import RequestStats, StatsRecorder
from engine.drafting.costs import Account, Calibration, RoundCosts

RECORDED: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("recorded_rounds.json").read_text(encoding="utf-8")
)
REPLIES = [(case, load) for case in RECORDED for load in case["loads"]]
PAR = 0.03  # the true times are measured, too: so near to 1 they have no sign


def replayed(case: dict[str, Any], load: str) -> Iterator[tuple[RequestStats, float]]:
    """The statistics after each round, as the engine would tell them, and the speed-up of the same rounds at rest."""
    verify_s = {int(width): seconds for width, seconds in case["verify_s"].items()}
    costs = RoundCosts(
        Calibration(verify_s, {"draft": case["draft_s"]}, round_s={"draft": case["round_s"]}, error=case["error"])
    )
    recorder, account, at_rest_s = StatsRecorder(submitted_at=0.0), Account(costs), seconds_at_rest(case)
    plain_s = drafted_s = 0.0
    for number, row in enumerate(case["loads"][load]):
        _, source, proposed, drafted, accepted, emitted, seconds, observed, reading_s, _ = row
        if observed is not None:
            costs.observe(source, proposed, observed)
        if number:
            account.count(source, proposed)
            plain_s += emitted * case["plain_s"][0]
            drafted_s += at_rest_s[proposed]
        recorder.count_round(drafted, accepted, emitted, seconds, proposed)
        recorder.plain_rounds, recorder.plain_rounds_error = account.total(reading_s)
        if number:
            yield recorder.freeze(), plain_s / drafted_s


def seconds_at_rest(case: dict[str, Any]) -> dict[int, float]:
    """Of rounds of a case, by how many tokens were proposed, where nothing else ran."""
    seen = defaultdict(list)
    for rows in case["loads"].values():
        for busy, _, proposed, *_, seconds in rows[1:]:
            if not busy:
                seen[proposed].append(seconds)
    return {proposed: statistics.median(seconds) for proposed, seconds in seen.items()}


@pytest.mark.parametrize(("case", "load"), REPLIES, ids=[f"{case['name']}, {load}" for case, load in REPLIES])
def test_the_verdict_on_a_real_reply_has_the_right_sign_and_size(case: dict[str, Any], load: str) -> None:
    """Never the wrong sign; within a tenth after 64 tokens."""
    for stats, truth in replayed(case, load):
        if stats.speed_up is None:
            continue
        if abs(truth - 1) > PAR:
            assert (stats.speed_up > 1) == (truth > 1)
        if stats.generated_tokens > 64:
            assert stats.speed_up == pytest.approx(truth, rel=0.1)


def test_what_is_clear_is_said() -> None:
    """By the end of a reply, whatever ran beside it, a gain of a third or a loss of a fifth has a verdict."""
    for case, load in REPLIES:
        *_, (last, truth) = replayed(case, load)
        assert last.speed_up is not None or 0.8 < truth < 1.33, (case["name"], load)


def test_the_replies_gain_and_lose() -> None:
    truths = {(case["name"], load): [*replayed(case, load)][-1][1] for case, load in REPLIES}

    assert all(truth > 1.33 for (name, _), truth in truths.items() if name == "a gain")
    assert all(truth < 0.8 for (name, _), truth in truths.items() if name == "a loss")
