"""Time of a drafted pass relative to a plain one, tracked from pass to pass of this pair. Pure arithmetic.

For each pass, y = log(measured / calibrated seconds) is modelled as y = load + excess * drafted + noise

`load` is common to plain and drafted passes and drifts (other programs, heat, a longer chat). `excess` is the extra of
drafted passes of this source and depth, which the calibration lacks. A Kalman filter keeps both with their covariance.
So `excess` is learnt only from plain and drafted passes that are near in time: after many passes of one kind, drift has
made the load uncertain again. The variance of `excess` accounts for noise that lasts over passes, for plain passes from
before the machine became busy, and for those of earlier replies. It grows with every pass, so old ones are forgotten.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

# prior standard error of log prices, calibrated or guessed
_CALIBRATED = 0.16
_GUESSED = 0.5
# noise of one pass, in logs; learnt from consecutive passes
_NOISE = 0.08
_LEAST_NOISE = 0.04
_LEARNING = 0.1
_DRIFT = 0.8  # of the load from pass to pass, as a multiple of the noise
_OUTLIER = 3.0  # standard errors; beyond, the pass changes no estimate but makes the load uncertain
# of the load while idle, in logs per square root of a second, and its maximum
_DRIFT_PER_S = 0.05
_MOST_DRIFT = 0.5
_FORGETTING = 0.002  # of the excess, in logs per square root of a pass
_DEEPER = 0.05  # standard deviation of the excess between a depth and its double, in logs
_LEAST_DEPTH_TOKENS = 2048  # depth 0: up to so many tokens, where depth hardly matters
# Added to the error for one plain pass, in logs: few of them may all be slow because of other programs. MEASURED:
# without it one of 200 replies on a busy machine is reported a gain that is a loss.
BAD_LUCK = 0.15
_RACE_ERROR = 0.03  # one standard error of a race's figure
_MOST_WRONG = 4.0  # times; a race that says more is not believed
_MEMORY_PASSES = 1000.0  # time constant of `plain_passes`
_RESTARTED = 0.06  # standard deviation of the excess between two runs of the program, in logs
_MOST_KEPT = 16
_LARGEST_EXCESS = 2.0


@dataclass(slots=True)
class PassRatio:
    """Filter state of one source at one depth. Shared by all replies of a pair."""

    excess: float = 0.0  # log of drafted over plain, beyond the calibration
    variance: float = _CALIBRATED**2  # of `excess`
    plain_passes: float = 0.0  # number of plain passes that `excess` rests on; older ones count for less
    _load: float = 0.0
    _load_variance: float = 25.0
    _covariance: float = 0.0
    _noise: float = _NOISE**2
    _latest: tuple[float, bool] | None = None

    @property
    def error(self) -> float:
        """One standard error of a drafted pass's time in plain passes, as a share."""
        return math.sqrt(self.variance + BAD_LUCK**2 / (1 + self.plain_passes))

    def rest(self, seconds: float) -> None:
        """Add the load's drift over `seconds` without a pass."""
        self._load_variance += min(_MOST_DRIFT, _DRIFT_PER_S * math.sqrt(max(0.0, seconds))) ** 2
        self._latest = None

    def see(self, beyond: float, *, drafted: bool) -> None:
        """Update with the next pass; `beyond` = log(measured / calibrated seconds)."""
        self._learn_noise(beyond, drafted)
        self.plain_passes += (not drafted) - self.plain_passes / _MEMORY_PASSES
        self.variance += _FORGETTING**2
        self._load_variance += _DRIFT**2 * self._noise
        of_load = self._load_variance + drafted * self._covariance
        of_excess = self._covariance + drafted * self.variance
        total = of_load + drafted * of_excess + self._noise
        surprise = beyond - self._load - drafted * self.excess
        if surprise**2 > _OUTLIER**2 * total:
            self._load_variance += surprise**2
            return
        self._load += of_load / total * surprise
        self.excess += of_excess / total * surprise
        self._load_variance -= of_load**2 / total
        self.variance -= of_excess**2 / total
        self._covariance -= of_load * of_excess / total

    def correct(self, by: float) -> None:
        """Update with a race by the clock, whose drafted passes took `by` (in logs) longer than `excess` says."""
        total = self.variance + _RACE_ERROR**2
        self._load += self._covariance / total * by
        self.excess += self.variance / total * by
        self._load_variance -= self._covariance**2 / total
        self._covariance -= self._covariance * self.variance / total
        self.variance -= self.variance**2 / total

    def _learn_noise(self, beyond: float, drafted: bool) -> None:
        if self._latest is not None and self._latest[1] == drafted:
            seen = min((beyond - self._latest[0]) ** 2 / 2, _OUTLIER**2 * self._noise)
            self._noise = max(_LEAST_NOISE**2, self._noise + _LEARNING * (seen - self._noise))
        self._latest = (beyond, drafted)

    def deeper(self, steps: int) -> PassRatio:
        """The state to start from at a depth that is `steps` doublings away: the same, less certain."""
        return replace(self, variance=self.variance + (_DEEPER * steps) ** 2)


class PassRatios:
    """Those of a pair, by source and depth. A plain pass updates all sources at its depth."""

    def __init__(self, *, calibrated: bool, error: float = 0.0) -> None:
        """`error`: of the calibration's times, as a share."""
        self._first = PassRatio(variance=_CALIBRATED**2 + (2 * error) ** 2 if calibrated else _GUESSED**2)
        self._known: dict[tuple[str, int], PassRatio] = {}
        self._seen_at = -math.inf
        self.latest: PassRatio | None = None  # of the latest drafted pass
        self.passes = 0  # in this run

    def of(self, source: str, depth: int) -> PassRatio:
        """The ratio at `depth`; a new one starts from the nearest depth, or from plain passes for a new `source`."""
        if (source, depth) not in self._known:
            near = [at for name, at in self._known if name == source]
            if near:
                nearest = min(near, key=lambda at: abs(at - depth))
                self._known[source, depth] = self._known[source, nearest].deeper(abs(nearest - depth))
            else:
                self._known[source, depth] = replace(self.of("", depth) if source else self._first)
        return self._known[source, depth]

    def see(self, source: str, depth: int, beyond: float, began_at: float, ended_at: float) -> None:
        """Update with a pass of `source`; "" is a plain one. `beyond`: log(measured / calibrated seconds)."""
        if began_at > self._seen_at:
            for each in self._known.values():
                each.rest(min(began_at - self._seen_at, 1e9))
        self._seen_at = ended_at
        self.passes += 1
        if source:
            self.latest = self.of(source, depth)
        self.of("", depth)
        for (name, at), each in self._known.items():
            if at == depth and (name == source or not source):
                each.see(beyond, drafted=bool(source))

    def correct(self, source: str, longer: float) -> None:
        """A race by the clock: passes of `source` take so many times as long as these ratios say, at all depths."""
        for (name, _), each in self._known.items():
            if name == source and 1 / _MOST_WRONG <= longer <= _MOST_WRONG:
                each.correct(math.log(longer))

    def kept(self) -> list[dict[str, object]]:
        """The ratios to store for a later run: those of sources that drafted beside plain passes."""
        known = [
            {"source": source, "depth": depth, "excess": each.excess, "variance": each.variance, "plain": passes}
            for (source, depth), each in self._known.items()
            if source and (passes := each.plain_passes) >= 1
        ]
        return known[-_MOST_KEPT:]

    def recall(self, kept: Iterable[Mapping[str, Any]]) -> None:
        """Restore the ratios of an earlier run, with a larger error; impossible ones are left out."""
        for each in kept:
            if abs(each["excess"]) <= _LARGEST_EXCESS and 0 < each["variance"] < _GUESSED**2:
                variance = each["variance"] + _RESTARTED**2
                self._known[each["source"], each["depth"]] = PassRatio(each["excess"], variance, each["plain"])


def depth_of(context_tokens: int) -> int:
    """0, 1, 2 … for up to 2048, 4096, 8192 … tokens."""
    return ((max(1, context_tokens) - 1) // _LEAST_DEPTH_TOKENS).bit_length()


def tokens_at(depth: int) -> int:
    """The middle of a depth."""
    return _LEAST_DEPTH_TOKENS * 3 * 2**depth // 4 if depth else _LEAST_DEPTH_TOKENS // 2
