"""A tower's weights, under either of the names in which folders have them, and the few operations that towers need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlx.core as mx

from engine.models.inspect import WEIGHTS
from engine.models.networks import packing_of, widens
from engine.models.vision_config import Tower, VisionConfig, tower_name
from engine.vision.values import PictureSpan


class Tensors:
    """A tower's weights, not evaluated."""

    def __init__(self, folder: str, tower: Tower) -> None:
        self._tensors: dict[str, mx.array] = {}
        for file in sorted(Path(folder).glob(WEIGHTS)):
            tensors: dict[str, mx.array] = mx.load(str(file))  # type: ignore[assignment]
            for name, tensor in tensors.items():
                if own := tower_name(tower, name):
                    floats = mx.issubdtype(tensor.dtype, mx.floating)
                    self._tensors[own] = tensor.astype(mx.float32) if widens() and floats else tensor

    def parameters(self) -> dict[str, mx.array]:
        return self._tensors

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def __getitem__(self, name: str) -> mx.array:
        if name not in self._tensors:
            raise ValueError(f"the vision part has no {name}")
        return self._tensors[name]

    def patches(self, pixels: mx.array, name: str) -> mx.array:
        """A convolution over `pixels` (patches, channels × …), each of which it covers once."""
        kernel = self[f"{name}.weight"]
        if kernel.shape[-1] == 3:  # MLX's order
            kernel = mx.moveaxis(kernel, -1, 1)
        flat = kernel.reshape(kernel.shape[0], -1)
        bias = self._tensors.get(f"{name}.bias")
        product = pixels.astype(flat.dtype) @ flat.T
        return product if bias is None else product + bias

    def linear(self, x: mx.array, name: str) -> mx.array:
        weight = self[f"{name}.weight"]
        bias = self._tensors.get(f"{name}.bias")
        packing = self._packing(name, x.shape[-1])
        product = mx.quantized_matmul(x, weight, transpose=True, **packing) if packing else x @ weight.T
        return product if bias is None else product + bias

    def table(self, name: str, width: int) -> mx.array:
        """The rows (n, width) of an embedding."""
        weight = self[f"{name}.weight"]
        packing = self._packing(name, width)
        return mx.dequantize(weight, **packing) if packing else weight

    def _packing(self, name: str, width: int) -> dict[str, Any]:
        """The quantization of a weight with `width` columns; {} if it has none."""
        scales, biases = (self._tensors.get(f"{name}.{part}") for part in ("scales", "biases"))
        if scales is None:
            return {}
        packing = packing_of(name, width, self[f"{name}.weight"], scales, biases)
        return {"scales": scales, "biases": biases, **packing}

    def layer_norm(self, x: mx.array, name: str, eps: float = 1e-6) -> mx.array:
        return mx.fast.layer_norm(x, self[f"{name}.weight"], self[f"{name}.bias"], eps)

    def rms_norm(self, x: mx.array, name: str, eps: float = 1e-6) -> mx.array:
        return mx.fast.rms_norm(x, self[f"{name}.weight"], eps)


def pooled(states: mx.array, config: VisionConfig, span: PictureSpan) -> mx.array:
    """The mean of each square of patches (tokens, width)."""
    squares = states.reshape(span.rows, config.merge, span.columns, config.merge, -1)
    return squares.mean(axis=(1, 3)).reshape(-1, states.shape[-1])
