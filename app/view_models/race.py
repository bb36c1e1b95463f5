"""A race as a plain value: its text, its laps' times, and what they say."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from app.view_models.race_times import RaceTimes
from engine import EngineError, RequestStats


class RaceState(StrEnum):
    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"  # for a reply in the foreground
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Verdict(StrEnum):
    """What the laps say."""

    OPEN = "open"  # too few yet
    KNOWN = "known"  # the factor
    BUSY = "busy"  # they differ too much: the machine has other work
    TOO_SHORT = "too_short"  # the reply
    NOTHING_DRAFTED = "nothing_drafted"


@dataclass(frozen=True, slots=True)
class RaceView:
    state: RaceState = RaceState.IDLE
    text: str = ""  # of the first lap, which is not timed
    tokens: int = 0  # of each lap
    times: RaceTimes = field(default_factory=RaceTimes)
    drafted: RequestStats = field(default_factory=RequestStats)  # of the latest lap with the draft
    verdict: Verdict = Verdict.OPEN
    is_auto_plain: bool = False  # auto drafts nothing here; the race does
    differs_at: int | None = None  # the first token that the draft changed
    may_differ: bool = False  # the text was asked to be fastest rather than the same with any draft
    error: EngineError | None = None  # why it failed
