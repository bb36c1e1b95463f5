"""Drafts the tokens that a reply's grammar forces. They are always accepted, and need no device time."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.types import MAX_DRAFT_TOKENS
from engine.decoding.guide import Guide
from engine.drafting.plans import Offer
from engine.drafting.proposers.base import FreeProposer


class ForcedProposer(FreeProposer):
    name = "forced"

    def __init__(self, guide: Guide) -> None:
        self._guide = guide

    def offer(self, tokens: Sequence[int]) -> Offer:
        return Offer(self.name, len(self.propose_tokens(tokens, MAX_DRAFT_TOKENS)), free=True, certain=True)

    def propose_tokens(self, tokens: Sequence[int], most: int) -> list[int]:
        return self._guide.forced()[:most]
