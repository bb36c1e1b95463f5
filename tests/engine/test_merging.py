"""Conversations as rows of one batch, against lists of numbers: every cache entry is the number of its token."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx_lm.models.cache import ArraysCache, CacheList, ChunkedKVCache, KVCache, QuantizedKVCache, RotatingKVCache

from engine.caches.base import CacheSet
from engine.caches.kinds import CacheMisuse, leaves
from engine.caches.merging import MergedCaches, can_merge
from engine.caches.ragged import RaggedCache
from engine.caches.replay import Replay
from engine.caches.window import WindowCache
from engine.runtime.batch import try_batching
from tests.engine.batch_harness import MERGING_FAMILIES, UNMERGED_FAMILY, model
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


def step(merged: MergedCaches, numbers: list[list[int]]) -> None:
    merged.forward(len(numbers[0]), lambda: mx.array(len(fed(merged.layers, numbers))))


class Batch:
    """The batch under test beside what it should hold."""

    def __init__(self) -> None:
        self.merged = MergedCaches()
        self.rows: list[tuple[list[int], list[int]]] = []  # numbers, and the last of each read
        self.stepped = False

    def append(self, *lengths: int) -> None:
        made = [Conversation(len(self.rows) + at + 1, length) for at, length in enumerate(lengths)]
        self.merged.append([CacheSet(one.layers) for one in made])
        self.rows += [(one.numbers, one.numbers[-1:]) for one in made]
        self.stepped = False

    def step(self) -> None:
        following = [numbers[-1] + 1 for numbers, _ in self.rows]
        step(self.merged, [[number] for number in following])
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
def test_rows_come_and_go_in_any_order(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.caches.ragged._GROWTH_TOKENS", 2)
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


class State(nn.Module):  # type: ignore[misc]
    """Keeps the sum of all numbers."""

    def __call__(self, numbers: mx.array, cache: Any) -> None:
        before = mx.zeros((numbers.shape[0],), mx.int32) if cache[0] is None else cache[0]
        cache[0] = before + numbers.sum(axis=1)


class Seeing(nn.Module):  # type: ignore[misc]
    """Shows what each number attends to in each cache with rows (cache, row, number, entries)."""

    def __init__(self) -> None:
        super().__init__()
        self.adder = State()

    def __call__(self, numbers: mx.array, cache: list[Any]) -> list[list[list[list[int]]]]:
        for leaf in filter(is_state, leaves(cache)):
            self.adder(numbers, leaf)
        return [seen(numbers, leaf) for leaf in leaves(cache) if not is_state(leaf)]


def seen(numbers: mx.array, leaf: Any) -> list[list[list[int]]]:
    entries = numbers[:, None, :, None].astype(mx.float32)
    mask = leaf.make_mask(numbers.shape[1], window_size=None, return_array=True)
    keys, values = leaf.update_and_fetch(entries, -entries)
    assert mx.array_equal(keys, -values)
    shape = (numbers.shape[0], 1, numbers.shape[1], keys.shape[2])
    masks: Any = mx.broadcast_to(mx.array(True) if mask is None else mask, shape).tolist()
    return [
        [sorted(int(entry) for entry, wanted in zip(row, each, strict=True) if wanted) for each in wanteds[0]]
        for row, wanteds in zip(keys[:, 0, :, 0].tolist(), masks, strict=True)
    ]


class Ragged:
    """Rows of all kinds of caches, of which each keeps as many tokens of a step as it likes."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.merged = MergedCaches()
        self.rows: list[list[int]] = []
        self.joined = 0
        self.network = Seeing()
        self.replay = Replay(self.network)

    def fresh(self) -> CacheSet:
        bundle = CacheList(WindowCache(3), ArraysCache(1))
        return CacheSet([KVCache(), bundle, ArraysCache(1), WindowCache(50)], self.replay)

    def join(self) -> None:
        self.joined += 1
        self.rows.append([1000 * self.joined + at for at in range(self.chance.randrange(1, 60))])
        caches = self.fresh()
        self.network(mx.array([self.rows[-1]]), caches.layers)
        self.merged.append([caches])

    def leave(self) -> None:
        gone = self.chance.randrange(len(self.rows))
        self.merged.keep([row for row in range(len(self.rows)) if row != gone])
        del self.rows[gone]

    def step(self) -> None:
        width = self.chance.choice([1, 2, 4, 7, 33])
        read = [[row[-1] + 1 + at for at in range(width)] for row in self.rows]
        shown = stepped(self.network, self.merged, read)
        for row, more, *each in zip(self.rows, read, *shown, strict=True):
            wholes = [[*row, *more[: at + 1]] for at in range(width)]
            assert each == [list(window) for window in zip(*map(windows, wholes), strict=True)]
        kept = [self.chance.choice([0, 1, self.chance.randint(0, width), width]) for _ in self.rows]
        self.merged.commit(kept)
        for row, more, tokens in zip(self.rows, read, kept, strict=True):
            row.extend(more[:tokens])

    def check(self, row: int) -> None:
        numbers = self.rows[row]
        caches = self.merged.extract(row, self.fresh(), len(numbers), back=False)
        assert [leaf.cache[0].item() for leaf in leaves(caches.layers) if is_state(leaf)] == [sum(numbers)] * 2
        assert [shown[0][0] for shown in self.network(mx.array([[10**6]]), caches.layers)] == windows([*numbers, 10**6])


def windows(numbers: list[int]) -> list[list[int]]:
    return [numbers, numbers[-3:], numbers[-50:]]


def stepped(network: Seeing, merged: MergedCaches, numbers: list[list[int]]) -> list[list[list[list[int]]]]:
    shown = []

    def run() -> mx.array:
        shown.extend(network(mx.array(numbers), merged.layers))
        return mx.array(0)

    merged.forward(len(numbers[0]), run)
    return shown


@pytest.mark.parametrize("seed", range(8))
def test_each_row_keeps_as_many_tokens_of_a_step_as_it_likes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """While rows come and go, and windows wrap."""
    monkeypatch.setattr("engine.caches.ragged._GROWTH_TOKENS", 3)
    chance = Random(seed)
    batch = Ragged(chance)
    batch.join()
    for _ in range(40):
        if chance.random() < 0.2:
            batch.join()
        elif chance.random() < 0.1 and len(batch.rows) > 1:
            batch.leave()
        batch.step()
        if chance.random() < 0.3:
            batch.check(chance.randrange(len(batch.rows)))

    for row in range(len(batch.rows)):
        batch.check(row)


def test_a_module_that_changes_other_caches_too_is_not_replayed_for_a_part_of_the_rows() -> None:
    class Both(Seeing):
        def __call__(self, numbers: mx.array, cache: list[Any]) -> list[list[list[list[int]]]]:
            cache[1][1] = numbers
            return super().__call__(numbers, cache)

    network = Both()
    merged = MergedCaches()
    merged.append([CacheSet([KVCache(), ArraysCache(2)], Replay(network)) for _ in range(2)])
    stepped(network, merged, [[1, 2, 3], [4, 5, 6]])
    with pytest.raises(CacheMisuse, match="other caches too"):
        merged.commit([1, 2])


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
    batch.merged.forward(1, lambda: mx.array(0))
    caches = batch.merged.extract(0, CacheSet([KVCache(), ArraysCache(2), WindowCache(8), fresh()[3]]), 0, back=True)
    assert [leaf.offset for leaf in leaves(caches.layers) if not is_state(leaf)] == [0] * 4
    assert [leaf.keys for leaf in leaves(caches.layers) if not is_state(leaf)] == [None] * 4


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
                if isinstance(layer, RaggedCache):
                    layer.offset = mx.full(layer.offset.shape, layer.offset.max())
            return main.network(tokens, cache=cache)

    assert not at_once(try_batching(replace(main, network=Network()))).shares


@pytest.mark.parametrize("family", [*MERGING_FAMILIES, UNMERGED_FAMILY])
def test_drafts_are_checked_together_wherever_forwards_are_shared(family: str) -> None:
    assert at_once(try_batching(model(family))).drafts is (family in MERGING_FAMILIES)


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
