"""How several replies are written: what is most tokens a second.

They share each forward of the main model, a token each; they share it with drafts; or they take turns speculating. Each
way is measured while it is in use. One that was not used yet is estimated: shared forwards from the calibration, drafts
from how often they are accepted, turns from what drafting promises for one reply.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum, auto

from engine.drafting.controller import History

_LEAD = 1.1  # a change must promise this much: caches are merged and parted for it
_DRAFTING_LEAD = 1.03  # between the two that share forwards, where they are not
_STEPS = 12  # between two looks
_FADING = 0.9
_LOOKS_KEPT = 64  # what was measured is forgotten after so many, so that it is tried again


class Way(Enum):
    SHARED = auto()  # a token each in one forward
    DRAFTED = auto()  # the same with drafts, each as many tokens as it likes
    TURNS = auto()  # each by itself, speculating


@dataclass(slots=True)
class _Rate:
    """Tokens a second, of late."""

    tokens: float = 0.0
    seconds: float = 0.0
    looks: int = 0  # since this way was gone

    def observe(self, tokens: int, seconds: float) -> None:
        self.tokens = _FADING * self.tokens + tokens
        self.seconds = _FADING * self.seconds + seconds
        self.looks = 0

    @property
    def value(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0


@dataclass(slots=True)
class Sharing:
    """For one loaded pair. Engine thread only."""

    history: History
    way: Way = Way.SHARED
    _steps: int = _STEPS
    _replies: int = 0
    _rates: dict[tuple[Way, int], _Rate] = field(default_factory=dict)  # by how many replies; turns are alike for all

    def choose(self, replies: int, ways: Collection[Way]) -> Way:
        """One of `ways` for so many `replies` now. Looks anew every few steps, and when their number changes."""
        self._steps += 1
        if self.way not in ways:
            self.way = Way.SHARED
        if len(ways) > 1 and (self._steps >= _STEPS or replies != self._replies):
            self._look(replies, ways)
        self._replies = replies
        return self.way

    def _look(self, replies: int, ways: Collection[Way]) -> None:
        self._steps = 0
        for rate in self._rates.values():
            rate.looks += 1
            if rate.looks >= _LOOKS_KEPT:
                rate.tokens = rate.seconds = 0.0
        self.way = max(ways, key=lambda way: self._rate(way, replies) / self._lead(way))

    def _lead(self, way: Way) -> float:
        """How much more than the present way another must promise."""
        if way is self.way:
            return 1.0
        return _LEAD if Way.TURNS in (way, self.way) else _DRAFTING_LEAD

    def observe(self, way: Way, replies: int, tokens: int, seconds: float) -> None:
        """A step of `replies` replies, in this way, wrote so many tokens."""
        self._measured(way, replies).observe(tokens, seconds)

    def _measured(self, way: Way, replies: int) -> _Rate:
        return self._rates.setdefault((way, 1 if way is Way.TURNS else replies), _Rate())

    def _rate(self, way: Way, replies: int) -> float:
        """What was measured; of drafts, as long as they stand no more often than then. 0 where they do not pay."""
        measured = self._measured(way, replies)
        if way is Way.SHARED and measured.seconds:
            return measured.value
        promised = self._promised(way, replies)
        return min(promised, measured.value) if measured.seconds else promised

    def _promised(self, way: Way, replies: int) -> float:
        shared = self.history.shared_by(replies)
        if way is Way.DRAFTED:
            return replies * shared.promise()
        plain_s = shared.costs.plain_s if way is Way.SHARED else self.history.costs.plain_s
        tokens = replies if way is Way.SHARED else self.history.draft_speed
        return tokens / plain_s if plain_s else 0.0
