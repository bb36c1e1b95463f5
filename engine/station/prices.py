"""What a station's drafts cost the reply that waits for them, and how many were prepared. Pure: no clock."""

from __future__ import annotations

from engine.drafting.costs import RoundCosts

SOURCE = "station"
_FIRST_WAIT_S = 0.002
_SLOWEST_LEARNING = 0.04
_LEAST_SHARE = 0.01


class StationPrices:
    """The average seconds of waiting for each draft: the way there and back, what was not prepared, and what was waited
    for in vain.
    """

    def __init__(self) -> None:
        self.drafts = 0
        self.hits = 0  # drafts all of which was prepared
        self.late = 0  # orders that were not answered in time
        self._asked = 0
        self._waited_s = _FIRST_WAIT_S  # each time, on average
        self._drafted = 1.0  # share of the times

    @property
    def wait_s(self) -> float:
        return self._waited_s / max(self._drafted, _LEAST_SHARE)

    def observe(self, waited_s: float, *, hit: bool) -> None:
        self.drafts += 1
        self.hits += hit
        self._learn(waited_s, 1.0)

    def observe_in_vain(self, waited_s: float) -> None:
        """No draft came, or none in time."""
        self._learn(waited_s, 0.0)

    def _learn(self, waited_s: float, drafted: float) -> None:
        self._asked += 1
        weight = max(1 / (self._asked + 1), _SLOWEST_LEARNING)
        self._waited_s += weight * (waited_s - self._waited_s)
        self._drafted += weight * (drafted - self._drafted)

    def apply_to(self, costs: RoundCosts) -> None:
        """Tokens cost nothing: the station stops by itself where one that is not prepared is not worth its time."""
        costs.elsewhere[SOURCE] = (self.wait_s, 0.0)
