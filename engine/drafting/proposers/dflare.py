"""DFlare: a block as DFlash's, but each layer reads a mixture of its own of the main model's layers, without a
projection before it, and has other keys and values for the context than for the block's own rows.

    c(l) = norm(sum of softmax(w(l)) over the layers that are read); keys, values = K' c(l), V' c(l)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import mlx.nn as nn

from engine.drafting.proposers.dflash import Attention, BlockDrafter
from engine.drafting.proposers.layers import mixtures
from engine.models.access import ModelAccess
from engine.models.drafters import Backbone, BlockConfig


class ContextAttention(Attention):
    def __init__(self, sizes: Backbone, window: int, *, causal: bool) -> None:
        super().__init__(sizes, window, causal=causal)
        width = sizes.kv_heads * sizes.head_width
        self.k_proj_target = nn.Linear(sizes.width, width, bias=sizes.attention_bias)
        self.v_proj_target = nn.Linear(sizes.width, width, bias=sizes.attention_bias)

    def read(self, context: mx.array, rope: Any, cache: Any) -> None:
        keys = self.k_proj_target(context)
        values = self.v_proj_target(context)
        cache.update_and_fetch(*self._turned(keys, values, rope, cache.offset))


class DFlareDrafter(BlockDrafter):
    def __init__(self, config: BlockConfig, main: ModelAccess) -> None:
        super().__init__(config, main)
        del self.fc
        for layer, window, causal in zip(self.layers, config.windows, config.causal, strict=True):
            layer.self_attn = ContextAttention(config.backbone, window, causal=causal)
        self.layer_fusion_weights = mx.zeros((config.backbone.layers, len(config.info.layers)))

    def _contexts(self, states: mx.array) -> Sequence[mx.array]:
        contexts = self.hidden_norm(mixtures(self.layer_fusion_weights, states))
        return [contexts[layer] for layer in range(contexts.shape[0])]
