"""Matrices in few bits, in the layout that MLX computes with: `weight`, `scales` and `biases` of each.

A group of weights shares a scale and a bias; zero stays zero.
"""

import torch
from torch import Tensor

BITS, GROUP = 4, 64
CONFIG = {"quantization": {"group_size": GROUP, "bits": BITS}}
Weights = dict[str, Tensor]


def packed(weights: Weights, bits: int = BITS, group: int = GROUP) -> Weights:
    """All that are matrices by shape and name."""
    parts = (_parts(name, value, bits, group) for name, value in weights.items())
    return {name: part for each in parts for name, part in each.items()}


def unpacked(weights: Weights) -> Weights:
    """In float32."""
    stems = {name.removesuffix(".scales") for name in weights if name.endswith(".scales")}
    packs = {f"{stem}.{part}" for stem in stems for part in ("weight", "scales", "biases")}
    whole = {name: value.float() for name, value in weights.items() if name not in packs}
    for stem in stems:
        words, scales, biases = (weights[f"{stem}.{part}"] for part in ("weight", "scales", "biases"))
        levels = (words.view(torch.int32)[..., None] >> torch.arange(0, 32, BITS)) & (2**BITS - 1)
        groups = levels.flatten(-2).unflatten(-1, (-1, GROUP)).float()
        whole[f"{stem}.weight"] = (groups * scales[..., None].float() + biases[..., None].float()).flatten(-2)
    return whole


def _parts(name: str, value: Tensor, bits: int, group: int) -> Weights:
    if value.ndim != 2 or not name.endswith(".weight"):
        return {name: value.half()}
    most = 2**bits - 1
    groups = value.float().unflatten(-1, (-1, group))
    least, highest = groups.aminmax(dim=-1, keepdim=True)
    edge = torch.where(least.abs() > highest.abs(), least, highest)
    scales = ((highest - least) / most).clamp(min=1e-7) * torch.where(edge == least, 1.0, -1.0)
    steps = (edge / scales).round()  # from zero to the edge
    scales = torch.where(steps == 0, scales, edge / steps).half()
    biases = torch.where(steps == 0, 0.0, edge).half()
    levels = ((groups - biases.float()) / scales.float()).round().clamp(0, most).to(torch.int64)
    row = (levels.flatten(-2)[..., None] >> torch.arange(bits)) & 1  # the first weight in a word's lowest bits
    words = (row.flatten(-2).unflatten(-1, (-1, 32)) << torch.arange(32)).sum(-1).to(torch.uint32)
    stem = name.removesuffix(".weight")
    return {name: words, f"{stem}.scales": scales.squeeze(-1), f"{stem}.biases": biases.squeeze(-1)}
