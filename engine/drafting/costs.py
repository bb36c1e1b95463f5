"""What rounds of a loaded pair take on this machine, in seconds: measured at rest, corrected by what rounds took.

One price for each (source, drafted tokens), so that plans can be compared. Pure arithmetic: no MLX, no clock.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from engine.api.types import MAX_DRAFT_TOKENS

MAX_WIDTH = MAX_DRAFT_TOKENS + 1
_PADDING_GAIN = 0.97  # a forward is padded only where that takes at most so much of the time
_RECENT = 7
_READING_TOKENS = 64  # reading fewer takes as long
_GUESSED_TOKEN = 0.13  # before anything is measured: a drafted token and checking it, as a share of a plain round
_CALIBRATION_ROUNDS = 6.0  # how many rounds of a length the calibration weighs against what such rounds really took
_SLOWEST_LEARNING = 0.05
_PLAIN_WITHIN = 16  # rounds: else a busy machine could not be told from a length that costs more
_MOST_TOKENS_SEEN = 30  # of older ones is learnt no slower
_LARGEST_STEP = math.log(2)  # one round corrects a price by no more than this


@dataclass(frozen=True, slots=True)
class Calibration:
    """Seconds measured on this machine for this pair: a forward over so many tokens, and one token of each source.

    `rollback_s` is what forgetting a part of a forward costs, where the caches fold tokens together.
    """

    verify_s: Mapping[int, float] = field(default_factory=dict)
    draft_s: Mapping[str, float] = field(default_factory=dict)
    rollback_s: float = 0.0


class RoundCosts:
    """Prices of this pair's rounds. Outlives a reply.

    A price is the calibrated time, times how much slower everything is just now (a long chat, a hot or busy machine),
    times what rounds of this length have taken beyond their calibration. Without a calibration every drafted token adds
    the same share of a plain round, learnt from the rounds seen.
    """

    def __init__(self, calibration: Calibration | None = None) -> None:
        self.calibration = calibration or Calibration()

    @property
    def calibration(self) -> Calibration:
        return self._calibration

    @calibration.setter
    def calibration(self, calibration: Calibration) -> None:
        """Forgets the rounds seen before, for they were compared with another calibration."""
        self._calibration = calibration
        self._forward_s = _forward_times(calibration.verify_s)
        self._padded = _padded_widths(self._forward_s, calibration.rollback_s)
        self._recent: deque[float] = deque(maxlen=_RECENT)  # log of measured over expected, of the latest rounds
        self._since_plain = 0
        self._beyond: dict[str, dict[int, tuple[float, int]]] = {}  # by source and length: log of the excess, rounds
        self._token_share: dict[str, tuple[float, int]] = {}  # without a calibration: of a plain round, tokens seen
        self._reading: dict[str, float] = {}  # seconds a token of what a source has to read first

    @property
    def calibrated(self) -> bool:
        return bool(self._calibration.verify_s)

    def padded(self, width: int) -> int:
        """The width at which a forward over `width` tokens is fastest: `width` itself, or a little more."""
        return self._padded[width] if width < len(self._padded) else width

    @property
    def plain_s(self) -> float:
        """A plain round, as things are now; 0 while unknown."""
        return self.price_s("", 0)

    def price_s(self, source: str, length: int) -> float:
        """A round in which `source` drafts `length` tokens; 0 while nothing is known."""
        if not self._recent and not self.calibrated:
            return 0.0
        return self._now * self._expected_s(source, length)

    def prices_s(self, source: str, longest: int) -> list[float]:
        """The same for lengths of 0 to `longest`."""
        now = self._now
        return [now * self._expected_s(source, length) for length in range(longest + 1)]

    def longest_priced(self, source: str) -> int:
        """Drafts of up to so many tokens have a price that can be relied on."""
        if self.calibrated:
            return MAX_DRAFT_TOKENS
        return min(MAX_DRAFT_TOKENS, 1 + self._token_share.get(source, (0.0, 0))[1])

    def observe(self, source: str, drafted: int, seconds: float) -> None:
        """A round of this kind took `seconds`, all that belongs to it included."""
        self._since_plain = self._since_plain + 1 if drafted else 0
        if drafted and self._recent and self._since_plain <= _PLAIN_WITHIN:
            self._learn(source, drafted, max(seconds, 1e-9) / self._now)
        self._recent.append(math.log(max(seconds, 1e-9) / self._expected_s(source, drafted)))

    @property
    def _now(self) -> float:
        return math.exp(median(self._recent)) if self._recent else 1.0

    def _expected_s(self, source: str, length: int) -> float:
        """Of this length, beyond its calibration as the nearest length that was seen."""
        base_s = self._calibrated_s(source, length)
        seen = self._beyond.get(source)
        if not length or not seen:
            return base_s
        nearest = length if length in seen else min(seen, key=lambda drafted: abs(drafted - length))
        return base_s * math.exp(seen[nearest][0])

    def _calibrated_s(self, source: str, length: int) -> float:
        if not self.calibrated:
            return 1 + length * self._token_share.get(source, (_GUESSED_TOKEN, 0))[0]
        return self._forward_s[self.padded(length + 1)] + length * self._calibration.draft_s.get(source, 0.0)

    def _learn(self, source: str, drafted: int, seconds: float) -> None:
        """`seconds` are what the round would have taken on the machine as calibrated."""
        if not self.calibrated:
            share, tokens = self._token_share.get(source, (0.0, 0))
            seen = (seconds - 1) / drafted
            share += drafted / (tokens + drafted) * (max(0.0, seen) - share)
            self._token_share[source] = (share, min(tokens + drafted, _MOST_TOKENS_SEEN))
            return
        lengths = self._beyond.setdefault(source, {})
        excess = math.log(self._expected_s(source, drafted) / self._calibrated_s(source, drafted))
        rounds = lengths.get(drafted, (0.0, 0))[1] + 1
        step = math.log(seconds / self._calibrated_s(source, drafted)) - excess
        weight = max(1 / (rounds + _CALIBRATION_ROUNDS), _SLOWEST_LEARNING)
        lengths[drafted] = (excess + weight * max(-_LARGEST_STEP, min(_LARGEST_STEP, step)), rounds)

    def observe_reading(self, source: str, tokens: int, seconds: float) -> None:
        """The lowest price counts: one that is too high would never be corrected, for nobody would read again."""
        price_s = seconds / max(tokens, _READING_TOKENS)
        self._reading[source] = min(price_s, self._reading.get(source, price_s))

    def reading_s(self, source: str, tokens: int) -> float:
        """What `source` takes to read so many tokens of the chat; 0 while unknown."""
        return self._reading.get(source, 0.0) * max(tokens, _READING_TOKENS) if tokens else 0.0


def _forward_times(verify_s: Mapping[int, float]) -> tuple[float, ...]:
    """Seconds by width, 0 to MAX_WIDTH; widths that were not measured lie on lines between those that were."""
    if not verify_s:
        return ()
    widths = sorted(verify_s)
    return tuple(_interpolated(verify_s, widths, max(width, 1)) for width in range(MAX_WIDTH + 1))


def _interpolated(seconds: Mapping[int, float], widths: list[int], width: int) -> float:
    if width in seconds or len(widths) == 1:
        return seconds.get(width, seconds[widths[0]])
    upper = next((at for at, known in enumerate(widths) if known > width), len(widths) - 1)
    low, high = widths[max(upper - 1, 0)], widths[max(upper, 1)]
    return seconds[low] + (width - low) / (high - low) * (seconds[high] - seconds[low])


def _padded_widths(forward_s: tuple[float, ...], rollback_s: float) -> tuple[int, ...]:
    padded = []
    for width in range(len(forward_s)):
        best = min(range(width, len(forward_s)), key=lambda wider: forward_s[wider])
        pays = forward_s[best] + rollback_s < _PADDING_GAIN * forward_s[width]
        padded.append(best if pays and width else width)
    return tuple(padded)
