"""The choice of draft length, on simulated rounds: no model, no clock."""

from __future__ import annotations

import random

import pytest

from engine.control import AutoController, RoundTimes, make_controller
from engine.types import Speculation


def simulate(agreement: float, draft_cost: float, width_cost: float, rounds: int = 400) -> tuple[float, AutoController]:
    """Tokens per plain-token time over a run; a plain token takes 1."""
    generator = random.Random(3)
    times = RoundTimes()
    times.observe(0, 1.0)
    controller = AutoController(times)
    tokens, seconds = 0, 0.0
    for _ in range(rounds):
        length = controller.length()
        accepted = next((n for n in range(length) if generator.random() > agreement), length)
        took = 1.0 + length * (draft_cost + width_cost)
        controller.observe(length, accepted, took)
        tokens, seconds = tokens + accepted + 1, seconds + took
    return tokens / seconds, controller


def test_a_good_cheap_draft_is_used_at_length() -> None:
    speed, controller = simulate(agreement=0.9, draft_cost=0.05, width_cost=0.02)

    assert not controller.parked
    assert speed > 3.0


def test_a_useless_draft_is_parked_and_costs_little() -> None:
    speed, controller = simulate(agreement=0.05, draft_cost=0.1, width_cost=0.1)

    assert controller.parked
    assert speed > 0.95


def test_a_machine_that_pays_for_width_parks_even_a_good_draft() -> None:
    """On a CPU without a fast matrix library, checking two tokens costs twice one."""
    speed, controller = simulate(agreement=0.8, draft_cost=0.1, width_cost=1.0)

    assert controller.parked
    assert speed > 0.93


def test_a_parked_draft_that_becomes_good_is_used_again() -> None:
    times = RoundTimes()
    times.observe(0, 1.0)
    controller = AutoController(times)
    lengths = []
    for round_number in range(1200):
        length = controller.length()
        good = round_number > 200
        controller.observe(length, length if good else 0, 1.0 + 0.1 * length)
        lengths.append(length)

    assert 0 in lengths[100:200]
    assert lengths[-1] >= 3


@pytest.mark.parametrize(("speculation", "length"), [(Speculation.off(), 0), (Speculation.fixed(5), 5)])
def test_fixed_lengths_are_kept(speculation: Speculation, length: int) -> None:
    controller = make_controller(speculation, RoundTimes())
    controller.observe(length, 0, 1.0)

    assert controller.length() == length
    assert not controller.parked


def test_round_times_are_interpolated_from_what_was_seen() -> None:
    times = RoundTimes()
    times.observe(0, 1.0)
    times.observe(4, 1.8)

    assert times.expected_s(2) == pytest.approx(1.4)
    assert times.expected_s(8) == pytest.approx(2.6)
