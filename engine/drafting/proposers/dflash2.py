"""DFlash2: a DFlash block with convolutions along it; each row drafts the candidate that best fits the one before."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import mlx.nn as nn

from engine.drafting.proposers.dflash import BlockDrafter, Layer
from engine.models.access import ModelAccess
from engine.models.drafters import BlockConfig


class Convolution(nn.Module):
    """Around a part of a layer: mixes each row with those before it in the block, by weights from the row."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        width = config.backbone.width
        taps = config.size("conv_kernel_size")
        group = config.size("conv_group_size")
        if width % group:
            raise ValueError(f"config.json: conv_group_size {group} of a width of {width}")
        self._shape = (2, taps, width // group, group)
        self.base_kernel = mx.zeros((2, taps, width))
        self.kernel_projection = nn.Linear(width, 2 * taps * (width // group), bias=False)

    def around(self, rows: mx.array, part: Any) -> mx.array:
        _, taps, groups, _ = self._shape
        weights = self.kernel_projection(rows).reshape(*rows.shape[:2], 2, taps, groups, 1)
        return self._mixed(part(self._mixed(rows, weights, 0)), weights, 1)

    def _mixed(self, rows: mx.array, weights: mx.array, side: int) -> mx.array:
        _, taps, groups, group = self._shape
        parts = rows.reshape(*rows.shape[:2], groups, group)
        base = self.base_kernel[side].reshape(taps, groups, group).astype(rows.dtype)
        shifted = (mx.pad(parts, [(0, 0), (tap, 0), (0, 0), (0, 0)])[:, : parts.shape[1]] for tap in range(taps))
        mixed = [(base[tap] + weights[:, :, side, tap]) * before for tap, before in enumerate(shifted)]
        return mx.stack(mixed).sum(axis=0).reshape(rows.shape)


class ConvolvedLayer(Layer):
    def __init__(self, config: BlockConfig, index: int) -> None:
        super().__init__(config, index)
        self.attention_conv = Convolution(config)
        self.mlp_conv = Convolution(config)

    def __call__(self, block: mx.array, rope: Any, cache: Any) -> mx.array:
        def attend(rows: mx.array) -> mx.array:
            return self.self_attn(rows, rope, cache)

        block = self._attended(block, self.attention_conv.around(self.input_layernorm(block), attend))
        return self._fed(block, lambda rows: self.mlp_conv.around(rows, self.mlp))


class CandidateSelector(nn.Module):
    """Scores of a row's candidate tokens, given the token before."""

    def __init__(self, vocabulary: int, width: int, rank: int, candidates: int) -> None:
        super().__init__()
        if candidates > vocabulary:
            raise ValueError(f"config.json: selector_top_k {candidates}")
        self._candidates = candidates
        self.predecessor_codebook = nn.Embedding(vocabulary, rank)
        self.successor_codebook = nn.Embedding(vocabulary, rank)
        self.hidden_projection = nn.Linear(width, rank, bias=False)

    def __call__(self, logits: mx.array, before: mx.array, state: mx.array) -> mx.array:
        """`logits` (1, vocabulary) of the candidates; -inf for all others."""
        candidates = mx.argpartition(-logits, kth=self._candidates - 1, axis=-1)[:, : self._candidates]
        follows = self.predecessor_codebook(before) * self.hidden_projection(state)
        edges = (follows[:, None] * self.successor_codebook(candidates)).sum(axis=-1)
        scores = mx.take_along_axis(logits, candidates, axis=-1) + edges
        return mx.put_along_axis(mx.full(logits.shape, -mx.inf, logits.dtype), candidates, scores, axis=-1)


class DFlash2Drafter(BlockDrafter):
    def __init__(self, config: BlockConfig, main: ModelAccess) -> None:
        super().__init__(config, main)
        width = config.backbone.width
        if config.size("conv_kernel_size", least=0):
            self.layers = [ConvolvedLayer(config, index) for index in range(config.backbone.layers)]
        if rank := config.size("selector_rank", least=0):
            rows = config.info.vocabulary_rows
            self.candidate_selector = CandidateSelector(rows, width, rank, config.size("selector_top_k"))

    def step_logits(self, base: mx.array, before: mx.array, state: mx.array) -> mx.array:
        if "candidate_selector" in self:
            base = self.candidate_selector(base, before, state)
        return super().step_logits(base, before, state)
