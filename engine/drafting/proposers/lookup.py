"""Prompt lookup: drafts what followed the last occurrence of the latest tokens. Takes no time of the device."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice, takewhile

from engine.api.types import MAX_DRAFT_TOKENS
from engine.drafting.plans import Offer
from engine.drafting.proposers.base import FreeProposer
from engine.vision.values import FIRST_NAME

_SHORTEST_MATCH = 3  # shorter matches are too frequent to predict anything
_LONGEST_MATCH = 32


class LookupProposer(FreeProposer):
    """Remembers where each run of three tokens ended last, the prompt included.

    >>> the tokens so far: a b c d e … a b c    the longest run that recurs: a b c    drafted: d e …
    """

    name = "lookup"

    def __init__(self, ends: frozenset[int] = frozenset()) -> None:
        """Drafts stop after one of `ends`."""
        self._ends_reply = ends
        self._ends: dict[tuple[int, ...], int] = {}  # run -> index right after its latest occurrence
        self._indexed = 0
        self._found = 0

    def offer(self, tokens: Sequence[int]) -> Offer:
        """The longer the match, the more tokens: a long match is a copy in progress."""
        self._index(tokens)
        self._found, match = self._find(tokens)
        most = min(2 * match if match >= 8 else match, MAX_DRAFT_TOKENS) if match else 0
        return Offer(self.name, len(self.propose_tokens(tokens, most)), grade=min(match, 8) // 2, free=True)

    def propose_tokens(self, tokens: Sequence[int], most: int) -> list[int]:
        """The tokens after the match, up to a picture. Past the end of the text the match repeats."""
        copied = islice(cycle(tokens[self._found : self._found + most]), most)
        following = list(takewhile(lambda token: token < FIRST_NAME, copied))
        end = next((at for at, token in enumerate(following) if token in self._ends_reply), most)
        return following[: end + 1]

    def _find(self, tokens: Sequence[int]) -> tuple[int, int]:
        """(end of the longest earlier run equal to the last tokens, its length); length 0: none."""
        end = self._ends.get(tuple(tokens[-_SHORTEST_MATCH:]), 0)
        if not end:
            return 0, 0
        match = _SHORTEST_MATCH
        while match < min(_LONGEST_MATCH, end) and tokens[end - match - 1] == tokens[-match - 1]:
            match += 1
        return end, match

    def _index(self, tokens: Sequence[int]) -> None:
        """Index all runs before the last tokens; the last run has no continuation yet."""
        for end in range(max(self._indexed, _SHORTEST_MATCH), len(tokens)):
            self._ends[tuple(tokens[end - _SHORTEST_MATCH : end])] = end
        self._indexed = max(self._indexed, len(tokens))
