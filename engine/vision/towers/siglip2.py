"""SigLIP 2, LFM2's tower: pictures keep their aspect ratio, and four patches are merged into one row."""

from __future__ import annotations

from collections.abc import Generator
from math import isqrt

import mlx.core as mx
import mlx.nn as nn

from engine.models.model_files import positive, real
from engine.models.vision_config import Filter, VisionConfig
from engine.vision.resizing import resampling
from engine.vision.towers.gemma4 import pixel_by_pixel
from engine.vision.towers.siglip import block
from engine.vision.towers.steps import PictureRows
from engine.vision.towers.tensors import Tensors
from engine.vision.values import PictureSpan

_EPS = 1e-5


def rows_of(tensors: Tensors, config: VisionConfig, span: PictureSpan, patches: mx.array) -> PictureRows:
    """Square after square."""
    rows = list[mx.array]()
    start = 0
    for high, wide in views(config, span):
        seen = yield from _view(tensors, config, (high, wide), patches[start : start + high * wide])
        rows.append(seen)
        start += high * wide
    return [mx.concatenate(rows)]


def views(config: VisionConfig, span: PictureSpan) -> list[tuple[int, int]]:
    """(rows, columns) of patches."""
    whole = [(span.rows * config.merge, span.columns * config.merge)]
    if config.tiling is None or span.tiles == (1, 1):
        return whole
    side = config.tiling.side // config.patch
    return [*[(side, side)] * (span.tiles[0] * span.tiles[1]), *whole]


def _view(
    tensors: Tensors, config: VisionConfig, size: tuple[int, int], patches: mx.array
) -> Generator[None, None, mx.array]:
    depth = positive(config.vision, "num_hidden_layers")
    heads = positive(config.vision, "num_attention_heads")
    eps = real(config.vision, "layer_norm_eps", 1e-6)
    merge = config.merge
    kernel = tensors["embeddings.patch_embedding.bias"]
    states = tensors.linear(pixel_by_pixel(patches, config).astype(kernel.dtype), "embeddings.patch_embedding")
    states = states + _positions(tensors, size, states.shape[-1]).astype(states.dtype)
    for layer in range(depth):
        states = yield from block(tensors, f"encoder.layers.{layer}", states, heads, eps)
    states = tensors.layer_norm(states, "post_layernorm", eps)
    rows, columns = (each // merge for each in size)
    squares = states.reshape(rows, merge, columns, merge, -1).transpose(0, 2, 1, 3, 4).reshape(rows * columns, -1)
    if "layer_norm.weight" in tensors:
        squares = tensors.layer_norm(squares, "layer_norm", _EPS)
    seen = tensors.linear(nn.gelu(tensors.linear(squares, "linear_1")), "linear_2")
    mx.eval(seen)
    return seen


def _positions(tensors: Tensors, size: tuple[int, int], width: int) -> mx.array:
    """The learned positions of a square, resized to the picture."""
    table = tensors.table("embeddings.position_embedding", width).astype(mx.float32)
    side = isqrt(table.shape[0])
    by_row, by_column = (mx.array(resampling(side, each, Filter.BILINEAR)) for each in size)
    grid = by_row.T @ table.reshape(side, -1)
    grid = by_column.T @ grid.reshape(size[0], side, width)
    return grid.reshape(-1, width)
