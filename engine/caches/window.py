"""A sliding-window cache that can drop its newest tokens, even after the window has filled.

mlx-lm's rotating cache overwrites the oldest entry in place, so a rejected token has destroyed what a rollback needs.
This one keeps entries in chronological order, with some slack before the window, and drops old ones in bulk.
"""

from __future__ import annotations

from typing import Any

import mlx.core as mx
from mlx_lm.models.base import create_causal_mask
from mlx_lm.models.cache import RotatingKVCache

from engine.api.types import MAX_DRAFT_TOKENS

# Wider steps (prefill) are never rolled back, so no older entries are kept for them.
SLACK_TOKENS = MAX_DRAFT_TOKENS + 1
_GROWTH_TOKENS = 256


class WindowCache(RotatingKVCache):
    """Entries `[0, _end)` of the buffers are valid and in order of time; the last `max_size` are the window."""

    keys: Any
    values: Any
    offset: int
    max_size: int

    def __init__(self, max_size: int) -> None:
        super().__init__(max_size=max_size, keep=0)  # type: ignore[no-untyped-call]
        self._end = 0
        self._first = 0  # first entry that the last step attended to

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        width = keys.shape[2]
        # A step of S tokens attends to the window of each: at most max_size - 1 tokens before its first.
        seen = min(self._end, self.max_size - 1)
        self._make_room(width, keys, values)
        self.keys[..., self._end : self._end + width, :] = keys
        self.values[..., self._end : self._end + width, :] = values
        self._end += width
        self.offset += width
        self._first = self._end - width - seen
        return self.keys_and_values()

    @property
    def start_position(self) -> int:
        """Tokens dropped so far; the name is that of a chunked cache."""
        return self.offset - self._end

    def trim(self, tokens: int) -> int:
        if not self.can_trim(tokens):
            return 0
        self._end -= tokens
        self.offset -= tokens
        return tokens

    def can_trim(self, tokens: int) -> bool:
        return tokens <= self.offset and self._end - tokens >= min(self.offset - tokens, self.max_size - 1)

    def is_trimmable(self) -> bool:
        return True

    def make_mask(self, N: int, window_size: int | None = None, return_array: bool = False) -> Any:  # noqa: N803
        window = window_size or self.max_size
        if N <= SLACK_TOKENS:  # all attend to what each would alone
            window = min(window, self.max_size)
        before = min(self._end, self.offset, self.max_size - 1)
        if N == 1 and before + 1 <= window:
            return None
        if before + N > window or return_array:
            return create_causal_mask(N, before, window_size=window)
        return "causal"

    def keys_and_values(self) -> tuple[mx.array, mx.array]:
        """What the last step attended to; some layers share another layer's cache."""
        return self.keys[..., self._first : self._end, :], self.values[..., self._first : self._end, :]

    @property
    def state(self) -> Any:
        return self.keys, self.values, self.offset, self._end, self._first, self.max_size

    @state.setter
    def state(self, value: Any) -> None:
        self.keys, self.values, self.offset, self._end, self._first, self.max_size = value

    def _make_room(self, width: int, keys: mx.array, values: mx.array) -> None:
        """Space for `width` more entries: drop those older than the window and its slack, then grow if necessary."""
        capacity = 0 if self.keys is None else self.keys.shape[2]
        if self._end + width <= capacity:
            return
        kept = min(self._end, self.max_size - 1 + SLACK_TOKENS)
        first = self._end - kept
        room = width + _GROWTH_TOKENS
        self.keys = _moved(self.keys, first, self._end, room, keys)
        self.values = _moved(self.values, first, self._end, room, values)
        self._end = kept


def _moved(buffer: mx.array | None, first: int, end: int, room: int, like: mx.array) -> mx.array:
    """Entries [first, end) at the front of a new buffer with `room` more."""
    batch, heads, _, depth = like.shape
    empty = mx.zeros((batch, heads, room, depth), like.dtype)
    return empty if buffer is None else mx.concatenate([buffer[..., first:end, :], empty], axis=2)
