"""Caches of several conversations as rows of one batch, and back: joining, leaving, and undoing the last step.

The batch's caches are mlx-lm's. With windows or recurrent states a step has one token a row. If all are key-value
caches a step may be wider, and each row drops any number of its tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
from mlx_lm.models import cache as mlx_cache

from engine.caches.base import CacheSet
from engine.caches.kinds import leaves, require
from engine.caches.window import WindowCache

# Exactly these can become rows; chunked, quantized and a family's own caches cannot.
_MERGING = (mlx_cache.KVCache, mlx_cache.ArraysCache, WindowCache)
_MOST_PADDING = 64  # tokens of every row


def can_merge(layers: Sequence[Any]) -> bool:
    return all(type(leaf) in _MERGING for leaf in leaves(layers))


def can_forget(layers: Sequence[Any]) -> bool:
    """Whether each row of a batch of these can drop its own number of tokens."""
    return all(type(leaf) is mlx_cache.KVCache for leaf in leaves(layers))


class MergedCaches:
    """One batch of rows, in the order in which they were appended."""

    def __init__(self) -> None:
        self.layers: list[Any] = []
        self._before: list[list[Any]] = []  # the slots of each recurrent cache before the last step

    def append(self, rows: Sequence[Sequence[Any]]) -> None:
        """Copy more rows in, each given by its layers. The last step can no longer be undone."""
        merged = [_merged(parts) for parts in zip(*rows, strict=True)]
        for layer, more in zip(self.layers, merged, strict=False):
            layer.extend(more)
        self.layers = self.layers or merged
        self._before = []
        mx.eval(list(_arrays(self.layers)))

    def remember(self) -> None:
        """Record what `extract` needs to undo the step that follows."""
        self._before = [list(leaf.cache) for leaf in _recurrent(self.layers)]

    def keep(self, rows: list[int]) -> None:
        """Keep these rows in this order, and drop all others."""
        if not rows:
            self.layers = []
            self._before = []
            return
        for layer in self.layers:
            layer.filter(rows)
        self._before = [[slot if slot is None else slot[rows] for slot in slots] for slots in self._before]

    def forget(self, tokens: Sequence[int]) -> None:
        """Drop the newest `tokens[i]` tokens of row i; see `can_forget`.

        Rows end at the same column, so a row that drops more than others is shifted right and padded on the left.
        """
        least = min(tokens)
        shifts = [forgotten - least for forgotten in tokens]
        for leaf in leaves(self.layers):
            leaf.trim(least)
            leaf.prepare(right_padding=shifts)
            leaf.finalize()
        if min(next(leaves(self.layers)).left_padding.tolist()) >= _MOST_PADDING:
            self.keep(list(range(len(shifts))))  # drops columns that are padding in all rows

    def copy_first(self, rows: int) -> None:
        """Append a copy of the first of `rows` rows."""
        self.keep([*range(rows), 0])

    def extract(self, row: int, caches: CacheSet, position: int, *, back: bool) -> CacheSet:
        """Move a row to fresh `caches`, which then hold `position` tokens. `back`: without the last step."""
        require(
            not back or len(self._before) == len(_recurrent(self.layers)), "the last step cannot be undone any more"
        )
        before = iter(self._before)
        for leaf, merged in zip(leaves(caches.layers), leaves(self.layers), strict=True):
            if isinstance(merged, mlx_cache.ArraysCache):
                leaf.cache = [_row(slot, row) for slot in (next(before) if back else merged.cache)]
            else:
                _pour(merged.extract(row), leaf, int(back))
        caches.position = position
        mx.eval(list(_arrays(caches.layers)))
        return caches


def _merged(parts: Sequence[Any]) -> Any:
    """Caches of one layer in several conversations as one cache."""
    first = parts[0]
    if isinstance(first, mlx_cache.CacheList):
        return type(first)(*(_merged(inner) for inner in zip(*(part.caches for part in parts), strict=True)))
    if isinstance(first, mlx_cache.ArraysCache):
        return _stacked(parts)
    if isinstance(first, WindowCache):
        return mlx_cache.RotatingKVCache.merge([_rotating(part) for part in parts])
    return type(first).merge(parts)


def _stacked(parts: Sequence[Any]) -> Any:
    """`ArraysCache.merge` for slots that a family may leave empty, where the original fails."""
    merged = mlx_cache.ArraysCache(len(parts[0].cache))
    merged.cache = list(parts[0].cache)
    for part in parts[1:]:
        merged.extend(part)
    return merged


def _rotating(window: WindowCache) -> Any:
    """The window in the form that mlx-lm's batches expect."""
    rotating = mlx_cache.RotatingKVCache(window.max_size)
    if window.keys is not None:
        rotating.offset = window.offset
        rotating._idx = rotating.size()  # noqa: SLF001  it has no public name
        rotating.keys, rotating.values = (_newest(window, held) for held in (window.keys, window.values))
    return rotating


def _newest(window: WindowCache, held: mx.array) -> mx.array:
    """The newest entries, a window's width of them; older ones are never attended to."""
    entries = held[..., : window.offset - window.start_position, :]
    wanted = min(window.offset, window.max_size)
    missing = max(0, wanted - entries.shape[2])
    return mx.pad(entries, [(0, 0), (0, 0), (missing, 0), (0, 0)])[..., -wanted:, :]


def _pour(row: Any, leaf: Any, back: int) -> None:
    """Fill the fresh cache `leaf` with `row`, without its last `back` tokens."""
    held = row.keys.shape[2] - back
    if held:
        leaf.update_and_fetch(row.keys[..., :held, :], row.values[..., :held, :])
    leaf.offset = row.offset - back


def _row(slot: mx.array | None, row: int) -> mx.array | None:
    return slot if slot is None else mx.contiguous(slot[row : row + 1])


def _recurrent(layers: Sequence[Any]) -> list[Any]:
    return [leaf for leaf in leaves(layers) if isinstance(leaf, mlx_cache.ArraysCache)]


def _arrays(layers: Sequence[Any]) -> list[mx.array]:
    """Arrays to evaluate, so that those they were computed from can be freed."""
    slots = [leaf.cache if hasattr(leaf, "cache") else (leaf.keys, leaf.values) for leaf in leaves(layers)]
    return [array for held in slots for array in held if array is not None]
