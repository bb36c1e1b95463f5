"""Hidden states of chosen layers, for proposers that draft from what the main model thinks. One row a committed token.

The forward that prefills, decodes or verifies is the one that is listened to; nothing runs twice. Rows of drafted
tokens that did not stand go the way of the tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import mlx.core as mx


class Taps:
    """Listens behind the layers `layers` of a network (0 is behind the first), during `step` only."""

    def __init__(self, network: Any, layers: Sequence[int]) -> None:
        self._modules = [network.layers[layer] for layer in layers]
        self._outputs: dict[int, mx.array] = {}
        self._rows: list[mx.array] = []
        self._position = 0  # of the first row that was not taken yet

    @contextmanager
    def step(self) -> Iterator[None]:
        """Around one forward: the modules report to these taps, and are as before afterwards."""
        bases = [type(module) for module in self._modules]
        for module, base in zip(self._modules, bases, strict=True):
            module.__class__ = _reporting(base)
        _reports.append(self._outputs)
        try:
            yield
        finally:
            _reports.pop()
            for module, base in zip(self._modules, bases, strict=True):
                module.__class__ = base

    def keep(self, position: int, kept: int) -> None:
        """Of the latest step, which began at `position`, the first `kept` tokens stand."""
        if not self._rows:
            self._position = position
        if kept and self._outputs:
            states = mx.concatenate([self._outputs[id(module)] for module in self._modules], axis=-1)
            self._rows.append(states[0, :kept])
        self._outputs.clear()

    def evaluate(self) -> None:
        mx.eval(self._rows)

    def take(self) -> tuple[int, mx.array | None]:
        """The position of the first row since the last time, and the rows (tokens, layers × width), if any."""
        rows, self._rows = self._rows, []
        return self._position, mx.concatenate(rows) if rows else None


_reports: list[dict[int, mx.array]] = []  # forwards run on one thread: where the present one reports to
_reporting_classes: dict[type, type] = {}


def _reporting(base: type) -> type:
    if base not in _reporting_classes:
        _reporting_classes[base] = _made_reporting(base)
    return _reporting_classes[base]


def _made_reporting(base: type) -> type:
    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        output = base.__call__(self, *arguments, **keywords)
        _reports[-1][id(self)] = output[0] if isinstance(output, tuple) else output
        return output

    return type(base.__name__, (base,), {"__call__": call, "__module__": base.__module__})
