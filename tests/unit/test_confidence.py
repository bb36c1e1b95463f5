"""How sure a draft is, and what that has been worth: on drafts whose honesty is known."""

from __future__ import annotations

import random

import pytest

from engine.drafting.confidence import Confidence, Sharpness


def test_it_goes_on_while_the_chance_is_worth_it() -> None:
    confidence = Confidence()
    confidence.floor = 0.5
    confidence.begin()

    assert confidence.goes_on(0.99)
    assert confidence.goes_on(0.97)
    assert not confidence.goes_on(0.3)


def test_without_a_floor_it_never_stops() -> None:
    confidence = Confidence()
    confidence.begin()

    assert all(confidence.goes_on(0.01) for _ in range(16))


@pytest.mark.parametrize("honest", [0.95, 0.5, 0.05])
def test_what_a_draft_says_is_worth_what_came_of_it(honest: float) -> None:
    """A draft that always says 0.9 and is right this often."""
    generator = random.Random(1)
    confidence = Confidence()
    for _ in range(3000):
        confidence.begin()
        accepted = 0
        for _ in range(4):
            confidence.goes_on(0.9)
        while accepted < 4 and generator.random() < honest:
            accepted += 1
        confidence.learn([True] * accepted + [False])

    assert confidence.chance([0.9]) == pytest.approx(honest, abs=0.08)
    assert confidence.chance([0.9, 0.9]) == pytest.approx(honest**2, abs=0.12)


def test_tokens_after_the_first_wrong_one_teach_nothing() -> None:
    """Nobody knows whether they would have stood."""
    confidence = Confidence()
    before = confidence.chance([0.6])
    for _ in range(200):
        confidence.begin()
        confidence.goes_on(0.1)
        confidence.goes_on(0.6)
        confidence.learn([False])

    assert confidence.chance([0.6]) == before
    assert confidence.chance([0.1]) < 0.02


def test_the_level_that_is_right_most_often_is_chosen() -> None:
    """First the sharpest guesses right, then the softest."""
    sharpness = Sharpness()
    for _ in range(100):
        sharpness.learn([1, 2, 3, 4], truth=4)
    assert sharpness.level == 3
    for _ in range(400):
        sharpness.learn([1, 2, 3, 4], truth=1)
    assert sharpness.level == 0


def test_between_equals_the_honest_level_stays() -> None:
    sharpness = Sharpness()
    for token in range(50):
        sharpness.learn([token] * 4, truth=token)

    assert sharpness.level == 0
