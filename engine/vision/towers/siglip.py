"""SigLIP, as Gemma 3 has it: pictures of one size, and the mean of some patches in a square for each token."""

from __future__ import annotations

from collections.abc import Generator

import mlx.core as mx
import mlx.nn as nn

from engine.models.model_files import positive, real
from engine.models.sight import Sight
from engine.vision.towers.tensors import Tensors, attention
from engine.vision.values import Span


def rows_of(tensors: Tensors, sight: Sight, span: Span, patches: mx.array) -> Generator[None, None, list[mx.array]]:
    """Rows (tokens, width) for the embedding; a block of the tower a step."""
    depth, heads = positive(sight.vision, "num_hidden_layers"), positive(sight.vision, "num_attention_heads")
    eps = real(sight.vision, "layer_norm_eps", 1e-6)
    kernel = tensors["embeddings.patch_embedding.weight"]
    if kernel.shape[-1] == 3:  # MLX's order
        kernel = kernel.transpose(0, 3, 1, 2)
    flat = kernel.reshape(kernel.shape[0], -1)
    states = patches.astype(flat.dtype) @ flat.T + tensors["embeddings.patch_embedding.bias"]
    states = states + tensors.table("embeddings.position_embedding", states.shape[-1])
    for layer in range(depth):
        states = block(tensors, f"encoder.layers.{layer}", states, heads, eps)
        mx.eval(states)
        yield
    states = tensors.layer_norm(states, "post_layernorm", eps)
    merge, width = sight.merge, states.shape[-1]
    pooled = states.reshape(span.rows, merge, span.columns, merge, width).mean(axis=(1, 3)).reshape(-1, width)
    normed = mx.fast.rms_norm(pooled, 1 + tensors["mm_soft_emb_norm.weight"], eps)
    rows = normed @ tensors["mm_input_projection_weight"]
    mx.eval(rows)
    return [rows]


def block(tensors: Tensors, name: str, states: mx.array, heads: int, eps: float) -> mx.array:
    states = states + _attended(
        tensors, f"{name}.self_attn", tensors.layer_norm(states, f"{name}.layer_norm1", eps), heads
    )
    inner = tensors.linear(tensors.layer_norm(states, f"{name}.layer_norm2", eps), f"{name}.mlp.fc1")
    return states + tensors.linear(nn.gelu_approx(inner), f"{name}.mlp.fc2")


def _attended(tensors: Tensors, name: str, states: mx.array, heads: int) -> mx.array:
    count, width = states.shape
    parts = (tensors.linear(states, f"{name}.{part}_proj").reshape(count, heads, -1) for part in ("q", "k", "v"))
    queries, keys, values = (part.transpose(1, 0, 2)[None] for part in parts)
    attended = attention(queries, keys, values, (width // heads) ** -0.5)
    return tensors.linear(attended[0].transpose(1, 0, 2).reshape(count, width), f"{name}.out_proj")
