"""What a plain pass takes beside a drafted one, from pass to pass of this pair. Pure arithmetic.

The log of what a pass took beyond its calibrated price is

    y = load + excess * drafted + noise

`load` is the same for plain and drafted passes and drifts (other programs, heat, a longer chat); `excess` is what
drafted passes of this source and depth take beyond plain ones that the calibration does not know. A Kalman filter keeps
both with their covariance, so only passes of the two kinds that stand near each other in time tell of the excess: after
a stretch of either kind the drift has made the load uncertain again. So the variance of the excess is right for noise
that goes on from pass to pass, for plain passes measured before the machine became busy, and for those of replies
before. It grows with every pass, so that old ones are forgotten.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

_CALIBRATED, _GUESSED = 0.16, 0.5  # how far calibrated and guessed prices are off, in logs: one standard error
_NOISE, _LEAST_NOISE, _LEARNING = 0.08, 0.04, 0.1  # of one pass, in logs; learnt from passes that follow each other
_DRIFT = 0.8  # of the load from pass to pass, in parts of the noise
_OUTLIER = 3.0  # standard errors: so far off it is something else that ran, or a load of its own from here on
_DRIFT_PER_S, _MOST_DRIFT = 0.05, 0.5  # of the load while nothing was written, in logs a square root of a second
_FORGETTING = 0.002  # of the excess, in logs a square root of a pass
_DEEPER = 0.05  # of the excess between one depth and twice that
_LEAST_DEPTH_TOKENS = 2048  # up to so many tokens depth hardly matters
# Few plain passes may all have met something else that ran: added for one, in logs. MEASURED: without it one of 200
# replies on a busy machine is told a gain that is a loss.
_BAD_LUCK = 0.15
_MEMORY_PASSES = 1000.0  # older ones count for less


@dataclass(slots=True)
class Baseline:
    """Of one source at one depth. One for all replies of a pair."""

    excess: float = 0.0  # in logs
    variance: float = _CALIBRATED**2  # of it
    plain_passes: float = 0.0  # that it rests on; older ones count for less
    _load: float = 0.0
    _load_variance: float = 25.0
    _covariance: float = 0.0
    _noise: float = _NOISE**2
    _latest: tuple[float, bool] | None = None

    @property
    def error(self) -> float:
        """One standard error of what a drafted pass takes, in plain ones, as a share."""
        return math.sqrt(self.variance + _BAD_LUCK**2 / (1 + self.plain_passes))

    def rest(self, seconds: float) -> None:
        """Nothing was written for so long."""
        self._load_variance += min(_MOST_DRIFT, _DRIFT_PER_S * math.sqrt(max(0.0, seconds))) ** 2
        self._latest = None

    def see(self, beyond: float, *, drafted: bool) -> None:
        """The next pass took this log more than its price."""
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

    def _learn_noise(self, beyond: float, drafted: bool) -> None:
        if self._latest is not None and self._latest[1] == drafted:
            seen = min((beyond - self._latest[0]) ** 2 / 2, _OUTLIER**2 * self._noise)
            self._noise = max(_LEAST_NOISE**2, self._noise + _LEARNING * (seen - self._noise))
        self._latest = (beyond, drafted)

    def deeper(self, steps: int) -> Baseline:
        """What this says of another depth, so many doublings away."""
        return replace(self, variance=self.variance + (_DEEPER * steps) ** 2)


class Baselines:
    """Those of a pair, by source and depth; plain passes are seen by all sources of their depth."""

    def __init__(self, *, calibrated: bool, error: float = 0.0) -> None:
        """`error` of the calibration's times, as a share."""
        self._first = Baseline(variance=_CALIBRATED**2 + (2 * error) ** 2 if calibrated else _GUESSED**2)
        self._known: dict[tuple[str, int], Baseline] = {}
        self._seen_at = -math.inf
        self.latest: Baseline | None = None  # of the latest drafted pass

    def of(self, source: str, depth: int) -> Baseline:
        """From the nearest depth where there is none yet; what plain passes alone have told, where it never drafted."""
        if (source, depth) not in self._known:
            near = [at for name, at in self._known if name == source]
            if near:
                nearest = min(near, key=lambda at: abs(at - depth))
                self._known[source, depth] = self._known[source, nearest].deeper(abs(nearest - depth))
            else:
                self._known[source, depth] = replace(self.of("", depth) if source else self._first)
        return self._known[source, depth]

    def see(self, source: str, depth: int, beyond: float, began_at: float, ended_at: float) -> None:
        """A pass of `source` (plain: "") took this log more than its price."""
        if began_at > self._seen_at:
            for each in self._known.values():
                each.rest(min(began_at - self._seen_at, 1e9))
        self._seen_at = ended_at
        if source:
            self.latest = self.of(source, depth)
        self.of("", depth)
        for each in self._concerned(source, depth):
            each.see(beyond, drafted=bool(source))

    def _concerned(self, source: str, depth: int) -> Iterator[Baseline]:
        for (name, at), each in self._known.items():
            if at == depth and (name == source or not source):
                yield each


def depth_of(context_tokens: int) -> int:
    """0, 1, 2 … for up to 2048, 4096, 8192 … tokens."""
    return ((max(1, context_tokens) - 1) // _LEAST_DEPTH_TOKENS).bit_length()
