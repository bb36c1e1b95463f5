"""The main model's embedding, head and layers, for drafters that have none of their own.

They run the network's own code, found by the calls in a forward, not by names.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.cache import make_prompt_cache

from engine.caches.hooks import hooked, own_array

_SAME = 1e-2  # relative tolerance when an embedding's scale is measured, in half precision
_TINY = 1e-30
_GROWING = (1, 2, 4, 8)  # powers of two, which cause no rounding
_LINEAR = (nn.Linear, nn.QuantizedLinear)
_EMBEDDINGS = (nn.Embedding, nn.QuantizedEmbedding)


class NoAccess(Exception):
    """The network cannot be split into an embedding, layers and a head."""


class ModelAccess:
    """Access to one network's parts. Engine thread only, not inside its forwards."""

    def __init__(self, network: Any) -> None:
        """Raises NoAccess. Runs a forward over a few tokens, of which only the embedding is computed."""
        self._network = network
        self._body = body_of(network)
        self.embedding, self.scale = self._find_embedding()
        inner = {id(module) for _, module in self._body.named_modules()}
        modules = [module for _, module in network.named_modules() if id(module) not in inner]
        self._projections = [module for module in modules if isinstance(module, _LINEAR)]

    @property
    def layers(self) -> int:
        return len(self._network.layers)

    def embed(self, tokens: mx.array) -> mx.array:
        """The embedding (n, width) of `tokens` (n,), times the network's factor, if it has one.

        If the network normalizes it, this is the value before the norm: drafters are trained on rows of the table.
        """
        embedded: mx.array = self.embedding(tokens)
        return embedded if self.scale == 1 else embedded * mx.array(self.scale, embedded.dtype)

    @property
    def precision(self) -> mx.Dtype:
        """Of the states between layers."""
        return self.embed(mx.array([0], dtype=mx.uint32)).dtype

    def logits(self, states: mx.array) -> mx.array:
        """The head's logits (n, vocabulary) for `states` (n, width), given as the body's output."""
        tokens = mx.zeros((1, states.shape[0]), dtype=mx.uint32)
        with hooked([self._body], lambda module, run, *arguments, **keywords: states[None]):
            logits: mx.array = self._network(tokens)
        return logits[0]

    def projected(self, states: mx.array) -> mx.array:
        """The logits before scaling or capping: the output of the last linear map."""
        returned: list[mx.array] = []

        def projecting(module: Any, run: Any, *arguments: Any) -> Any:
            returned.append(own_array(run(*arguments)))
            return returned[-1]

        with hooked(self._projections, projecting):
            self.logits(states)
        rows: mx.array = returned[-1][0] if returned else self.embedding.as_linear(states)
        return rows

    @cached_property
    def norm(self) -> Any:
        """The norm after the last layer: the only part that is found by its name."""
        found = getattr(self._body, "norm", None)
        if not isinstance(found, nn.Module):
            raise NoAccess("nothing is called the norm behind the layers")
        return found

    def make_caches(self) -> list[Any]:
        """Caches of the layers with keys and values of their own, as mlx-lm makes them."""
        return make_prompt_cache(self._network)

    def keep_rows(self, layer: int, states: mx.array, cache: Any) -> None:
        """Adds to `cache` the keys and values of `layer` for its input `states` (n, width).

        Nothing else of the layer is computed.
        """
        self._network.layers[layer](states[None], None, cache)

    def _find_embedding(self) -> tuple[Any, float]:
        """The first embedding that is called, and the factor of its rows on the way to the first layer."""
        embeddings = [module for _, module in self._body.named_modules() if isinstance(module, _EMBEDDINGS)]
        called: list[tuple[Any, mx.array]] = []
        inputs: list[mx.array] = []

        def embedded(module: Any, run: Any, *arguments: Any, **keywords: Any) -> Any:
            rows = run(*arguments, **keywords)
            if not called:
                rows = rows * mx.array(_GROWING, rows.dtype)[:, None]  # a norm would cancel these factors
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
    """The smallest part that contains embedding and layers, and whose output is the head's input."""
    first = network.layers[0]
    for _, module in reversed(network.named_modules()):
        if module is not network and module is not first and _holds(module, first):
            return module
    raise NoAccess("embedding and layers are not in a part of their own")


def _holds(module: Any, layer: Any) -> bool:
    inner = [inner for _, inner in module.named_modules()]
    return any(each is layer for each in inner) and any(isinstance(each, _EMBEDDINGS) for each in inner)


def _scale(rows: mx.array, given: mx.array) -> float:
    """The factor of `rows` (1, n, width); 1.0 if each row has a different one: a norm."""
    rows = rows.astype(mx.float32)
    given = given.astype(mx.float32)
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
