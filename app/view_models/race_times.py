"""The times of a race's laps, and how many times faster the laps with the draft are. Pure arithmetic.

Laps come in pairs, one each way, and the way that begins a pair changes from pair to pair: a machine that slowly gets
faster or slower favours neither. The figure is that of the middle pair: what disturbs some laps, or both of a pair,
does not move it. On a machine with other work it is that of the laps that were not disturbed, once there are enough:
each lap is the same work, so these are the fastest, and as fast as each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import median

SURE = 1.07  # the figure is known if its interval is within this factor
LEAST_PAIRS = 3
MOST_S = 30.0  # unless so many pairs take longer
LEAST_TOKENS = 12  # of a lap that can be judged
# A lap ends after so long, so that many fit, but not before it has so many tokens, unless those take much longer.
_LAP_S = 1.5
_LAP_TOKENS = 48
_LONGEST_LAP_S = 4.0
# Half width of a 95 % confidence interval of few ratios, as a share of their range. MEASURED: simulated, see the test.
_OF_RANGE = {3: 1.5, 4: 0.9}
_MISS = 0.05
# undisturbed laps: so many within this factor of the fastest
_LEAST_QUIET = 4
_QUIET = 1.05


@dataclass(frozen=True, slots=True)
class RaceTimes:
    """Seconds a token of each lap, in order."""

    plain_s: tuple[float, ...] = ()
    drafted_s: tuple[float, ...] = ()
    spent_s: float = 0.0  # on all laps, with what precedes their first token

    def with_lap(self, token_s: float, spent_s: float) -> RaceTimes:
        if self.next_is_drafted:
            times = replace(self, drafted_s=(*self.drafted_s, token_s))
        else:
            times = replace(self, plain_s=(*self.plain_s, token_s))
        return times.with_spent(spent_s)

    def with_spent(self, seconds: float) -> RaceTimes:
        return replace(self, spent_s=self.spent_s + seconds)

    @property
    def next_is_drafted(self) -> bool:
        begun = len(self.plain_s) + len(self.drafted_s)
        return begun % 4 in (1, 2)

    @property
    def pairs(self) -> int:
        return min(len(self.plain_s), len(self.drafted_s))

    @property
    def seconds(self) -> tuple[float, float] | None:
        """Seconds a token without the draft and with it: what the figure is the ratio of. None before both have run."""
        if not self.pairs:
            return None
        if not self._agree and self.was_busy:
            return median(_quiet(self.plain_s)), median(_quiet(self.drafted_s))
        return self._by_ratio[(self.pairs - 1) // 2]

    @property
    def factor(self) -> float | None:
        """How many times faster the laps with the draft are."""
        return self.seconds[0] / self.seconds[1] if self.seconds else None

    @property
    def is_sure(self) -> bool:
        """Whether the factor is known to ±7 %."""
        return self._agree or self.was_busy

    @property
    def was_busy(self) -> bool:
        """Whether the pairs do not agree, but enough laps of both ways took the least time there is, alike."""
        return not self._agree and min(map(len, map(_quiet, (self.plain_s, self.drafted_s)))) >= _LEAST_QUIET

    @property
    def _agree(self) -> bool:
        """Whether the 95 % confidence interval of the pairs' ratios is within ±7 % of the middle one."""
        if self.pairs < LEAST_PAIRS:
            return False
        ratios = [math.log(plain / drafted) for plain, drafted in self._by_ratio]
        return _half_width(ratios, ratios[(self.pairs - 1) // 2]) <= math.log(SURE)

    @property
    def _by_ratio(self) -> list[tuple[float, float]]:
        return sorted(zip(self.plain_s, self.drafted_s, strict=False), key=lambda pair: pair[0] / pair[1])

    @property
    def is_busy(self) -> bool:
        """Whether so many laps differ too much, because the machine has other work."""
        return self.pairs >= LEAST_PAIRS and not self.is_sure

    @property
    def is_over(self) -> bool:
        """After a pair: the factor is known, or another pair would take too long."""
        if self.pairs < LEAST_PAIRS or len(self.plain_s) != len(self.drafted_s):
            return False
        return self.is_sure or self.spent_s * (1 + 1 / self.pairs) > MOST_S


def ends_lap(seconds: float, tokens: int) -> bool:
    """Whether a lap has run for long enough; later ones end at as many tokens."""
    least_s = _LAP_S if tokens >= _LAP_TOKENS else _LONGEST_LAP_S
    return seconds >= least_s and tokens >= LEAST_TOKENS


def _quiet(laps: tuple[float, ...]) -> list[float]:
    return [lap for lap in laps if lap <= _QUIET * min(laps)]


def _half_width(ratios: list[float], middle: float) -> float:
    """Half width, around `middle`, of the interval of the median of these sorted ratios.

    Its ends are ratios of which so few lie beyond that chance rarely puts the true median there (the sign test); with
    three or four there are none such, and their range is widened.
    """
    count = len(ratios)
    if count in _OF_RANGE:
        return _OF_RANGE[count] * (ratios[-1] - ratios[0])
    beyond = 0
    while 2 * sum(math.comb(count, least) for least in range(beyond + 1)) / 2**count <= _MISS:
        beyond += 1
    end = max(beyond, 1) - 1
    return max(ratios[count - 1 - end] - middle, middle - ratios[end])
