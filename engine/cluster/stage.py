"""A network that keeps some of its layers; the hidden states before and after them are handed over.

Where mlx-lm has a pipeline for the family, that is used: it hands states over with functions of `mx.distributed`, and
inside a forward of such a network, and only there, ours take their place. Other families are one layer after another:
their first and last one here are hooked. States are received before the layers begin and sent when they are computed,
so nothing on a device ever waits for another machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mlx.core as mx
import numpy as np
from mlx_lm.models.pipeline import PipelineMixin

from engine.api.errors import ModelNotSplittable
from engine.api.ranks import SplitRefusal
from engine.caches.hooks import hooked_for_good
from engine.cluster.operations import ITEM_BYTES
from engine.models.memory import MemoryNeed

Receive = Callable[[mx.array], mx.array]  # the states for these layers, by an array of the same shape
Send = Callable[[mx.array], None]
OnForward = Callable[[mx.array, bool], None]  # gets the tokens, and whether they are kept


class Stage:
    """The layers of one rank in `network`, which is changed in place and can be called as before.

    `receive` and `send` are what its forwards use. While the network is loaded a forward gives shapes alone: `receive`
    then returns what it got.
    """

    def __init__(
        self,
        network: Any,
        folder: str,
        rank: int,
        split: tuple[int, ...],
        receive: Receive,
        send: Send | None = None,
        on_forward: OnForward | None = None,
    ) -> None:
        self.receive = receive
        self._send = send
        self._on_forward = on_forward
        body = next((module for module in network.modules() if isinstance(module, PipelineMixin)), None)
        stack = next((module for module in network.modules() if isinstance(module.get("layers"), list)), None)
        if body is not None and len(body.layers) == sum(split):
            body.pipeline(_Place(rank, len(split)), list(split))
            self._layers = list(body.pipeline_layers)
        elif body is None and stack is not None and len(stack.layers) == sum(split):
            self._layers = self._cut(stack, rank, split)
        else:
            raise ModelNotSplittable(folder, str(getattr(network, "model_type", "")), SplitRefusal.LAYERS)
        hooked_for_good(network, self._forward)

    def parameters(self) -> list[Any]:
        """Of its own layers; embedding and head are read when a forward needs them."""
        return [layer.parameters() for layer in self._layers]

    def need(self, whole: MemoryNeed) -> MemoryNeed:
        return whole

    def _cut(self, stack: Any, rank: int, split: tuple[int, ...]) -> list[Any]:
        first = sum(split[rank + 1 :])
        stack.layers = layers = stack.layers[first : first + split[rank]]
        if hasattr(stack, "swa_idx"):  # Llama's: which layer's cache each of its two masks is for
            windows = [index for index, layer in enumerate(layers) if layer.use_sliding]
            stack.swa_idx = windows[0] if windows else None
            stack.fa_idx = next((index for index in range(len(layers)) if index not in windows), 0)
        if first:
            hooked_for_good(layers[0], self._before_layers)
        if rank:
            hooked_for_good(layers[-1], self._after_layers)
        return list(layers)

    def _before_layers(self, _layer: Any, run: Callable[..., Any], states: mx.array, *rest: Any, **named: Any) -> Any:
        return run(self.receive(states), *rest, **named)

    def _after_layers(self, _layer: Any, run: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        states = run(*arguments, **named)
        self.send(states)
        return states

    def send(self, states: mx.array) -> None:
        if self._send is not None:
            self._send(states)

    def _forward(self, _network: Any, run: Callable[..., Any], tokens: mx.array, cache: Any = None) -> Any:
        if self._on_forward is not None:
            self._on_forward(tokens, cache is not None)
        with _handing_over(self):
            return run(tokens, cache=cache)


class _Place:
    """In place of MLX's group."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank = lambda: rank
        self.size = lambda: size


@contextmanager
def _handing_over(stage: Stage) -> Iterator[None]:
    theirs: Any = mx.distributed
    before = theirs.recv_like, theirs.send, theirs.all_gather

    def send(states: mx.array, _destination: int) -> mx.array:
        stage.send(states)
        return states

    theirs.recv_like = lambda like, _source: stage.receive(like)
    theirs.send = send
    theirs.all_gather = lambda states: states  # only rank 0 goes on with them, and has them
    try:
        yield
    finally:
        theirs.recv_like, theirs.send, theirs.all_gather = before


def bytes_of(states: mx.array) -> tuple[memoryview, str]:
    """Computes them; with the name of their type."""
    return np.array(mx.contiguous(states).view(mx.uint8)).data.cast("B"), str(states.dtype).rpartition(".")[2]


def states_from(data: bytes | bytearray, dtype: str, like: mx.array) -> mx.array:
    """The states in `data`, of the shape of `like`; raises ValueError for others."""
    if dtype not in ITEM_BYTES or len(data) != like.size * ITEM_BYTES[dtype]:
        raise ValueError(f"{len(data)} bytes for {like.size} of {dtype[:20]}")
    return mx.array(np.frombuffer(data, dtype=np.uint8)).view(getattr(mx, dtype)).reshape(like.shape)
