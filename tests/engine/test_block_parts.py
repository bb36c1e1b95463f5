"""Parts of block drafters by themselves, over more rows than a block has."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from engine.caches.making import CacheMaker
from engine.drafting.proposers.dflash import BlockDrafter, CandidateSelector
from engine.models.access import ModelAccess
from engine.models.drafters import BlockConfig, drafter_config
from tests.helpers import tiny_drafters as tiny
from tests.helpers.tiny_models import build, qwen3_config


@pytest.mark.parametrize("candidates", [1, 5, 40])
def test_the_candidates_are_the_likeliest_tokens_and_no_others(candidates: int) -> None:
    block = tiny.dflash2_config()["dflash_config"] | {"selector_top_k": candidates}
    raw = tiny.dflash2_config(dflash_config=block)
    config = drafter_config(raw, tiny.block_weights(raw))
    assert isinstance(config, BlockConfig)
    mx.random.seed(3)
    rows = 60
    logits = mx.random.normal((rows, tiny.VOCABULARY))
    scores = CandidateSelector(config)(logits, mx.arange(rows), mx.random.normal((rows, tiny.WIDTH)))
    likeliest = np.sort(np.argsort(-np.array(logits), axis=-1)[:, :candidates], axis=-1)
    kept = np.isfinite(np.array(scores))
    assert kept.sum(axis=-1).tolist() == [candidates] * rows
    assert np.array_equal(np.nonzero(kept)[1].reshape(rows, -1), likeliest)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("window", [4, 9, 20])
def test_each_row_of_a_block_sees_what_is_nearer_than_the_window(window: int, causal: bool) -> None:
    """A row of the context is changed, and only those rows of the block differ that see it."""
    raw = tiny.dflash_config(
        num_hidden_layers=1, layer_types=["sliding_attention"], sliding_window=window, is_causal=causal
    )
    config = drafter_config(raw)
    assert isinstance(config, BlockConfig)
    drafter = BlockDrafter(config, ModelAccess(build(qwen3_config())))
    drafter.load_weights(list(tiny.block_weights(raw).items()), strict=True)
    context = 12
    known = mx.random.normal((context, 2 * tiny.WIDTH), key=mx.random.key(4))

    def block(changed: int | None) -> np.ndarray:
        caches, states = CacheMaker(drafter)(), mx.array(known)
        if changed is not None:
            states[changed] = -states[changed]
        drafter.read(mx.zeros((context,), mx.uint32), states, caches)
        return np.array(drafter.block(mx.array([7], dtype=mx.uint32), caches))  # without its row 0

    same = block(None)
    for changed in range(context):
        differs = np.abs(block(changed) - same).max(axis=-1) > 1e-4
        assert differs.tolist() == [context + row - changed < window for row in range(1, config.block_rows)]
