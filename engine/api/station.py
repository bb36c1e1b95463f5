"""Values about a station: a process that drafts for this engine, here or on another machine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.api.errors import EngineError
from engine.api.ranks import Helping


@dataclass(frozen=True, slots=True)
class StationPlace:
    """Where the draft is computed as well. `helping`: a paired machine that has the draft's files; None: this one."""

    helping: Helping | None = None


class StationPhase(StrEnum):
    OFF = "off"  # none is wanted, or the pair has no draft model that can be computed elsewhere
    STARTING = "starting"  # or starting again
    READY = "ready"


class StationEnd(StrEnum):
    """Why one that was there is not."""

    ENDED = "ended"  # its process, or the connection
    SILENT = "silent"  # it no longer answers: asleep, or out of reach
    MISBEHAVED = "misbehaved"  # what it sent is no draft
    REFUSED = "refused"  # it cannot use this draft, and is not asked again before there is another


@dataclass(frozen=True, slots=True)
class StationState:
    """What a station does, what it brings, and what it takes there. `end`, `error`: why it is not there."""

    phase: StationPhase = StationPhase.OFF
    machine: str = ""  # where it is; "": this one
    drafts: int = 0  # that it made
    hits: int = 0  # of these, all of whose tokens were prepared before
    late: int = 0  # times that no draft came in time, besides
    gain: float = 0.0  # by the prices at present, its speed over the fastest without it; 0: not known
    memory_bytes: int = 0  # that it may take there
    worked_s: float = 0.0  # seconds of computing there
    end: StationEnd | None = None
    error: EngineError | None = None  # it could not be started

    @property
    def hit_rate(self) -> float:
        return self.hits / self.drafts if self.drafts else 0.0
