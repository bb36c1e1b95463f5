"""The main model's embedding, its head and its layers, for drafters that have none of their own.

All are the network's own code, found by what is called in a forward, not by names: whatever a family scales, caps or
ties is in what it returns.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.cache import make_prompt_cache

from engine.caches.hooks import hooked

_SAME = 1e-2  # of a scale, over the numbers of some embeddings, in half precision
_TINY = 1e-30
_FAR, _LEAST_GROWTH = 64, 1.5  # times a state as large as they are, and what twice that must add without a limit


class NoAccess(Exception):
    """The network is not made of an embedding, layers and a head that could be used one by one."""


class ModelAccess:
    """Of one network. Engine thread only, outside of its forwards."""

    def __init__(self, network: Any) -> None:
        """Raises NoAccess, after a forward over a few tokens of which only the embedding is computed."""
        self._network = network
        self._body = body_of(network)
        self._embedding, self._scale = self._find_embedding()

    @property
    def layers(self) -> int:
        return len(self._network.layers)

    def embed(self, tokens: mx.array) -> mx.array:
        """What the first layer is given for `tokens` (n,): (n, width)."""
        embedded: mx.array = self._embedding(tokens)
        return embedded if self._scale == 1 else embedded * mx.array(self._scale, embedded.dtype)

    def logits(self, states: mx.array) -> mx.array:
        """What the network makes of `states` (n, width), as if its body had returned them: (n, vocabulary)."""
        tokens = mx.zeros((1, states.shape[0]), dtype=mx.uint32)
        with hooked([self._body], lambda module, run, *arguments, **keywords: states[None]):
            logits: mx.array = self._network(tokens)
        return logits[0]

    @cached_property
    def norm(self) -> Any:
        """What stands behind the last layer. The only part that is found by its name."""
        found = getattr(self._body, "norm", None)
        if not isinstance(found, nn.Module):
            raise NoAccess("nothing is called the norm behind the layers")
        return found

    @cached_property
    def caps_logits(self) -> bool:
        """Whether what the head makes of a state has a limit, however large the state is."""
        like = self.embed(mx.array([0]))
        state = mx.random.normal(like.shape, like.dtype, key=mx.random.key(0))
        once, twice = (mx.abs(self.logits(state * times).astype(mx.float32)).max() for times in (_FAR, 2 * _FAR))
        return _number(twice) < _LEAST_GROWTH * _number(once)

    def make_caches(self) -> list[Any]:
        """Of each layer that keeps keys and values; layers behind those read theirs. As mlx-lm makes them."""
        return make_prompt_cache(self._network)

    def keep_rows(self, layer: int, states: mx.array, cache: Any) -> None:
        """Adds to `cache` the keys and values that `layer` makes of its input `states` (n, width).

        Nothing else of the layer is ever computed.
        """
        self._network.layers[layer](states[None], None, cache)

    def _find_embedding(self) -> tuple[Any, float]:
        """The first that is called, and what its rows are multiplied by on the way to the first layer."""
        embeddings = [m for _, m in self._body.named_modules() if isinstance(m, nn.Embedding | nn.QuantizedEmbedding)]
        called: list[tuple[Any, mx.array]] = []
        inputs: list[mx.array] = []

        def embedded(module: Any, run: Any, *arguments: Any, **keywords: Any) -> Any:
            rows = run(*arguments, **keywords)
            called.append((module, rows))
            return rows

        def entered(module: Any, run: Any, *arguments: Any, **keywords: Any) -> Any:
            inputs.append(arguments[0] if arguments else next(iter(keywords.values())))
            return run(*arguments, **keywords)

        with hooked(embeddings, embedded), hooked([self._network.layers[0]], entered):
            self._network(mx.array([[1, 2, 3, 4]]))  # several: a norm would scale each by its own factor
        if not called or not inputs or called[0][1].shape != inputs[0].shape:
            raise NoAccess("no embedding goes into the first layer")
        module, rows = called[0]
        return module, _scale(rows, inputs[0])


def body_of(network: Any) -> Any:
    """The part that holds the layers, and that the head is applied to."""
    first = network.layers[0]
    for _, module in network.named_modules():
        parts = (value for value in module.values() if isinstance(value, list))
        if module is not network and any(part and part[0] is first for part in parts):
            return module
    raise NoAccess("the layers are not in a part of their own")


def _scale(rows: mx.array, given: mx.array) -> float:
    wide, scaled = rows.astype(mx.float32).reshape(-1), given.astype(mx.float32).reshape(-1)
    scale = _number((scaled * wide).sum()) / max(_number((wide * wide).sum()), _TINY)
    if _number(mx.abs(scaled - scale * wide).max()) > _SAME * max(_number(mx.abs(scaled).max()), _TINY):
        raise NoAccess("more than the embedding goes into the first layer")
    return round(scale, 6) if abs(scale - 1) > _SAME else 1.0


def _number(array: mx.array) -> float:
    return array.item()  # type: ignore[return-value]
