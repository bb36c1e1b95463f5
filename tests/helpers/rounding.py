"""Whether two forwards say the same, on a device where how wide a forward is changes how it rounds, and where not."""

from __future__ import annotations

import mlx.core as mx

_ROUNDING = 1e-5  # of float32, as a share of the logits' range. MEASURED on a GPU: 3e-7


def same_logits(one: mx.array, other: mx.array) -> bool:
    """To the bit on a CPU."""
    if mx.default_device() == mx.cpu:
        return bool(mx.array_equal(one, other))
    return bool((mx.abs(one - other).max() <= _ROUNDING * (other.max() - other.min())).item())
