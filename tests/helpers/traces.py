"""What a real pair of models said, token by token, and texts of the round simulator drawn from it.

`tests/bench/record_traces.py` says how it was recorded. Drafts are drawn as the engine draws them: greedy, or with the
noise that the main model's draw has, at the level of sharpness that is right most often on the texts not held out.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from engine.drafting.acceptance import Sharpness
from engine.drafting.costs import MAX_WIDTH
from tests.helpers.round_simulator import MACHINES, SOURCE, Machine, Run, Text, curve, fixed_speed, make_history

BEST = 32  # tokens kept of each model and position
FILE = Path(__file__).parents[1] / "bench" / "traces.npz"
TEMPERATURES = (0.0, 0.8)
KINDS = ("code", "prose", "edits", "korean", "japanese", "chinese")
LENGTHS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16)
_LEAST = 25.0  # -log-probabilities above are kept as this
_CODES = 255

Array = np.ndarray[Any, Any]


def coded(logprobs: Array) -> Array:
    """Of one byte each, finest near 0."""
    return np.round(_CODES * np.sqrt(np.clip(-logprobs / _LEAST, 0, 1))).astype(np.uint8)


def decoded(codes: Array) -> Array:
    return -_LEAST * (codes.astype(np.float64) / _CODES) ** 2


@dataclass(frozen=True)
class Positions:
    """Of one kind and half at a temperature, text after text; arrays (positions, 32), the likeliest first.

    `ranks`: the main model's tokens among the draft's; 32: not among them.
    """

    temperature: float
    main: Array
    draft: Array
    ranks: Array

    def drawn(self, seed: int, sharpness: float) -> tuple[Array, Array]:
        """(the rank of the main model's draw among the draft's tokens, 32 for another; the draft's scores and, last,
        that of all others together). The highest score is the draft's draw.
        """
        if not self.temperature:
            return self.ranks[:, 0], np.pad(self.draft, ((0, 0), (0, 1)), constant_values=-np.inf)
        noise = np.random.default_rng(seed).gumbel(size=(len(self.main), 2 * BEST + 2))
        shared = np.take_along_axis(noise, self.ranks.astype(int), axis=1)
        mine = np.where(self.ranks < BEST, shared, noise[:, BEST + 1 : 2 * BEST + 1])
        beyond = rest(self.main, 1 / self.temperature) + noise[:, -1]
        scores = self.main / self.temperature + mine
        first = scores.argmax(axis=1)
        truth = np.where(scores.max(axis=1) > beyond, self.ranks[np.arange(len(first)), first], BEST)
        scale = sharpness / self.temperature
        others = rest(self.draft, scale) + noise[:, BEST]
        return truth, np.column_stack([scale * self.draft + noise[:, :BEST], others])

    def text(self, seed: int, level: int) -> Text:
        """As many tokens as there are positions, and the first ones again behind them for drafts of any length."""
        sharpness = Sharpness.LEVELS[level]
        truth, scores = self.drawn(seed, sharpness)
        draws = scores.argmax(axis=1)
        scale = sharpness / self.temperature if self.temperature else 1.0
        values = np.column_stack([scale * self.draft, rest(self.draft, scale)])
        weights = np.exp(values)
        said = weights[np.arange(len(draws)), draws] / weights.sum(axis=1)
        right = (draws == truth) & (draws < BEST)
        again = np.arange(len(draws) + MAX_WIDTH) % len(draws)
        return Text(right[again].astype(float).tolist(), [0.5] * len(again), said[again].tolist())

    @cached_property
    def level(self) -> int:
        """The level of sharpness whose draws are right most often."""
        if not self.temperature:
            return 0
        hits = [sum(sum(self.text(seed, level).chance) for seed in range(4)) for level in range(len(Sharpness.LEVELS))]
        return hits.index(max(hits))


def rest(logprobs: Array, scale: float) -> Array:
    """The scaled log-probability of all tokens that are not kept, each taken to be as likely as the last that is."""
    last = logprobs[:, -1]
    mass = np.clip(1 - np.exp(logprobs).sum(axis=1), 1e-9, None)
    scaled: Array = np.log(mass) - last + scale * last
    return scaled


@cache
def _file() -> dict[str, Array]:
    with np.load(FILE) as kept:
        return dict(kept.items())


@cache
def positions(kind: str, temperature: float, *, held_out: bool) -> Positions:
    kept = _file()
    rows = np.repeat((kept["kind"] == kind) & (kept["held_out"] == held_out), kept["tokens"])
    return Positions(temperature, decoded(kept["main"][rows]), decoded(kept["draft"][rows]), kept["ranks"][rows])


def about() -> str:
    return f"{_file()['about']}, {len(_file()['main'])} positions of {len(_file()['kind'])} texts"


# Forwards by width, in plain ones. PUBLISHED: a 12B model of 4 bits whole on an M5 Max, an M3 Ultra's slope.
_M5_MAX = {1: 1, 2: 1.03, 3: 1.09, 4: 1.13, 5: 1.22, 6: 1.39, 8: 1.73, 12: 2.6, 33: 7.2}
CURVES = {
    "cpu": MACHINES["saw"].forward,
    "m1": MACHINES["m1"].forward,
    "m4_pro": MACHINES["metal_4bit"].forward,
    "m5_max": curve(_M5_MAX, 0).forward,
    "m3_ultra": curve({1: 1, 33: 0.83 + 0.17 * 33}, 0).forward,
}
PACES = {f"{name} {draft:g}": Machine(forward, draft) for name, forward in CURVES.items() for draft in (0.06, 0.12)}


@dataclass(frozen=True)
class Speeds:
    """In tokens per plain round: of auto, and of two fixed lengths: the best of the first reply, the best of this."""

    auto: float
    fixed: float
    best: float


def second_reply(machine: Machine, kind: str, temperature: float, seed: int) -> Speeds:
    """The first reply has the texts that are not held out, the second those that are."""
    known, held_out = (positions(kind, temperature, held_out=which) for which in (False, True))
    first, second = known.text(seed, known.level), held_out.text(seed + 1000, known.level)
    tokens = len(held_out.main)
    history = make_history(machine)
    Run(machine, first, history, seed).write(len(known.main))
    auto = Run(machine, second, history, seed).write(tokens).speed()
    before = {length: fixed_speed(machine, first, len(known.main), length) for length in LENGTHS}
    here = {length: fixed_speed(machine, second, tokens, length) for length in LENGTHS}
    return Speeds(auto, here[max(before, key=before.__getitem__)], max(here.values()))


def compared(seeds: Sequence[int]) -> dict[str, Speeds]:
    """By machine and kind of text, at all temperatures together."""
    found = {}
    for name, machine in PACES.items():
        for kind in KINDS:
            each = [second_reply(machine, kind, heat, seed) for heat in TEMPERATURES for seed in seeds]
            auto, fixed, best = (
                statistics.harmonic_mean(speeds)
                for speeds in zip(*((s.auto, s.fixed, s.best) for s in each), strict=True)
            )
            found[f"{name}, {kind}"] = Speeds(auto, fixed, best)
    return found


def first_replies(kind: str, known: str, tokens: int, seeds: Sequence[int]) -> float:
    """How much faster the first replies of `kind` after a start are with the accept rates kept of `known` texts."""
    ratios = []
    for machine, heat, seed in product(PACES.values(), TEMPERATURES, seeds):
        learnt = make_history(machine)
        before = positions(known, heat, held_out=False)
        Run(machine, before.text(seed, before.level), learnt, seed).write(len(before.main))
        text = positions(kind, heat, held_out=True).text(seed + 1000, before.level)
        again = make_history(machine)
        again.recall(SOURCE, 0, learnt.rates_of(SOURCE, 0).kept())
        speeds = [Run(machine, text, each, seed).write(tokens).speed() for each in (again, make_history(machine))]
        ratios.append(speeds[0] / speeds[1])
    return statistics.harmonic_mean(ratios)
