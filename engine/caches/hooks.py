"""Calls one of our functions in place of a module's `__call__`: the only file that swaps classes of modules.

A hook applies to the given modules inside a `with` block, or permanently. Networks share no modules, so engines on
other threads are not affected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import mlx.core as mx

Hook = Callable[..., Any]  # (module, run, *arguments, **keywords) -> result; `run` takes the arguments, not the module


@contextmanager
def hooked(modules: Sequence[Any], hook: Hook) -> Iterator[None]:
    """In the block, calling one of `modules` calls `hook` instead. Of nested blocks the inner hook is called first."""
    for module in modules:
        _hooks_of(module).append(hook)
    try:
        yield
    finally:
        for module in modules:
            _hooks_of(module).pop()


def hooked_for_good(module: Any, hook: Hook) -> None:
    """Hook permanently; `hooked` blocks nest inside."""
    _hooks_of(module).append(hook)


def hooks_on(module: Any) -> int:
    """How many are on it now."""
    return len(vars(module).get("_hooks") or ())


def own_array(value: Any) -> Any:
    """`value`, safe to keep in a hook: unchanged where the network later changes it in place (`h *= 2`)."""
    return value.astype(value.dtype) if isinstance(value, mx.array) else value


def _hooks_of(module: Any) -> list[Hook]:
    hooks: list[Hook] | None = vars(module).get("_hooks")
    if hooks is None:
        hooks = vars(module)["_hooks"] = []  # set in the dict: an attribute would be a parameter to MLX
        base: type = type(module)
        module.__class__ = _with_hooks(base)
    return hooks


@cache
def _with_hooks(base: type) -> type:
    """A subclass of `base` whose call goes through the module's hooks. The class has no state."""

    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        run = partial(base.__call__, self)
        for hook in self._hooks:
            run = partial(hook, self, run)
        return run(*arguments, **keywords)

    return type(base.__name__, (base,), {"__call__": call, "__module__": base.__module__})
