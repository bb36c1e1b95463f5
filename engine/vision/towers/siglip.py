"""SigLIP, Gemma 3's tower: pictures of one size; each token is the mean of a square of patches."""

from __future__ import annotations

import mlx.core as mx
import mlx.nn as nn

from engine.models.model_files import positive, real
from engine.models.vision_config import VisionConfig
from engine.vision.towers import steps
from engine.vision.towers.steps import PictureRows, Steps
from engine.vision.towers.tensors import Tensors, pooled
from engine.vision.values import PictureSpan


def rows_of(tensors: Tensors, config: VisionConfig, span: PictureSpan, patches: mx.array) -> PictureRows:
    depth = positive(config.vision, "num_hidden_layers")
    heads = positive(config.vision, "num_attention_heads")
    eps = real(config.vision, "layer_norm_eps", 1e-6)
    states = tensors.patches(patches, "embeddings.patch_embedding")
    states = states + tensors.table("embeddings.position_embedding", states.shape[-1])
    for layer in range(depth):
        states = yield from block(tensors, f"encoder.layers.{layer}", states, heads, eps)
    states = tensors.layer_norm(states, "post_layernorm", eps)
    normed = mx.fast.rms_norm(pooled(states, config, span), 1 + tensors["mm_soft_emb_norm.weight"], eps)
    rows = normed @ tensors["mm_input_projection_weight"]
    mx.eval(rows)
    return [rows]


def block(tensors: Tensors, name: str, states: mx.array, heads: int, eps: float) -> Steps:
    def parts(at: slice) -> list[mx.array]:
        normed = tensors.layer_norm(states[at], f"{name}.layer_norm1", eps)
        maps = (tensors.linear(normed, f"{name}.self_attn.{part}_proj") for part in ("q", "k", "v"))
        return [part.reshape(part.shape[0], heads, -1) for part in maps]

    def rest(at: slice, seen: mx.array) -> mx.array:
        attended = states[at] + tensors.linear(seen, f"{name}.self_attn.out_proj")
        inner = tensors.linear(tensors.layer_norm(attended, f"{name}.layer_norm2", eps), f"{name}.mlp.fc1")
        return attended + tensors.linear(nn.gelu_approx(inner), f"{name}.mlp.fc2")

    return steps.block(states, parts, rest)
