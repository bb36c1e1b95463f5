"""Gemma 4 12B's pictures: each token is a linear map of its pixels, with a position by row and one by column."""

from __future__ import annotations

import mlx.core as mx

from engine.models.model_files import real
from engine.models.vision_config import VisionConfig
from engine.vision.towers.gemma4 import pixel_by_pixel
from engine.vision.towers.steps import PictureRows
from engine.vision.towers.tensors import Tensors
from engine.vision.values import PictureSpan

_EPS = 1e-5


def rows_of(tensors: Tensors, config: VisionConfig, span: PictureSpan, patches: mx.array) -> PictureRows:
    table = tensors["pos_embedding"]
    if table.shape[0] < max(span.rows, span.columns):
        raise ValueError("more tokens on a side than positions")
    pixels = pixel_by_pixel(patches, config).astype(table.dtype)
    states = tensors.linear(tensors.layer_norm(pixels, "patch_ln1", _EPS), "patch_dense")
    places = table[: span.rows, 1][:, None] + table[: span.columns, 0][None]
    states = tensors.layer_norm(states, "patch_ln2", _EPS) + places.reshape(states.shape)
    normed = mx.fast.rms_norm(
        tensors.layer_norm(states, "pos_norm", _EPS), None, real(config.vision, "rms_norm_eps", 1e-6)
    )
    rows = tensors.linear(normed, "embedding_projection")
    mx.eval(rows)
    yield
    return [rows]
