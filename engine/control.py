"""How many tokens to draft, round by round: a fixed number, or the one that has paid best here. Pure arithmetic.

Both kinds learn what a plain round and a round of each width take, across the replies of one loaded pair.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from statistics import median
from typing import Protocol

from engine.types import Speculation, SpeculationMode

AUTO_LENGTHS = (0, 1, 2, 3, 4, 6, 8)
_PROBE_EVERY_ROUNDS = 24
_ADVANTAGE = 1.03  # a change of length must promise this much
_LEARNING_ROUNDS = 8


@dataclass(slots=True)
class RoundTimes:
    """Seconds that rounds of this pair took, by draft length; recent ones only, so that depth and heat count."""

    recent: dict[int, deque[float]] = field(default_factory=dict)

    def observe(self, drafted: int, seconds: float) -> None:
        self.recent.setdefault(drafted, deque(maxlen=9)).append(seconds)

    @property
    def plain_s(self) -> float:
        """Median plain round; 0 while none was seen."""
        return median(self.recent[0]) if 0 in self.recent else 0.0

    def expected_s(self, drafted: int) -> float:
        """Seen, or else a straight line through what was seen."""
        if drafted in self.recent:
            return median(self.recent[drafted])
        known = sorted(length for length in self.recent if length > 0)
        if not known:
            return self.plain_s
        near = min(known, key=lambda length: abs(length - drafted))
        slope = (median(self.recent[near]) - self.plain_s) / near
        return max(self.plain_s, median(self.recent[near]) + slope * (drafted - near))


class Controller(Protocol):
    @property
    def parked(self) -> bool: ...

    @property
    def plain_s(self) -> float:
        """What a plain token takes here; 0 while unknown."""

    def length(self) -> int: ...

    def observe(self, drafted: int, accepted: int, seconds: float) -> None: ...


class FixedController:
    parked = False

    def __init__(self, tokens: int, times: RoundTimes) -> None:
        self._tokens = tokens
        self._times = times

    @property
    def plain_s(self) -> float:
        return self._times.plain_s

    def length(self) -> int:
        return self._tokens

    def observe(self, drafted: int, accepted: int, seconds: float) -> None:
        self._times.observe(drafted, seconds)


class AutoController:
    """The draft length with the most expected tokens per second; parked at zero, it probes now and then."""

    def __init__(self, times: RoundTimes) -> None:
        self._times = times
        self._length = 4
        self._agreement = 0.7  # share of drafted tokens that stand, given that those before them did
        self._rounds = 0

    @property
    def parked(self) -> bool:
        return self._length == 0

    @property
    def plain_s(self) -> float:
        return self._times.plain_s

    def length(self) -> int:
        self._rounds += 1
        if self.parked and self._rounds % _PROBE_EVERY_ROUNDS == 0:
            return 1
        return self._length

    def observe(self, drafted: int, accepted: int, seconds: float) -> None:
        self._times.observe(drafted, seconds)
        if not drafted:
            return
        tried = min(accepted + 1, drafted)
        for trial in range(tried):
            self._agreement += 0.06 * ((trial < accepted) - self._agreement)
        if self._rounds >= _LEARNING_ROUNDS:
            self._choose()

    def _choose(self) -> None:
        best = max(AUTO_LENGTHS, key=self._tokens_per_second)
        if self._tokens_per_second(best) > _ADVANTAGE * self._tokens_per_second(self._length):
            self._length = best

    def _tokens_per_second(self, length: int) -> float:
        tokens = sum(self._agreement**position for position in range(length + 1))
        seconds = self._times.expected_s(length)
        return tokens / seconds if seconds else 0.0


def make_controller(speculation: Speculation, times: RoundTimes) -> Controller:
    if speculation.mode is SpeculationMode.AUTO:
        return AutoController(times)
    return FixedController(speculation.tokens if speculation.mode is SpeculationMode.FIXED else 0, times)
