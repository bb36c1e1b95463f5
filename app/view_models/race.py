"""A race as a plain value: how far each lap is, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from engine import EngineError, RequestStats

_TOLERANCE = 1.1  # between times and figure


class RaceState(StrEnum):
    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"  # for a reply in the foreground
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


class LapState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    LEFT_OUT = "left_out"  # the race ended before its turn


@dataclass(frozen=True, slots=True)
class Lap:
    state: LapState = LapState.WAITING
    text: str = ""
    stats: RequestStats = field(default_factory=RequestStats)
    tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RaceView:
    state: RaceState = RaceState.IDLE
    laps: tuple[Lap, ...] = ()  # without the draft, then with it
    may_differ: bool = False  # the text was asked to be fastest rather than the same with any draft
    error: EngineError | None = None  # why it failed

    @property
    def identical(self) -> bool:
        """Whether both laps have the same tokens."""
        plain, drafted = self.laps
        return plain.tokens == drafted.tokens

    @property
    def factor(self) -> float | None:
        """The speed-up as in the footer; plain passes are those of the lap without the draft."""
        return self.laps[1].stats.speed_up

    @property
    def is_apart(self) -> bool:
        """Whether the times of the two laps differ from each other."""
        plain, drafted = (lap.stats.tokens_per_second for lap in self.laps)
        if not plain or not drafted:
            return False
        return not 1 / _TOLERANCE <= drafted / plain <= _TOLERANCE

    @property
    def is_disturbed(self) -> bool:
        """Whether the times contradict the speed-up, because other load differed between the laps."""
        interval = self.laps[1].stats.speed_up_interval
        plain, drafted = (lap.stats.tokens_per_second for lap in self.laps)
        if interval is None or not plain or not drafted:
            return False
        return not interval[0] / _TOLERANCE <= drafted / plain <= interval[1] * _TOLERANCE
