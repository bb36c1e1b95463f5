"""A network in tensor mode: each rank holds a part of every layer, by mlx-lm's `shard()`; the engine the head.

The ranks run the same graph at once and sum parts within each layer. What is handed over is the input of the head,
found by the network's structure (`models/access.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten

from engine.api.errors import ModelNotSplittable
from engine.api.ranks import SplitRefusal
from engine.caches.hooks import hooked, hooked_for_good, hooks_on, own_array
from engine.caches.kinds import require
from engine.cluster.fabric import sum_over
from engine.cluster.stage import OnForward, Send
from engine.models.access import NoAccess, body_of
from engine.models.memory import MemoryNeed

_EMBEDDINGS = (nn.Embedding, nn.QuantizedEmbedding)


class Shard:
    """This member's part of all layers of `network`, which is changed in place, and the embedding. No head is read."""

    def __init__(self, network: Any, folder: str, group: Any, send: Send) -> None:
        self._body = _body_of(network, folder)
        network.shard(group)
        for name, module in network.named_modules():
            if "scales" in module and hasattr(module, "group_size"):
                _check_groups(name, module)
        self._send = send
        self._group = group
        hooked_for_good(self._body, self._forward)

    def parameters(self) -> list[Any]:
        return [self._body.parameters()]

    def need(self, whole: MemoryNeed) -> MemoryNeed:
        return replace(whole, weight_bytes=_nbytes(self.parameters()))

    def _forward(self, _body: Any, run: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        theirs: Any = mx.distributed
        before = theirs.all_sum
        theirs.all_sum = sum_over(self._group)
        try:
            states = run(*arguments, **named)
        finally:
            theirs.all_sum = before
        self._send(states)
        return states


@contextmanager
def recorded(network: Any, layers: Sequence[int]) -> Iterator[list[mx.array]]:
    """What these layers return in the forward in this block, in their order in the network."""
    require(len(set(layers)) == len(layers), "a layer twice")
    found: list[mx.array] = []

    def record(_layer: Any, run: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        output = run(*arguments, **named)
        found.append(own_array(output[0] if isinstance(output, tuple) else output))
        return output

    with hooked([network.layers[layer] for layer in layers], record):
        yield found


class Head:
    """What follows the layers of `network`; its body's output is received, and the body itself never computed.

    `receive` gets the layers, too, whose states are recorded in this forward (`HiddenStates`); they are in each token's
    row after the body's. Where a forward is to give shapes alone, it returns what it got.
    """

    def __init__(
        self,
        network: Any,
        folder: str,
        ranks: int,
        receive: Callable[[mx.array, tuple[int, ...]], mx.array],
        on_forward: OnForward,
    ) -> None:
        self._network = network
        self._ranks = ranks
        self._body = _body_of(network, folder)
        self._width = self._body(mx.array([[0]])).shape[-1]
        self._receive = receive
        self._on_forward = on_forward
        self._shape: tuple[int, ...] = ()  # of the tokens of this forward
        self._states: mx.array | None = None  # of the layer that is called, in place of what it would return
        hooked_for_good(network, self._forward)
        hooked_for_good(self._body, self._in_place_of_body)
        for layer in network.layers:
            hooked_for_good(layer, self._in_place_of_layer)

    def parameters(self) -> list[Any]:
        """Of the head; that is the embedding in a network that has none of its own."""
        inner = {id(weight) for _, weight in _weights(self._body.parameters())}
        own = [weight for _, weight in _weights(self._network.parameters()) if id(weight) not in inner]
        tied = [module.parameters() for module in self._body.modules() if isinstance(module, _EMBEDDINGS)]
        return own or tied

    def need(self, whole: MemoryNeed) -> MemoryNeed:
        """With the rows of a chat in this machine's rank."""
        share = whole.token_bytes // self._ranks
        return MemoryNeed(_nbytes(self.parameters()), share, whole.fixed_bytes // self._ranks)

    def _forward(self, _network: Any, run: Callable[..., Any], tokens: mx.array, cache: Any = None) -> Any:
        self._on_forward(tokens, cache is not None)
        self._shape = tokens.shape
        return run(tokens, cache=cache)

    def _in_place_of_body(self, _body: Any, run: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        layers = self._network.layers
        recorded = tuple(index for index, layer in enumerate(layers) if hooks_on(layer) > 1)
        like = mx.zeros((*self._shape, self._width * (1 + len(recorded))))
        received = self._receive(like, recorded)
        if received is like:
            return run(*arguments, **named)
        states, *of_layers = mx.split(received, 1 + len(recorded), axis=-1)
        for index, self._states in zip(recorded, of_layers, strict=True):
            layers[index](states)
        self._states = None
        return states

    def _in_place_of_layer(self, _layer: Any, run: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        return run(*arguments, **named) if self._states is None else self._states


def _body_of(network: Any, folder: str) -> Any:
    try:
        return body_of(network)
    except NoAccess as error:
        model_type = str(getattr(network, "model_type", ""))
        raise ModelNotSplittable(folder, model_type, SplitRefusal.LAYERS) from error


def _check_groups(name: str, module: Any) -> None:
    """MLX divides a matrix between any two numbers, also within a group of those that share a scale."""
    numbers = module.weight.shape[-1] * 32 // module.bits
    if numbers != module.scales.shape[-1] * module.group_size:
        raise ValueError(f"{name}: {numbers} numbers with {module.scales.shape[-1]} scales")


def _weights(parameters: Any) -> list[tuple[str, mx.array]]:
    return tree_flatten(parameters)  # type: ignore[return-value]


def _nbytes(parameters: list[Any]) -> int:
    return sum(weight.nbytes for _, weight in _weights(parameters))
