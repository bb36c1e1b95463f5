"""The two kinds of cache set: one that can forget its newest tokens, and one that can only grow."""

from __future__ import annotations

from typing import Any

from mlx_lm.models import cache as mlx_cache

from engine.caches.base import CacheSet

# Exactly these: a rotating window says that it is trimmable until it has wrapped, and then silently is not.
_TRIMMABLE = (mlx_cache.KVCache, mlx_cache.QuantizedKVCache, mlx_cache.ConcatenateKVCache)


def make_caches(model: Any) -> CacheSet:
    layers = mlx_cache.make_prompt_cache(model)
    return TrimmableCaches(layers) if all(map(_trims, layers)) else AppendOnlyCaches(layers)


def _trims(layer: Any) -> bool:
    if isinstance(layer, mlx_cache.CacheList):
        return all(map(_trims, layer.caches))
    return type(layer) in _TRIMMABLE


class _Caches:
    def __init__(self, layers: list[Any]) -> None:
        self.layers = layers
        self.position = 0
        self._width = 0

    @property
    def nbytes(self) -> int:
        return sum(layer.nbytes for layer in self.layers)

    def begin(self, width: int) -> None:
        assert self._width == 0, "the last step was never committed"
        self._width = width


class TrimmableCaches(_Caches):
    """Plain and quantized key-value caches: forgetting is moving an offset."""

    can_rewind = True

    def commit(self, kept: int) -> None:
        assert 0 <= kept <= self._width
        self._trim(self._width - kept)
        self.position += kept
        self._width = 0

    def rewind(self, position: int) -> None:
        assert 0 <= position <= self.position
        self._trim(self.position - position)
        self.position = position

    def _trim(self, tokens: int) -> None:
        if not tokens:
            return
        for layer in self.layers:
            trimmed = layer.trim(tokens)
            assert trimmed == tokens, f"{type(layer).__name__} forgot {trimmed} of {tokens} tokens"


class AppendOnlyCaches(_Caches):
    """Rotating windows and recurrent states: what was fed stays, so a step must be known to stand before it is made."""

    can_rewind = False

    def commit(self, kept: int) -> None:
        assert kept == self._width, "this kind of cache cannot forget"
        self.position += kept
        self._width = 0

    def rewind(self, position: int) -> None:
        assert position == self.position, "this kind of cache cannot forget"
