"""Drafts from a text that the reply is expected to repeat in large part: an edited file, say. Takes no device time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from engine.api.types import MAX_DRAFT_TOKENS
from engine.drafting.plans import Offer
from engine.drafting.proposers.base import FreeProposer

_RUN = 3  # tokens that have to match to find a position again
_SURE = 8  # a match of this length is taken for a copy


class PredictedProposer(FreeProposer):
    """Follows the reply through the prediction: first from its beginning; after a difference, from the next position
    where the latest tokens occur.
    """

    name = "prediction"

    def __init__(self, prediction: Sequence[int], begin: int) -> None:
        """`begin`: index of the reply's first token."""
        self._prediction = list(prediction)
        self._read = begin
        self._next = 0  # index of the next predicted token
        self._match = _SURE  # number of tokens that matched before it; the beginning is trusted
        self._ends: dict[tuple[int, ...], list[int]] = {}
        for end in range(_RUN, len(self._prediction)):
            self._ends.setdefault(tuple(self._prediction[end - _RUN : end]), []).append(end)

    def offer(self, tokens: Sequence[int]) -> Offer:
        self._follow(tokens)
        most = min(2 * self._match, MAX_DRAFT_TOKENS)
        return Offer(self.name, len(self.propose_tokens(tokens, most)), grade=min(self._match, _SURE) // 2, free=True)

    def propose_tokens(self, tokens: Sequence[int], most: int) -> list[int]:
        return self._prediction[self._next : self._next + most] if self._match else []

    def _follow(self, tokens: Sequence[int]) -> None:
        for at in range(self._read, len(tokens)):
            if self._match and self._prediction[self._next : self._next + 1] == [tokens[at]]:
                self._next = self._next + 1
                self._match = self._match + 1
            else:
                self._find(tokens[max(0, at + 1 - _RUN) : at + 1])
        self._read = len(tokens)

    def _find(self, latest: Sequence[int]) -> None:
        """The next position after a match; later positions are preferred, since passages rarely repeat."""
        ends = self._ends.get(tuple(latest), [])
        self._match = _RUN if ends else 0
        if ends:
            self._next = ends[bisect_left(ends, self._next) % len(ends)]
