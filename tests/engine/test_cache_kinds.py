"""What undoing a step needs of each of mlx-lm's cache classes, on caches alone."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import pytest
from mlx_lm.models.cache import (
    ArraysCache,
    CacheList,
    ChunkedKVCache,
    ConcatenateKVCache,
    KVCache,
    QuantizedKVCache,
    RotatingKVCache,
)

from engine.caches.checkpoints import arrays_in
from engine.caches.kinds import CacheMisuse, exact, leaves, restore, slots, snapshot, trim, trims
from engine.caches.making import CacheMaker
from engine.caches.window import WindowCache
from tests.helpers import tiny_heads as heads
from tests.helpers.tiny_models import build, qwen3_config


def feed(leaf: Any, tokens: int) -> None:
    rows = mx.ones((1, 1, tokens, 4))
    leaf.update_and_fetch(rows, rows)


def test_a_rotating_window_becomes_one_that_can_be_trimmed_in_a_bundle_too() -> None:
    assert isinstance(exact(RotatingKVCache(max_size=8)), WindowCache)
    bundle = exact(CacheList(CacheList(RotatingKVCache(max_size=6)), KVCache()))
    assert isinstance(bundle, CacheList)
    assert [type(leaf) for leaf in leaves(bundle)] == [WindowCache, KVCache]
    assert [leaf.max_size for leaf in leaves(bundle) if isinstance(leaf, WindowCache)] == [6]


@pytest.mark.parametrize("layer", [RotatingKVCache(max_size=8, keep=4), KVCache(), ArraysCache(2)])
def test_what_keeps_its_first_tokens_and_what_is_no_window_stays(layer: Any) -> None:
    assert exact(layer) is layer


def test_caches_are_found_wherever_they_stand() -> None:
    one, two, three = KVCache(), ArraysCache(2), WindowCache(4)
    assert list(leaves([one, (CacheList(two), None), {"x": one}, mx.zeros(2), three])) == [one, two, three]


@pytest.mark.parametrize(
    ("leaf", "can"),
    [
        (KVCache(), True),
        (QuantizedKVCache(), True),
        (ChunkedKVCache(8), True),
        (WindowCache(8), True),
        (RotatingKVCache(max_size=8), False),
        (ConcatenateKVCache(), False),
        (ArraysCache(2), False),
    ],
)
def test_only_those_are_trimmed_that_forget_by_moving_an_offset(leaf: Any, can: bool) -> None:
    assert trims(leaf) is can


def test_a_cache_that_forgets_fewer_tokens_than_asked_is_misuse() -> None:
    cache = KVCache()
    feed(cache, 3)
    trim(cache, 2)
    assert cache.offset == 1
    with pytest.raises(CacheMisuse):
        trim(cache, 2)


@pytest.mark.parametrize("leaf", [ArraysCache(2), ConcatenateKVCache(), RotatingKVCache(max_size=3)])
def test_what_was_noted_before_a_step_puts_it_back(leaf: Any) -> None:
    def step() -> None:
        if isinstance(leaf, ArraysCache):
            leaf[0] = (0 if leaf[0] is None else leaf[0]) + mx.ones(2)
        else:
            feed(leaf, 2)

    def told() -> list[Any]:
        return [value.tolist() if isinstance(value, mx.array) else value for value in slots(leaf)]

    step()
    before, was = snapshot(leaf), told()
    step()
    assert told() != was
    restore(leaf, before)
    assert told() == was


@pytest.fixture(scope="module")
def network() -> Any:
    return build(qwen3_config())


def test_each_conversation_has_caches_of_its_own(network: Any) -> None:
    make = CacheMaker(network)
    first, second = make(), make()
    feed(first.layers[0], 3)
    assert [leaf.offset for leaf in leaves(second.layers)] == [0] * len(network.layers)
    assert first.can_roll_back
    assert first.position == 0


@pytest.mark.parametrize(("model_type", "can"), [("phi3small", False), ("qwen3", True), (None, True)])
def test_where_a_wide_forward_is_another_function_no_step_is_rolled_back(
    network: Any, monkeypatch: pytest.MonkeyPatch, model_type: str | None, can: bool
) -> None:
    monkeypatch.setattr(network, "model_type", model_type)
    assert CacheMaker(network)().can_roll_back is can


def test_states_that_fold_all_tokens_into_one_can_be_put_back_to_part_of_a_step() -> None:
    """By computing that part again, which caches of tokens do not need."""
    network = heads.build_main("qwen3_next")
    tokens = mx.array([[1, 2, 3, 4, 5]])
    states = []
    for width in (5, 2):
        caches = CacheMaker(network)()
        caches.forward(width, lambda: network(tokens[:, :width], cache=caches.layers))  # noqa: B023  called at once
        caches.commit(2)
        states.append(list(arrays_in([leaf.state for leaf in leaves(caches.layers) if not trims(leaf)])))
    assert states[0]
    assert all(mx.allclose(one, other, atol=1e-4) for one, other in zip(*states, strict=True))
