"""P-EAGLE: an EAGLE-3 head, usually of several layers, that drafts all its tokens in one forward.

A drafted token's row has a learnt state and a mask in place of a state and a token that are not known yet. It attends
to the rows of what was read, and to its draft's rows before it; so a draft of fewer tokens is the beginning of a longer
one. What is drafted in a row does not depend on what was drafted before it.
"""

from __future__ import annotations

from collections.abc import Sequence as Tokens

import mlx.core as mx

from engine.caches.base import CacheSet
from engine.decoding.accept import Draft
from engine.decoding.sampling import Sampler
from engine.drafting.plans import Plan
from engine.drafting.proposers.base import shortened
from engine.drafting.proposers.chain import ChainProposer
from engine.drafting.proposers.dflash import draft_rows
from engine.drafting.proposers.eagle3 import EagleDrafter
from engine.models.access import ModelAccess
from engine.models.drafters import EagleConfig


class PEagleProposer(ChainProposer):
    @property
    def _longest(self) -> int:
        return min(super()._longest, self._network.tokens)

    def propose(self, tokens: Tokens[int], plan: Plan, sampler: Sampler) -> Draft:
        logits = self._network.logits(self._network.block(self._read(tokens), plan.length, self.context.caches))
        newest = mx.array(list(tokens[-1:]), dtype=mx.uint32)
        draft = draft_rows(lambda row, before: logits[row : row + 1], newest, len(tokens), plan, sampler)
        return shortened(draft, plan)


class PEagleDrafter(EagleDrafter):
    proposer = PEagleProposer

    def __init__(self, config: EagleConfig, main: ModelAccess) -> None:
        super().__init__(config, main)
        self.tokens = config.tokens
        self.mask_hidden = mx.zeros((1, 1, self.reads_width))

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """The state of a mask has one dimension less in some folders."""
        named = super().sanitize(weights)
        return {name: weight.reshape(1, 1, -1) if name == "mask_hidden" else weight for name, weight in named.items()}

    def block(self, state: mx.array, length: int, caches: CacheSet) -> mx.array:
        """The states (length, width) that draft what follows the row with `state`, the last that was read.

        Their rows are taken back.
        """
        if length == 1:
            return state
        position = caches.position
        masks = length - 1
        fused = mx.broadcast_to(self.fused(self.mask_hidden[0]), (masks, state.shape[-1]))
        made = self.step(mx.full((masks,), self._config.mask_token, dtype=mx.uint32), fused, caches)
        caches.roll_back(position)
        return mx.concatenate([state, made])

    def rehearse(self, length: int, caches: CacheSet) -> mx.array:
        return self.logits(self.block(self._rehearsed_state(caches), length, caches))
