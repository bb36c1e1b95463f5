"""Qwen2's tower: patches with rotary positions, which all attend to one another."""

from __future__ import annotations

from collections.abc import Generator

import mlx.core as mx
import mlx.nn as nn

from engine.models.model_files import positive
from engine.models.sight import Sight
from engine.vision.towers.qwen import angles, attended, projected
from engine.vision.towers.tensors import Tensors
from engine.vision.values import Span


def rows_of(tensors: Tensors, sight: Sight, span: Span, patches: mx.array) -> Generator[None, None, list[mx.array]]:
    """Rows (tokens, width) for the embedding; a block of the tower a step."""
    depth, heads = positive(sight.vision, "depth"), positive(sight.vision, "num_heads")
    states = projected(tensors, patches)
    turns = angles(sight, span, states.shape[-1] // heads)
    for block in range(depth):
        name = f"blocks.{block}"
        states = states + attended(tensors, f"{name}.attn", tensors.layer_norm(states, f"{name}.norm1"), turns, heads)
        inner = tensors.linear(tensors.layer_norm(states, f"{name}.norm2"), f"{name}.mlp.fc1")
        states = states + tensors.linear(nn.gelu_fast_approx(inner), f"{name}.mlp.fc2")
        mx.eval(states)
        yield
    normed = tensors.layer_norm(states, "merger.ln_q").reshape(-1, states.shape[-1] * sight.merge**2)
    rows = tensors.linear(nn.gelu(tensors.linear(normed, "merger.mlp.0")), "merger.mlp.2")
    mx.eval(rows)
    return [rows]
