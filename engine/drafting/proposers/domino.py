"""Domino: a block as DFlash's, and a recurrent state over the tokens drafted so far corrects each row's logits.

g(t) = GRU(g(t - 1), embedding of the token before row t), g = 0 before the block's first token logits(t) = head(h(t)) +
U silu(V [h(t); g(t)])

The first rows of a block may be uncorrected: the state is updated, but their logits are the head's.
"""

from __future__ import annotations

import mlx.core as mx
import mlx.nn as nn

from engine.drafting.proposers.dflash import BlockDrafter, Walk
from engine.models.access import ModelAccess
from engine.models.drafters import BlockConfig


class PrefixState(nn.Module):
    """PyTorch's GRU of one layer without biases: its gates are stacked as reset, update and new."""

    def __init__(self, width: int, state_width: int) -> None:
        super().__init__()
        self.weight_ih_l0 = mx.zeros((3 * state_width, width))
        self.weight_hh_l0 = mx.zeros((3 * state_width, state_width))

    def begun(self) -> mx.array:
        return mx.zeros((1, self.weight_hh_l0.shape[1]), self.weight_hh_l0.dtype)

    def __call__(self, embedded: mx.array, state: mx.array) -> mx.array:
        reset, update, new = mx.split(embedded.astype(state.dtype) @ self.weight_ih_l0.T, 3, axis=-1)
        kept_reset, kept_update, kept_new = mx.split(state @ self.weight_hh_l0.T, 3, axis=-1)
        share = mx.sigmoid(update + kept_update)
        return (1 - share) * mx.tanh(new + mx.sigmoid(reset + kept_reset) * kept_new) + share * state


class DominoDrafter(BlockDrafter):
    def __init__(self, config: BlockConfig, main: ModelAccess) -> None:
        super().__init__(config, main)
        width = config.backbone.width
        state_width = config.size("gru_hidden_dim")
        inner = config.size("emb_dim")
        self._uncorrected = config.size("pure_draft_prefix_len", least=0)  # of a block's tokens, the first ones
        self.prefix_gru = PrefixState(width, state_width)
        self.embed_proj = [
            nn.Linear(width + state_width, inner, bias=False),
            nn.SiLU(),
            nn.Linear(inner, config.draft_vocabulary or config.info.vocabulary_rows, bias=False),
        ]

    def walk(self, states: mx.array, base: mx.array) -> Walk:
        prefix = self.prefix_gru.begun()

        def logits(row: int, before: mx.array) -> mx.array:
            nonlocal prefix
            prefix = self.prefix_gru(self._main.embed(before), prefix)
            own = base[row : row + 1]
            if row >= self._uncorrected:
                correction = mx.concatenate([states[row : row + 1], prefix.astype(states.dtype)], axis=-1)
                for part in self.embed_proj:
                    correction = part(correction)
                own = own + correction
            return self.step_logits(own, before, states[row : row + 1])

        return logits
