"""Truncating caches and appending to them, and a window whose oldest tokens are gone."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import pytest
from mlx_lm.models.cache import KVCache, can_trim_prompt_cache
from mlx_lm.models.deepseek_v41 import LayerCache

from engine.caches.base import CacheSet
from engine.caches.checkpoints import append_rows, arrays_in, can_truncate, make_checkpoint, rows_between, truncate
from engine.caches.window import SLACK_TOKENS, WindowCache
from engine.decoding.sequence import Sequence
from engine.models.loading import LoadedModel

TOKENS = [40 + 7 * n % 90 for n in range(60)]


def numbered(tokens: int, first: int = 0) -> mx.array:
    """One row a token, of the token's number."""
    return mx.arange(first, first + tokens).reshape(1, 1, tokens, 1).astype(mx.float32)


def filled(tokens: int) -> CacheSet:
    layer = KVCache()
    layer.update_and_fetch(numbered(tokens), numbered(tokens))
    caches = CacheSet([layer])
    caches.position = tokens
    return caches


@pytest.mark.parametrize(("kept", "rows"), [(4, 4 + 256), (5000 + 120 - 4096, 5120), (5000 + 119 - 4096, 1023 + 256)])
def test_truncating_frees_the_rows_of_a_long_chat(kept: int, rows: int) -> None:
    """So many that the next tokens still fit are left, and less than 4096 spare rows are not worth a copy."""
    caches = filled(5000)
    truncate(caches, kept)
    assert caches.layers[0].keys.shape[2] == rows
    seen, _ = caches.layers[0].update_and_fetch(numbered(2, kept), numbered(2, kept))
    assert mx.array_equal(seen, numbered(kept + 2))


def test_rows_are_appended_in_order_with_room_for_more() -> None:
    source, caches = filled(100), filled(10)
    append_rows(caches, [rows_between(source, 10, 40), rows_between(source, 40, 70)], 70, None)
    layer = caches.layers[0]
    assert caches.position == layer.offset == 70
    assert mx.array_equal(layer.keys_and_values()[1], numbered(70))
    room = layer.keys.shape[2]
    layer.update_and_fetch(numbered(256, 70), numbered(256, 70))
    assert layer.keys.shape[2] == room == 70 + 256


def test_what_was_truncated_and_what_rows_were_cut_from_is_freed_at_once() -> None:
    long, other = filled(20_000), CacheSet([KVCache()])
    long.evaluate()
    with_rows, held = mx.get_active_memory(), long.nbytes
    append_rows(other, [rows_between(long, 0, 40)], 40, None)
    truncate(long, 4)
    # What earlier tests still hold or free meanwhile is some kilobytes.
    assert mx.get_active_memory() <= with_rows - held / 2


def step(window: WindowCache, width: int) -> list[int]:
    start = window.offset
    seen, values = window.update_and_fetch(numbered(width, start), -numbered(width, start))
    assert mx.array_equal(values, -seen)
    numbers: list[int] = seen.astype(mx.int32).reshape(-1).tolist()  # type: ignore[assignment]
    return numbers


@pytest.mark.parametrize("chunk", [1, 5, 300])
def test_a_window_sees_the_window_of_each_token_of_a_step(chunk: int) -> None:
    window = WindowCache(16)
    while window.offset < 1000:
        start = window.offset
        assert step(window, chunk) == list(range(max(0, start - 15), start + chunk))


def test_a_window_forgets_as_many_tokens_as_the_widest_step_has() -> None:
    """Whenever that is, also when its buffer was just moved; and it is asked before it is told."""
    window = WindowCache(16)
    step(window, 16 + SLACK_TOKENS)
    for _ in range(300):
        before = window.offset
        step(window, SLACK_TOKENS)
        assert window.can_trim(SLACK_TOKENS)
        assert window.trim(SLACK_TOKENS) == SLACK_TOKENS
        assert window.offset == before
        assert step(window, 2) == list(range(before - 15, before + 2))
    assert window.trim(window.offset + 1) == 0


def test_a_window_forgets_down_to_the_last_row_that_a_next_token_sees() -> None:
    window = WindowCache(4)
    step(window, 3)
    assert window.can_trim(3)
    assert not window.can_trim(4) or window.trim(4) == 0
    assert window.trim(3) == 3
    assert step(window, 3) == [0, 1, 2]
    step(window, 5)
    caches = CacheSet([window])
    caches.position = 8
    truncate(caches, 8, make_checkpoint(caches))  # rows 5 to 7 are left
    assert not window.can_trim(1)
    step(window, 2)  # three of five rows must stay
    assert window.can_trim(2)
    assert not window.can_trim(3)
    assert window.trim(3) == 0
    assert window.trim(2) == 2
    assert step(window, 1) == [5, 6, 7, 8]


def test_a_window_checkpoint_holds_what_a_next_token_sees_and_no_more() -> None:
    window = WindowCache(16)
    step(window, 40)
    caches = CacheSet([window])
    caches.position = 40
    checkpoint = make_checkpoint(caches)
    assert dict(checkpoint[0])["keys"].shape[2] == 15
    step(window, 30)
    caches.position = 70
    truncate(caches, 40, checkpoint)
    assert step(window, 2) == list(range(25, 42))


@pytest.mark.parametrize("left", [0, 1, 10])
def test_a_checkpoint_of_a_window_that_is_not_full_holds_all_of_it(left: int) -> None:
    window = WindowCache(16)
    step(window, 10)
    window.trim(10 - left)
    caches = CacheSet([window])
    caches.position = left
    checkpoint = make_checkpoint(caches)
    step(window, 30)
    caches.position = left + 30
    truncate(caches, left, checkpoint)
    assert step(window, 2) == list(range(left + 2))


@pytest.mark.parametrize("asked", [None, 4, 15, 16, 24])
@pytest.mark.parametrize("before", [0, 1, 10, 15, 40])
def test_a_mask_shows_each_token_of_a_step_its_window(before: int, asked: int | None) -> None:
    """There is none, or only "causal", where nothing else is to be hidden. A wider window is heeded in prefill only."""
    window = WindowCache(16)
    if before:
        step(window, before)
    held = min(before, 15)
    for width in (1, 2, 5, 6, 7, 16, SLACK_TOKENS, SLACK_TOKENS + 1):
        limit = (asked or 16) if width > SLACK_TOKENS else min(asked or 16, 16)
        tokens, entries = held + mx.arange(width)[:, None], mx.arange(held + width)[None]
        expected = (entries <= tokens) & (entries > tokens - limit)
        mask, array = window.make_mask(width, asked), window.make_mask(width, asked, return_array=True)
        if held + width <= limit:
            assert mask == (None if width == 1 else "causal")
            assert array is None if width == 1 else mx.array_equal(array, expected)
        else:
            assert mx.array_equal(mask, expected)
            assert mx.array_equal(array, expected)


@pytest.mark.parametrize("tokens", [0, 40])
def test_a_window_goes_on_in_another_from_its_state(tokens: int) -> None:
    window, other = WindowCache(16), WindowCache(8)
    if tokens:
        step(window, tokens)
    other.state = window.state
    assert other.max_size == 16
    assert step(other, 2) == list(range(max(0, tokens - 15), tokens + 2))


def test_mlx_lm_hears_that_a_full_window_can_be_trimmed() -> None:
    window = WindowCache(16)
    step(window, 40)
    assert can_trim_prompt_cache([window])


def test_a_read_chunk_is_computed_and_counted(models: dict[str, LoadedModel]) -> None:
    """What is still to be computed would hold all of the chunk's intermediate results."""
    sequence = Sequence(models["dense"], list(TOKENS))
    before = mx.get_active_memory()
    sequence.prefill_chunk()
    assert sequence.caches.nbytes == sum(layer.nbytes for layer in sequence.caches.layers) > 0
    assert mx.get_active_memory() - before >= sequence.caches.nbytes


def test_a_checkpoint_keeps_nothing_alive_but_itself() -> None:
    window = WindowCache(16)
    window.update_and_fetch(mx.zeros((1, 8, 2000, 64)), mx.zeros((1, 8, 2000, 64)))
    caches = CacheSet([window])
    caches.position = 2000
    caches.evaluate()
    with_cache, held = mx.get_active_memory(), caches.nbytes
    checkpoint = make_checkpoint(caches)
    del window, caches
    assert 0 < sum(array.nbytes for array in arrays_in(checkpoint)) < held / 50
    # What earlier tests still hold or free meanwhile is some kilobytes.
    assert mx.get_active_memory() <= with_cache - held / 2


@pytest.mark.parametrize(("back", "possible"), [(0, True), (83, True), (84, False), (333, False)])
def test_caches_are_truncated_as_far_as_all_windows_remember(back: int, possible: bool) -> None:
    long, short = WindowCache(16), WindowCache(32)
    for window, widths in ((long, (300, 300)), (short, (300, 250, 50))):
        for width in widths:
            step(window, width)
    caches = CacheSet([long, short])
    caches.position = 600
    assert can_truncate(caches, 600 - back) is possible


def test_a_cache_that_publishes_no_state_goes_back_to_a_checkpoint_too() -> None:
    """deepseek_v41 brings its own: rows of a window, and a count."""
    cache: Any = LayerCache(4)
    caches = CacheSet([cache])
    for first in (0, 3):
        cache.update_window(mx.arange(first, first + 3)[None, :, None])
        caches.position = first + 3
        if not first:
            checkpoint = make_checkpoint(caches)
    assert cache.window.tolist() == [[[2], [3], [4], [5]]]
    for _ in range(2):  # it serves more than once
        truncate(caches, 3, checkpoint)
        assert cache.window.tolist() == [[[0], [1], [2]]]
        assert (cache.offset, caches.position) == (3, 3)
        cache.update_window(mx.array([[[9]]]))
        caches.position = 4
        assert cache.window.tolist() == [[[0], [1], [2], [9]]]
