"""What MLX has in half precision on GPUs only."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

_gather_mm = mx.gather_mm


def gather_mm(left: mx.array, right: mx.array, *arguments: Any, **options: Any) -> mx.array:
    made = _gather_mm(left.astype(mx.float32), right.astype(mx.float32), *arguments, **options)
    return made.astype(mx.result_type(left, right))
