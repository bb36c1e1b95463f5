"""Drafts the tokens that a reply's grammar leaves no choice about. They are always accepted, and take no time."""

from __future__ import annotations

from collections.abc import Sequence

import mlx.core as mx

from engine.api.types import MAX_DRAFT_TOKENS
from engine.decoding.accept import Draft
from engine.decoding.guide import Guide
from engine.decoding.sampling import Sampler
from engine.drafting.plans import Offer, Plan


class ForcedProposer:
    name = "forced"

    def __init__(self, guide: Guide) -> None:
        self._guide = guide

    def offer(self, tokens: Sequence[int]) -> Offer:
        return Offer(self.name, len(self.propose_tokens(tokens, MAX_DRAFT_TOKENS)), free=True, certain=True)

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        return Draft(mx.array(self.propose_tokens(tokens, plan.length), dtype=mx.uint32))

    def commit(self, emitted: Sequence[int]) -> None:
        """The guide follows the sampler."""

    def close(self) -> None: ...

    def propose_tokens(self, tokens: Sequence[int], most: int) -> list[int]:
        return self._guide.forced()[:most]
