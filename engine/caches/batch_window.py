"""Sliding windows of several conversations as rows of one batch, each of which drops its own number of newest tokens.

mlx-lm's `BatchRotatingKVCache` overwrites the oldest entries of all rows at the same place, so nothing can be dropped.
Here each row is a ring of its own: the entry of position p is in column p modulo the number of columns. Rows need not
be aligned, dropping tokens moves an offset, and a mask hides the columns that a row does not attend to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
from mlx_lm.models.cache import RotatingKVCache

from engine.caches.kinds import require
from engine.caches.window import SLACK_TOKENS, WindowCache

_GROWTH_TOKENS = 256


class BatchWindowCache:
    """A step has at most SLACK_TOKENS tokens a row."""

    def __init__(self, max_size: int, offsets: Sequence[int]) -> None:
        self.max_size = max_size
        self.offset = mx.array(list(offsets))  # tokens of each row
        self.keys: Any = None  # (rows, heads, columns, depth); None until a row has entries
        self.values: Any = None
        self.longest = max(offsets)  # no row has more tokens
        self.columns = 0
        self._make_room(0)

    @classmethod
    def merge(cls, windows: Sequence[WindowCache]) -> BatchWindowCache:
        merged = cls(windows[0].max_size, [window.offset for window in windows])
        like = next((window for window in windows if window.keys is not None), None)
        if like is not None:
            columns = merged.columns
            merged.keys = mx.concatenate([_ring(window, window.keys, like.keys, columns) for window in windows])
            merged.values = mx.concatenate([_ring(window, window.values, like.values, columns) for window in windows])
        return merged

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        width = keys.shape[2]
        self._make_room(width)
        if self.keys is None:
            rows = keys.shape[0]
            self.keys, self.values = (_widened(None, like, rows, self.columns) for like in (keys, values))
        columns = ((self.offset[:, None] + mx.arange(width)) % self.columns)[:, None, :, None]
        self.keys = mx.put_along_axis(self.keys, columns, keys, axis=2)
        self.values = mx.put_along_axis(self.values, columns, values, axis=2)
        self.offset = self.offset + width
        self.longest += width
        return self.keys_and_values()

    def keys_and_values(self) -> tuple[mx.array, mx.array]:
        """Without columns that are empty in all rows."""
        filled = min(self.longest, self.columns)
        return self.keys[..., :filled, :], self.values[..., :filled, :]

    def make_mask(self, N: int, window_size: int | None = None, return_array: bool = False) -> mx.array:  # noqa: N803
        """Which columns each token of the next step attends to (rows, 1, N, columns)."""
        self._make_room(N)
        columns = mx.arange(min(self.longest + N, self.columns))
        queries = self.offset[:, None, None] + mx.arange(N)[:, None]
        newest = queries[:, -1:]
        held = newest - (newest - columns) % self.columns  # the position in each column
        window = min(window_size or self.max_size, self.max_size)
        return ((held >= 0) & (held <= queries) & (held > queries - window))[:, None]

    def forget(self, tokens: Sequence[int]) -> None:
        """Drop the newest `tokens[i]` tokens of row i, all of them of the last step."""
        self.offset = self.offset - mx.array(list(tokens))
        self.longest -= min(tokens)

    def filter(self, rows: list[int]) -> None:
        self.offset = self.offset[rows]
        if self.keys is not None:
            self.keys, self.values = self.keys[rows], self.values[rows]

    def extend(self, other: BatchWindowCache) -> None:
        like = other if self.keys is None else self
        self.columns = columns = max(self.columns, other.columns)
        if like.keys is not None:
            both = [(batch, batch.offset.size) for batch in (self, other)]
            keys = [_widened(batch.keys, like.keys, rows, columns) for batch, rows in both]
            values = [_widened(batch.values, like.values, rows, columns) for batch, rows in both]
            self.keys, self.values = mx.concatenate(keys), mx.concatenate(values)
        self.offset = mx.concatenate([self.offset, other.offset])
        self.longest = max(self.longest, other.longest)

    def extract(self, row: int) -> RotatingKVCache:
        """A row, in order of time. Of a full window the oldest entry may be missing: no later token needs it."""
        window = RotatingKVCache(self.max_size)
        offset: Any = self.offset[row].item()
        window.offset = offset
        held = min(offset, self.max_size)
        if self.keys is not None:
            columns = mx.arange(offset - held, offset) % self.columns
            window.keys, window.values = (array[row : row + 1, :, columns] for array in (self.keys, self.values))
        return window

    def is_trimmable(self) -> bool:
        return False

    def _make_room(self, width: int) -> None:
        """Columns for `width` more tokens a row, up to so many that a step overwrites nothing that is attended to, in
        it or after tokens of it were dropped. Rows do not wrap before.
        """
        require(width <= SLACK_TOKENS, f"{width} tokens a row are too many")
        needed = self.longest + width
        whole = self.max_size - 1 + SLACK_TOKENS
        if self.columns < min(needed, whole):
            self.columns = min(needed + _GROWTH_TOKENS, whole)
            if self.keys is not None:
                rows = self.keys.shape[0]
                self.keys, self.values = (_widened(held, held, rows, self.columns) for held in (self.keys, self.values))


def _ring(window: WindowCache, entries: mx.array | None, like: mx.array, columns: int) -> mx.array:
    """The newest entries of a window, each in its column."""
    end = window.offset - window.start_position
    held = min(end, window.max_size)
    newest = None if entries is None else entries[..., end - held : end, :]
    return mx.roll(_widened(newest, like, 1, columns), (window.offset - held) % columns, 2)


def _widened(entries: mx.array | None, like: mx.array, rows: int, columns: int) -> mx.array:
    """With empty columns on the right; `entries` None: all are empty, and the other dimensions are those of `like`."""
    if entries is None:
        return mx.zeros((rows, like.shape[1], columns, like.shape[3]), like.dtype)
    more = columns - entries.shape[2]
    return mx.pad(entries, [(0, 0), (0, 0), (0, more), (0, 0)]) if more else entries
