"""Whether several replies share each forward of the main model or take turns speculating: what is more tokens a second.

Both are measured while they are done. What was not done yet is estimated: a shared forward from the calibration, turns
from what drafting promises for one reply.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.drafting.controller import History

_LEAD = 1.1  # a change must promise this much: caches are merged and parted for it
_STEPS = 12  # between two looks
_FADING = 0.9
_LOOKS_KEPT = 64  # what was measured is forgotten after so many, so that it is tried again


@dataclass(slots=True)
class _Rate:
    """Tokens a second, of late."""

    tokens: float = 0.0
    seconds: float = 0.0

    def observe(self, tokens: int, seconds: float) -> None:
        self.tokens = _FADING * self.tokens + tokens
        self.seconds = _FADING * self.seconds + seconds

    @property
    def value(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0


@dataclass(slots=True)
class Sharing:
    """For one loaded pair. Engine thread only."""

    history: History
    takes_turns: bool = False
    _steps: int = _STEPS
    _looks: int = 0  # since turns were taken
    _replies: int = 0
    _shared: dict[int, _Rate] = field(default_factory=dict)  # by how many replies
    _turns: _Rate = field(default_factory=_Rate)

    def choose(self, replies: int, *, may_draft: bool) -> bool:
        """Whether `replies` are to take turns now. Looks anew every few steps, and when their number changes."""
        self._steps += 1
        if not may_draft:
            self.takes_turns = False
        elif self._steps >= _STEPS or replies != self._replies:
            self._look(replies)
        self._replies = replies
        return self.takes_turns

    def _look(self, replies: int) -> None:
        self._steps = 0
        self._looks = 0 if self.takes_turns else self._looks + 1
        if self._looks >= _LOOKS_KEPT:
            self._turns, self._looks = _Rate(), 0
        lead = 1 / _LEAD if self.takes_turns else _LEAD
        self.takes_turns = self._turns_rate() > lead * self._shared_rate(replies)

    def observe(self, replies: int, tokens: int, seconds: float) -> None:
        """A step of `replies` replies, in the way that was chosen, wrote so many tokens."""
        rate = self._turns if self.takes_turns else self._shared.setdefault(replies, _Rate())
        rate.observe(tokens, seconds)

    def _shared_rate(self, replies: int) -> float:
        measured = self._shared.get(replies)
        if measured is not None:
            return measured.value
        forward_s = self.history.costs.price_s("", replies - 1)  # over as many tokens of one text
        return replies / forward_s if forward_s else 0.0

    def _turns_rate(self) -> float:
        """What was measured, as long as drafts stand no more often than then; 0 where drafting does not pay."""
        plain_s = self.history.costs.plain_s
        promised = self.history.draft_speed / plain_s if plain_s else 0.0
        return min(promised, self._turns.value) if self._turns.seconds else promised
