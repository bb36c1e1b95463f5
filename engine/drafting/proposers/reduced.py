"""A drafter's own, smaller vocabulary: where each of its tokens stands in the main model's."""

from __future__ import annotations

import mlx.core as mx


def widened(logits: mx.array, offsets: mx.array, vocabulary: int) -> mx.array:
    """`logits` (n, drafted) over the main model's vocabulary, where each token is `offsets` (drafted,) further on."""
    places = (mx.arange(offsets.size) + offsets)[None]
    wide = mx.full((logits.shape[0], vocabulary), -mx.inf, logits.dtype)
    return mx.put_along_axis(wide, mx.broadcast_to(places, logits.shape), logits, axis=-1)


def check_offsets(offsets: mx.array, vocabulary: int) -> None:
    """Raises ValueError where a drafted token would be none of the main model's: a device would write elsewhere."""
    if not mx.issubdtype(offsets.dtype, mx.integer):
        raise ValueError(f"d2t holds {offsets.dtype}")
    places = mx.arange(offsets.size) + offsets
    if not mx.all((places >= 0) & (places < vocabulary)).item():
        raise ValueError("d2t points beyond the vocabulary")
