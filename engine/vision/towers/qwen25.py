"""Qwen2.5's tower: patches with rotary positions, which attend within windows, in some layers to the whole picture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import mlx.core as mx
import mlx.nn as nn
import numpy as np

from engine.models.model_files import entries, positive
from engine.models.vision_config import VisionConfig
from engine.vision.towers import steps
from engine.vision.towers.qwen import angles, in_squares, turned
from engine.vision.towers.steps import PictureRows, Steps, mapped_twice
from engine.vision.towers.tensors import Tensors
from engine.vision.values import PictureSpan


@dataclass(frozen=True, slots=True)
class _Windows:
    patches: mx.array  # (windows, most patches): indices of the patches of each, padded with any
    within: mx.array  # (windows, 1, 1, most patches): False for the padding
    places: mx.array  # index of each patch among those of all windows


def rows_of(tensors: Tensors, config: VisionConfig, span: PictureSpan, patches: mx.array) -> PictureRows:
    depth = positive(config.vision, "depth")
    heads = positive(config.vision, "num_heads")
    states = tensors.patches(patches, "patch_embed.proj")
    turns = angles(config, span, states.shape[-1] // heads)
    windows = _windows(config, span)
    whole = entries(config.vision, "fullatt_block_indexes")
    for number in range(depth):
        within = None if number in whole else windows
        states = yield from _block(tensors, f"blocks.{number}", states, turns, heads, within)
    squares = in_squares(tensors.rms_norm(states, "merger.ln_q"), config)
    return [(yield from mapped_twice(tensors, squares, "merger.mlp.0", "merger.mlp.2"))]


def _windows(config: VisionConfig, span: PictureSpan) -> _Windows:
    side = positive(config.vision, "window_size") // config.patch // config.merge
    if side < 1:
        raise ValueError("windows smaller than a token")
    across = -(-span.columns // side)
    of_token = np.arange(span.rows)[:, None] // side * across + np.arange(span.columns) // side
    of_patch = np.repeat(of_token.reshape(-1), config.merge**2)
    held = np.bincount(of_patch)
    within = np.arange(held.max()) < held[:, None]
    order = np.argsort(of_patch, kind="stable")
    patches = np.zeros(within.shape, np.int32)
    places = np.empty(order.shape, np.int32)
    patches[within] = order
    places[order] = np.flatnonzero(within)
    return _Windows(mx.array(patches), mx.array(within)[:, None, None], mx.array(places))


def _block(
    tensors: Tensors, name: str, states: mx.array, turns: mx.array, heads: int, windows: _Windows | None
) -> Steps:
    def parts(at: slice) -> list[mx.array]:
        normed = tensors.rms_norm(states[at], f"{name}.norm1")
        return turned(tensors.linear(normed, f"{name}.attn.qkv"), turns[at], heads)

    def rest(at: slice, seen: mx.array) -> mx.array:
        attended = states[at] + tensors.linear(seen, f"{name}.attn.proj")
        normed = tensors.rms_norm(attended, f"{name}.norm2")
        gate, up = (tensors.linear(normed, f"{name}.mlp.{part}_proj") for part in ("gate", "up"))
        return attended + tensors.linear(nn.silu(gate) * up, f"{name}.mlp.down_proj")

    return steps.block(states, parts, rest, attention=None if windows is None else partial(_within, windows))


def _within(windows: _Windows, queries: mx.array, keys: mx.array, values: mx.array, scale: float) -> mx.array:
    cut = [part[0][:, windows.patches].transpose(1, 0, 2, 3) for part in (queries, keys, values)]
    each = mx.fast.scaled_dot_product_attention(*cut, scale=scale, mask=windows.within)
    return each.transpose(1, 0, 2, 3).reshape(queries.shape[1], -1, queries.shape[-1])[:, windows.places][None]
