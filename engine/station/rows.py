"""Forwards over several texts at once that share their beginning, in one cache: a row for each text's last token.

Of each text all other tokens are cached already, once for all texts: a mask says which of the cached tokens a row sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import numpy as np
from mlx_lm.models.cache import KVCache

from engine.caches.base import CacheSet
from engine.caches.checkpoints import truncate


def feed_rows(
    network: Any,
    caches: CacheSet,
    tokens: mx.array,
    positions: Sequence[int],
    seen: Sequence[Sequence[int]],
    shared: int,
) -> mx.array:
    """Logits (rows, vocabulary) after each of `tokens`, which are cached in this order.

    `positions`: of the tokens in their texts. `seen`: of each row, the places in the cache that it sees besides the
    first ones, which are `shared` by all; its own place is one of them.
    """
    rows = tokens.size
    held = caches.position + rows
    # MEASURED: of four rows over 8,192 tokens 0.05 ms; as lists 2 ms.
    visible = np.zeros((rows, held), dtype=bool)
    visible[:, :shared] = True
    for row, places in zip(visible, seen, strict=True):
        row[list(places)] = True
    mask = mx.array(visible)[:, None, None, :]
    offset = mx.array(list(positions))
    layers = [_RowsOfLayer(layer, offset, mask) for layer in caches.layers]
    logits: mx.array = caches.forward(rows, lambda: network(tokens[:, None], cache=layers))
    caches.commit(rows)
    return logits[:, -1]


def keep_places(caches: CacheSet, start: int, places: Sequence[int]) -> None:
    """Of all that is cached from `start` on, keep these places, in this order."""
    if list(places) != list(range(start, start + len(places))):
        chosen = mx.array(list(places))
        for layer in caches.layers:
            for held in (layer.keys, layer.values):
                held[..., start : start + len(places), :] = mx.take(held, chosen, axis=2)
    truncate(caches, start + len(places))


class _RowsOfLayer:
    """Stands for a layer's cache in a forward of rows: they are cached as tokens of the one text that it holds."""

    def __init__(self, layer: KVCache, offset: mx.array, mask: mx.array) -> None:
        self.offset = offset  # positions (rows,)
        self._layer = layer
        self._mask = mask

    def make_mask(self, *_: Any, **__: Any) -> mx.array:
        return self._mask

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        rows = keys.shape[0]
        held = self._layer.update_and_fetch(keys.swapaxes(0, 2), values.swapaxes(0, 2))
        all_keys, all_values = (mx.broadcast_to(each, (rows, *each.shape[1:])) for each in held)
        return all_keys, all_values
