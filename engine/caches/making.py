"""Fresh caches for a network."""

from __future__ import annotations

from typing import Any

from mlx_lm.models import cache as mlx_cache

from engine.caches.base import CacheSet
from engine.caches.kinds import exact, leaves, trims
from engine.caches.replay import Replay

# Families where a forward over several tokens is another function than one over each alone, so a verified token may
# differ from plain decoding's. Their caches could be rolled back.
WIDTH_MATTERS = {"phi3small": "its block-sparse mask is laid from the end of the step, not from position 0"}


class CacheMaker:
    """One for each loaded network."""

    def __init__(self, network: Any) -> None:
        self._network = network
        self._exact = getattr(network, "model_type", None) not in WIDTH_MATTERS
        self._replay = None if all(map(trims, leaves(self._layers()))) else Replay(network)

    def __call__(self) -> CacheSet:
        return CacheSet(self._layers(), self._replay, self._exact)

    def _layers(self) -> list[Any]:
        return [exact(layer) for layer in mlx_cache.make_prompt_cache(self._network)]
