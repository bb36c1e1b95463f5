"""What of a step is recorded, and what runs when it is fed again in part: small networks that are seen through."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx_lm.models.cache import ArraysCache

from engine.caches.base import CacheSet
from engine.caches.hooks import hooked
from engine.caches.kinds import CacheMisuse
from engine.caches.replay import COMPILES_MODULES, Replay

WIDTH = 5
Module = nn.Module


def added(cache: Any, slot: int, states: mx.array) -> None:
    """Folds the tokens of `states` into one slot."""
    before = cache.cache[slot]
    total = states.sum(axis=1)
    cache.cache[slot] = total if before is None else 2 * before + total


class Mixer(Module):  # type: ignore[misc, valid-type]
    """Maps its input, twice if told to, and folds it into one slot."""

    def __init__(self, slot: int = 0, times: int = 1) -> None:
        super().__init__()
        self.project = nn.Linear(3, 3, bias=False)
        self.slot, self.times = slot, times

    def __call__(self, states: mx.array, cache: Any = None) -> mx.array:
        for _ in range(self.times):
            states = self.project(states)
        added(cache, self.slot, states)
        return states


class InPlace(Mixer):
    """Changes the arrays that it is given, and that its map returns."""

    def __call__(self, states: mx.array, cache: Any = None) -> mx.array:
        states *= 2
        states = self.project(states)
        states *= 3
        added(cache, self.slot, states)
        return states


class Block(Module):  # type: ignore[misc, valid-type]
    """A mixer between two maps; `folds` makes it fold into a slot itself, besides."""

    def __init__(self, mixer: Any, folds: int | None = None) -> None:
        super().__init__()
        self.before = nn.Linear(3, 3, bias=False)
        self.mixer, self.folds = mixer, folds
        self.after = nn.Linear(3, 3, bias=False)

    def __call__(self, states: mx.array, *, cache: Any = None) -> mx.array:
        states = self.after(self.mixer(self.before(states), cache=cache))
        if self.folds is not None:
            added(cache, self.folds, states)
        return states


class Network(Module):  # type: ignore[misc, valid-type]
    def __init__(self, *layers: Any) -> None:
        super().__init__()
        self.layers = list(layers)
        self.head = nn.Linear(3, 3, bias=False)

    def __call__(self, states: mx.array, caches: list[Any]) -> Any:
        for layer, cache in zip(self.layers, caches, strict=True):
            states = layer(states, cache=cache)
        return self.head(states)


class FoldsItself(Network):
    """Changes its caches outside of any module that is given them."""

    def __call__(self, states: mx.array, caches: list[Any]) -> Any:
        added(caches[0], 1, states)
        return super().__call__(states, caches)


class Told(Module):  # type: ignore[misc, valid-type]
    """Is given a thing besides."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(3, 3, bias=False)

    def __call__(self, states: mx.array, thing: Any, cache: Any = None) -> mx.array:
        states = self.project(states)
        added(cache, 0, states)
        return states


class Idle(Module):  # type: ignore[misc, valid-type]
    def __call__(self, states: mx.array, cache: Any = None) -> mx.array:
        return states


class Holder(Module):  # type: ignore[misc, valid-type]
    """Gives its mixer a thing that its own caller does not know of."""

    def __init__(self, thing: Any) -> None:
        super().__init__()
        self.project = nn.Linear(3, 3, bias=False)
        self.mixer, self._thing = Told(), (thing,)

    def __call__(self, states: mx.array, cache: Any = None) -> mx.array:
        return self.mixer(self.project(states), self._thing[0], cache=cache)


def caches_for(network: Network) -> list[Any]:
    return [ArraysCache(2) for _ in network.layers]


def states(seed: int = 0, width: int = WIDTH) -> mx.array:
    mx.random.seed(seed)
    return mx.random.normal((1, width, 3))


def run(network: Network, caches: list[Any], fed: mx.array) -> list[Any]:
    with Replay(network).recording(caches) as calls:
        mx.eval(network(fed, caches))
    return calls


NETWORKS: dict[str, Callable[[], Network]] = {
    "mixers": lambda: Network(Block(Mixer()), Mixer(1)),
    "a map asked twice": lambda: Network(Block(Mixer(times=2))),
    "arrays changed in place": lambda: Network(Block(InPlace())),
    "a block that folds": lambda: Network(Mixer(), Block(Mixer(0), folds=1)),
    "the network folds": lambda: FoldsItself(Block(Mixer(times=3)), Mixer()),
    "blocks in blocks": lambda: Network(Block(Mixer()), Mixer(), Block(Block(Mixer()), folds=1)),
    "a thing that means the same later": lambda: Network(Holder([1, (mx.ones(2), None)]), Holder("x")),
    "a thing that may have changed since": lambda: Network(Holder({"a": 1})),
    "a module that changes nothing": lambda: Network(Idle(), Mixer()),
    "the same block twice": lambda: Network(*[Block(Mixer(), folds=1)] * 2),
}


@pytest.mark.parametrize("kept", range(1, WIDTH))
@pytest.mark.parametrize("name", NETWORKS)
def test_replaying_leaves_what_feeding_the_first_tokens_would(name: str, kept: int) -> None:
    """Whatever was folded before, and twice in a row; and what is recorded asks none of its own maps again."""
    network = NETWORKS[name]()
    caches, reference = caches_for(network), caches_for(network)
    replay, asked = Replay(network), list[object]()
    linear = {id(m): m for m in network.modules() if isinstance(m, nn.Linear)}

    def noted(module: object, run: Callable[..., Any], x: mx.array) -> Any:
        asked.append(module)
        return run(x)

    for seed in (1, 2):
        before = [list(cache.cache) for cache in caches]
        fed = states(seed)
        with replay.recording(caches) as calls:
            mx.eval(network(fed, caches))
        for cache, was in zip(caches, before, strict=True):
            cache.cache = list(was)
        with hooked(list(linear.values()), noted):
            replay.run(calls, WIDTH, kept)
        network(fed[:, :kept], reference)
        own = [part for call in calls for part in call.module.values() if id(part) in linear]
        assert own
        assert not {id(module) for module in asked} & set(map(id, own))
        for cache, other in zip(caches, reference, strict=True):
            for slot, expected in zip(cache.cache, other.cache, strict=True):
                assert (slot is None) == (expected is None)
                assert expected is None or mx.allclose(slot, expected, atol=1e-5)


def test_a_map_whose_answer_is_not_known_is_asked_again() -> None:
    """One that was not called in the step, or whose input differs in more than the number of tokens."""

    shapes: list[tuple[int, ...]] = []

    class Fickle(Mixer):
        def __call__(self, states: mx.array, cache: Any = None) -> mx.array:
            total = mx.zeros(3)
            for shape in shapes:
                total = total + self.project(mx.ones(shape)).reshape(-1, 3).sum(axis=0)
            cache.cache[0] = total
            return states

    for later in ([(1, WIDTH, 3), (1, 2, 3)], [(2, 4, 3)], [(1, WIDTH, 3)], [(4, 3)], [(1, 2, 3)]):
        mixer = Fickle()
        network = Network(mixer)
        cache: Any = ArraysCache(1)
        expected: Any = ArraysCache(1)
        replay = Replay(network)
        shapes[:] = [(1, WIDTH, 3)]
        with replay.recording([cache]) as calls:
            network(states(), [cache])
        shapes[:] = later
        replay.run(calls, WIDTH, 2)
        mixer(states(), cache=expected)
        assert mx.allclose(cache.cache[0], expected.cache[0], atol=1e-5)


def test_a_family_that_compiles_its_modules_is_asked_for_its_maps_again() -> None:
    (family,) = COMPILES_MODULES
    for kind, outputs in ((family, 0), ("another", 1)):
        network = Network(Mixer())
        network.model_type = kind
        (call,) = run(network, caches_for(network), states())
        assert len(call.outputs) == outputs


@pytest.mark.parametrize(("width", "partly"), [(2, True), (33, True), (34, False)])
def test_only_steps_as_wide_as_a_draft_may_be_kept_in_part(width: int, partly: bool) -> None:
    """Prefill is kept as a whole, and records nothing."""
    network = Network(Mixer())
    caches = caches_for(network)
    held = CacheSet(list(caches), Replay(network))
    held.forward(width, lambda: network(states(width=width), caches))
    with nullcontext() if partly else pytest.raises(CacheMisuse):
        held.commit(1)
