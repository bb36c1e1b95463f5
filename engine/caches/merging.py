"""Caches of several conversations as rows of one batch, and back: joining, leaving, and undoing the last step.

A step may be wider than a token, and of it each row keeps any number of its tokens. Rows of keys and values are shifted
(mlx-lm's `BatchKVCache`), windows move an offset, and recurrent states are replayed once for each number of kept
tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx
from mlx_lm.models import cache as mlx_cache

from engine.caches.base import CacheSet
from engine.caches.batch_window import BatchWindowCache
from engine.caches.kinds import leaves, require
from engine.caches.replay import ModuleCall, Replay
from engine.caches.window import WindowCache

# Exactly these can become rows; chunked, quantized and a family's own caches cannot.
_MERGING = (mlx_cache.KVCache, mlx_cache.ArraysCache, WindowCache)
_MOST_PADDING = 64  # tokens of every row


def can_merge(layers: Sequence[Any]) -> bool:
    return all(type(leaf) in _MERGING for leaf in leaves(layers))


class MergedCaches:
    """One batch of rows, in the order in which they were appended."""

    def __init__(self) -> None:
        self.layers: list[Any] = []
        self._replay: Replay | None = None  # of the network
        self._width = 0  # of the last step
        self._before: list[list[Any]] = []  # the slots of each recurrent cache before the last step
        self._calls: list[ModuleCall] = []  # that changed those in the last step

    def append(self, rows: Sequence[CacheSet]) -> None:
        """Copy more rows in. The last step can no longer be undone."""
        self._replay = rows[0].replay
        merged = [_merged(parts) for parts in zip(*(row.layers for row in rows), strict=True)]
        for layer, more in zip(self.layers, merged, strict=False):
            layer.extend(more)
        self.layers = self.layers or merged
        self._close()
        mx.eval(list(_arrays(self.layers)))

    def forward(self, width: int, run: Callable[[], mx.array]) -> mx.array:
        """Run a step of `width` tokens a row. A wider one than a token has to be committed."""
        recurrent = _recurrent(self.layers)
        self._width = width
        self._before = [list(leaf.cache) for leaf in recurrent]
        if self._replay is None or not recurrent or width == 1:
            return run()
        with self._replay.recording(recurrent) as self._calls:
            return run()

    def keep(self, rows: list[int]) -> None:
        """Keep these rows in this order, and drop all others."""
        if not rows:
            self.layers = []
            self._close()
            return
        for layer in self.layers:
            layer.filter(rows)
        self._before = [[slot if slot is None else slot[rows] for slot in slots] for slots in self._before]

    def commit(self, kept: Sequence[int]) -> None:
        """Keep the first `kept[i]` tokens of row i in the last step, and drop the rest."""
        dropped = [self._width - tokens for tokens in kept]
        if any(dropped):
            self._restore(kept)
        for leaf in leaves(self.layers):
            if isinstance(leaf, BatchWindowCache):
                leaf.forget(dropped)
            elif isinstance(leaf, mlx_cache.BatchKVCache):
                _shift(leaf, dropped)
        self._close()
        padded: list[Any] = [leaf for leaf in leaves(self.layers) if isinstance(leaf, mlx_cache.BatchKVCache)]
        if padded and min(padded[0].left_padding.tolist()) >= _MOST_PADDING:
            self.keep(list(range(len(kept))))  # drops columns that are padding in all rows

    def copy_first(self, rows: int) -> None:
        """Append a copy of the first of `rows` rows."""
        self.keep([*range(rows), 0])

    def _restore(self, kept: Sequence[int]) -> None:
        """Bring the recurrent states to where each row's kept tokens end."""
        recurrent = _recurrent(self.layers)
        handed = {id(leaf) for call in self._calls for leaf in call.handed}
        known = handed == set(map(id, recurrent))
        partly = any(0 < tokens < self._width for tokens in kept)
        require(known or not partly, "what changes the states is not known, or is handed other caches too")
        states = {self._width: [list(leaf.cache) for leaf in recurrent]}  # by kept tokens
        for tokens in set(kept) - {self._width}:
            for leaf, slots in zip(recurrent, self._before, strict=True):
                leaf.cache = list(slots)
            if tokens and self._replay is not None:
                self._replay.run(self._calls, self._width, tokens)
            states[tokens] = [list(leaf.cache) for leaf in recurrent]
        for index, leaf in enumerate(recurrent):
            by_row = [states[tokens][index] for tokens in kept]
            leaf.cache = [_joined(slots) for slots in zip(*by_row, strict=True)]

    def _close(self) -> None:
        self._before = []
        self._calls = []

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
        return BatchWindowCache.merge(parts)
    return type(first).merge(parts)


def _stacked(parts: Sequence[Any]) -> Any:
    """`ArraysCache.merge` for slots that a family may leave empty, where the original fails."""
    merged = mlx_cache.ArraysCache(len(parts[0].cache))
    merged.cache = list(parts[0].cache)
    for part in parts[1:]:
        merged.extend(part)
    return merged


def _pour(row: Any, leaf: Any, back: int) -> None:
    """Fill the fresh cache `leaf` with `row`, without its last `back` tokens."""
    end = row.keys.shape[2] - back
    first = max(0, end - leaf.max_size + 1) if isinstance(leaf, WindowCache) else 0
    if end > first:
        leaf.update_and_fetch(row.keys[..., first:end, :], row.values[..., first:end, :])
    leaf.offset = row.offset - back


def _shift(leaf: Any, dropped: Sequence[int]) -> None:
    """Rows end at the same column, so a row that drops more than others is shifted right and padded on the left."""
    least = min(dropped)
    leaf.trim(least)
    leaf.prepare(right_padding=[tokens - least for tokens in dropped])
    leaf.finalize()


def _joined(slots: Sequence[Any]) -> Any:
    """Row i of `slots[i]`."""
    if slots[0] is None:
        return None
    return mx.concatenate([slot[row : row + 1] for row, slot in enumerate(slots)])


def _row(slot: mx.array | None, row: int) -> mx.array | None:
    return slot if slot is None else mx.contiguous(slot[row : row + 1])


def _recurrent(layers: Sequence[Any]) -> list[Any]:
    return [leaf for leaf in leaves(layers) if isinstance(leaf, mlx_cache.ArraysCache)]


def _arrays(layers: Sequence[Any]) -> list[mx.array]:
    """Arrays to evaluate, so that those they were computed from can be freed."""
    slots = [leaf.cache if hasattr(leaf, "cache") else (leaf.keys, leaf.values) for leaf in leaves(layers)]
    return [array for held in slots for array in held if array is not None]
