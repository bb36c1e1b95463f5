"""The cache transaction of one sequence in one model: feed a step, then keep the first of its tokens, forget the rest.

`begin(width)` opens a step, `commit(kept)` closes it and leaves every layer exactly as if only the kept tokens had been
fed. What each layer needs for that differs (see the files beside this one); nobody outside has to know.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx_lm.models import cache as mlx_cache

from engine.caches.replay import Call, Recorder, replay
from engine.caches.window import WindowCache

# Exactly these forget by moving an offset. (A rotating window says that it can, until it has wrapped.)
_TRIMMING = (
    mlx_cache.KVCache,
    mlx_cache.QuantizedKVCache,
    mlx_cache.ConcatenateKVCache,
    mlx_cache.ChunkedKVCache,
    WindowCache,
)


class CacheSet:
    def __init__(self, layers: list[Any], recorder: Recorder | None = None) -> None:
        self.layers = layers
        self.position = 0  # committed tokens
        self.width = 0  # of the open step; 0: none is open
        self._recorder = recorder
        self._trimming = [layer for layer in layers if trims(layer)]
        self._replayed = [layer for layer in layers if not trims(layer)]
        self._before: list[Any] = []
        self._calls: list[tuple[Any, Call]] = []
        self._unheard = False

    @property
    def can_roll_back(self) -> bool:
        """Whether a step may be committed in part. Without that there is no speculation."""
        return not self._replayed or (self._recorder is not None and not self._unheard)

    @property
    def can_rewind(self) -> bool:
        """Whether `rewind` can go to any earlier position."""
        return not self._replayed and not any(isinstance(leaf, WindowCache) for leaf in _leaves(self.layers))

    @property
    def nbytes(self) -> int:
        return sum(layer.nbytes for layer in self.layers)

    def forward(self, width: int, run: Callable[[], mx.array]) -> mx.array:
        """Open a step of `width` tokens and run it."""
        assert self.width == 0, "the last step was never committed"
        self.width = width
        self._before = [_snapshot(layer) for layer in self._replayed]
        if not self._replayed or self._recorder is None or width == 1:
            return run()
        with self._recorder.recording() as calls:
            result = run()
        wanted = {id(layer) for layer in self._replayed}
        self._calls = [(cache, call) for cache, call in calls if id(cache) in wanted]
        self._unheard = wanted != {id(cache) for cache, _ in self._calls}
        return result

    def commit(self, kept: int) -> None:
        width, self.width = self.width, 0
        assert 0 <= kept <= width
        if kept < width:
            self._forget(width, kept)
        self.position += kept
        self._before, self._calls = [], []

    def rewind(self, position: int) -> None:
        """Forget everything after `position` tokens."""
        assert self.width == 0
        assert 0 <= position <= self.position
        if position < self.position:
            assert self.can_rewind, "these caches only go back to where they have been kept"
            _trim(self._trimming, self.position - position)
            self.position = position

    def evaluate(self) -> None:
        """Finish what the last step left lazy, so that a chunk of prefill costs its memory only once."""
        mx.eval([layer.state for layer in self.layers])

    def _forget(self, width: int, kept: int) -> None:
        _trim(self._trimming, width - kept)
        for layer, before in zip(self._replayed, self._before, strict=True):
            _restore(layer, before)
        if kept:
            assert not self._unheard, "a recurrent layer was not heard"
            for _, call in self._calls:
                replay(call, width, kept)


def trims(layer: Any) -> bool:
    if isinstance(layer, mlx_cache.CacheList):
        return all(map(trims, layer.caches))
    return type(layer) in _TRIMMING


def replays(layer: Any) -> bool:
    """Recurrent, or a bundle of a recurrent and a key-value part."""
    if isinstance(layer, mlx_cache.CacheList):
        return all(trims(part) or replays(part) for part in layer.caches)
    return isinstance(layer, mlx_cache.ArraysCache)


def _leaves(layers: list[Any]) -> list[Any]:
    return [leaf for layer in layers for leaf in (getattr(layer, "caches", None) or [layer])]


def _trim(layers: list[Any], tokens: int) -> None:
    for layer in layers:
        trimmed = layer.trim(tokens)
        assert trimmed == tokens, f"{type(layer).__name__} forgot {trimmed} of {tokens} tokens"


def _snapshot(layer: Any) -> Any:
    """Recurrent slots are rebound by every step, never written to, so the old references are the old state."""
    if isinstance(layer, mlx_cache.CacheList):
        return [_snapshot(part) for part in layer.caches]
    return list(layer.cache) if isinstance(layer, mlx_cache.ArraysCache) else layer.offset


def _restore(layer: Any, before: Any) -> None:
    if isinstance(layer, mlx_cache.CacheList):
        for part, was in zip(layer.caches, before, strict=True):
            _restore(part, was)
    elif isinstance(layer, mlx_cache.ArraysCache):
        layer.cache = list(before)
    else:
        _trim([layer], layer.offset - before)
