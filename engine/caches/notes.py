"""What a step has computed token by token, written down so that a replay over fewer of the same tokens need not again.

Of two kinds of functions the answer for fewer tokens is known: of a linear map it is a part of what it said; a
recurrence can be given parts of what it was given, if the state after each token is not known anyway. The rest is
computed anew; it is little.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models import gated_delta

_LINEAR = (nn.Linear, nn.QuantizedLinear)  # type: ignore[attr-defined]
# mlx-lm's recurrences that serve many families: inputs by token, a state and more -> (outputs by token, the new state).
_RECURRENCES = ("gated_delta_update", "ssm_update")
# What the first does for each token where it has no kernel (on the CPU): (…, state, …) -> (output, the new state).
_ONE_TOKEN = "_gated_delta_step_ops"

Notes = dict[int, list[Any]]  # by function, in order
_noting_classes: dict[type, type] = {}


@dataclass(frozen=True, slots=True)
class _Said:
    asked: tuple[int, ...]
    answer: mx.array


@dataclass(frozen=True, slots=True)
class _Folded:
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    outputs: mx.array
    states: list[mx.array]  # after each token, or none

    def again(self, run: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        kept = _desk.kept
        if len(self.states) == self.outputs.shape[1]:
            return self.outputs[:, :kept], self.states[kept - 1]
        given = [_part(old, new) for old, new in zip(self.arguments, arguments, strict=True)]
        return run(*given, **{name: _part(self.keywords[name], new) for name, new in keywords.items()})


@dataclass(slots=True)
class _Desk:
    """Forwards run on one thread, one at a time: at most one call writes, or one replay reads."""

    written: Notes | None = None
    read: dict[int, Iterator[Any]] | None = None
    kept: int = 0  # tokens in the replay under way
    states: list[mx.array] | None = None  # of the recurrence under way

    def write(self, function: object, note: Any) -> None:
        if self.written is not None:
            self.written.setdefault(id(function), []).append(note)

    def note(self, function: object) -> Any:
        return next(self.read[id(function)], None) if self.read is not None and id(function) in self.read else None


_desk = _Desk()


@contextmanager
def writing(notes: Notes) -> Iterator[None]:
    outer, _desk.written = _desk.written, notes
    try:
        yield
    finally:
        _desk.written = outer


@contextmanager
def reading(notes: Notes, kept: int) -> Iterator[None]:
    _desk.read, _desk.kept = {function: iter(noted) for function, noted in notes.items()}, kept
    mx.disable_compile()  # a function that was compiled just now would keep these answers for ever
    try:
        yield
    finally:
        mx.enable_compile()
        _desk.read = None


def take_notes(network: Any) -> None:
    """Have the linear maps of `network`, and the recurrences that its modules call, write down what they do."""
    for module in network.modules():
        if isinstance(module, _LINEAR) and not hasattr(module, "takes_notes"):
            base = type(module)
            _noting_classes[base] = _noting_classes.get(base) or _noting_linear(base)
            module.__class__ = _noting_classes[base]
        home = sys.modules[type(module).__module__]
        for name in _RECURRENCES:
            _replace(home, name, _noting_recurrence)
    _replace(gated_delta, _ONE_TOKEN, _noting_state)


def _replace(home: Any, name: str, noting: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Modules import these functions by name, so each holds one of its own."""
    run = getattr(home, name, None)
    if run is not None and not hasattr(run, "takes_notes"):
        setattr(home, name, noting(run))


def _noting_linear(base: type) -> type:
    run = base.__call__

    def call(self: Any, x: mx.array) -> Any:
        if _desk.written is None and _desk.read is None:
            return run(self, x)
        said: _Said | None = _desk.note(self)
        answer = _cut(said.answer, said.asked, x.shape) if said is not None else None
        if answer is None:
            answer = run(self, x)
            _desk.write(self, _Said(x.shape, answer))
        return answer

    return type(base.__name__, (base,), {"__call__": call, "__module__": base.__module__, "takes_notes": True})


def _noting_recurrence(run: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **keywords: Any) -> Any:
        if _desk.written is None and _desk.read is None:
            return run(*arguments, **keywords)
        folded: _Folded | None = _desk.note(run)
        if folded is not None:
            return folded.again(run, arguments, keywords)
        states = _desk.states = []
        try:
            outputs, state = run(*arguments, **keywords)
        finally:
            _desk.states = None
        _desk.write(run, _Folded(arguments, keywords, outputs, states))
        return outputs, state

    call.takes_notes = True  # type: ignore[attr-defined]
    return call


def _noting_state(run: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        output, state = run(*arguments)
        if _desk.states is not None:
            _desk.states.append(state)
        return output, state

    call.takes_notes = True  # type: ignore[attr-defined]
    return call


def _part(old: Any, new: Any) -> Any:
    """The part of `old` that `new` would be; `new` itself where it is no shorter."""
    part = _cut(old, old.shape, new.shape) if isinstance(old, mx.array) and isinstance(new, mx.array) else None
    return new if part is None else part


def _cut(answer: mx.array, asked: tuple[int, ...], now: tuple[int, ...]) -> mx.array | None:
    """`answer`, given for an input of the shape `asked`, for the first tokens that make the shape `now`.

    The axis of tokens is the one that differs. None where that is not so clear.
    """
    axes = [axis for axis, (old, new) in enumerate(zip(asked, now, strict=False)) if old != new]
    if len(asked) != len(now) or len(axes) != 1:
        return None
    return mx.split(answer, [now[axes[0]]], axis=axes[0])[0]
