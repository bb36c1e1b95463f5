"""The recorded traces of a real pair, and the texts that the simulator draws from them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from engine.drafting.acceptance import Sharpness
from tests.helpers.round_simulator import fixed_speed
from tests.helpers.traces import BEST, FILE, KINDS, LENGTHS, PACES, TEMPERATURES, positions, rest, second_reply

_ALL = list(itertools.product(KINDS, TEMPERATURES, (False, True)))


def test_every_kind_is_there_in_both_halves() -> None:
    sizes = [len(positions(kind, 0.0, held_out=held_out).main) for kind in KINDS for held_out in (False, True)]
    assert min(sizes) >= 140
    assert FILE.stat().st_size < 500_000


def test_what_is_kept_are_distributions_the_likeliest_first() -> None:
    for kind, temperature, held_out in _ALL:
        kept = positions(kind, temperature, held_out=held_out)
        for logprobs in (kept.main, kept.draft):
            assert (np.diff(logprobs, axis=1) <= 0).all()
            assert np.exp(logprobs).sum(axis=1).max() < 1.05  # a byte each
            assert np.exp(logprobs).sum(axis=1).mean() > 0.75
        places = np.sort(kept.ranks, axis=1)
        assert (np.diff(places.astype(int), axis=1)[places[:, 1:] < BEST] > 0).all()  # no token twice


def test_draws_of_the_main_model_come_from_its_distribution() -> None:
    kept = positions("prose", 0.8, held_out=False)
    weights = np.exp(kept.main / 0.8)
    shares = weights / (weights.sum(axis=1) + np.exp(rest(kept.main, 1 / 0.8)))[:, None]
    expected = shares[kept.ranks == 0].sum()
    drawn = [int((kept.drawn(seed, 1.0)[0] == 0).sum()) for seed in range(40)]
    assert np.mean(drawn) == pytest.approx(expected, rel=0.03)


def test_the_noise_is_shared() -> None:
    """A draft that draws with the main model's noise is right more often than one that draws by itself."""
    kept = positions("prose", 0.8, held_out=False)
    draws = [kept.drawn(seed, Sharpness.LEVELS[0]) for seed in range(10)]
    together = np.mean([scores.argmax(axis=1) == truth for truth, scores in draws])
    alone = np.mean([scores.argmax(axis=1) == truth for (truth, _), (_, scores) in itertools.pairwise(draws)])
    assert together > alone + 0.05


def test_a_fixed_length_is_chosen_without_the_half_that_is_held_out() -> None:
    machine = PACES["cpu 0.06"]
    found = second_reply(machine, "code", 0.0, 0)
    text = positions("code", 0.0, held_out=True)
    speeds = [fixed_speed(machine, text.text(0, 0), len(text.main), length) for length in LENGTHS]
    assert found.best == pytest.approx(max(speeds))
    assert any(found.fixed == pytest.approx(speed) for speed in speeds)
    assert found.auto > 1
