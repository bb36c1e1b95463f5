"""Chooses how several replies run: the way with most tokens a second.

Ways: one forward for all, a token each; the same with drafts; or taking turns, each speculating. The way in use is
measured. One not used yet is estimated: shared forwards by the calibration, drafts by accept rates, turns by the
predicted gain of drafting one reply.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from engine.drafting.controller import History

_LEAD = 1.1  # another way must be faster by this factor: changing merges and splits caches
_DRAFTING_LEAD = 1.03  # between the two ways with shared forwards, which keep the merged caches
_STEPS = 12  # between two decisions
_FADING = 0.9
_DECISIONS_KEPT = 64  # decisions after which a measurement is dropped, so that the way is tried again


class BatchWay(Enum):
    SHARED = auto()  # one forward, a token each
    DRAFTED = auto()  # one forward, with drafts
    TURNS = auto()  # each reply by itself, speculating


@dataclass(slots=True)
class _Rate:
    """Recent tokens a second."""

    tokens: float = 0.0
    seconds: float = 0.0
    decisions: int = 0  # since this way was last used

    def observe(self, tokens: int, seconds: float) -> None:
        self.tokens = _FADING * self.tokens + tokens
        self.seconds = _FADING * self.seconds + seconds
        self.decisions = 0

    @property
    def value(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0


@dataclass(slots=True)
class Sharing:
    """For one loaded pair. Engine thread only."""

    history: History
    way: BatchWay = BatchWay.SHARED
    _steps: int = _STEPS
    _replies: int = 0
    _rates: dict[tuple[BatchWay, int], _Rate] = field(default_factory=dict)  # by (way, replies); turns: replies is 1

    def choose(self, kinds: Sequence[int], ways: Collection[BatchWay], context_tokens: int) -> BatchWay:
        """Choose one of `ways` for replies of these `kinds` of text with so many tokens on average.

        Decides again every few steps, and when their number changes.
        """
        replies = len(kinds)
        self._steps += 1
        if self.way not in ways:
            self.way = BatchWay.SHARED
        if len(ways) > 1 and (self._steps >= _STEPS or replies != self._replies):
            for history in (self.history, self.history.shared_by(replies)):
                history.costs.context_tokens = context_tokens
            self._decide(kinds, ways)
        self._replies = replies
        return self.way

    def _decide(self, kinds: Sequence[int], ways: Collection[BatchWay]) -> None:
        self._steps = 0
        for rate in self._rates.values():
            rate.decisions += 1
            if rate.decisions >= _DECISIONS_KEPT:
                rate.tokens = rate.seconds = 0.0
        self.way = max(ways, key=lambda way: self._rate(way, kinds) / self._lead(way))

    def _lead(self, way: BatchWay) -> float:
        """The factor by which another way must be faster than the present one."""
        if way is self.way:
            return 1.0
        return _LEAD if BatchWay.TURNS in (way, self.way) else _DRAFTING_LEAD

    def observe(self, way: BatchWay, replies: int, tokens: int, seconds: float) -> None:
        """A step of `replies` replies, in this way, emitted `tokens` in `seconds`."""
        self._measured(way, replies).observe(tokens, seconds)

    def _measured(self, way: BatchWay, replies: int) -> _Rate:
        return self._rates.setdefault((way, 1 if way is BatchWay.TURNS else replies), _Rate())

    def _rate(self, way: BatchWay, kinds: Sequence[int]) -> float:
        """Tokens a second: as measured; with drafts at most as predicted by accept rates. 0: drafts do not pay."""
        measured = self._measured(way, len(kinds))
        if way is BatchWay.SHARED and measured.seconds:
            return measured.value
        promised = self._promised(way, kinds)
        return min(promised, measured.value) if measured.seconds else promised

    def _promised(self, way: BatchWay, kinds: Sequence[int]) -> float:
        replies = len(kinds)
        shared = self.history.shared_by(replies)
        if way is BatchWay.DRAFTED:
            return replies * shared.promise(kinds)
        if way is BatchWay.SHARED:
            return replies / shared.costs.prices_s("", 0)[0]
        plain_s = self.history.costs.plain_s
        return self.history.draft_speed / plain_s if plain_s else 0.0
