"""Conversations as rows of one batch, against lists of numbers: every cache entry is the number of its token."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import mlx.core as mx
import pytest
from mlx_lm.models.cache import ArraysCache, CacheList, ChunkedKVCache, KVCache, QuantizedKVCache, RotatingKVCache

from engine.caches.base import CacheSet
from engine.caches.kinds import CacheMisuse, leaves
from engine.caches.merging import MergedCaches, can_forget, can_merge
from engine.caches.window import WindowCache
from engine.runtime.batch import try_batching
from tests.engine.batch_harness import DRAFTING_FAMILIES, MERGING_FAMILIES, UNMERGED_FAMILY, model
from tests.helpers.loading import at_once

WINDOW = 8


def fresh() -> list[Any]:
    """One layer of every kind that can be merged; of the second state one slot is never filled."""
    return [KVCache(), ArraysCache(2), WindowCache(WINDOW), CacheList(WindowCache(2), ArraysCache(3), KVCache())]


def is_state(leaf: Any) -> bool:
    return isinstance(leaf, ArraysCache)


def fed(layers: list[Any], numbers: list[list[int]]) -> list[list[list[int]]]:
    """Feed each row its `numbers`, as many to each; what every leaf shows then (leaf, row, entries)."""
    entries = mx.array(numbers)[:, None, :, None].astype(mx.float32)
    shown = []
    for leaf in leaves(layers):
        if is_state(leaf):
            leaf.cache[0] = entries[:, 0, -1] + (leaf.cache[0] if leaf.cache[0] is not None else 0)
            leaf.cache[-1] = 2 * leaf.cache[0]
            shown.append(leaf.cache[0].tolist())
        else:
            keys, values = leaf.update_and_fetch(entries, -entries)
            assert mx.array_equal(keys, -values)
            shown.append(keys[:, 0, :, 0].tolist())
    return [[[int(number) for number in row] for row in rows] for rows in shown]


class Conversation:
    """What has been read of it so far, read alone."""

    def __init__(self, name: int, length: int) -> None:
        self.numbers = [1000 * name + at + 1 for at in range(length)]
        self.layers = fresh()
        if length:
            fed(self.layers, [self.numbers])


def expected(numbers: list[int], reads: list[int], following: int) -> list[list[int]]:
    """What every leaf of `fresh` shows after `following`: all, the sum of the last of each read, the window."""
    state = [sum(reads) + following]
    return [
        [*numbers, following],
        state,
        [*numbers, following][-WINDOW:],
        [*numbers, following][-2:],
        state,
        [*numbers, following],
    ]


class Batch:
    """The batch under test beside what it should hold."""

    def __init__(self) -> None:
        self.merged = MergedCaches()
        self.rows: list[tuple[list[int], list[int]]] = []  # numbers, and the last of each read
        self.stepped = False

    def append(self, *lengths: int) -> None:
        made = [Conversation(len(self.rows) + at + 1, length) for at, length in enumerate(lengths)]
        self.merged.append([one.layers for one in made])
        self.rows += [(one.numbers, one.numbers[-1:]) for one in made]
        self.stepped = False

    def step(self) -> None:
        following = [numbers[-1] + 1 for numbers, _ in self.rows]
        self.merged.remember()
        fed(self.merged.layers, [[number] for number in following])
        self.rows = [([*n, more], [*r, more]) for (n, r), more in zip(self.rows, following, strict=True)]
        self.stepped = True

    def keep(self, rows: list[int]) -> None:
        self.merged.keep(rows)
        self.rows = [self.rows[row] for row in rows]

    def check(self) -> None:
        """Every row, as it is and, where a step can be undone, as it was before."""
        for back in (False, True) if self.stepped else (False,):
            for row, (numbers, reads) in enumerate(self.rows):
                held = numbers[: len(numbers) - back], reads[: len(reads) - back]
                caches = self.merged.extract(row, CacheSet(fresh()), len(held[0]), back=back)
                assert caches.position == len(held[0])
                shown = fed(caches.layers, [[7]])
                told = [[int(entry) for entry in leaf[0]] for leaf in shown]
                windows = expected(*held, 7)
                # A window may remember a little more than it has to; what counts is its end.
                assert [leaf[-len(window) :] for leaf, window in zip(told, windows, strict=True)] == windows
                assert [leaf.offset for leaf in leaves(caches.layers) if not is_state(leaf)] == [len(held[0]) + 1] * 4
                doubled = [leaf.cache[-1].item() for leaf in leaves(caches.layers) if is_state(leaf)]
                assert doubled == [2 * windows[1][0]] * 2
                unfilled = [leaf.cache[1] for leaf in leaves(caches.layers) if is_state(leaf) and len(leaf.cache) > 2]
                assert unfilled == [None]


@pytest.mark.costly
@pytest.mark.parametrize("seed", range(12))
def test_rows_come_and_go_in_any_order(seed: int) -> None:
    chance, batch = Random(seed), Batch()
    batch.append(*(chance.randrange(1, 25) for _ in range(chance.randrange(1, 4))))
    for _ in range(14):
        doing = chance.random()
        if doing < 0.2:
            batch.append(*(chance.randrange(1, 25) for _ in range(chance.randrange(1, 3))))
        elif doing < 0.45 and len(batch.rows) > 1:
            batch.keep(sorted(chance.sample(range(len(batch.rows)), chance.randrange(1, len(batch.rows)))))
        else:
            batch.step()
        if chance.random() < 0.4:
            batch.check()
    batch.check()


@pytest.mark.parametrize("seed", range(8))
def test_rows_forget_by_themselves(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of several tokens, of which each row keeps its own number, while rows come and go."""
    monkeypatch.setattr("engine.caches.merging._MOST_PADDING", 5)
    chance, merged, rows = Random(seed), MergedCaches(), list[list[int]]()

    def join() -> None:
        rows.append([1000 * (len(rows) + 1) + at for at in range(chance.randrange(1, 20))])
        alone = [KVCache(), CacheList(KVCache(), KVCache())]
        fed(alone, [rows[-1]])
        merged.append([alone])

    join()
    for _ in range(40):
        if chance.random() < 0.2:
            join()
        elif chance.random() < 0.1 and len(rows) > 1:
            gone = chance.randrange(len(rows))
            merged.keep([row for row in range(len(rows)) if row != gone])
            del rows[gone]
        width = chance.randrange(1, 7)
        fed(merged.layers, [[row[-1] + 1 + at for at in range(width)] for row in rows])
        kept = [chance.randint(1, width) for _ in rows]
        merged.forget([width - tokens for tokens in kept])
        for row, tokens in zip(rows, kept, strict=True):
            row.extend(range(row[-1] + 1, row[-1] + 1 + tokens))

    for number, numbers in enumerate(rows):
        empty = CacheSet([KVCache(), CacheList(KVCache(), KVCache())])
        shown = fed(merged.extract(number, empty, len(numbers), back=False).layers, [[7]])
        assert shown == [[[*numbers, 7]]] * 3
    for leaf in leaves(merged.layers):
        assert min(leaf.left_padding.tolist()) < 10


def test_a_batch_that_everybody_left_begins_anew() -> None:
    batch = Batch()
    batch.append(4, 9)
    batch.step()
    batch.keep([])
    assert batch.merged.layers == []
    batch.append(6)
    batch.step()
    batch.check()


def test_a_step_before_others_joined_cannot_be_undone() -> None:
    batch = Batch()
    batch.append(4, 9)
    batch.step()
    batch.append(6)
    with pytest.raises(CacheMisuse, match="undone"):
        batch.merged.extract(0, CacheSet(fresh()), 4, back=True)
    batch.check()


def test_a_row_of_one_token_can_be_taken_back_to_nothing() -> None:
    """Its keys and windows are empty then."""
    batch = Batch()
    batch.append(1, 5)
    batch.merged.remember()
    caches = batch.merged.extract(0, CacheSet([KVCache(), ArraysCache(2), WindowCache(8), fresh()[3]]), 0, back=True)
    assert [leaf.offset for leaf in leaves(caches.layers) if not is_state(leaf)] == [0] * 4
    assert [leaf.keys for leaf in leaves(caches.layers) if not is_state(leaf)] == [None] * 4


@pytest.mark.parametrize(
    ("layers", "forget"),
    [([KVCache(), CacheList(KVCache())], True), (fresh(), False), ([WindowCache(8)], False), ([ArraysCache(2)], False)],
)
def test_only_rows_of_keys_and_values_forget_by_themselves(layers: list[Any], forget: bool) -> None:
    assert can_forget(layers) is forget


def test_what_was_extracted_is_not_changed_by_later_steps() -> None:
    batch = Batch()
    batch.append(3, 8)
    caches = batch.merged.extract(0, CacheSet(fresh()), 3, back=False)
    for _ in range(5):
        batch.step()
    assert fed(caches.layers, [[7]])[0] == [[1001, 1002, 1003, 7]]


@pytest.mark.parametrize(
    ("layers", "merges"),
    [
        (fresh(), True),
        ([], True),
        ([KVCache(), QuantizedKVCache()], False),
        ([ChunkedKVCache(4), KVCache()], False),
        ([RotatingKVCache(8)], False),
        ([CacheList(KVCache(), QuantizedKVCache())], False),
    ],
)
def test_only_known_kinds_are_merged(layers: list[Any], merges: bool) -> None:
    assert can_merge(layers) is merges


# Which models run batches: asked of the caches, of a short list, and of a trial with two rows of different lengths.


@pytest.mark.parametrize("family", MERGING_FAMILIES)
def test_most_models_can(family: str) -> None:
    assert at_once(try_batching(model(family))).shares


@pytest.mark.parametrize(
    "family",
    [
        UNMERGED_FAMILY,
        "gpt_bigcode",  # asks its cache for one position
        "gemma2",  # spreads the mask over heads in place of rows
        "minimax_m3_vl",  # counts blocks of keys from the start of the cache
    ],
)
@pytest.mark.expect_log("cannot run in a batch")
def test_some_models_take_turns(family: str) -> None:
    assert not at_once(try_batching(model(family))).shares


def test_a_network_that_takes_all_rows_for_equally_long_is_found_out() -> None:
    main = model("qwen3")

    class Network:
        def __call__(self, tokens: mx.array, cache: list[object]) -> object:
            for layer in cache:
                if hasattr(layer, "left_padding"):
                    layer.offset = mx.full(layer.offset.shape, layer.offset.max())  # type: ignore[attr-defined]
            return main.network(tokens, cache=cache)

    assert not at_once(try_batching(replace(main, network=Network()))).shares


@pytest.mark.parametrize("family", [*MERGING_FAMILIES, UNMERGED_FAMILY])
def test_drafts_are_checked_together_where_rows_forget_by_themselves(family: str) -> None:
    assert at_once(try_batching(model(family))).drafts is (family in DRAFTING_FAMILIES)


@pytest.mark.expect_log("cannot draft in a batch")
def test_a_network_that_takes_wide_steps_for_something_else_is_found_out() -> None:
    main = model("qwen3")

    class Network:
        """Sees the width of a batch's steps."""

        def __init__(self, fails: bool) -> None:
            self.fails = fails

        def __call__(self, tokens: mx.array, cache: list[object]) -> object:
            wide = tokens.shape[0] > 1 < tokens.shape[1]
            if wide and self.fails:
                raise ValueError("one token a row")
            return main.network(tokens[:, ::-1] if wide else tokens, cache=cache)

    for fails in (False, True):
        assert at_once(try_batching(replace(main, network=Network(fails)))).shares
        assert not at_once(try_batching(replace(main, network=Network(fails)))).drafts


def step(network: object, merged: MergedCaches, tokens: list[int]) -> None:
    merged.remember()
    mx.eval(network(mx.array(tokens)[:, None], cache=merged.layers))  # type: ignore[operator]
