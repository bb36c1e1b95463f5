"""Fresh caches for a network, with what rolling back needs of it."""

from __future__ import annotations

from typing import Any

from mlx_lm.models import cache as mlx_cache

from engine.caches.base import CacheSet, replays, trims
from engine.caches.replay import Recorder
from engine.caches.window import WindowCache


class CacheMaker:
    """One for each loaded network. Listening to its layers is set up once, and only when some cache needs it."""

    def __init__(self, network: Any) -> None:
        self._network = network
        self._recorder: Recorder | None = None
        layers = self._layers()
        recurrent = [layer for layer in layers if not trims(layer)]
        if recurrent and all(map(replays, recurrent)):
            self._recorder = Recorder()
            self._recorder.attach(network.layers)

    def __call__(self) -> CacheSet:
        return CacheSet(self._layers(), self._recorder)

    def _layers(self) -> list[Any]:
        return [_exact(layer) for layer in mlx_cache.make_prompt_cache(self._network)]


def _exact(layer: Any) -> Any:
    """`layer`, or in place of a rotating window one that can go back."""
    if isinstance(layer, mlx_cache.CacheList):
        layer.caches = tuple(map(_exact, layer.caches))
    elif type(layer) is mlx_cache.RotatingKVCache and layer.keep == 0:
        return WindowCache(layer.max_size)
    return layer
