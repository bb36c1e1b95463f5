"""Pixtral, the tower of Mistral's models: patches with rotary positions; newer ones merge four into one row."""

from __future__ import annotations

from collections.abc import Callable

import mlx.core as mx
import mlx.nn as nn

from engine.models.model_files import object_at, positive, real
from engine.models.vision_config import VisionConfig
from engine.vision.towers import steps
from engine.vision.towers.qwen import rotated
from engine.vision.towers.steps import PictureRows, Steps, mapped_twice
from engine.vision.towers.tensors import Tensors
from engine.vision.values import PictureSpan

_EPS = 1e-5


def rows_of(tensors: Tensors, config: VisionConfig, span: PictureSpan, patches: mx.array) -> PictureRows:
    depth = positive(config.vision, "num_hidden_layers")
    heads = positive(config.vision, "num_attention_heads")
    states = tensors.rms_norm(tensors.patches(patches, "patch_conv"), "ln_pre", _EPS)
    turns = _angles(config, span, states.shape[-1] // heads)
    bend = nn.gelu if config.vision.get("hidden_act") == "gelu" else nn.silu
    for layer in range(depth):
        states = yield from _block(tensors, f"transformer.layers.{layer}", states, turns, heads, bend)
    if "patch_merger.merging_layer.weight" in tensors:
        states = _merged(tensors, states, config, span)
    return [(yield from mapped_twice(tensors, states, "linear_1", "linear_2"))]


def _block(
    tensors: Tensors,
    name: str,
    states: mx.array,
    turns: mx.array,
    heads: int,
    bend: Callable[[mx.array], mx.array],
) -> Steps:
    def parts(at: slice) -> list[mx.array]:
        normed = tensors.rms_norm(states[at], f"{name}.attention_norm", _EPS)
        maps = (tensors.linear(normed, f"{name}.attention.{part}_proj") for part in "qkv")
        queries, keys, values = (part.reshape(part.shape[0], heads, -1) for part in maps)
        return [*(rotated(part, turns[at]).astype(states.dtype) for part in (queries, keys)), values]

    def rest(at: slice, seen: mx.array) -> mx.array:
        attended = states[at] + tensors.linear(seen, f"{name}.attention.o_proj")
        normed = tensors.rms_norm(attended, f"{name}.ffn_norm", _EPS)
        gate, up = (tensors.linear(normed, f"{name}.feed_forward.{part}_proj") for part in ("gate", "up"))
        return attended + tensors.linear(bend(gate) * up, f"{name}.feed_forward.down_proj")

    return steps.block(states, parts, rest)


def _angles(config: VisionConfig, span: PictureSpan, width: int) -> mx.array:
    """(patches, width of a head / 2): the even frequencies by the row, the odd ones by the column."""
    base = real(object_at(config.vision, "rope_parameters") or config.vision, "rope_theta", 10_000.0)
    frequencies = mx.power(base, -mx.arange(0, width, 2, dtype=mx.float32) / width)
    rows = span.rows * config.merge
    columns = span.columns * config.merge
    by_row = mx.arange(rows)[:, None, None] * frequencies[0::2]
    by_column = mx.arange(columns)[None, :, None] * frequencies[1::2]
    both = [mx.broadcast_to(part, (rows, columns, width // 4)) for part in (by_row, by_column)]
    return mx.concatenate(both, axis=-1).reshape(-1, width // 2)


def _merged(tensors: Tensors, states: mx.array, config: VisionConfig, span: PictureSpan) -> mx.array:
    """Patches of a square as one row, lane by lane."""
    merge = config.merge
    width = states.shape[-1]
    normed = tensors.rms_norm(states, "norm", real(config.vision, "norm_eps", _EPS))
    squares = normed.reshape(span.rows, merge, span.columns, merge, width).transpose(0, 2, 4, 1, 3)
    return tensors.linear(squares.reshape(-1, width * merge**2), "patch_merger.merging_layer")
