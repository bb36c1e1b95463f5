"""DFly: a block as DFlash's, but each layer reads a mixture of its own of the main model's layers, and a state is
corrected by the token before, so a block's tokens fit one another.
"""

from __future__ import annotations

from collections.abc import Sequence

import mlx.core as mx
import mlx.nn as nn

from engine.drafting.proposers.dflash import BlockDrafter
from engine.drafting.proposers.layers import mixtures
from engine.models.access import ModelAccess
from engine.models.drafters import BlockConfig


class Correction(nn.Module):
    """A gated MLP over a row's state and the embedding of the token before."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        width = config.backbone.width
        eps = config.backbone.norm_eps
        inner = config.size("hidden_correction_intermediate_size", least=0) or width
        self.hidden_norm = nn.RMSNorm(width, eps=eps)
        self.embed_norm = nn.RMSNorm(width, eps=eps)
        self.gate_proj = nn.Linear(2 * width, inner, bias=False)
        self.up_proj = nn.Linear(2 * width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def __call__(self, state: mx.array, before: mx.array) -> mx.array:
        both = mx.concatenate([self.hidden_norm(state), self.embed_norm(before).astype(state.dtype)], axis=-1)
        return state + self.down_proj(nn.silu(self.gate_proj(both)) * self.up_proj(both))


class DFlyDrafter(BlockDrafter):
    def __init__(self, config: BlockConfig, main: ModelAccess) -> None:
        super().__init__(config, main)
        self.layer_fusion_weights = mx.zeros((config.backbone.layers, len(config.info.layers)))
        if config.has("hidden_correction.down_proj.weight", "enable_hidden_correction", unsaid=True):
            self.hidden_correction = Correction(config)

    def _contexts(self, states: mx.array) -> Sequence[mx.array]:
        contexts = self.hidden_norm(self.fc(states) + mixtures(self.layer_fusion_weights, states))
        return [contexts[layer] for layer in range(contexts.shape[0])]

    def step_logits(self, base: mx.array, before: mx.array, state: mx.array) -> mx.array:
        if "hidden_correction" in self:  # `base` is then never evaluated
            base = self.base_logits(self.hidden_correction(state, self._main.embed(before)))
        return super().step_logits(base, before, state)
