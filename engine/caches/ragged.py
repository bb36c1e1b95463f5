"""Keys and values of several conversations as rows of one batch, each of which drops its own number of newest tokens.

Every row begins at the first column, and the entry of position p is in column p; with a window it is in column p modulo
the number of columns. So dropping tokens moves the row's length and nothing else, and a mask hides the columns that a
row does not attend to. mlx-lm's `BatchKVCache` lets all rows end at the same column: to drop different numbers of
tokens it copies all entries. Its `BatchRotatingKVCache` overwrites what a dropped token needs back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
from mlx_lm.models.cache import KVCache

from engine.caches.kinds import require
from engine.caches.window import SLACK_TOKENS, WindowCache

_GROWTH_TOKENS = 256


class RaggedCache:
    """A step has at most SLACK_TOKENS tokens a row."""

    def __init__(self, lengths: Sequence[int], max_size: int | None = None) -> None:
        """`lengths`: tokens of each row; `max_size`: the window, if there is one."""
        self.max_size = max_size
        self.keys: Any = None  # (rows, heads, columns, depth); None until a row has entries
        self.values: Any = None
        self._columns = 0
        self._set_lengths(lengths)
        self._make_room(0)

    @classmethod
    def merge(cls, caches: Sequence[KVCache | WindowCache]) -> RaggedCache:
        merged = cls([cache.offset for cache in caches], getattr(caches[0], "max_size", None))
        like: Any = next((cache for cache in caches if cache.keys is not None), None)
        if like is not None:
            merged.keys = mx.concatenate([merged._placed(cache, cache.keys, like.keys) for cache in caches])
            merged.values = mx.concatenate([merged._placed(cache, cache.values, like.values) for cache in caches])
        return merged

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        width = keys.shape[2]
        self._make_room(width)
        if self.keys is None:
            self.keys, self.values = (_widened(None, like, len(self.lengths), self._columns) for like in (keys, values))
        columns = ((self.offset[:, None] + mx.arange(width)) % self._columns)[:, None, :, None]
        self.keys = mx.put_along_axis(self.keys, columns, keys, axis=2)
        self.values = mx.put_along_axis(self.values, columns, values, axis=2)
        self._set_lengths([length + width for length in self.lengths])
        return self.keys_and_values()

    def keys_and_values(self) -> tuple[mx.array, mx.array]:
        """Without columns that are empty in all rows."""
        filled = min(max(self.lengths), self._columns)
        return self.keys[..., :filled, :], self.values[..., :filled, :]

    def make_mask(self, N: int, window_size: int | None = None, return_array: bool = False) -> mx.array:  # noqa: N803
        """Which columns each token of the next step attends to (rows, 1, N, columns)."""
        self._make_room(N)
        columns = mx.arange(min(max(self.lengths) + N, self._columns))
        queries = self.offset[:, None, None] + mx.arange(N)[:, None]
        newest = queries[:, -1:]
        held = newest - (newest - columns) % self._columns  # the position in each column
        mask = (held >= 0) & (held <= queries)
        windows = [size for size in (window_size, self.max_size) if size]
        return (mask & (held > queries - min(windows)) if windows else mask)[:, None]

    def forget(self, tokens: Sequence[int]) -> None:
        """Drop the newest `tokens[i]` tokens of row i, all of them of the last step."""
        self._set_lengths([length - dropped for length, dropped in zip(self.lengths, tokens, strict=True)])

    def filter(self, rows: list[int]) -> None:
        self._set_lengths([self.lengths[row] for row in rows])
        if self.max_size is None:
            self._columns = min(self._columns, max(self.lengths) + _GROWTH_TOKENS)
        if self.keys is not None:
            self.keys, self.values = (held[rows][..., : self._columns, :] for held in (self.keys, self.values))

    def extend(self, other: RaggedCache) -> None:
        like = other if self.keys is None else self
        columns = self._columns = max(self._columns, other._columns)
        if like.keys is not None:
            both = [(batch, len(batch.lengths)) for batch in (self, other)]
            keys = [_widened(batch.keys, like.keys, rows, columns) for batch, rows in both]
            values = [_widened(batch.values, like.values, rows, columns) for batch, rows in both]
            self.keys = mx.concatenate(keys)
            self.values = mx.concatenate(values)
        self._set_lengths([*self.lengths, *other.lengths])

    def extract(self, row: int) -> tuple[mx.array, mx.array, int]:
        """(keys, values, tokens) of a row, in order of time.

        Of a full window the oldest entry may be missing: no later token needs it.
        """
        length = self.lengths[row]
        held = min(length, self.max_size or length)
        columns = mx.arange(length - held, length) % self._columns
        keys, values = (array[row : row + 1, :, columns] for array in (self.keys, self.values))
        return keys, values, length

    def is_trimmable(self) -> bool:
        return False

    def _set_lengths(self, lengths: Sequence[int]) -> None:
        self.lengths = list(lengths)
        self.offset = mx.array(self.lengths)

    def _make_room(self, width: int) -> None:
        """Columns for `width` more tokens a row, with a window up to so many that a step overwrites nothing that is
        attended to, in it or after tokens of it were dropped. Rows do not wrap before.
        """
        require(width <= SLACK_TOKENS, f"{width} tokens a row are too many")
        needed = max(self.lengths) + width
        most = needed + _GROWTH_TOKENS if self.max_size is None else self.max_size - 1 + SLACK_TOKENS
        if self._columns < min(needed, most):
            self._columns = min(needed + _GROWTH_TOKENS, most)
            if self.keys is not None:
                rows = len(self.lengths)
                both = (_widened(held, held, rows, self._columns) for held in (self.keys, self.values))
                self.keys, self.values = both

    def _placed(self, cache: KVCache | WindowCache, entries: mx.array | None, like: mx.array) -> mx.array:
        """The newest entries of one conversation, each in its column."""
        end = cache.offset - getattr(cache, "start_position", 0)
        held = min(end, self.max_size or end)
        newest = None if entries is None else entries[..., end - held : end, :]
        row = _widened(newest, like, 1, self._columns)
        first = (cache.offset - held) % self._columns if held else 0
        return mx.roll(row, first, 2) if first else row


def _widened(entries: mx.array | None, like: mx.array, rows: int, columns: int) -> mx.array:
    """With empty columns on the right; `entries` None: all are empty, and the other dimensions are those of `like`."""
    if entries is None:
        return mx.zeros((rows, like.shape[1], columns, like.shape[3]), like.dtype)
    more = columns - entries.shape[2]
    return mx.pad(entries, [(0, 0), (0, 0), (0, more), (0, 0)]) if more else entries
