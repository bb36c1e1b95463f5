"""Other machines as plain values: those that are paired, what pairing came to, and a plan of layers over two."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine import EngineError, RankPlan


@dataclass(frozen=True, slots=True)
class MachineEntry:
    """A machine that is paired. Without a round trip and an error, it is being asked."""

    fingerprint: str
    name: str
    address: str  # "": it was paired from there, so it may use this one
    trip_s: float | None = None  # what a question and its answer take
    error: EngineError | None = None  # why it lends nothing now


class AskingState(StrEnum):
    NONE = "none"
    ASKING = "asking"
    REFUSED = "refused"  # `error` says why
    DONE = "done"


@dataclass(frozen=True, slots=True)
class PairingView:
    state: AskingState = AskingState.NONE
    name: str = ""  # of the machine that was paired
    error: EngineError | None = None


@dataclass(frozen=True, slots=True)
class PlanView:
    """Where the layers of a model would be, with the help of one machine."""

    folder: str = ""
    fingerprint: str = ""
    state: AskingState = AskingState.NONE
    plan: RankPlan | None = None
    error: EngineError | None = None

    @property
    def fits(self) -> bool:
        return self.plan is not None and self.plan.fits
