"""What a station's drafts cost the reply that waits for them, and how many were prepared. Pure: no clock."""

from __future__ import annotations

from engine.drafting.costs import RoundCosts

SOURCE = "station"
_FIRST_WAIT_S = 0.002
_SLOWEST_LEARNING = 0.04


class StationPrices:
    """The average seconds from asking to the draft: the way there and back, and drafting what was not prepared."""

    def __init__(self) -> None:
        self.wait_s = _FIRST_WAIT_S
        self.drafts = 0
        self.hits = 0  # drafts all of which was prepared
        self.late = 0  # orders that were not answered in time

    def observe(self, waited_s: float, *, hit: bool) -> None:
        self.drafts += 1
        self.hits += hit
        weight = max(1 / (self.drafts + 1), _SLOWEST_LEARNING)
        self.wait_s += weight * (waited_s - self.wait_s)

    def apply_to(self, costs: RoundCosts) -> None:
        """Tokens cost nothing: the station stops by itself where one that is not prepared is not worth its time."""
        costs.elsewhere[SOURCE] = (self.wait_s, 0.0)
