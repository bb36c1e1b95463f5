"""Pixtral, as Mistral's models have it: patches with rotary positions, in newer ones four merged into one row."""

from __future__ import annotations

from collections.abc import Generator

import mlx.core as mx
import mlx.nn as nn

from engine.models.model_files import object_at, positive, real
from engine.models.sight import Sight
from engine.vision.towers.qwen import rotated
from engine.vision.towers.tensors import Tensors, attention
from engine.vision.values import Span

_EPS = 1e-5


def rows_of(tensors: Tensors, sight: Sight, span: Span, patches: mx.array) -> Generator[None, None, list[mx.array]]:
    """Rows (tokens, width) for the embedding; a block of the tower a step."""
    depth, heads = positive(sight.vision, "num_hidden_layers"), positive(sight.vision, "num_attention_heads")
    kernel = tensors["patch_conv.weight"]
    if kernel.shape[-1] == 3:  # MLX's order
        kernel = kernel.transpose(0, 3, 1, 2)
    flat = kernel.reshape(kernel.shape[0], -1)
    states = _norm(tensors, "ln_pre", patches.astype(flat.dtype) @ flat.T)
    turns = _angles(sight, span, states.shape[-1] // heads)
    bend = nn.gelu if sight.vision.get("hidden_act") == "gelu" else nn.silu
    for layer in range(depth):
        name = f"transformer.layers.{layer}"
        normed = _norm(tensors, f"{name}.attention_norm", states)
        states = states + _attended(tensors, f"{name}.attention", normed, turns, heads)
        normed = _norm(tensors, f"{name}.ffn_norm", states)
        gate, up = (tensors.linear(normed, f"{name}.feed_forward.{part}_proj") for part in ("gate", "up"))
        states = states + tensors.linear(bend(gate) * up, f"{name}.feed_forward.down_proj")
        mx.eval(states)
        yield
    if "patch_merger.merging_layer.weight" in tensors:
        states = _merged(tensors, states, sight, span)
    rows = tensors.linear(nn.gelu(tensors.linear(states, "linear_1")), "linear_2")
    mx.eval(rows)
    return [rows]


def _norm(tensors: Tensors, name: str, states: mx.array, eps: float = _EPS) -> mx.array:
    return mx.fast.rms_norm(states, tensors[f"{name}.weight"], eps)


def _angles(sight: Sight, span: Span, width: int) -> mx.array:
    """(patches, width of a head / 2): the even frequencies by the row, the odd ones by the column."""
    base = real(object_at(sight.vision, "rope_parameters") or sight.vision, "rope_theta", 10_000.0)
    frequencies = mx.power(base, -mx.arange(0, width, 2, dtype=mx.float32) / width)
    rows, columns = span.rows * sight.merge, span.columns * sight.merge
    by_row = mx.arange(rows)[:, None, None] * frequencies[0::2]
    by_column = mx.arange(columns)[None, :, None] * frequencies[1::2]
    both = [mx.broadcast_to(part, (rows, columns, width // 4)) for part in (by_row, by_column)]
    return mx.concatenate(both, axis=-1).reshape(-1, width // 2)


def _attended(tensors: Tensors, name: str, states: mx.array, turns: mx.array, heads: int) -> mx.array:
    count, width = states.shape
    parts = (tensors.linear(states, f"{name}.{part}_proj").reshape(count, heads, -1) for part in "qkv")
    queries, keys, values = (part.transpose(1, 0, 2) for part in parts)
    queries, keys = (rotated(part, turns).astype(states.dtype) for part in (queries, keys))
    seen = attention(queries[None], keys[None], values[None], (width // heads) ** -0.5)
    return tensors.linear(seen[0].transpose(1, 0, 2).reshape(count, width), f"{name}.o_proj")


def _merged(tensors: Tensors, states: mx.array, sight: Sight, span: Span) -> mx.array:
    """Patches of a square side by side, lane by lane."""
    merge, width = sight.merge, states.shape[-1]
    normed = _norm(tensors, "norm", states, real(sight.vision, "norm_eps", _EPS))
    squares = normed.reshape(span.rows, merge, span.columns, merge, width).transpose(0, 2, 4, 1, 3)
    return tensors.linear(squares.reshape(-1, width * merge**2), "patch_merger.merging_layer")
