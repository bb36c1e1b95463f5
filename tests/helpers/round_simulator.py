"""Rounds without a model or a clock: texts whose drafts are right with a known chance, on machines with known costs.

What a controller achieves is compared with every fixed draft length on the very same text. A plain round takes 1.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, product

from engine.drafting.controller import AutoController, History
from engine.drafting.costs import MAX_WIDTH, Calibration, RoundCosts
from engine.drafting.plans import PLAIN, Offer, Plan, RoundOutcome

SOURCE = "draft"
FIXED = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 15, 16)
_BURST_TOKENS = 40
_NOISE = 0.03  # of what a round takes


@dataclass(frozen=True)
class Machine:
    """Forwards by width, in plain rounds, a drafted token, and going back where some of a draft is rejected."""

    forward: Mapping[int, float]
    draft: float
    rollback: float = 0.0

    @cached_property
    def rounds(self) -> tuple[float, ...]:
        """By drafted tokens. A forward is padded where a wider one takes less."""
        padded = accumulate((self.forward[width] for width in range(MAX_WIDTH, 0, -1)), min)
        return tuple(time + drafted * self.draft for drafted, time in enumerate(reversed(list(padded))))

    def seconds(self, drafted: int, accepted: int) -> float:
        return self.rounds[drafted] + (self.rollback if accepted < drafted else 0.0)


def curve(known: Mapping[int, float], draft: float) -> Machine:
    """Widths in between lie on lines."""
    widths = sorted(known)
    forward = {}
    for width in range(1, MAX_WIDTH + 1):
        high = next((at for at in widths if at >= width), widths[-1])
        low = max((at for at in widths if at <= width), default=high)
        share = (width - low) / (high - low) if high > low else 0.0
        forward[width] = known[low] + share * (known[high] - known[low])
    return Machine(forward, draft)


# MEASURED: a model of 113 M parameters on two cores, milliseconds by width; four tokens cost as much as one.
_SAW_MS = (46.0, 48.9, 60.9, 46.0, 58.9, 59.8, 72.6, 55.4, 67.5, 70.1, 81.3, 63.9, 76.8, 78.1, 89.8, 76.2, 88.5)


def _saw() -> Machine:
    seconds = {width: ms / _SAW_MS[0] for width, ms in enumerate(_SAW_MS, start=1)}
    for width in range(18, MAX_WIDTH + 1):
        seconds[width] = seconds[width - 4] + 0.22
    return Machine(seconds, 0.055)


MACHINES = {
    "saw": _saw(),
    "metal_4bit": curve({1: 1, 2: 1.03, 4: 1.47, 6: 2.07, 8: 2.69, 16: 4.6, 33: 8}, 0.12),
    "small_m_kernel": curve({1: 1, 4: 1.15, 8: 1.4, 9: 2.2, 16: 2.5, 33: 2.6}, 0.12),
    "m1": curve({1: 1, 33: (34 + 10.9 * 33) / 44.9}, 0.12),
    "flat": curve({1: 1, 33: 1.32}, 0.05),
    "linear": curve({1: 1, 33: 33}, 0.1),
}


@dataclass(frozen=True)
class Text:
    """For each position how likely the draft is right there, whether it is, and how sure it says that it is."""

    chance: Sequence[float]
    luck: Sequence[float]
    said: Sequence[float]
    decay: float = 1.0  # of the chance with each further position of a draft

    def right(self, at: int, position: int) -> bool:
        """Whether the draft's token at `at` stands, as the `position`-th of its draft (1 is the first)."""
        return self.luck[at] < self.chance[at] * self.decay ** (position - 1)

    def accepted(self, at: int, drafted: int) -> int:
        count = 0
        while count < drafted and self.right(at + count, count + 1):
            count += 1
        return count


def make_text(kind: str, mean: float, *, informative: bool, tokens: int, seed: int) -> Text:
    """`kind` is steady, bursty (easy and hard passages) or decay (by the position in a draft)."""
    generator = random.Random(seed)
    spread = 0.9 * min(mean, 1 - mean) if kind == "bursty" else 0.0
    easy = generator.random() < 0.5
    chances, said = [], []
    for _ in range(tokens + MAX_WIDTH):
        if generator.random() < 1 / _BURST_TOKENS:
            easy = not easy
        level = mean + (spread if easy else -spread)
        chance = generator.betavariate(level * 1.2, (1 - level) * 1.2) if informative else level
        chances.append(chance)
        said.append(min(0.999, chance**0.6) if informative else generator.random())
    return Text(chances, [generator.random() for _ in chances], said, 0.88 if kind == "decay" else 1.0)


def fixed_speed(machine: Machine, text: Text, tokens: int, drafted: int, start: int = 0) -> float:
    """Tokens per plain round with drafts of one length."""
    at, seconds = start, 0.0
    while at < tokens:
        accepted = text.accepted(at, drafted)
        at += accepted + 1
        seconds += machine.seconds(drafted, accepted)
    return (at - start) / seconds


def best_fixed_speed(machine: Machine, text: Text, tokens: int, start: int = 0) -> float:
    return max(fixed_speed(machine, text, tokens, drafted, start) for drafted in FIXED)


def oracle_speed(machine: Machine, text: Text, tokens: int, start: int = 0) -> float:
    """Tokens per plain round where each draft ends with its last right token, or before: the least time there is."""
    least = [0.0] * (tokens + MAX_WIDTH)
    for at in range(tokens - 1, start - 1, -1):
        right = text.accepted(at, MAX_WIDTH - 1)
        least[at] = min(machine.rounds[drafted] + least[at + drafted + 1] for drafted in range(right + 1))
    return (tokens - start) / least[start]


def make_history(machine: Machine, *, calibrated: bool = True) -> History:
    known = Calibration(dict(machine.forward), {SOURCE: machine.draft}, machine.rollback)
    return History(RoundCosts(known if calibrated else None))


@dataclass
class Run:
    """A reply of `tokens` tokens under an AutoController."""

    machine: Machine
    text: Text
    history: History
    seed: int = 0
    first_draft: float = 1.0  # the first drafted round takes so many times as long: it does what is done once
    lengths: list[int] = field(default_factory=list)
    stamps: list[tuple[int, float]] = field(default_factory=list)  # tokens and time after each round

    def __post_init__(self) -> None:
        self._noise = random.Random(self.seed)
        self._controller = AutoController(self.history)

    def write(self, tokens: int) -> Run:
        at, seconds = 0, 0.0
        while at < tokens:
            plan = self._plan(first=not self.stamps)
            outcome = self._round(plan, at)
            self._controller.observe(plan, outcome)
            at += outcome.accepted + 1
            seconds += outcome.seconds or 0.0
            self.lengths.append(outcome.drafted)
            self.stamps.append((at, seconds))
        return self

    def speed(self, start: int = 0) -> float:
        """Tokens per plain round, from the first round on that begins behind `start` tokens."""
        before = next((stamp for stamp in self.stamps if stamp[0] >= start), (0, 0.0)) if start else (0, 0.0)
        return (self.stamps[-1][0] - before[0]) / (self.stamps[-1][1] - before[1])

    def _plan(self, *, first: bool) -> Plan:
        if first:
            return PLAIN
        wanted = self._controller.wants(SOURCE)
        return self._controller.plan([Offer(SOURCE, MAX_WIDTH - 1, has_probabilities=True)] if wanted else [])

    def _round(self, plan: Plan, at: int) -> RoundOutcome:
        said: list[float] = []
        while len(said) < plan.length and (plan.stop is None or plan.stop.goes_on(said)):
            said.append(self.text.said[at + len(said)])
        drafted = len(said)
        accepted = self.text.accepted(at, drafted)
        seconds = self.machine.seconds(drafted, accepted) * math.exp(self._noise.gauss(0, _NOISE))
        if drafted and not any(self.lengths):
            seconds *= self.first_draft
        return RoundOutcome(drafted, accepted, seconds, said if plan.stop is not None else ())


@dataclass(frozen=True)
class Cell:
    """A machine and a kind of text."""

    machine: str
    kind: str
    mean: float
    telling: bool

    def __str__(self) -> str:
        confidence = "telling" if self.telling else "useless"
        return f"{self.machine}, {self.kind}, {self.mean:g}, {confidence} confidence"


CELLS = tuple(
    Cell(*cell)
    for cell in product(MACHINES, ("steady", "bursty", "decay"), (0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95), (True, False))
)


def regret(cell: Cell, seed: int, tokens: int = 1000, learning: int = 100) -> float:
    """How much slower auto is than the fixed length that proves best on the same text, after `learning` tokens."""
    return regrets(cell, seed, tokens, learning)[0]


def regrets(cell: Cell, seed: int, tokens: int = 1000, learning: int = 100) -> tuple[float, float]:
    """The same, and how much slower it is than an oracle, who knows which drafts are right."""
    machine = MACHINES[cell.machine]
    text = make_text(cell.kind, cell.mean, informative=cell.telling, tokens=tokens, seed=seed)
    speed = Run(machine, text, make_history(machine), seed).write(tokens).speed(learning)
    best = best_fixed_speed(machine, text, tokens, learning)
    return 1 - speed / best, 1 - speed / oracle_speed(machine, text, tokens, learning)
