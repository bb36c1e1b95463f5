"""Which models run batches: asked of the caches, of a short list, and of a trial with two rows of different lengths."""

from __future__ import annotations

from dataclasses import replace

import mlx.core as mx
import pytest

from engine.caches.merging import MergedCaches
from engine.decoding.sequence import Sequence
from engine.runtime.batch import can_batch, can_draft
from tests.engine.batch_harness import DRAFTING_FAMILIES, MERGING_FAMILIES, UNMERGED_FAMILY, model, prompt


@pytest.mark.parametrize("family", MERGING_FAMILIES)
def test_most_models_can(family: str) -> None:
    assert can_batch(model(family))


@pytest.mark.parametrize(
    "family",
    [
        UNMERGED_FAMILY,
        "gpt_bigcode",  # asks its cache for one position
        "gemma2",  # spreads the mask over heads in place of rows
        "minimax_m3_vl",  # counts blocks of keys from the start of the cache
    ],
)
@pytest.mark.expect_log("cannot run batches")
def test_some_models_take_turns(family: str) -> None:
    assert not can_batch(model(family))


def test_a_network_that_takes_all_rows_for_equally_long_is_found_out() -> None:
    main = model("qwen3")

    class Network:
        def __call__(self, tokens: mx.array, cache: list[object]) -> object:
            for layer in cache:
                if hasattr(layer, "left_padding"):
                    layer.offset = mx.full(layer.offset.shape, layer.offset.max())  # type: ignore[attr-defined]
            return main.network(tokens, cache=cache)

    assert not can_batch(replace(main, network=Network()))


@pytest.mark.parametrize("family", [*MERGING_FAMILIES, UNMERGED_FAMILY])
def test_drafts_are_checked_together_where_rows_forget_by_themselves(family: str) -> None:
    assert can_draft(model(family)) is (family in DRAFTING_FAMILIES)


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
        assert can_batch(replace(main, network=Network(fails)))
        assert not can_draft(replace(main, network=Network(fails)))


@pytest.mark.parametrize("family", MERGING_FAMILIES)
@pytest.mark.parametrize("taken_back", [False, True])
def test_a_row_comes_out_as_it_went_in(family: str, taken_back: bool) -> None:
    """Merged with longer and shorter ones, joined by one more, stepped, filtered: its cache is that of its tokens."""
    main = model(family)
    texts = [list(prompt(length, salt)) for salt, length in enumerate((40, 4, 17, 25))]
    rows = [Sequence(main, text) for text in texts]
    for row in rows:
        row.prefill_chunk()
    merged = MergedCaches()
    merged.append([row.caches.layers for row in rows[:3]])
    step(main.network, merged, [text[-1] for text in texts[:3]])
    merged.append([rows[3].caches.layers])
    merged.keep([1, 2, 3])
    for token in (3, 5, 7):
        step(main.network, merged, [token] * 3)
    merged.keep([1, 2])

    fed = [3, 5] if taken_back else [3, 5, 7]
    for index, text in enumerate((texts[2], texts[3][:-1])):
        held = [*text, *fed]
        caches = merged.extract(index, main.make_caches(), len(held), back=taken_back)
        ours = Sequence(main, [*held, 9], caches).feed(mx.array([9]))
        theirs = Sequence(main, [*held, 9]).feed(mx.array([*held, 9]))[-1:]
        assert mx.allclose(ours, theirs, rtol=1e-3, atol=1e-3)


def step(network: object, merged: MergedCaches, tokens: list[int]) -> None:
    merged.remember()
    mx.eval(network(mx.array(tokens)[:, None], cache=merged.layers))  # type: ignore[operator]
