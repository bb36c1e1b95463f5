"""What the contract of a cache does not allow is an error, whatever the interpreter's options."""

from __future__ import annotations

import ast
from collections.abc import Callable

import mlx.core as mx
import pytest

from engine.caches.checkpoints import append_rows, make_checkpoint, truncate
from engine.caches.kinds import CacheMisuse, trim
from engine.caches.window import SLACK_TOKENS, WindowCache
from engine.decoding.sequence import Sequence
from engine.models.loading import LoadedModel
from tests.architecture.project import name_of, python_files

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
