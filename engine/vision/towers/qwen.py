"""Qwen3's tower: patches with learned and rotary positions, then four patches merged into one row.

Some models also get rows of layers in between, which are added after the first layers of their text network
(deepstack).
"""

from __future__ import annotations

from math import isqrt

import mlx.core as mx
import mlx.nn as nn

from engine.models.model_files import entries, positive
from engine.models.vision_config import VisionConfig
from engine.vision.towers import steps
from engine.vision.towers.steps import PictureRows, Steps, mapped_twice
from engine.vision.towers.tensors import Tensors
from engine.vision.values import PictureSpan

_ROPE_BASE = 10_000.0
_MAPS = "linear_fc1", "linear_fc2"


def rows_of(tensors: Tensors, config: VisionConfig, span: PictureSpan, patches: mx.array) -> PictureRows:
    """With those for deepstack."""
    depth = positive(config.vision, "depth")
    heads = positive(config.vision, "num_heads")
    states = tensors.patches(patches, "patch_embed.proj")
    states = states + _positions(tensors, config, span).astype(states.dtype)
    turns = angles(config, span, states.shape[-1] // heads)
    taken = entries(config.vision, "deepstack_visual_indexes")
    merged = list[mx.array]()
    for number in range(depth):
        states = yield from block(tensors, f"blocks.{number}", states, turns, heads, _MAPS)
        if number in taken:
            name = f"deepstack_merger_list.{len(merged)}"
            merged.append((yield from _merged(tensors, name, states, config, normed_first=False)))
    return [(yield from _merged(tensors, "merger", states, config, normed_first=True)), *merged]


def _positions(tensors: Tensors, config: VisionConfig, span: PictureSpan) -> mx.array:
    """The learned positions, interpolated between those of a square."""
    table = tensors.table("pos_embed", positive(config.vision, "hidden_size"))
    side = isqrt(table.shape[0])
    below, above, share = zip(
        *(_between(count * config.merge, side) for count in (span.rows, span.columns)), strict=True
    )
    rows = [
        table[at_row[:, None] * side + at_column[None]] * (of_row[:, None] * of_column[None])[..., None]
        for at_row, of_row in ((below[0], 1 - share[0]), (above[0], share[0]))
        for at_column, of_column in ((below[1], 1 - share[1]), (above[1], share[1]))
    ]
    return _token_by_token(sum(rows[1:], rows[0]), config, span)


def _between(count: int, side: int) -> tuple[mx.array, mx.array, mx.array]:
    """For `count` places along a side: the positions below and above, and the share of the latter."""
    places = mx.linspace(0, side - 1, count)
    below = mx.floor(places).astype(mx.int32)
    return below, mx.minimum(below + 1, side - 1), places - below.astype(mx.float32)


def _token_by_token(grid: mx.array, config: VisionConfig, span: PictureSpan) -> mx.array:
    """(rows, columns, width) of patches as (patches, width), the patches of one token after another."""
    merge = config.merge
    parts = grid.reshape(span.rows, merge, span.columns, merge, -1).transpose(0, 2, 1, 3, 4)
    return parts.reshape(-1, grid.shape[-1])


def angles(config: VisionConfig, span: PictureSpan, width: int) -> mx.array:
    """(patches, width of a head / 2): half by the row, half by the column."""
    frequencies = 1.0 / (_ROPE_BASE ** (mx.arange(0, width // 2, 2, dtype=mx.float32) / (width // 2)))
    rows = span.rows * config.merge
    columns = span.columns * config.merge
    by_row = mx.broadcast_to(mx.arange(rows)[:, None, None] * frequencies, (rows, columns, frequencies.size))
    by_column = mx.broadcast_to(mx.arange(columns)[None, :, None] * frequencies, by_row.shape)
    return _token_by_token(mx.concatenate([by_row, by_column], axis=-1), config, span)


def block(tensors: Tensors, name: str, states: mx.array, turns: mx.array, heads: int, maps: tuple[str, str]) -> Steps:
    """`maps`: names of its MLP's two."""
    bend = nn.gelu_approx if maps == _MAPS else nn.gelu_fast_approx

    def parts(at: slice) -> list[mx.array]:
        normed = tensors.layer_norm(states[at], f"{name}.norm1")
        return turned(tensors.linear(normed, f"{name}.attn.qkv"), turns[at], heads)

    def rest(at: slice, seen: mx.array) -> mx.array:
        attended = states[at] + tensors.linear(seen, f"{name}.attn.proj")
        inner = tensors.linear(tensors.layer_norm(attended, f"{name}.norm2"), f"{name}.mlp.{maps[0]}")
        return attended + tensors.linear(bend(inner), f"{name}.mlp.{maps[1]}")

    return steps.block(states, parts, rest)


def turned(parts: mx.array, turns: mx.array, heads: int) -> list[mx.array]:
    """Queries, keys and values (rows, heads, width) out of one map."""
    queries, keys, values = parts.reshape(parts.shape[0], 3, heads, -1).transpose(1, 0, 2, 3)
    return [*(rotated(part, turns).astype(parts.dtype) for part in (queries, keys)), values]


def rotated(x: mx.array, turns: mx.array) -> mx.array:
    """`x` (rows, heads, width)."""
    first, second = mx.split(x, 2, axis=-1)
    cos = mx.cos(turns)[:, None]
    sin = mx.sin(turns)[:, None]
    return mx.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def in_squares(states: mx.array, config: VisionConfig) -> mx.array:
    """(tokens, width of all patches of one)."""
    return states.reshape(-1, states.shape[-1] * config.merge**2)


def _merged(tensors: Tensors, name: str, states: mx.array, config: VisionConfig, *, normed_first: bool) -> Steps:
    if normed_first:
        states = tensors.layer_norm(states, f"{name}.norm")
    squares = in_squares(states, config)
    if not normed_first:
        squares = tensors.layer_norm(squares, f"{name}.norm")
    return mapped_twice(tensors, squares, f"{name}.linear_fc1", f"{name}.linear_fc2")
