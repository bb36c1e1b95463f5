"""What undoing a step needs of each of mlx-lm's cache classes, on caches alone."""

from __future__ import annotations

import ast
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

from engine.caches.checkpoints import append_rows, arrays_in, make_checkpoint, truncate
from engine.caches.kinds import CacheMisuse, exact, leaves, restore, slots, snapshot, trim, trims
from engine.caches.making import CacheMaker
from engine.caches.window import SLACK_TOKENS, WindowCache
from engine.decoding.sequence import Sequence
from engine.models.loading import LoadedModel
from tests.architecture.project import name_of, python_files
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


# What the contract of a cache does not allow is an error, whatever the interpreter's options.


TOKENS = list(range(40, 100))


@pytest.fixture
def hybrid(models: dict[str, LoadedModel]) -> Sequence:
    return read(models["hybrid"])


def read(model: LoadedModel) -> Sequence:
    sequence = Sequence(model, list(TOKENS))
    sequence.prefill_chunk()
    return sequence


def open_step(sequence: Sequence, width: int = 3) -> None:
    mx.eval(sequence.feed(mx.array([5] * width)))


def test_no_guard_is_an_assertion() -> None:
    """`-O` removes those."""
    rooms = [*python_files("engine/caches", "engine/prefix"), *python_files("engine/decoding")]
    guarded = [path for path in rooms if path.parent.name != "decoding" or path.name == "sequence.py"]
    assert len(guarded) > 10
    trees = {name_of(path): ast.walk(ast.parse(path.read_text("utf-8"))) for path in guarded}
    found = [name for name, nodes in trees.items() if any(isinstance(node, ast.Assert) for node in nodes)]
    assert found == []


def commit_too_many(sequence: Sequence) -> None:
    open_step(sequence)
    sequence.caches.commit(4)


def commit_less_than_nothing(sequence: Sequence) -> None:
    open_step(sequence)
    sequence.caches.commit(-1)


def open_twice(sequence: Sequence) -> None:
    open_step(sequence)
    open_step(sequence)


def split_a_chunk(sequence: Sequence) -> None:
    open_step(sequence, SLACK_TOKENS + 1)
    sequence.caches.commit(SLACK_TOKENS)


def keep_one_token_of_a_chunk(sequence: Sequence) -> None:
    open_step(sequence, SLACK_TOKENS + 1)
    sequence.caches.commit(1)


def split_a_chunk_after_a_step_that_was_split(sequence: Sequence) -> None:
    open_step(sequence)
    sequence.caches.commit(2)
    split_a_chunk(sequence)


def roll_back_in_a_step(sequence: Sequence) -> None:
    sequence.caches.keep_rollback_points()
    open_step(sequence)
    sequence.caches.roll_back(len(TOKENS) - 1)


def roll_back_without_points(sequence: Sequence) -> None:
    sequence.caches.roll_back(len(TOKENS) - 2)


def roll_back_to_before_the_points(sequence: Sequence) -> None:
    sequence.caches.keep_rollback_points()
    sequence.caches.roll_back(len(TOKENS) - 2)


def roll_back_twice(sequence: Sequence) -> None:
    here = sequence.caches.position
    sequence.caches.keep_rollback_points()
    for _ in range(2):
        open_step(sequence, 1)
        sequence.caches.commit(1)
        sequence.caches.roll_back(here)


def roll_back_forwards(sequence: Sequence) -> None:
    sequence.caches.roll_back(len(TOKENS))


def roll_back_beyond_the_start(sequence: Sequence) -> None:
    sequence.caches.roll_back(-1)


def truncate_in_a_step(sequence: Sequence) -> None:
    open_step(sequence)
    truncate(sequence.caches, sequence.caches.position)


def truncate_forwards(sequence: Sequence) -> None:
    truncate(sequence.caches, len(TOKENS), make_checkpoint(sequence.caches))


def truncate_without_a_checkpoint(sequence: Sequence) -> None:
    truncate(sequence.caches, len(TOKENS) - 2)


def append_in_a_step(sequence: Sequence) -> None:
    open_step(sequence)
    append_rows(sequence.caches, [], sequence.caches.position, make_checkpoint(sequence.caches))


def append_without_a_checkpoint(sequence: Sequence) -> None:
    append_rows(sequence.caches, [], sequence.caches.position, None)


def nothing_to_feed(sequence: Sequence) -> None:
    Sequence(sequence.model, TOKENS[:-1], sequence.caches)


def nothing_to_feed_after_one_token(sequence: Sequence) -> None:
    other = Sequence(sequence.model, TOKENS[:2])
    other.prefill_chunk()
    Sequence(sequence.model, TOKENS[:1], other.caches)


def two_tokens_uncached(sequence: Sequence) -> None:
    sequence.in_flight = mx.array([1])
    sequence.commit([3])


@pytest.mark.costly
@pytest.mark.parametrize(
    ("misuse", "reason"),
    [
        (commit_too_many, "4 tokens of a step of 3"),
        (commit_less_than_nothing, "-1 tokens of a step of 3"),
        (open_twice, "never committed"),
        (split_a_chunk, "as a whole"),
        (keep_one_token_of_a_chunk, "as a whole"),
        (split_a_chunk_after_a_step_that_was_split, "as a whole"),
        (roll_back_in_a_step, "a step is open"),
        (roll_back_without_points, "no rollback point"),
        (roll_back_to_before_the_points, "no rollback point"),
        (roll_back_twice, "no rollback point"),
        (roll_back_forwards, "no position 60 of 59"),
        (roll_back_beyond_the_start, "no position -1 of 59"),
        (truncate_in_a_step, "a step is open"),
        (truncate_forwards, "no position 60 of 59"),
        (truncate_without_a_checkpoint, "nothing restores"),
        (append_in_a_step, "a step is open"),
        (append_without_a_checkpoint, "nothing restores"),
        (nothing_to_feed, "nothing is left to feed"),
        (nothing_to_feed_after_one_token, "nothing is left to feed"),
        (two_tokens_uncached, "2 tokens are uncached"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_misuse_of_a_cache_is_an_error(hybrid: Sequence, misuse: Callable[[Sequence], None], reason: str) -> None:
    with pytest.raises(CacheMisuse, match=reason):
        misuse(hybrid)


def test_a_cache_that_forgets_less_than_asked_is_an_error(models: dict[str, LoadedModel]) -> None:
    window = next(leaf for leaf in read(models["window"]).caches.layers if isinstance(leaf, WindowCache))
    with pytest.raises(CacheMisuse, match="WindowCache forgot 0 of 60 tokens"):
        trim(window, 60)


def test_what_is_allowed_at_the_limits_is_no_error(hybrid: Sequence) -> None:
    here = hybrid.caches.position
    open_step(hybrid, SLACK_TOKENS)
    hybrid.caches.commit(SLACK_TOKENS - 1)
    open_step(hybrid, SLACK_TOKENS + 1)
    hybrid.caches.commit(0)
    open_step(hybrid, SLACK_TOKENS + 1)
    hybrid.caches.commit(SLACK_TOKENS + 1)
    assert hybrid.caches.position == here + 2 * SLACK_TOKENS
    hybrid.caches.roll_back(hybrid.caches.position)
    assert Sequence(hybrid.model, []).uncached == 0
    truncate(hybrid.caches, hybrid.caches.position)
