"""A tower's weights, under either of the names in which folders have them, and the few operations that towers need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mlx.core as mx

from engine.models.inspect import WEIGHTS
from engine.models.networks import widens
from engine.models.vision_config import Tower, tower_name

_PART_BYTES = 64 << 20
_MODES = {(32, 4): "mxfp4", (32, 8): "mxfp8", (16, 4): "nvfp4"}  # by group and bits, without biases


class Tensors:
    """A tower's weights: loaded lazily, evaluated in `parts`."""

    def __init__(self, folder: str, tower: Tower) -> None:
        self._tensors: dict[str, mx.array] = {}
        for file in sorted(Path(folder).glob(WEIGHTS)):
            tensors: dict[str, mx.array] = mx.load(str(file))  # type: ignore[assignment]
            for name, tensor in tensors.items():
                if own := tower_name(tower, name):
                    floats = mx.issubdtype(tensor.dtype, mx.floating)
                    self._tensors[own] = tensor.astype(mx.float32) if widens() and floats else tensor

    def parts(self) -> Iterator[list[mx.array]]:
        """The weights in portions, to be evaluated one after another."""
        held: list[mx.array] = []
        for tensor in self._tensors.values():
            held.append(tensor)
            if sum(each.nbytes for each in held) >= _PART_BYTES:
                yield held
                held = []
        yield held

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def __getitem__(self, name: str) -> mx.array:
        if name not in self._tensors:
            raise ValueError(f"the vision part has no {name}")
        return self._tensors[name]

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
        group = width // scales.shape[-1]
        bits = 32 * self[f"{name}.weight"].shape[-1] // width
        mode = _MODES.get((group, bits)) if biases is None else "affine"
        if mode is None or not group:  # MLX divides by the group
            raise ValueError(f"{name}: quantized in an unknown way")
        return {"scales": scales, "biases": biases, "group_size": group, "bits": bits, "mode": mode}

    def layer_norm(self, x: mx.array, name: str, eps: float = 1e-6) -> mx.array:
        return mx.fast.layer_norm(x, self[f"{name}.weight"], self[f"{name}.bias"], eps)

    def rms_norm(self, x: mx.array, name: str, eps: float = 1e-6) -> mx.array:
        return mx.fast.rms_norm(x, self[f"{name}.weight"], eps)
