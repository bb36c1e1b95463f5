"""Rolling back a cache that folds every token into one state: restore it, then feed it the kept tokens again.

During a step, each module that changes such a cache is recorded with its arguments: the innermost module that accounts
for all changes, in most families the mixer of one layer. A replay calls it again with the first tokens of the step. MLX
computes only what the new state depends on. Linear maps are not computed again: the first rows of their recorded
outputs are the result.

If a family changes its caches outside such a module, an outer one is recorded, at worst the network itself: then the
whole model runs again over the kept tokens, which is slow but exact.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import mlx.core as mx
import mlx.nn as nn

from engine.caches.hooks import hooked, own_array
from engine.caches.kinds import leaves, slots

# Families that compile a module's call at run time. A replay of a compiled call would return the first step's results
# for ever.
COMPILES_MODULES = {"kimi_k3"}
_LINEAR = (nn.Linear, nn.QuantizedLinear)

Outputs = dict[int, list[tuple[tuple[int, ...], mx.array]]]  # by id of a linear map: (input shape, output)


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a step of `count` rows and `width` tokens."""

    chosen: list[int]
    count: int
    width: int

    def of(self, value: Any) -> Any:
        """Theirs of `value`, if it has something for each row: tokens, hidden states, masks, or positions (count,)."""
        if isinstance(value, list | tuple):
            return type(value)(map(self.of, value))
        if not isinstance(value, mx.array):
            return value
        positions = value.shape == (self.count,) and mx.issubdtype(value.dtype, mx.integer)
        return value[self.chosen] if positions or self._has(value.shape) else value

    def of_outputs(self, outputs: Outputs) -> Outputs:
        """Where it is not clear which rows are theirs, a linear map is computed again."""
        return {
            module: [
                ((len(self.chosen), *shape[1:]), output[self.chosen]) if self._has(shape) else ((), output)
                for shape, output in given
            ]
            for module, given in outputs.items()
        }

    def _has(self, shape: tuple[int, ...]) -> bool:
        return shape[:1] == (self.count,) and self.width in shape[1:3]


@dataclass(slots=True)
class ModuleCall:
    """One module's call in a step."""

    module: Any
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    handed: list[Any]  # the caches among its arguments
    changed: set[tuple[int, int]] = field(default_factory=set)  # (id of the cache, slot) that it replaced
    outputs: Outputs = field(default_factory=dict)  # of the linear maps called in it

    def again(self, width: int, kept: int, rows: Rows | None) -> None:
        """Call it over the first `kept` of the step's `width` tokens, for its effect on the caches."""
        values = [*self.arguments, *self.keywords.values()]
        if rows is not None:
            values = [rows.of(value) for value in values]
        values = [_first(value, width, kept) for value in values]
        arguments = values[: len(self.arguments)]
        self.module(*arguments, **dict(zip(self.keywords, values[len(arguments) :], strict=True)))


class Replay:
    """Records the steps of one network's caches, and replays parts of them."""

    def __init__(self, network: Any) -> None:
        modules = list({id(module): module for module in network.modules()}.values())
        takers = {kind for kind in set(map(type, modules)) if _takes_caches(kind)}
        self._takers = [module for module in modules if module is network or type(module) in takers]
        compiles = getattr(network, "model_type", None) in COMPILES_MODULES
        self._linear = [] if compiles else [module for module in modules if isinstance(module, _LINEAR)]

    @contextmanager
    def recording(self, watched: Sequence[Any]) -> Iterator[list[ModuleCall]]:
        """The calls from which the caches `watched` can be replayed; complete at the end of the block."""
        step = _Step(set(map(id, watched)))
        with hooked(self._takers, step.on_call), hooked(self._linear, step.on_linear):
            yield step.calls

    def run(self, calls: Sequence[ModuleCall], width: int, kept: int, rows: Rows | None = None) -> None:
        """Feed the first `kept` of the step's `width` tokens to the caches of `calls`, restored to before the step.

        `rows`: those of the step's rows that the caches have.
        """
        for call in calls:
            linear = [module for module in self._linear if id(module) in call.outputs]
            outputs = call.outputs if rows is None else rows.of_outputs(call.outputs)
            with hooked(linear, _Answers(outputs)):
                call.again(width, kept, rows)


class _Step:
    def __init__(self, watched: set[int]) -> None:
        self.calls: list[ModuleCall] = []
        self._watched = watched
        self._outputs: Outputs | None = None  # of the innermost recorded call in progress

    def on_call(self, module: Any, run: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        values = (*arguments, *keywords.values())
        handed = list(leaves(values))
        if self._watched.isdisjoint(map(id, handed)) or not all(map(_plain, values)):
            return run(*arguments, **keywords)
        own = tuple(map(own_array, arguments)), {name: own_array(value) for name, value in keywords.items()}
        call = ModuleCall(module, *own, handed)
        first = len(self.calls)
        before = [(leaf, slots(leaf)) for leaf in handed if id(leaf) in self._watched]
        outer = self._outputs
        self._outputs = call.outputs
        result = run(*arguments, **keywords)
        self._outputs = outer
        call.changed = {
            (id(leaf), slot)
            for leaf, was in before
            for slot, (old, new) in enumerate(zip(was, slots(leaf), strict=True))
            if old is not new
        }
        if call.changed - {change for inner in self.calls[first:] for change in inner.changed}:
            self.calls[first:] = [call]
        return result

    def on_linear(self, module: Any, run: Callable[..., Any], x: mx.array) -> Any:
        output = run(x)
        if self._outputs is not None:
            self._outputs.setdefault(id(module), []).append((x.shape, own_array(output)))
        return output


class _Answers:
    """Replaces linear maps in a replay by the first rows of their recorded outputs."""

    def __init__(self, outputs: Outputs) -> None:
        self._left = {module: iter(given) for module, given in outputs.items()}

    def __call__(self, module: Any, run: Callable[..., Any], x: mx.array) -> Any:
        shape, output = next(self._left[id(module)], ((), None))
        axes = [axis for axis, (was, now) in enumerate(zip(shape, x.shape, strict=False)) if was != now]
        if output is None or len(axes) != 1:  # not called in the step, or the token axis is not clear
            return run(x)
        return mx.split(output, [x.shape[axes[0]]], axis=axes[0])[0]


def _takes_caches(kind: type) -> bool:
    return "cache" in inspect.signature(kind.__call__).parameters


def _plain(value: Any) -> bool:
    """Whether `value` means the same in a replay: not an object that the step has changed since."""
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    return value is None or isinstance(value, mx.array | bool | int | float | str) or any(leaves(value))


def _first(value: Any, width: int, kept: int) -> Any:
    """`value` for the first `kept` tokens, if it has one row a token: hidden states (batch, width, …) or a mask."""
    if isinstance(value, list | tuple):
        return type(value)(_first(part, width, kept) for part in value)
    if not isinstance(value, mx.array) or value.ndim < 2:
        return value
    if value.shape[-1] >= width and value.shape[-2] == width and value.dtype == mx.bool_:
        return value[..., :kept, : value.shape[-1] - (width - kept)]
    return value[:, :kept] if value.shape[1] == width else value
