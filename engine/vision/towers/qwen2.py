"""Qwen2's tower: patches with rotary positions, which all attend to one another."""

from __future__ import annotations

import mlx.core as mx

from engine.models.model_files import positive
from engine.models.vision_config import VisionConfig
from engine.vision.towers.qwen import angles, block, in_squares
from engine.vision.towers.steps import PictureRows, mapped_twice
from engine.vision.towers.tensors import Tensors
from engine.vision.values import PictureSpan


def rows_of(tensors: Tensors, config: VisionConfig, span: PictureSpan, patches: mx.array) -> PictureRows:
    depth = positive(config.vision, "depth")
    heads = positive(config.vision, "num_heads")
    states = tensors.patches(patches, "patch_embed.proj")
    turns = angles(config, span, states.shape[-1] // heads)
    for number in range(depth):
        states = yield from block(tensors, f"blocks.{number}", states, turns, heads, ("fc1", "fc2"))
    squares = in_squares(tensors.layer_norm(states, "merger.ln_q"), config)
    return [(yield from mapped_twice(tensors, squares, "merger.mlp.0", "merger.mlp.2"))]
