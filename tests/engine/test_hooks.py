"""Hooks on the calls of modules: they last as long as their block, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest

from engine.caches.hooks import hooked


def adding(number: int) -> Callable[..., Any]:
    return lambda _, run, x: run(x) * 10 + number


def test_a_hook_runs_in_place_of_the_call_of_its_modules_only() -> None:
    one, other = nn.Identity(), nn.Identity()
    with hooked([one], adding(1)):
        assert (one(3), other(3)) == (31, 3)
    assert (one(3), other(3)) == (3, 3)


def test_hooks_nest_the_inner_first() -> None:
    module = nn.Identity()
    with hooked([module], adding(1)):
        with hooked([module], adding(2)):
            assert module(3) == 312
        assert module(3) == 31


def test_an_error_ends_the_hook() -> None:
    module = nn.Identity()
    with pytest.raises(ZeroDivisionError), hooked([module], lambda *_: 1 // 0):
        module(3)
    assert module(3) == 3


def test_a_module_that_has_been_hooked_is_what_it_was() -> None:
    module = nn.Linear(4, 2)
    before = dict(module.parameters())
    with hooked([module], lambda own, run, x: (own, run(x))):
        own, result = module(mx.ones((1, 4)))
    assert own is module
    assert isinstance(module, nn.Linear)
    assert type(module).__name__ == "Linear"
    assert mx.array_equal(result, module(mx.ones((1, 4))))
    assert module.parameters().keys() == before.keys()
