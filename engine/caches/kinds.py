"""How the cache of one layer undoes a step, by its class in mlx-lm; `merging.py` has those of batches.

A key-value cache drops tokens by moving an offset. Every other cache is restored from a `snapshot`, and the kept tokens
of the step are fed to it again (see `replay.py`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from mlx_lm.models import cache as mlx_cache

from engine.caches.window import WindowCache

# The classes that drop tokens by moving an offset. (A rotating window claims to until it has wrapped; so does a
# concatenating cache, but it returns the dropped tokens with the next one.)
_TRIMMING = (
    mlx_cache.KVCache,
    mlx_cache.QuantizedKVCache,
    mlx_cache.ChunkedKVCache,
    WindowCache,
)


class CacheMisuse(RuntimeError):
    """A call that a cache's contract does not allow: a bug of the engine, after which no text can be trusted."""


def require(condition: bool, reason: str) -> None:
    if not condition:
        raise CacheMisuse(reason)


def leaves(value: Any) -> Iterator[Any]:
    """The caches in `value`: a cache, a bundle of caches, or any nesting of them."""
    if isinstance(value, mlx_cache.CacheList):
        value = value.caches
    if isinstance(value, list | tuple):
        for part in value:
            yield from leaves(part)
    elif hasattr(type(value), "is_trimmable"):
        yield value


def exact(layer: Any) -> Any:
    """`layer` with rotating windows replaced by windows that can roll back."""
    if isinstance(layer, mlx_cache.CacheList):
        layer.caches = tuple(map(exact, layer.caches))
    elif type(layer) is mlx_cache.RotatingKVCache and layer.keep == 0:
        return WindowCache(layer.max_size)
    return layer


def trims(leaf: Any) -> bool:
    return type(leaf) in _TRIMMING


def trim(leaf: Any, tokens: int) -> None:
    trimmed = leaf.trim(tokens)
    require(trimmed == tokens, f"{type(leaf).__name__} forgot {trimmed} of {tokens} tokens")


def slots(leaf: Any) -> list[Any]:
    """The values that a step replaces."""
    return list(leaf.cache) if isinstance(leaf, mlx_cache.ArraysCache) else list(vars(leaf).values())


def snapshot(leaf: Any) -> Any:
    """Recurrent slots are replaced by every step, never written to, so references are enough.

    Of an unknown class all attributes are copied; a copy of an array is free until one of the two is written.
    """
    return slots(leaf) if isinstance(leaf, mlx_cache.ArraysCache) else copy.deepcopy(vars(leaf))


def restore(leaf: Any, before: Any) -> None:
    if isinstance(leaf, mlx_cache.ArraysCache):
        leaf.cache = list(before)
    else:
        vars(leaf).update(before)
