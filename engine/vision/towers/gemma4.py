"""Gemma 4's tower: patches with positions by row and column; each token is the mean of a square of patches."""

from __future__ import annotations

import mlx.core as mx
import mlx.nn as nn

from engine.models.model_files import flag, object_at, positive, real, whole
from engine.models.vision_config import VisionConfig
from engine.vision.towers import steps
from engine.vision.towers.steps import PictureRows, Steps
from engine.vision.towers.tensors import Tensors, pooled
from engine.vision.values import PictureSpan

_CLIPS = ("input_min", "input_max", "output_min", "output_max")


def rows_of(tensors: Tensors, config: VisionConfig, span: PictureSpan, patches: mx.array) -> PictureRows:
    vision = config.vision
    eps = real(config.vision, "rms_norm_eps", 1e-6)
    rows = span.rows * config.merge
    columns = span.columns * config.merge
    by_row = mx.repeat(mx.arange(rows), columns)
    by_column = mx.tile(mx.arange(columns), rows)
    states = _embedded(tensors, config, patches, by_row, by_column)
    for layer in range(positive(vision, "num_hidden_layers")):
        states = yield from _block(tensors, f"encoder.layers.{layer}", states, config, (by_column, by_row))
    states = pooled(states, config, span) * states.shape[-1] ** 0.5
    if flag(vision, "standardize"):
        states = (states - tensors["std_bias"]) * tensors["std_scale"]
    seen = tensors.linear(mx.fast.rms_norm(states, None, eps), "embedding_projection")
    mx.eval(seen)
    return [seen]


def _embedded(
    tensors: Tensors, config: VisionConfig, patches: mx.array, by_row: mx.array, by_column: mx.array
) -> mx.array:
    pixels = pixel_by_pixel(patches, config)
    table = tensors["patch_embedder.position_embedding_table"]
    largest: int = mx.maximum(by_row[-1], by_column[-1]).item()  # type: ignore[assignment]
    if table.shape[1] <= largest:
        raise ValueError("more patches on a side than positions")
    states = tensors.linear(pixels.astype(table.dtype), "patch_embedder.input_proj")
    return states + table[0][by_column] + table[1][by_row]


def pixel_by_pixel(patches: mx.array, config: VisionConfig) -> mx.array:
    """Weights for channels last, since our patches have channels first."""
    return patches.reshape(-1, 3, config.patch**2).transpose(0, 2, 1).reshape(patches.shape)


def _block(
    tensors: Tensors, name: str, states: mx.array, config: VisionConfig, places: tuple[mx.array, mx.array]
) -> Steps:
    heads = positive(config.vision, "num_attention_heads")
    eps = real(config.vision, "rms_norm_eps", 1e-6)
    shared = whole(config.vision, "num_key_value_heads", heads)
    base = real(object_at(config.vision, "rope_parameters"), "rope_theta", 100.0)

    def parts(at: slice) -> list[mx.array]:
        normed = tensors.rms_norm(states[at], f"{name}.input_layernorm", eps)
        queries, keys, values = (
            _clipped(tensors, normed, f"{name}.self_attn.{part}_proj", config).reshape(normed.shape[0], number, -1)
            for part, number in (("q", heads), ("k", shared), ("v", shared))
        )
        turned = (
            _turned(tensors.rms_norm(part, f"{name}.self_attn.{which}_norm", eps), (places[0][at], places[1][at]), base)
            for part, which in ((queries, "q"), (keys, "k"))
        )
        return [*turned, mx.fast.rms_norm(values, None, eps)]

    def rest(at: slice, seen: mx.array) -> mx.array:
        seen = _clipped(tensors, seen, f"{name}.self_attn.o_proj", config)
        attended = states[at] + tensors.rms_norm(seen, f"{name}.post_attention_layernorm", eps)
        inner = tensors.rms_norm(attended, f"{name}.pre_feedforward_layernorm", eps)
        gate, up = (_clipped(tensors, inner, f"{name}.mlp.{part}_proj", config) for part in ("gate", "up"))
        inner = _clipped(tensors, nn.gelu_approx(gate) * up, f"{name}.mlp.down_proj", config)
        return attended + tensors.rms_norm(inner, f"{name}.post_feedforward_layernorm", eps)

    return steps.block(states, parts, rest, scale=1.0)


def _turned(x: mx.array, places: tuple[mx.array, mx.array], base: float) -> mx.array:
    """`x` (patches, heads, width): the first half of each head rotated by the column, the other by the row."""
    turned = []
    for part, at in zip(mx.split(x, 2, axis=-1), places, strict=True):
        half = part.shape[-1] // 2
        angles = (at[:, None] / mx.power(base, mx.arange(half) / half))[:, None]
        first, second = mx.split(part, 2, axis=-1)
        cos = mx.cos(angles).astype(x.dtype)
        sin = mx.sin(angles).astype(x.dtype)
        turned += [first * cos - second * sin, second * cos + first * sin]
    return mx.concatenate(turned, axis=-1)


def _clipped(tensors: Tensors, x: mx.array, name: str, config: VisionConfig) -> mx.array:
    if not flag(config.vision, "use_clipped_linears"):
        return tensors.linear(x, f"{name}.linear")
    least, most, least_out, most_out = (tensors[f"{name}.{clip}"] for clip in _CLIPS)
    return mx.clip(tensors.linear(mx.clip(x, least, most), f"{name}.linear"), least_out, most_out)
