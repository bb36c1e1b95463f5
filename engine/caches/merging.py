"""Caches of several conversations as rows of one batch, and back: joining, leaving, and undoing the last step.

A step may be wider than a token, and of it each row keeps any number of its tokens: keys and values (`ragged.py`) by
moving a length, recurrent states by a replay of the rows that do not keep all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx
from mlx_lm.models import cache as mlx_cache

from engine.caches.base import CacheSet
from engine.caches.kinds import leaves, require
from engine.caches.ragged import RaggedCache
from engine.caches.replay import ModuleCall, Replay, Rows
from engine.caches.window import WindowCache

# Exactly these can become rows; chunked, quantized and a family's own caches cannot.
_MERGING = (mlx_cache.KVCache, mlx_cache.ArraysCache, WindowCache)


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
        self._points: list[list[list[Any]]] = []  # the slots of each recurrent cache, then after each step of a token
        self._at: list[int] = []  # of each row: the point at which it is

    def append(self, rows: Sequence[CacheSet]) -> None:
        """Copy more rows in. The last step can no longer be undone."""
        self._replay = rows[0].replay
        merged = [_merged(parts) for parts in zip(*(row.layers for row in rows), strict=True)]
        for layer, more in zip(self.layers, merged, strict=False):
            layer.extend(more)
        self.layers = self.layers or merged
        self._close()
        self._forget_points()
        mx.eval(list(_arrays(self.layers)))

    def forward(self, width: int, run: Callable[[], mx.array]) -> mx.array:
        """Run a step of `width` tokens a row. A wider one than a token has to be committed."""
        recurrent = _recurrent(self.layers)
        self._width = width
        if any(at + 1 != len(self._points) for at in self._at):
            self._forget_points()
        self._before = self._slots()
        if self._replay is None or not recurrent or width == 1:
            return run()
        with self._replay.recording(recurrent) as self._calls:
            return run()

    def keep(self, rows: list[int]) -> None:
        """Keep these rows in this order, perhaps a copy of one, and drop all others."""
        if not rows:
            self.layers = []
            self._close()
            self._forget_points()
            return
        for layer in self.layers:
            layer.filter(rows)
        self._before = [[_rows(slot, rows) for slot in slots] for slots in self._before]
        self._points = [[[_rows(slot, rows) for slot in slots] for slots in point] for point in self._points]
        self._at = [self._at[row] for row in rows] if self._points else []

    def commit(self, kept: Sequence[int]) -> None:
        """Keep the first `kept[i]` tokens of row i in the last step, and drop the rest."""
        dropped = [self._width - tokens for tokens in kept]
        if any(dropped):
            self._restore(kept)
            self._forget(dropped)
        self._close()
        if self._points:
            self._points.append(self._slots())
            self._at = [at + 1 for at in self._at]

    def keep_rollback_points(self, rows: int) -> None:
        """From here on, record what it takes to roll back to here and to the end of each step."""
        self._points = [self._slots()]
        self._at = [0] * rows

    def roll_back(self, dropped: Sequence[int]) -> None:
        """Drop the newest `dropped[i]` tokens of row i, all of steps of one token since `keep_rollback_points`."""
        at = [now - tokens for now, tokens in zip(self._at, dropped, strict=True)]
        require(min(at) >= 0, "no rollback point was kept there")
        for place, leaf in enumerate(_recurrent(self.layers)):
            slots = zip(*(point[place] for point in self._points), strict=True)
            leaf.cache = [_joined([_rows(held[end], [row]) for row, end in enumerate(at)]) for held in slots]
        self._forget(dropped)
        self._at = at
        self._close()

    def _forget_points(self) -> None:
        self._points = []
        self._at = []

    def _slots(self) -> list[list[Any]]:
        return [list(leaf.cache) for leaf in _recurrent(self.layers)]

    def _forget(self, dropped: Sequence[int]) -> None:
        for leaf in leaves(self.layers):
            if isinstance(leaf, RaggedCache):
                leaf.forget(dropped)

    def _restore(self, kept: Sequence[int]) -> None:
        """Bring the recurrent states to where each row's kept tokens end."""
        recurrent = _recurrent(self.layers)
        handed = {id(leaf) for call in self._calls for leaf in call.handed}
        known = handed == set(map(id, recurrent))
        partly = any(0 < tokens < self._width for tokens in kept)
        require(known or not partly, "what changes the states is not known, or is handed other caches too")
        after = self._slots()
        order: list[int] = []
        parts: list[list[list[Any]]] = []  # by kept tokens, cache and slot
        for tokens in set(kept):
            rows = [row for row, of_row in enumerate(kept) if of_row == tokens]
            for leaf, slots in zip(recurrent, after if tokens == self._width else self._before, strict=True):
                leaf.cache = [_rows(slot, rows) for slot in slots]
            if 0 < tokens < self._width and self._replay is not None:
                self._replay.run(self._calls, self._width, tokens, Rows(rows, len(kept), self._width))
            parts.append([list(leaf.cache) for leaf in recurrent])
            order += rows
        places = [order.index(row) for row in range(len(kept))]
        for leaf, *by_tokens in zip(recurrent, *parts, strict=True):
            leaf.cache = [_rows(_joined(slots), places) for slots in zip(*by_tokens, strict=True)]

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
                slots = (_rows(slot, [row]) for slot in (next(before) if back else merged.cache))
                leaf.cache = [slot if slot is None else mx.contiguous(slot) for slot in slots]
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
    return _stacked(parts) if isinstance(first, mlx_cache.ArraysCache) else RaggedCache.merge(parts)


def _stacked(parts: Sequence[Any]) -> Any:
    """`ArraysCache.merge` for slots that a family may leave empty, where the original fails."""
    merged = mlx_cache.ArraysCache(len(parts[0].cache))
    merged.cache = list(parts[0].cache)
    for part in parts[1:]:
        merged.extend(part)
    return merged


def _pour(row: tuple[mx.array, mx.array, int], leaf: Any, back: int) -> None:
    """Fill the fresh cache `leaf` with `row`, without its last `back` tokens."""
    keys, values, tokens = row
    end = keys.shape[2] - back
    first = max(0, end - leaf.max_size + 1) if isinstance(leaf, WindowCache) else 0
    if end > first:
        leaf.update_and_fetch(keys[..., first:end, :], values[..., first:end, :])
    leaf.offset = tokens - back


def is_near(together: mx.array, alone: mx.array) -> bool:
    """Whether what was computed for texts together is what each gives alone, but for rounding."""
    tolerance = 1e-3 if alone.dtype == mx.float32 else 0.05
    finite = mx.isfinite(alone)
    spread = mx.where(finite, alone, -mx.inf).max() - mx.where(finite, alone, mx.inf).min()
    difference = mx.where(together == alone, 0, mx.abs(together - alone)).max()
    return bool((difference <= tolerance * spread).item())


def _joined(slots: Sequence[mx.array | None]) -> mx.array | None:
    held = [slot for slot in slots if slot is not None]
    return mx.concatenate(held) if held else None


def _rows(slot: mx.array | None, rows: list[int]) -> mx.array | None:
    return slot if slot is None else slot[rows]


def _recurrent(layers: Sequence[Any]) -> list[Any]:
    return [leaf for leaf in leaves(layers) if isinstance(leaf, mlx_cache.ArraysCache)]


def _arrays(layers: Sequence[Any]) -> list[mx.array]:
    """Arrays to evaluate, so that those they were computed from can be freed."""
    slots = [leaf.cache if hasattr(leaf, "cache") else (leaf.keys, leaf.values) for leaf in leaves(layers)]
    return [array for held in slots for array in held if array is not None]
