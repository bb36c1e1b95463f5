"""Rolling back recurrent state: remember what each recurrent layer was fed, and feed it again only what stands.

A recurrent layer (state space, gated delta, short convolution) folds every token into one state, so forgetting means
going back to the state before the step and replaying the tokens that were kept. Only the layer's input is needed for
that, and MLX computes only what the new state depends on: no attention, no expert, no output layer runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import mlx.core as mx


@dataclass(slots=True)
class Call:
    """One layer's call in the step under way."""

    run: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


@dataclass(slots=True)
class Recorder:
    """Listens to the layers of one network. Attached once, recording only within `recording`."""

    calls: list[tuple[Any, Call]] | None = None  # (cache, call), in order
    classes: dict[type, type] = field(default_factory=dict)

    def attach(self, layers: Sequence[Any]) -> None:
        """Swap each layer's class for one that also reports to this recorder; parameters and names stay as they are."""
        for layer in layers:
            base = type(layer)
            if base not in self.classes:
                self.classes[base] = _listening(base, self)
            layer.__class__ = self.classes[base]

    @contextmanager
    def recording(self) -> Iterator[list[tuple[Any, Call]]]:
        calls: list[tuple[Any, Call]] = []
        self.calls = calls
        try:
            yield calls
        finally:
            self.calls = None


def _listening(base: type, recorder: Recorder) -> type:
    run = base.__call__

    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if recorder.calls is not None:
            for value in (*arguments, *keywords.values()):
                if hasattr(value, "state") and hasattr(value, "nbytes"):
                    recorder.calls.append((value, Call(run, (self, *arguments), keywords)))
                    break
        return run(self, *arguments, **keywords)

    return type(base.__name__, (base,), {"__call__": call, "__module__": base.__module__})


def replay(call: Call, width: int, kept: int) -> None:
    """Run the layer again over the first `kept` of the step's `width` tokens; only its caches matter."""
    cut = [_first(argument, width, kept) for argument in call.arguments]
    call.run(*cut, **{name: _first(value, width, kept) for name, value in call.keywords.items()})


def _first(value: Any, width: int, kept: int) -> Any:
    """`value` for the first `kept` tokens, if it has one row a token: hidden states (batch, width, …) or a mask."""
    if not isinstance(value, mx.array) or value.ndim < 2:
        return value
    if value.shape[-1] >= width and value.shape[-2] == width and value.dtype == mx.bool_:
        return value[..., :kept, : value.shape[-1] - (width - kept)]
    return value[:, :kept] if value.ndim >= 2 and value.shape[1] == width else value
