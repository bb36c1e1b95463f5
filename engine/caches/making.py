"""Fresh caches for a network."""

from __future__ import annotations

from typing import Any

from mlx_lm.models import cache as mlx_cache

from engine.caches.base import CacheSet
from engine.caches.kinds import exact, leaves, trims
from engine.caches.replay import listen


class CacheMaker:
    """One for each loaded network. Its modules are listened to only when some cache needs it."""

    def __init__(self, network: Any) -> None:
        self._network = network
        if not all(map(trims, leaves(self._layers()))):
            listen(network)

    def __call__(self) -> CacheSet:
        return CacheSet(self._layers())

    def _layers(self) -> list[Any]:
        return [exact(layer) for layer in mlx_cache.make_prompt_cache(self._network)]
