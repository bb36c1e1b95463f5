"""Rolling back state that folds every token into one: go back to before the step, then feed again only what stands.

The step is listened to. Each module that rebinds a slot of such a cache is remembered with its arguments, the innermost
one that accounts for all that changed; in most families this is the mixer of one layer. To replay it is to call it
again with the first of the step's tokens. MLX computes only what the new state depends on, and what the step has
computed token by token is not computed again (see `notes.py`): no projection, attention or expert runs twice.

A family that touches its caches outside of such a module is heard further out, at the latest at the network itself:
then the model runs again over what stands. That is slow, and exact all the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import mlx.core as mx

from engine.caches.kinds import leaves, slots
from engine.caches.notes import Notes, reading, take_notes, writing


@dataclass(slots=True)
class Call:
    """One module's call in the step under way."""

    run: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    handed: list[Any]  # the caches among its arguments
    changed: set[tuple[int, int]] = field(default_factory=set)  # (cache, slot) that it rebound
    notes: Notes = field(default_factory=dict)

    def __call__(self) -> Any:
        with writing(self.notes):
            return self.run(*self.arguments, **self.keywords)

    def again(self, width: int, kept: int) -> None:
        """Run over the first `kept` of the step's `width` tokens; only the caches matter."""
        arguments = [_first(value, width, kept) for value in self.arguments]
        keywords = {name: _first(value, width, kept) for name, value in self.keywords.items()}
        with reading(self.notes, kept):
            self.run(*arguments, **keywords)


@dataclass(slots=True)
class Step:
    """What was heard of one step."""

    watched: set[int]
    calls: list[Call] = field(default_factory=list)

    def hear(self, call: Call) -> Any:
        before = [(leaf, slots(leaf)) for leaf in call.handed if id(leaf) in self.watched]
        first = len(self.calls)
        result = call()
        call.changed = {
            (id(leaf), slot)
            for leaf, was in before
            for slot, (old, new) in enumerate(zip(was, slots(leaf), strict=True))
            if old is not new
        }
        if call.changed - {change for inner in self.calls[first:] for change in inner.changed}:
            self.calls[first:] = [call]
        return result


_heard: list[Step] = []  # forwards run on one thread, one at a time: the step under way, or none
_listening_classes: dict[type, type] = {}


def listen(network: Any) -> None:
    """Swap the classes of the modules that take caches for ones that report the step under way.

    Parameters and names stay as they are, and so does what the modules compute.
    """
    take_notes(network)
    for module in network.modules():
        base = type(module)
        takes_caches = module is network or "cache" in inspect.signature(base.__call__).parameters
        if takes_caches and not hasattr(base, "listens"):
            _listening_classes[base] = _listening_classes.get(base) or _listening(base)
            module.__class__ = _listening_classes[base]


@contextmanager
def hearing(watched: Sequence[Any]) -> Iterator[list[Call]]:
    """The calls from which `watched` can be replayed, complete at the end of the block."""
    step = Step(set(map(id, watched)))
    _heard.append(step)
    try:
        yield step.calls
    finally:
        _heard.pop()


def replay(calls: Sequence[Call], width: int, kept: int) -> None:
    """Feed the first `kept` of the step's `width` tokens to the caches of `calls`, which are as before the step."""
    for call in calls:
        call.again(width, kept)


def _listening(base: type) -> type:
    run = base.__call__

    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if not _heard:
            return run(self, *arguments, **keywords)
        step = _heard[-1]
        values = (*arguments, *keywords.values())
        handed = list(leaves(values))
        if step.watched.isdisjoint(map(id, handed)) or not all(map(_plain, values)):
            return run(self, *arguments, **keywords)
        return step.hear(Call(run, (self, *arguments), keywords, handed))

    return type(base.__name__, (base,), {"__call__": call, "__module__": base.__module__, "listens": True})


def _plain(value: Any) -> bool:
    """Whether `value` will mean the same in a replay: no object that the step has written to since."""
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
