"""Other machines as values: paired ones, the result of pairing, and a plan of layers over two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from engine import EngineError, MachineRefusal, MachineRoute, MachineUnavailable, ModeChoice, RankMode, RankPlan

_SOONER = 0.5
_SOONER_S = 0.001  # a new address has to be faster by this much, and by this share
_SLOWER = 4.0
_AWAY = (MachineRefusal.UNREACHABLE, MachineRefusal.NO_ROUTE, MachineRefusal.STRANGER)


@dataclass(frozen=True, slots=True)
class MachineEntry:
    """A machine that is paired. Without a round trip and an error, it is being asked."""

    fingerprint: str
    name: str
    address: str  # "": it was paired from there, so it may use this one
    trip_s: float | None = None  # what a question and its answer take
    error: EngineError | None = None  # why it lends nothing now
    usual_s: float | None = None  # the last round trip at this address
    # where it has proven to be, too, much sooner than here or while here is no answer
    elsewhere: MachineRoute | None = None
    was_at: str = ""  # before this address, in this run

    def measured(self, ways: Sequence[MachineRoute]) -> MachineEntry:
        """With the addresses that were just tried."""
        own = next((way for way in ways if way.address == self.address), None)
        error, trip_s = (own.error, own.trip_s) if own is not None else (None, None)
        best = min(
            (way for way in ways if way is not own and way.error is None), key=lambda way: way.trip_s, default=None
        )
        if best is not None and own is not None and error is None:
            is_worth_it = best.trip_s < min(own.trip_s * _SOONER, own.trip_s - _SOONER_S)
            best = best if is_worth_it else None
        if error is not None:
            trip_s = None
        usual_s = self.usual_s if trip_s is None else trip_s
        return replace(self, trip_s=trip_s, error=error, usual_s=usual_s, elsewhere=best)

    @property
    def has_moved(self) -> bool:
        """Whether it has left its address for one that is no slower. A slower one is the user's choice."""
        if self.elsewhere is None or not is_away(self.error):
            return False
        return self.usual_s is None or self.elsewhere.trip_s <= self.usual_s * _SLOWER

    def at(self, address: str) -> MachineEntry:
        """With another address, and the last measurement there."""
        if address == self.address:
            return self
        fresh = MachineEntry(self.fingerprint, self.name, address)
        found = self.elsewhere
        if found is None or found.address != address:
            return fresh
        return replace(fresh, trip_s=found.trip_s, usual_s=found.trip_s, was_at=self.address)


def is_away(error: EngineError | None) -> bool:
    """Whether the machine may have another address by now."""
    return isinstance(error, MachineUnavailable) and error.why in _AWAY


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
    """Where the layers of a model would be, with the help of one machine. `mode`: as the user wants it; None: any."""

    folder: str = ""
    fingerprint: str = ""
    state: AskingState = AskingState.NONE
    plan: RankPlan | None = None
    error: EngineError | None = None
    mode: RankMode | None = None

    @property
    def fits(self) -> bool:
        return self.plan is not None and self.plan.fits

    @property
    def choice(self) -> ModeChoice | None:
        """How the model would run over both, where it fits."""
        return self.plan.choice if self.plan is not None and self.fits else None

    @property
    def may_change(self) -> bool:
        """Whether asking again may help: the machine, its models or its memory may have changed."""
        if self.state is AskingState.DONE:
            return not self.fits
        return self.state is AskingState.REFUSED and isinstance(self.error, MachineUnavailable)
