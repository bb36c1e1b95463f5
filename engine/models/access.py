"""The main model's embedding, its head and its layers, for drafters that have none of their own.

All are the network's own code, found by what is called in a forward, not by names.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.cache import make_prompt_cache

from engine.caches.hooks import hooked, own_array

_SAME = 1e-2  # of a scale, over the numbers of some embeddings, in half precision
_TINY = 1e-30
_GROWING = (1, 2, 4, 8)  # powers of two, which round nothing
_LINEAR = (nn.Linear, nn.QuantizedLinear)
_EMBEDDINGS = (nn.Embedding, nn.QuantizedEmbedding)


class NoAccess(Exception):
    """The network is not made of an embedding, layers and a head that could be used one by one."""


class ModelAccess:
    """Of one network. Engine thread only, outside of its forwards."""

    def __init__(self, network: Any) -> None:
        """Raises NoAccess, after a forward over a few tokens of which only the embedding is computed."""
        self._network = network
        self._body = body_of(network)
        self._embedding, self._scale = self._find_embedding()
        inner = {id(module) for _, module in self._body.named_modules()}
        modules = [module for _, module in network.named_modules() if id(module) not in inner]
        self._projections = [module for module in modules if isinstance(module, _LINEAR)]

    @property
    def layers(self) -> int:
        return len(self._network.layers)

    def embed(self, tokens: mx.array) -> mx.array:
        """The embedding of `tokens` (n,), times the factor that the network multiplies it by, if any: (n, width).

        Where the network normalizes it, this is what it was before: drafters are trained on rows of the table.
        """
        embedded: mx.array = self._embedding(tokens)
        return embedded if self._scale == 1 else embedded * mx.array(self._scale, embedded.dtype)

    def logits(self, states: mx.array) -> mx.array:
        """What the network makes of `states` (n, width), as if its body had returned them: (n, vocabulary)."""
        tokens = mx.zeros((1, states.shape[0]), dtype=mx.uint32)
        with hooked([self._body], lambda module, run, *arguments, **keywords: states[None]):
            logits: mx.array = self._network(tokens)
        return logits[0]

    def projected(self, states: mx.array) -> mx.array:
        """The same before the network scales or caps it: what its last linear map returns."""
        returned: list[mx.array] = []

        def projecting(module: Any, run: Any, *arguments: Any) -> Any:
            returned.append(own_array(run(*arguments)))
            return returned[-1]

        with hooked(self._projections, projecting):
            self.logits(states)
        rows: mx.array = returned[-1][0] if returned else self._embedding.as_linear(states)
        return rows

    @cached_property
    def norm(self) -> Any:
        """What stands behind the last layer. The only part that is found by its name."""
        found = getattr(self._body, "norm", None)
        if not isinstance(found, nn.Module):
            raise NoAccess("nothing is called the norm behind the layers")
        return found

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
        embeddings = [module for _, module in self._body.named_modules() if isinstance(module, _EMBEDDINGS)]
        called: list[tuple[Any, mx.array]] = []
        inputs: list[mx.array] = []

        def embedded(module: Any, run: Any, *arguments: Any, **keywords: Any) -> Any:
            rows = run(*arguments, **keywords)
            if not called:
                rows = rows * mx.array(_GROWING, rows.dtype)[:, None]  # what a norm would take back
                called.append((module, own_array(rows)))
            return rows

        def entered(module: Any, run: Any, *arguments: Any, **keywords: Any) -> Any:
            inputs.append(own_array(arguments[0] if arguments else next(iter(keywords.values()))))
            return run(*arguments, **keywords)

        with hooked(embeddings, embedded), hooked([self._network.layers[0]], entered):
            self._network(mx.array([[*range(1, len(_GROWING) + 1)]]))
        if not called or not inputs or called[0][1].shape != inputs[0].shape:
            raise NoAccess("no embedding goes into the first layer")
        module, rows = called[0]
        return module, _scale(rows, inputs[0])


def body_of(network: Any) -> Any:
    """The part that holds embedding and layers, and that the head is applied to: the smallest one."""
    first = network.layers[0]
    for _, module in reversed(network.named_modules()):
        if module is not network and module is not first and _holds(module, first):
            return module
    raise NoAccess("embedding and layers are not in a part of their own")


def _holds(module: Any, layer: Any) -> bool:
    inner = [inner for _, inner in module.named_modules()]
    return any(each is layer for each in inner) and any(isinstance(each, _EMBEDDINGS) for each in inner)


def _scale(rows: mx.array, given: mx.array) -> float:
    """What the network multiplies `rows` (1, n, width) by; 1.0 where it multiplies each by another number: a norm."""
    rows, given = rows.astype(mx.float32), given.astype(mx.float32)
    factors = (given * rows).sum(axis=-1, keepdims=True) / mx.maximum((rows * rows).sum(axis=-1, keepdims=True), _TINY)
    apart = mx.abs(given - factors * rows).max(axis=-1) - _SAME * mx.abs(given).max(axis=-1)
    if _number(apart.max()) > 0:
        raise NoAccess("more than the embedding goes into the first layer")
    scale = _number(factors.mean())
    if _number(mx.abs(factors - scale).max()) > _SAME * abs(scale):
        return 1.0
    return round(scale, 6) if abs(scale - 1) > _SAME else 1.0


def _number(array: mx.array) -> float:
    return array.item()  # type: ignore[return-value]
