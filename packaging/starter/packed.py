"""Matrices in four bits, in the layout that MLX computes with: `weight`, `scales` and `biases` of each.

A group of weights shares a scale and a bias; zero stays zero.
"""

import torch
from torch import Tensor

BITS, GROUP = 4, 64
CONFIG = {"quantization": {"group_size": GROUP, "bits": BITS}}
_MOST = 2**BITS - 1
_WORD = 32 // BITS  # weights in a word, the first in its lowest bits
Weights = dict[str, Tensor]


def packed(weights: Weights) -> Weights:
    return {name: part for whole, value in weights.items() for name, part in _parts(whole, value).items()}


def unpacked(weights: Weights) -> Weights:
    """In float32."""
    stems = {name.removesuffix(".scales") for name in weights if name.endswith(".scales")}
    packs = {f"{stem}.{part}" for stem in stems for part in ("weight", "scales", "biases")}
    whole = {name: value.float() for name, value in weights.items() if name not in packs}
    for stem in stems:
        words, scales, biases = (weights[f"{stem}.{part}"] for part in ("weight", "scales", "biases"))
        levels = (words.view(torch.int32)[..., None] >> torch.arange(0, 32, BITS)) & _MOST
        groups = levels.flatten(-2).unflatten(-1, (-1, GROUP)).float()
        whole[f"{stem}.weight"] = (groups * scales[..., None].float() + biases[..., None].float()).flatten(-2)
    return whole


def _parts(name: str, value: Tensor) -> Weights:
    if value.ndim != 2:
        return {name: value.half()}
    groups = value.float().unflatten(-1, (-1, GROUP))
    least, most = groups.aminmax(dim=-1, keepdim=True)
    edge = torch.where(least.abs() > most.abs(), least, most)
    scales = ((most - least) / _MOST).clamp(min=1e-7) * torch.where(edge == least, 1.0, -1.0)
    steps = (edge / scales).round()  # from zero to the edge
    scales = torch.where(steps == 0, scales, edge / steps).half()
    biases = torch.where(steps == 0, 0.0, edge).half()
    levels = ((groups - biases.float()) / scales.float()).round().clamp(0, _MOST).to(torch.int64)
    words = (levels.flatten(-2).unflatten(-1, (-1, _WORD)) << torch.arange(0, 32, BITS)).sum(-1)
    words = words.to(torch.uint32)
    stem = name.removesuffix(".weight")
    return {name: words, f"{stem}.scales": scales.squeeze(-1), f"{stem}.biases": biases.squeeze(-1)}
