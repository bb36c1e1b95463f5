"""Transformer layers of drafters: projections, norms and residuals.

Most have the layout of Qwen's or Llama's. Gemma 4's have norms before and after both parts, a scalar, and GELU; scores
are not scaled; values have a norm without weights, and may share the keys' projection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.cache import KVCache
from mlx_lm.models.rope_utils import initialize_rope

from engine.drafting.proposers.rows import StateNetwork
from engine.models.access import ModelAccess
from engine.models.drafters import Backbone, BlockConfig, EagleConfig

Part = Callable[[mx.array], mx.array]
Changes = tuple[tuple[Any, str, Any], ...]  # (object, attribute, value)
# Of a drafter's network its `other_readings`: conventions that dialects and implementations differ in, with what to
# change for each.
Readings = dict[str, Changes]


class Projections(nn.Module):
    """Queries, keys and values of rows (texts, n, read_width), by head; `norms`: of queries and keys."""

    def __init__(self, sizes: Backbone, read_width: int, *, norms: bool) -> None:
        super().__init__()
        self._sizes = sizes
        self._normed = norms
        bias = sizes.attention_bias
        self.q_proj = nn.Linear(read_width, sizes.heads * sizes.head_width, bias=bias)
        self.k_proj = nn.Linear(read_width, sizes.kv_heads * sizes.head_width, bias=bias)
        if not sizes.values_are_keys:
            self.v_proj = nn.Linear(read_width, sizes.kv_heads * sizes.head_width, bias=bias)
        self.o_proj = nn.Linear(sizes.heads * sizes.head_width, sizes.width, bias=bias)
        if norms:
            self.q_norm = nn.RMSNorm(sizes.head_width, eps=sizes.norm_eps)
            self.k_norm = nn.RMSNorm(sizes.head_width, eps=sizes.norm_eps)

    def _queries(self, rows: mx.array, rope: Any, position: Any) -> mx.array:
        queries = self._heads(self.q_proj(rows), self._sizes.heads)
        turned: mx.array = rope(self.q_norm(queries) if self._normed else queries, offset=position)
        return turned

    def _keys_values(self, rows: mx.array, rope: Any, position: Any) -> tuple[mx.array, mx.array]:
        keys = self.k_proj(rows)
        return self._turned(keys, keys if self._sizes.values_are_keys else self.v_proj(rows), rope, position)

    def _turned(self, keys: mx.array, values: mx.array, rope: Any, position: Any) -> tuple[mx.array, mx.array]:
        """Keys and values by head, from their projections."""
        sizes = self._sizes
        keys = self._heads(keys, sizes.kv_heads)
        values = self._heads(values, sizes.kv_heads)
        if self._normed:
            keys = self.k_norm(keys)
        if sizes.is_gemma:
            values = mx.fast.rms_norm(values, None, sizes.norm_eps)
        return rope(keys, offset=position), values

    def _mixed(
        self,
        queries: mx.array,
        keys: mx.array,
        values: mx.array,
        mask: Any,
        sinks: mx.array | None = None,
        gates: mx.array | None = None,
    ) -> mx.array:
        """`gates`: (texts, n, heads), by which each head's part of a row is multiplied."""
        scale = 1.0 if self._sizes.is_gemma else self._sizes.head_width**-0.5
        mixed = mx.fast.scaled_dot_product_attention(queries, keys, values, scale=scale, mask=mask, sinks=sinks)
        rows = mixed.transpose(0, 2, 1, 3)
        rows = rows if gates is None else rows * gates[..., None]
        return self.o_proj(rows.flatten(2))

    def _heads(self, rows: mx.array, heads: int) -> mx.array:
        return rows.reshape(*rows.shape[:2], heads, -1).transpose(0, 2, 1, 3)


class MLP(nn.Module):
    def __init__(self, sizes: Backbone) -> None:
        super().__init__()
        self._activation = nn.gelu_approx if sizes.is_gemma else nn.silu
        self.gate_proj = nn.Linear(sizes.width, sizes.mlp_width, bias=False)
        self.up_proj = nn.Linear(sizes.width, sizes.mlp_width, bias=False)
        self.down_proj = nn.Linear(sizes.mlp_width, sizes.width, bias=False)

    def __call__(self, rows: mx.array) -> mx.array:
        return self.down_proj(self._activation(self.gate_proj(rows)) * self.up_proj(rows))


class Residuals(nn.Module):
    """The norms of a layer, its MLP, and the residual of each part. One tensor name is a different norm in Gemma 4."""

    def __init__(self, sizes: Backbone) -> None:
        super().__init__()
        self._is_gemma = sizes.is_gemma
        self.mlp = MLP(sizes)
        self.input_layernorm = nn.RMSNorm(sizes.width, eps=sizes.norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(sizes.width, eps=sizes.norm_eps)
        if sizes.is_gemma:
            self.pre_feedforward_layernorm = nn.RMSNorm(sizes.width, eps=sizes.norm_eps)
            self.post_feedforward_layernorm = nn.RMSNorm(sizes.width, eps=sizes.norm_eps)
            self.layer_scalar = mx.ones((1,))

    def _attended(self, rows: mx.array, mixed: mx.array) -> mx.array:
        return rows + (self.post_attention_layernorm(mixed) if self._is_gemma else mixed)

    def _fed(self, rows: mx.array, mlp: Part | None = None) -> mx.array:
        """`mlp`: called in place of the layer's own."""
        mlp = mlp or self.mlp
        if not self._is_gemma:
            return rows + mlp(self.post_attention_layernorm(rows))
        return (rows + self.post_feedforward_layernorm(mlp(self.pre_feedforward_layernorm(rows)))) * self.layer_scalar


class OwnLayers(nn.Module, StateNetwork):
    """What blocks and EAGLE-3 heads have in common: layers of their own, a norm after them, perhaps a vocabulary."""

    layers: list[Any]
    _config: BlockConfig | EagleConfig

    def __init__(self, config: BlockConfig | EagleConfig, main: ModelAccess, reads: tuple[int, ...]) -> None:
        """`reads`: the layers of the main model whose states it is fed."""
        super().__init__()
        self._config = config
        self._main = main
        self._reads = reads
        sizes = config.backbone
        self.norm = nn.RMSNorm(sizes.width, eps=sizes.norm_eps)
        self._rope = initialize_rope(
            sizes.head_width, sizes.rope_theta, sizes.rope_interleaved, sizes.rope_scaling, sizes.context_tokens
        )
        if config.draft_vocabulary:
            self.d2t = mx.zeros((config.draft_vocabulary,), dtype=mx.int32)

    @property
    def reads(self) -> tuple[int, ...]:
        return self._reads

    def _other_layers(self) -> Readings:
        """The changes to reading the states one layer up or down; there may be no such layer above."""
        shifted = {shift: tuple(layer + shift for layer in self._reads) for shift in (-1, 1)}
        return {f"layers {shift:+}": ((self, "_reads", each),) for shift, each in shifted.items() if min(each) >= 0}

    @property
    def row_bytes(self) -> int:
        """Bytes of the keys and values of one token."""
        sizes = self._config.backbone
        return 2 * sizes.layers * sizes.kv_heads * sizes.head_width * int(self.norm.weight.dtype.size)

    def make_cache(self) -> list[KVCache]:
        return [KVCache() for _ in self.layers]

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Raises ValueError if a drafted token would be outside the main model's vocabulary."""
        if "d2t" in self and "d2t" in weights:
            check_offsets(weights["d2t"], self._config.info.vocabulary_rows)
        return weights

    def _in_main_vocabulary(self, logits: mx.array) -> mx.array:
        return widened(logits, self.d2t, self._config.info.vocabulary_rows) if "d2t" in self else logits


def mixtures(weights: mx.array, states: mx.array) -> mx.array:
    """For each of a drafter's layers a mixture (layers, texts, n, width) of the main model's states (texts, n, read ×
    width).
    """
    shares = mx.softmax(weights.astype(mx.float32), axis=-1).astype(states.dtype)
    return mx.einsum("lr,tnrw->ltnw", shares, states.reshape(*states.shape[:2], weights.shape[1], -1))


def normed_layers(norms: Sequence[nn.Module], states: mx.array) -> mx.array:
    """The main model's states (…, read × width) with each layer's part normed by its own."""
    parts = mx.split(states, len(norms), axis=-1)
    return mx.concatenate([norm(part) for norm, part in zip(norms, parts, strict=True)], axis=-1)


def rotated_otherwise(*ropes: Any) -> Changes:
    """The change to rotating neighbouring pairs instead of halves, or the other way round."""
    return tuple((rope, "traditional", not rope.traditional) for rope in ropes if hasattr(rope, "traditional"))


# Ids in the main model's vocabulary, for drafters with a smaller vocabulary of their own.


def widened(logits: mx.array, offsets: mx.array, vocabulary: int) -> mx.array:
    """`logits` (n, drafted) spread over the main model's vocabulary: token i becomes i + `offsets[i]`."""
    places = (mx.arange(offsets.size) + offsets)[None]
    wide = mx.full((logits.shape[0], vocabulary), -mx.inf, logits.dtype)
    return mx.put_along_axis(wide, mx.broadcast_to(places, logits.shape), logits, axis=-1)


def check_offsets(offsets: mx.array, vocabulary: int) -> None:
    """Raises ValueError if a drafted token would be outside the main model's vocabulary, and written out of bounds."""
    if not mx.issubdtype(offsets.dtype, mx.integer):
        raise ValueError(f"d2t holds {offsets.dtype}")
    places = mx.arange(offsets.size) + offsets
    if not mx.all((places >= 0) & (places < vocabulary)).item():
        raise ValueError("d2t points beyond the vocabulary")
