"""Qwen2.5's tower: patches with rotary positions, which attend within windows, in some layers to the whole picture."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import mlx.core as mx
import mlx.nn as nn
import numpy as np

from engine.models.model_files import entries, positive
from engine.models.sight import Sight
from engine.vision.towers.qwen import angles, projected, rotated
from engine.vision.towers.tensors import Tensors, attention
from engine.vision.values import Span

_EPS = 1e-6


@dataclass(frozen=True, slots=True)
class _Windows:
    patches: mx.array  # (windows, most patches): which are in each, filled up with any
    within: mx.array  # (windows, 1, 1, most patches): which of these are in it indeed
    places: mx.array  # of each patch, among those of all windows


def rows_of(tensors: Tensors, sight: Sight, span: Span, patches: mx.array) -> Generator[None, None, list[mx.array]]:
    """Rows (tokens, width) for the embedding; a block of the tower a step."""
    depth, heads = positive(sight.vision, "depth"), positive(sight.vision, "num_heads")
    states = projected(tensors, patches)
    turns, windows = angles(sight, span, states.shape[-1] // heads), _windows(sight, span)
    whole = entries(sight.vision, "fullatt_block_indexes")
    for block in range(depth):
        states = _block(tensors, f"blocks.{block}", states, turns, heads, None if block in whole else windows)
        mx.eval(states)
        yield
    normed = _norm(tensors, "merger.ln_q", states).reshape(-1, states.shape[-1] * sight.merge**2)
    rows = tensors.linear(nn.gelu(tensors.linear(normed, "merger.mlp.0")), "merger.mlp.2")
    mx.eval(rows)
    return [rows]


def _windows(sight: Sight, span: Span) -> _Windows:
    side = positive(sight.vision, "window_size") // sight.patch // sight.merge
    if side < 1:
        raise ValueError("windows smaller than a token")
    across = -(-span.columns // side)
    of_token = np.arange(span.rows)[:, None] // side * across + np.arange(span.columns) // side
    of_patch = np.repeat(of_token.reshape(-1), sight.merge**2)
    held = np.bincount(of_patch)
    within = np.arange(held.max()) < held[:, None]
    order = np.argsort(of_patch, kind="stable")
    patches, places = np.zeros(within.shape, np.int32), np.empty(order.shape, np.int32)
    patches[within], places[order] = order, np.flatnonzero(within)
    return _Windows(mx.array(patches), mx.array(within)[:, None, None], mx.array(places))


def _block(
    tensors: Tensors, name: str, states: mx.array, turns: mx.array, heads: int, windows: _Windows | None
) -> mx.array:
    normed = _norm(tensors, f"{name}.norm1", states)
    states = states + _attended(tensors, f"{name}.attn", normed, turns, heads, windows)
    normed = _norm(tensors, f"{name}.norm2", states)
    gate, up = (tensors.linear(normed, f"{name}.mlp.{part}_proj") for part in ("gate", "up"))
    return states + tensors.linear(nn.silu(gate) * up, f"{name}.mlp.down_proj")


def _norm(tensors: Tensors, name: str, states: mx.array) -> mx.array:
    return mx.fast.rms_norm(states, tensors[f"{name}.weight"], _EPS)


def _attended(
    tensors: Tensors, name: str, states: mx.array, turns: mx.array, heads: int, windows: _Windows | None
) -> mx.array:
    count, width = states.shape
    parts = tensors.linear(states, f"{name}.qkv").reshape(count, 3, heads, width // heads).transpose(1, 2, 0, 3)
    queries, keys = (rotated(part, turns).astype(states.dtype) for part in parts[:2])
    scale = (width // heads) ** -0.5
    if windows is None:
        attended = attention(queries[None], keys[None], parts[2][None], scale)[0]
    else:
        cut = [part[:, windows.patches].transpose(1, 0, 2, 3) for part in (queries, keys, parts[2])]
        each = mx.fast.scaled_dot_product_attention(*cut, scale=scale, mask=windows.within)
        attended = each.transpose(1, 0, 2, 3).reshape(heads, -1, width // heads)[:, windows.places]
    return tensors.linear(attended.transpose(1, 0, 2).reshape(count, width), f"{name}.proj")
