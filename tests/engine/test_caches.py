"""Truncating caches and appending to them, and a window whose oldest tokens are gone."""

from __future__ import annotations

from collections.abc import Iterator

import mlx.core as mx
import pytest
from mlx_lm.models.cache import KVCache

from engine.caches.base import CacheSet
from engine.caches.checkpoints import append_rows, make_checkpoint, rows_between, truncate
from engine.caches.window import SLACK_TOKENS, WindowCache
from engine.decoding.sequence import Sequence
from engine.models.loading import LoadedModel, load_model
from tests.helpers.tiny_families import FAMILIES, save_family

TOKENS = [40 + 7 * n % 90 for n in range(60)]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, LoadedModel]]:
    folder = tmp_path_factory.mktemp("families")
    yield {kind: load_model(save_family(kind, folder / kind)) for kind in FAMILIES}
    mx.clear_cache()


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


def test_stretches_are_used_up_layer_by_layer() -> None:
    """A long chat is never twice in memory."""
    source = filled(100)
    stretches = [rows_between(source, 0, 40)]
    append_rows(CacheSet([KVCache()]), stretches, 40, None)
    assert stretches == [[[]]]


def step(window: WindowCache, width: int) -> list[int]:
    start = window.offset
    seen, _ = window.update_and_fetch(numbered(width, start), numbered(width, start))
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
    step(window, 7)
    window._start = 5  # rows 5 to 9 are left: three of them must stay
    assert window.can_trim(2)
    assert not window.can_trim(3)
    assert window.trim(3) == 0
    assert window.trim(2) == 2
    assert step(window, 1) == [5, 6, 7, 8]


@pytest.mark.parametrize("kind", ["window", "hybrid"])
def test_a_checkpoint_serves_more_than_once(models: dict[str, LoadedModel], kind: str) -> None:
    sequence = Sequence(models[kind], list(TOKENS))
    sequence.prefill_chunk()
    here, checkpoint = sequence.caches.position, make_checkpoint(sequence.caches)
    told = []
    for guess in (5, 90, 5):
        told.append(sequence.feed(mx.array([guess, *5 * TOKENS]))[:9])
        mx.eval(told)
        sequence.close_step(5 * len(TOKENS) + 1)
        sequence.caches.evaluate()
        truncate(sequence.caches, here, checkpoint)
    assert mx.array_equal(told[0], told[2])
    assert not mx.array_equal(told[0], told[1])


def test_a_window_checkpoint_holds_what_a_next_token_sees_and_no_more(models: dict[str, LoadedModel]) -> None:
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
