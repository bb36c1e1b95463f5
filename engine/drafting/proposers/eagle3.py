"""EAGLE-3: one layer or a few, fed the states of three layers of the main model, that draft a token at a time.

A row combines the main model's states at a token, fused into one vector, with the embedding of the next token. The
first layer attends over both; its residual is the state alone.

Many were trained on chats much shorter than the main model's (2048 tokens), so a row attends to as many rows at most,
and never to more than `SEEN_ROWS` unless some layers have windows of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.cache import KVCache

from engine.drafting.proposers.chain import ChainProposer, Head, RowChainProposer
from engine.drafting.proposers.layers import (
    OwnLayers,
    Projections,
    Readings,
    Residuals,
    normed_layers,
    rotated_otherwise,
)
from engine.drafting.proposers.rows import RowHead
from engine.models.access import ModelAccess
from engine.models.drafters import EagleConfig, default_eagle_layers

_FIRST_LAYER = "midlayer."  # the authors' name for it


class EagleAttention(Projections):
    def __call__(self, rows: mx.array, rope: Any, mask: Any, cache: KVCache) -> mx.array:
        position = cache.offset
        keys, values = cache.update_and_fetch(*self._keys_values(rows, rope, position))
        return self._mixed(self._queries(rows, rope, position), keys, values, mask)


class EagleLayer(Residuals):
    """The first layer is fed embeddings beside the states; the others are ordinary."""

    def __init__(self, config: EagleConfig, index: int) -> None:
        sizes = config.backbone
        first = index == 0
        super().__init__(sizes)
        self._norm_before_residual = config.norm_before_residual
        self.self_attn = EagleAttention(sizes, (1 + first) * sizes.width, norms=config.norms_of_heads)
        if first:
            self.hidden_norm = nn.RMSNorm(sizes.width, eps=sizes.norm_eps)

    def first(self, embedded: mx.array, states: mx.array, rope: Any, mask: Any, cache: KVCache) -> mx.array:
        normed = self.hidden_norm(states)
        read = mx.concatenate([self.input_layernorm(embedded), normed], axis=-1)
        residual = normed if self._norm_before_residual else states
        return self._fed(self._attended(residual, self.self_attn(read, rope, mask, cache)))

    def other_residual(self) -> tuple[Any, str, Any]:
        return self, "_norm_before_residual", not self._norm_before_residual

    def __call__(self, states: mx.array, rope: Any, mask: Any, cache: KVCache) -> mx.array:
        mixed = self.self_attn(self.input_layernorm(states), rope, mask, cache)
        return self._fed(self._attended(states, mixed))


class EagleDrafter(OwnLayers, RowHead, Head):
    """The network of a folder; it uses the main model's embedding."""

    proposer: type[ChainProposer] = RowChainProposer
    _config: EagleConfig

    def __init__(self, config: EagleConfig, main: ModelAccess) -> None:
        super().__init__(config, main, config.info.layers or default_eagle_layers(main.layers))
        sizes = config.backbone
        rows = config.info.vocabulary_rows
        self.fc = nn.Linear(self.reads_width, sizes.width, bias=False)
        if config.norm_before_fc:
            self.input_norm = nn.RMSNorm(self.reads_width, eps=sizes.norm_eps)
        if config.norms_of_layers:
            self.fc_norm = [nn.RMSNorm(config.info.main_width, eps=sizes.norm_eps) for _ in self._reads]
        self.layers = [EagleLayer(config, index) for index in range(sizes.layers)]
        if config.own_embedding:
            self.embed_tokens = nn.Embedding(rows, sizes.width)
        if config.own_head:
            self.lm_head = nn.Linear(sizes.width, config.draft_vocabulary or rows, bias=False)

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Renames tensors to the names used here, too."""
        return super().sanitize({name.replace(_FIRST_LAYER, "layers.0."): weight for name, weight in weights.items()})

    def logits(self, state: mx.array) -> mx.array:
        config = self._config
        normed = state if config.feeds_back_normed else self.norm(state)
        logits = self.lm_head(normed) if config.own_head else self._main.logits(normed)
        if config.own_head and config.softcap:
            logits = mx.tanh(logits / config.softcap) * config.softcap
        return self._in_main_vocabulary(logits)

    def other_readings(self) -> Readings:
        config = self._config
        return {
            "rotation": rotated_otherwise(self._rope),
            "residual": (self.layers[0].other_residual(),),
            "own state": ((self, "_config", replace(config, feeds_back_normed=not config.feeds_back_normed)),),
            **self._other_layers(),
        }

    def fused(self, states: mx.array) -> mx.array:
        config = self._config
        if config.norms_of_layers:
            states = normed_layers(self.fc_norm, states)
        return self.fc(self.input_norm(states) if config.norm_before_fc else states)

    def rows(self, tokens: mx.array, states: mx.array, layers: Sequence[Any]) -> mx.array:
        embedded = self.embed_tokens(tokens) if self._config.own_embedding else self._main.embed(tokens)
        masks = [self._mask(layer, tokens.shape[1], cache) for layer, cache in enumerate(layers)]
        rows = self.layers[0].first(embedded, states, self._rope, masks[0], layers[0])
        for layer, mask, cache in zip(self.layers[1:], masks[1:], layers[1:], strict=True):
            rows = layer(rows, self._rope, mask, cache)
        return self.norm(rows) if self._config.feeds_back_normed else rows

    def _mask(self, layer: int, rows: int, cache: Any) -> Any:
        context = self._config.backbone.context_tokens
        windows = self._config.windows
        window = min(context, windows[layer] or context)
        longest = max(getattr(cache, "lengths", [cache.offset]))  # of a batch's texts
        return cache.make_mask(rows, window_size=window if longest + rows > window else None, return_array=False)
