"""When a race's figure is known, on simulated machines: quiet, noisy, getting hot, and with other work."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from app.view_models.race_times import LEAST_PAIRS, MOST_S, SURE, RaceTimes, ends_lap

Noise = Callable[[random.Random, float], float]  # by what a lap that begins at that second is longer
_RACES = 200
_TOKENS = 50


def noisy(share: float) -> Noise:
    return lambda chance, _at_s: math.exp(chance.gauss(0, share))


def hot(chance: random.Random, at_s: float) -> float:
    """Half as fast again after 60 s."""
    return math.exp(chance.gauss(0, 0.01)) * (1 + at_s / 60)


def disturbed(share: float) -> Noise:
    """So many laps take half as long again."""
    return lambda chance, _at_s: math.exp(chance.gauss(0, 0.02)) * (1.5 if chance.random() < share else 1.0)


def race(noise: Noise, factor: float, plain_lap_s: float, seed: int) -> RaceTimes:
    chance = random.Random(seed)
    times = RaceTimes()
    while not times.is_over:
        lap_s = plain_lap_s / (factor if times.next_is_drafted else 1) * noise(chance, times.spent_s)
        times = times.with_lap(lap_s / _TOKENS, lap_s)
    return times


@pytest.mark.parametrize(
    ("noise", "plain_lap_s", "least_known", "most_wrong"),
    [
        (noisy(0.01), 0.3, 1.0, 0.0),
        (noisy(0.01), 2.0, 0.98, 0.0),
        (noisy(0.03), 0.3, 1.0, 0.02),
        (noisy(0.05), 0.3, 0.99, 0.05),
        (noisy(0.05), 1.5, 0.4, 0.05),
        (noisy(0.15), 1.5, 0.0, 0.04),  # mostly not known, and then nothing is said
        (hot, 1.5, 0.95, 0.0),
        (disturbed(0.1), 0.3, 0.99, 0.01),
        (disturbed(0.3), 1.5, 0.4, 0.03),
    ],
)
def test_a_known_figure_is_right(noise: Noise, plain_lap_s: float, least_known: float, most_wrong: float) -> None:
    """A figure that is told is within ±7 % of the truth, but for few races, and every race ends in time."""
    known = wrong = 0
    for seed in range(_RACES):
        factor = (0.7, 1.0, 1.3, 1.8, 2.5)[seed % 5]
        times = race(noise, factor, plain_lap_s, seed)
        assert times.pairs >= LEAST_PAIRS
        assert times.spent_s <= MOST_S * 1.1  # the last pair may be slower than the others
        assert times.factor is not None
        known += times.is_sure
        wrong += times.is_sure and abs(math.log(times.factor / factor)) > math.log(SURE)
    assert known >= least_known * _RACES
    assert wrong <= most_wrong * _RACES


def test_the_ways_take_turns_and_neither_always_begins() -> None:
    ways = ""
    times = RaceTimes()
    for _ in range(8):
        ways += "d" if times.next_is_drafted else "p"
        times = times.with_lap(0.01, 1.0)
    assert ways == "pddppddp"


def test_a_race_ends_after_three_quiet_pairs_and_not_within_a_pair() -> None:
    times = RaceTimes()
    over = []
    for _ in range(2 * LEAST_PAIRS):
        times = times.with_lap(0.02 if not times.next_is_drafted else 0.01, 1.0)
        over.append(times.is_over)
    assert over == [False] * 5 + [True]
    assert times.factor == pytest.approx(2.0)
    assert (times.is_sure, times.is_busy) == (True, False)


def test_the_figure_is_that_of_a_pair_so_that_a_slow_minute_does_not_move_it() -> None:
    """The machine is half as fast for some pairs: ratios of medians of all laps would compare fast with slow ones."""
    times = RaceTimes((0.02, 0.02, 0.04, 0.04, 0.02), (0.01, 0.02, 0.02, 0.02, 0.01))
    assert times.factor == 2
    assert times.seconds in list(zip(times.plain_s, times.drafted_s, strict=True))


def test_laps_that_were_not_disturbed_count_where_the_pairs_do_not_agree() -> None:
    plain = (0.02, 0.05, 0.0201, 0.09, 0.0204, 0.07, 0.0202)
    drafted = (0.03, 0.01, 0.04, 0.0101, 0.02, 0.0102, 0.0103)
    times = RaceTimes(plain, drafted)
    assert (times.is_sure, times.was_busy) == (True, True)
    assert times.factor == pytest.approx(2.0, rel=0.01)
    fewer = RaceTimes(plain[:6], drafted[:6])
    assert (fewer.is_sure, fewer.is_busy) == (False, True)


def test_a_slow_machine_takes_longer_and_knows() -> None:
    """12 tokens take 9 s: three pairs are more than half a minute."""
    times = race(noisy(0.01), 1.3, 9.0, 1)
    assert (times.pairs, times.is_sure) == (LEAST_PAIRS, True)
    assert times.spent_s > MOST_S


def test_what_the_two_ways_never_agree_on_is_not_known_at_the_end() -> None:
    times = race(lambda chance, _at_s: chance.uniform(0.5, 2.0), 1.5, 1.5, 1)
    assert (times.is_sure, times.is_busy, times.is_over) == (False, True, True)


@pytest.mark.parametrize(
    ("seconds", "tokens", "ends"),
    [(1.4, 900, False), (1.6, 20, False), (1.6, 50, True), (4.1, 20, True), (9.0, 11, False)],
)
def test_a_lap_is_long_enough_to_tell_and_short_enough_for_others(seconds: float, tokens: int, ends: bool) -> None:
    assert ends_lap(seconds, tokens) is ends
