"""What undoing a step needs of each of mlx-lm's cache classes, on caches alone."""

from __future__ import annotations

from collections.abc import Callable
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

from engine.caches.base import CacheSet
from engine.caches.checkpoints import append_rows, make_checkpoint, truncate
from engine.caches.kinds import CacheMisuse, exact, leaves, restore, slots, snapshot, trim, trims
from engine.caches.making import CacheMaker
from engine.caches.window import SLACK_TOKENS, WindowCache
from engine.decoding.sequence import Sequence
from engine.models.loading import LoadedModel
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


@pytest.mark.parametrize(("model_type", "can"), [("phi3small", False), ("qwen3", True), (None, True)])
def test_where_a_wide_forward_is_another_function_no_step_is_rolled_back(
    network: Any, monkeypatch: pytest.MonkeyPatch, model_type: str | None, can: bool
) -> None:
    monkeypatch.setattr(network, "model_type", model_type)
    assert CacheMaker(network)().can_roll_back is can


# What the contract of a cache does not allow is an error, whatever the interpreter's options.


TOKENS = list(range(40, 100))


def read(model: LoadedModel) -> Sequence:
    sequence = Sequence(model, list(TOKENS))
    sequence.prefill_chunk()
    return sequence


END = len(TOKENS) - 1  # what is read


def fed(sequence: Sequence, width: int = 3, kept: int | None = None, *, points: bool = False) -> CacheSet:
    if points:
        sequence.caches.keep_rollback_points()
    mx.eval(sequence.feed(mx.array([5] * width)))
    if kept is not None:
        sequence.caches.commit(kept)
    return sequence.caches


def with_points(sequence: Sequence) -> CacheSet:
    sequence.caches.keep_rollback_points()
    return sequence.caches


def gone_back(sequence: Sequence) -> CacheSet:
    fed(sequence, 1, kept=1, points=True).roll_back(END)
    return fed(sequence, 1, kept=1)


def of_two_tokens(sequence: Sequence) -> CacheSet:
    other = Sequence(sequence.model, TOKENS[:2])
    other.prefill_chunk()
    return other.caches


def commit_two_in_flight(sequence: Sequence) -> None:
    sequence.in_flight = mx.array([1])
    sequence.commit([3])


CHUNK = SLACK_TOKENS + 1
MISUSES: dict[str, tuple[Callable[[Sequence], object], str]] = {
    "too many": (lambda s: fed(s, kept=4), "4 tokens of a step of 3"),
    "less than nothing": (lambda s: fed(s, kept=-1), "-1 tokens of a step of 3"),
    "an open step": (lambda s: (fed(s), fed(s)), "never committed"),
    "part of a chunk": (lambda s: fed(s, CHUNK, kept=SLACK_TOKENS), "as a whole"),
    "one token of a chunk": (lambda s: fed(s, CHUNK, kept=1), "as a whole"),
    "part of a chunk behind part of a step": (lambda s: (fed(s, kept=2), fed(s, CHUNK, kept=SLACK_TOKENS)), "a whole"),
    "back in a step": (lambda s: fed(s, points=True).roll_back(END), "a step is open"),
    "back without points": (lambda s: s.caches.roll_back(END - 1), "no rollback point"),
    "back before the points": (lambda s: with_points(s).roll_back(END - 1), "no rollback point"),
    "back twice": (lambda s: gone_back(s).roll_back(END), "no rollback point"),
    "back to what comes": (lambda s: s.caches.roll_back(END + 1), "no position 60 of 59"),
    "back beyond the start": (lambda s: s.caches.roll_back(-1), "no position -1 of 59"),
    "truncated in a step": (lambda s: truncate(fed(s), END), "a step is open"),
    "truncated to what comes": (lambda s: truncate(s.caches, END + 1, make_checkpoint(s.caches)), "no position 60"),
    "truncated without a checkpoint": (lambda s: truncate(s.caches, END - 1), "nothing restores"),
    "appended in a step": (lambda s: append_rows(fed(s), [], END, make_checkpoint(s.caches)), "a step is open"),
    "appended without a checkpoint": (lambda s: append_rows(s.caches, [], END, None), "nothing restores"),
    "nothing to feed": (lambda s: Sequence(s.model, TOKENS[:-1], s.caches), "nothing is left to feed"),
    "nothing to feed after one": (lambda s: Sequence(s.model, TOKENS[:1], of_two_tokens(s)), "nothing is left to feed"),
    "two tokens uncached": (commit_two_in_flight, "2 tokens are uncached"),
}


def test_misuse_of_a_cache_is_an_error(models: dict[str, LoadedModel]) -> None:
    for name, (misuse, reason) in MISUSES.items():
        with pytest.raises(CacheMisuse) as refused:
            misuse(read(models["hybrid"]))
        assert reason in str(refused.value), name


def test_what_is_allowed_at_the_limits_is_no_error(models: dict[str, LoadedModel]) -> None:
    hybrid = read(models["hybrid"])
    here = hybrid.caches.position
    fed(hybrid, SLACK_TOKENS, kept=SLACK_TOKENS - 1)
    fed(hybrid, CHUNK, kept=0)
    fed(hybrid, CHUNK, kept=CHUNK)
    assert hybrid.caches.position == here + 2 * SLACK_TOKENS
    hybrid.caches.roll_back(hybrid.caches.position)
    assert Sequence(hybrid.model, []).uncached == 0
    truncate(hybrid.caches, hybrid.caches.position)
