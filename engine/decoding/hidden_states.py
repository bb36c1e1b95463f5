"""Records hidden states of chosen layers, for proposers that draft from the main model's.

One row for each committed token, recorded in the forwards that prefill, decode or verify; nothing is computed twice.
Rows of rejected tokens are dropped with the tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import mlx.core as mx

from engine.caches.hooks import hooked, own_array
from engine.models.access import NoAccess, body_of
from engine.models.drafters import BODY


class NoHiddenStates(Exception):
    """The layers of this network do not return one row of hidden states a token."""

    def __init__(self, network: Any, reason: str) -> None:
        super().__init__(f"{getattr(network, 'model_type', type(network).__name__)}: {reason}")


class HiddenStates:
    """Records what the layers `layers` of a network return (0 is the first) in forwards inside `step`.

    A layer that a forward calls several times is recorded at its last call. BODY in place of a layer means the head's
    input, after the last norm.
    """

    def __init__(self, network: Any, layers: Sequence[int], first_layer: int = 0) -> None:
        """`first_layer`: index of the network's first layer, if earlier layers are in other processes."""
        self._modules = [_module(network, layer, first_layer) for layer in layers]
        self._outputs: dict[int, Any] = {}  # by id of the module, of the latest step
        self._rows: list[mx.array] = []
        self._position = 0  # of the first row that `take` has not returned

    def check(self, network: Any) -> None:
        """Raises NoHiddenStates. Builds a forward over two tokens, which is never evaluated."""
        with self.step():
            network(mx.array([[0, 0]]))
        if problem := next(filter(None, map(self._problem, self._modules)), ""):
            raise NoHiddenStates(network, problem)
        self._outputs = {}

    @contextmanager
    def step(self) -> Iterator[None]:
        """Record the one forward that runs in this block."""
        self._outputs = {}
        with hooked(list({id(module): module for module in self._modules}.values()), self._record):
            yield

    def keep(self, position: int, kept: int) -> None:
        """Close the latest step, which began at `position`: keep its first `kept` tokens."""
        if not self._rows:
            self._position = position
        if kept and self._outputs:
            self.add(position, self.latest()[0, :kept])
        self._outputs = {}

    def latest(self) -> mx.array:
        """States of all tokens of the latest step (rows of a batch, tokens, layers × width)."""
        return mx.concatenate([self._outputs[id(module)] for module in self._modules], axis=-1)

    def add(self, position: int, states: mx.array) -> None:
        """Keep the states (tokens, layers × width) of the tokens from `position` on.

        They replace those kept from there on: a step started ahead may be taken back and run again.
        """
        held = sum(rows.shape[0] for rows in self._rows)
        if not self._position <= position <= self._position + held or not self._rows:
            self._position = position
            self._rows = [states]
        elif position == self._position + held:
            self._rows.append(states)
        else:
            self._rows = [mx.concatenate(self._rows)[: position - self._position], states]

    def evaluate(self) -> None:
        mx.eval(self._rows)

    def take(self) -> tuple[int, mx.array | None]:
        """(position of the first row since the last call, rows (tokens, layers × width) or None)."""
        rows = self._rows
        self._rows = []
        return self._position, mx.concatenate(rows) if rows else None

    def _record(self, module: Any, run: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        output = run(*arguments, **keywords)
        self._outputs[id(module)] = own_array(output[0] if isinstance(output, tuple) else output)
        return output

    def _problem(self, module: Any) -> str:
        """Why this module's output in a forward over two tokens is not one row a token; empty if it is."""
        if id(module) not in self._outputs:
            return "a layer is not called in a forward"
        states = self._outputs[id(module)]
        if not isinstance(states, mx.array) or states.ndim != 3 or states.shape[:2] != (1, 2):
            return f"a layer returns {states.shape if isinstance(states, mx.array) else type(states).__name__}"
        return ""


def _module(network: Any, layer: int, first_layer: int) -> Any:
    if layer != BODY:
        return network.layers[layer - first_layer]
    try:
        return body_of(network)
    except NoAccess as error:
        raise NoHiddenStates(network, str(error)) from error
