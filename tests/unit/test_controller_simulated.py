"""Whole replies on simulated machines and texts: auto against every fixed draft length on the same text."""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass, replace

import pytest

from tests.helpers.round_simulator import (
    MACHINES,
    Cell,
    Run,
    Text,
    best_fixed_speed,
    make_history,
    make_text,
    regret,
)
from tests.helpers.samples import sampled


@pytest.mark.slow
@pytest.mark.parametrize(
    ("machine", "kind"),
    sampled(["saw", "metal_4bit", "small_m_kernel", "m1", "flat", "linear"], ["steady", "bursty", "decay"]),
)
def test_auto_is_hardly_ever_beaten_by_a_fixed_length(machine: str, kind: str) -> None:
    """The worst chance of two texts each; `make bench` has the figure over more of them."""
    cells = [Cell(machine, kind, mean, telling) for mean in (0.05, 0.3, 0.6, 0.9) for telling in (True, False)]
    regrets = {cell: statistics.mean(regret(cell, seed, tokens=700) for seed in range(2)) for cell in cells}

    assert max(regrets.values()) < 0.1, regrets
    assert statistics.mean(regrets.values()) < 0.02


@dataclass(frozen=True)
class OfAHead(Text):
    """By a head that was trained for a token or two: it is as sure of those behind them, which are often wrong."""

    def right(self, at: int, position: int) -> bool:
        chance = (0.95, 0.95, 0.6, 0.5, 0.45)[min(position, 5) - 1]
        return random.Random(1000 * at + position).random() < chance


@pytest.mark.parametrize("rollback", [0.0, 0.6])
@pytest.mark.parametrize("machine", ["metal_4bit", "small_m_kernel", "m1"])
def test_a_head_whose_later_tokens_are_often_wrong_drafts_no_longer_than_pays(machine: str, rollback: float) -> None:
    """Also where each draft of which some is rejected takes longer, as with states that are computed again."""
    there = replace(MACHINES[machine], rollback=rollback)
    text = make_text("steady", 0.9, informative=False, tokens=1000, seed=1)
    head = OfAHead(text.chance, text.luck, [0.9] * len(text.said))
    speeds = [Run(there, head, make_history(there), seed).write(1000).speed(300) for seed in range(3)]
    assert statistics.mean(speeds) > 0.97 * best_fixed_speed(there, head, 1000, 300)


@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("machine", sorted(MACHINES))
def test_the_first_reply_of_a_useless_draft_costs_next_to_nothing(machine: str, calibrated: bool) -> None:
    speeds = []
    for seed in range(5):
        text = make_text("steady", 0.02, informative=False, tokens=100, seed=seed)
        speeds.append(
            Run(MACHINES[machine], text, make_history(MACHINES[machine], calibrated=calibrated), seed).write(60).speed()
        )

    # Not measured yet, and each token as dear as the first: what a round takes is learnt from the first drafts.
    assert statistics.mean(speeds) > (0.96 if machine == "linear" and not calibrated else 0.97)


@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("slower", [1, 60])
@pytest.mark.parametrize("machine", ["saw", "metal_4bit", "small_m_kernel", "m1", "flat"])
def test_a_first_drafted_round_that_takes_long_parks_no_good_draft(
    machine: str, slower: float, *, calibrated: bool
) -> None:
    """Of eight first replies of 40 tokens all go on drafting. Its first round also does what is done once."""
    for seed in range(8):
        text = make_text("steady", 0.95, informative=False, tokens=100, seed=seed)
        history = make_history(MACHINES[machine], calibrated=calibrated)
        run = Run(MACHINES[machine], text, history, seed, first_draft=slower).write(40)
        assert sum(run.lengths) > 12, (seed, run.lengths)
        assert history.draft_speed > 1, (seed, run.lengths)


def test_a_draft_that_becomes_good_within_a_reply_is_used() -> None:
    hard = make_text("steady", 0.02, informative=False, tokens=400, seed=1)
    easy = make_text("steady", 0.95, informative=False, tokens=400, seed=2)
    text = type(hard)(
        [*hard.chance[:400], *easy.chance], [*hard.luck[:400], *easy.luck], [*hard.said[:400], *easy.said]
    )
    run = Run(MACHINES["m1"], text, make_history(MACHINES["m1"])).write(800)

    assert sum(run.lengths[:300]) < 30
    assert run.speed(600) > 0.9 * best_fixed_speed(MACHINES["m1"], text, 800, 600)


@pytest.mark.costly
@pytest.mark.parametrize("telling", [True, False])
@pytest.mark.parametrize("machine", sorted(MACHINES))
def test_a_draft_that_becomes_hopeless_with_the_text_soon_rests(machine: str, *, telling: bool) -> None:
    """Nine of ten tokens stood in the chat before, one of twenty does in this reply: another language, say."""
    slower = []
    for seed in range(4):
        history = make_history(MACHINES[machine])
        for mean, tokens in ((0.9, 400), (0.05, 200)):
            text = make_text("steady", mean, informative=telling, tokens=tokens, seed=10 * seed + tokens)
            run = Run(MACHINES[machine], text, history, seed).write(tokens)
        slower.append(1 / run.speed())

    assert statistics.mean(slower) < 1 / 0.93
