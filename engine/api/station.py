"""Values about a station: a process that drafts for this engine, here or on another machine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.api.ranks import Helping


@dataclass(frozen=True, slots=True)
class StationPlace:
    """Where the draft is computed as well. `helping`: a paired machine that has the draft's files; None: this one."""

    helping: Helping | None = None


class StationPhase(StrEnum):
    OFF = "off"  # none is wanted, or the pair has no draft model that can be computed elsewhere
    STARTING = "starting"  # or starting again
    READY = "ready"


@dataclass(frozen=True, slots=True)
class StationState:
    """What a station does, and what it brings."""

    phase: StationPhase = StationPhase.OFF
    machine: str = ""  # where it is; "": this one
    drafts: int = 0  # that it made
    hits: int = 0  # of these, all of whose tokens were prepared before
    gain: float = 0.0  # by the prices at present, its speed over the fastest without it; 0: not known
    why: str = ""  # it is not there, for the log
