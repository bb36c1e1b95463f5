"""Other machines as plain values: those that are paired, what pairing came to, and a plan of layers over two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from engine import EngineError, MachineRefusal, MachineRoute, MachineUnavailable, RankPlan

_SOONER = 0.5
_SOONER_S = 0.001  # of a round trip, and less by this: so much is worth another address
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
        """With the ways to it that were tried just now."""
        own = next((way for way in ways if way.address == self.address), None)
        error, trip_s = (own.error, own.trip_s) if own is not None else (None, None)
        best = min((way for way in ways if way is not own and way.error is None), key=_trip_s, default=None)
        if best is not None and own is not None and error is None:
            is_worth_it = best.trip_s < min(own.trip_s * _SOONER, own.trip_s - _SOONER_S)
            best = best if is_worth_it else None
        if error is not None:
            trip_s = None
        usual_s = self.usual_s if trip_s is None else trip_s
        return replace(self, trip_s=trip_s, error=error, usual_s=usual_s, elsewhere=best)

    @property
    def has_moved(self) -> bool:
        """Its address is no longer its own, and where it is now is no slower. What is slower, its user may choose."""
        if self.elsewhere is None or not is_away(self.error):
            return False
        return self.usual_s is None or self.elsewhere.trip_s <= self.usual_s * _SLOWER

    def at(self, address: str) -> MachineEntry:
        """As it is paired at this address, of which what was measured last holds until it is measured again."""
        if address == self.address:
            return self
        fresh = MachineEntry(self.fingerprint, self.name, address)
        found = self.elsewhere
        if found is None or found.address != address:
            return fresh
        return replace(fresh, trip_s=found.trip_s, usual_s=found.trip_s, was_at=self.address)


def is_away(error: EngineError | None) -> bool:
    """Whether another machine may have another address by now."""
    return isinstance(error, MachineUnavailable) and error.why in _AWAY


def _trip_s(way: MachineRoute) -> float:
    return way.trip_s


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

    @property
    def may_change(self) -> bool:
        """The machine may be back again, have the model by now, or more memory."""
        if self.state is AskingState.DONE:
            return not self.fits
        return self.state is AskingState.REFUSED and isinstance(self.error, MachineUnavailable)
