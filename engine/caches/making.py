"""Fresh caches for a network."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import mlx.core as mx
from mlx_lm.models import cache as mlx_cache

from engine.caches.base import TAIL_TOKENS, CacheSet
from engine.caches.eight_bits import CODED_TAIL_TOKENS, CodedCache, EightBitCache, at_eight_bits
from engine.caches.kinds import exact, leaves, trims
from engine.caches.replay import Replay

# Families where a forward over several tokens is another function than one over each alone, so a verified token may
# differ from plain decoding's. Their caches could be rolled back.
WIDTH_MATTERS = {"phi3small": "its block-sparse mask is laid from the end of the step, not from position 0"}


_WIDE = 100.0  # a group's step is then 0.4 and more


class CacheMaker:
    """One for each loaded network."""

    def __init__(self, network: Any, eight_bits: type[EightBitCache] | None = None, wide: Collection[int] = ()) -> None:
        """`eight_bits`: what takes the place of key-value caches but in the layers `wide`, see `eight_bits_of`."""
        self._network = network
        self._eight_bits = eight_bits
        self._wide = frozenset(wide)
        self._exact = getattr(network, "model_type", None) not in WIDTH_MATTERS
        self._replay = None if all(map(trims, leaves(self._layers()))) else Replay(network)

    def __call__(self) -> CacheSet:
        tail = CODED_TAIL_TOKENS if self._eight_bits is CodedCache else TAIL_TOKENS
        return CacheSet(self._layers(), self._replay, self._exact, tail)

    def _layers(self) -> list[Any]:
        layers = [exact(layer) for layer in mlx_cache.make_prompt_cache(self._network)]
        kind = self._eight_bits
        if kind is None:
            return layers
        return [layer if at in self._wide else at_eight_bits(layer, kind) for at, layer in enumerate(layers)]


def eight_bits_of(network: Any) -> type[EightBitCache] | None:
    """The cache at 8 bits with which a network runs; None: it has no key-value caches, or needs them as they are.

    MEASURED: on a CPU attention takes twice as long with codes as with decoded rows.
    """
    if not any(type(leaf) is mlx_cache.KVCache for leaf in leaves(mlx_cache.make_prompt_cache(network))):
        return None
    kinds = (CodedCache, EightBitCache) if mx.default_device() == mx.gpu else (EightBitCache,)
    return next((kind for kind in kinds if _runs_with(network, kind)), None)


def wide_layers(network: Any) -> list[int]:
    """The layers whose keys have so large numbers that 8 bits would lose the small ones beside them.

    One token shows them: they come from biases. MEASURED: in Qwen2.5 0.5B three of 24 layers make nine tenths of the
    difference that 8 bits make to the next token.
    """
    layers = mlx_cache.make_prompt_cache(network)
    mx.eval(network(mx.zeros((1, 1), mx.uint32), cache=layers))
    return [at for at, layer in enumerate(layers) if any(map(_has_wide_keys, leaves([layer])))]


def _has_wide_keys(leaf: Any) -> bool:
    held = type(leaf) is mlx_cache.KVCache and leaf.keys is not None
    return held and bool((mx.abs(leaf.keys).max() > _WIDE).item())


def _runs_with(network: Any, kind: type[EightBitCache]) -> bool:
    """By two forwards whose shapes are computed, and nothing else."""
    layers = CacheMaker(network, kind)().layers
    try:
        for width in (2, 1):
            network(mx.zeros((1, width), mx.uint32), cache=layers)
    except Exception:  # noqa: BLE001  a family may do anything with rows
        return False
    return True
