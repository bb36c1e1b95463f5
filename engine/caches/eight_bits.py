"""Keys and values at 8 bits: about half of the memory of 16.

A layer's rows are coded in groups of 64 or 32 numbers, each with a scale and an offset, as mlx-lm's `QuantizedKVCache`
does it. Codes, scales and offsets are three key-value caches, so that rows are trimmed, copied, merged and written like
any others. Windows and recurrent states, whose size no chat's length changes, stay as they are.
"""

from __future__ import annotations

from typing import Any

import mlx.core as mx
from mlx_lm.models.cache import CacheList, KVCache

from engine.caches.window import SLACK_TOKENS

BITS = 8
# Steps up to this width compute with codes. A draft must not take a step across it, as the two ways round differently:
# rounds begin with at most CODED_TAIL_TOKENS of a prompt.
_NARROW_TOKENS = 64
CODED_TAIL_TOKENS = _NARROW_TOKENS - SLACK_TOKENS
_GROUPS = (64, 32)  # numbers with one scale, the first that divides a head's

Coded = tuple[mx.array, mx.array, mx.array]  # codes, scales, offsets


class EightBitCache(CacheList):
    """Attention gets rows that are decoded again: right for every family, at the cost of writing them each step."""

    def __init__(self, *parts: Any) -> None:
        """`parts`: codes, scales and offsets, of one sequence or of a batch; none: empty ones."""
        super().__init__(*(parts or (KVCache(), KVCache(), KVCache())))  # type: ignore[no-untyped-call]
        self._depths = (0, 0)  # numbers in a head's key and value

    @property
    def offset(self) -> Any:
        return self.caches[0].offset

    def make_mask(self, *arguments: Any, **keywords: Any) -> Any:
        return self.caches[0].make_mask(*arguments, **keywords)

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[Any, Any]:
        self._depths = keys.shape[-1], values.shape[-1]
        for part, new_keys, new_values in zip(self.caches, _coded(keys), _coded(values), strict=True):
            part.update_and_fetch(new_keys, new_values)
        return self.keys_and_values()

    def keys_and_values(self) -> tuple[Any, Any]:
        """What the last step attended to; some layers share another layer's cache."""
        keys, values = zip(*(part.keys_and_values() for part in self.caches), strict=True)
        return _decoded(keys, self._depths[0]), _decoded(values, self._depths[1])


class CodedCache(EightBitCache):
    """In narrow steps attention computes with the codes, which reads half as much memory.

    Wide steps (prefill) get decoded rows: from codes, mlx-lm computes all scores of a step at once, and those of a
    long chat's chunk need gigabytes.
    """

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._narrow = False

    @property
    def bits(self) -> int:
        """mlx-lm's attention takes keys and values for codes where a cache has this attribute."""
        if not self._narrow:
            raise AttributeError("bits")
        return BITS

    @property
    def group_size(self) -> int:
        return _group(self._depths[0])

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[Any, Any]:
        depths = keys.shape[-1], values.shape[-1]
        whole = depths[0] % _GROUPS[-1] == depths[1] % _GROUPS[-1] == 0 and _group(depths[0]) == _group(depths[1])
        self._narrow = whole and keys.shape[2] <= _NARROW_TOKENS
        return super().update_and_fetch(keys, values)

    def keys_and_values(self) -> tuple[Any, Any]:
        if not self._narrow:
            return super().keys_and_values()
        keys, values = zip(*(part.keys_and_values() for part in self.caches), strict=True)
        return keys, values


def at_eight_bits(layer: Any, kind: type[EightBitCache]) -> Any:
    """`layer` with `kind` in place of its key-value caches."""
    if isinstance(layer, CacheList):
        layer.caches = tuple(at_eight_bits(part, kind) for part in layer.caches)
    return kind() if type(layer) is KVCache else layer


def _group(depth: int) -> int:
    return next((size for size in _GROUPS if not depth % size), _GROUPS[-1])


def _coded(rows: mx.array) -> Coded:
    depth = rows.shape[-1]
    missing = -depth % _GROUPS[-1]
    whole = mx.pad(rows, [(0, 0), (0, 0), (0, 0), (0, missing)]) if missing else rows
    codes, scales, offsets = mx.quantize(whole, group_size=_group(depth + missing), bits=BITS)
    return codes, scales, offsets


def _decoded(coded: Coded, depth: int) -> mx.array:
    missing = -depth % _GROUPS[-1]
    codes, scales, offsets = coded
    group = _group(depth + missing)
    if mx.default_device() == mx.gpu:
        rows = mx.dequantize(codes, scales, offsets, group_size=group, bits=BITS)
    else:  # MEASURED: the same numbers in a third of the time
        numbers = codes.view(mx.uint8).astype(scales.dtype).reshape(*scales.shape, group)
        rows = (numbers * scales[..., None] + offsets[..., None]).reshape(*scales.shape[:-1], depth + missing)
    return rows[..., :depth] if missing else rows
