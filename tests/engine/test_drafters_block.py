"""Block drafters: a reduced vocabulary, tokens in their places, and folders that point beyond it."""

from __future__ import annotations

from pathlib import Path

import mlx.core as mx
import pytest

from engine import ModelDamaged
from engine.drafting.drafters import loading_any_draft
from engine.models.loading import LoadedModel, at_once
from tests.helpers import tiny_drafters as tiny

REDUCED = 40
CONFIG = tiny.dspark_config(draft_vocab_size=REDUCED, confidence_head_with_markov=True)


def weights(offsets: mx.array) -> dict[str, mx.array]:
    """With a head and a table of its own words only."""
    made = tiny.block_weights(CONFIG)
    made["markov_head.markov_w2.weight"] = made["markov_head.markov_w2.weight"][:REDUCED]
    mx.random.seed(8)
    return made | {"lm_head.weight": mx.random.normal((REDUCED, tiny.WIDTH)), "d2t": offsets}


def test_each_token_is_drafted_at_its_place_in_the_main_models_vocabulary(main: LoadedModel, tmp_path: Path) -> None:
    offsets = 5 * mx.arange(REDUCED)
    draft = at_once(loading_any_draft(tiny.save_drafter(tmp_path, CONFIG, weights(offsets)), main))
    network, caches = draft.network, draft.make_caches()
    network.read(mx.zeros((3,), mx.uint32), mx.random.normal((3, 2 * tiny.WIDTH)), caches)

    state = network.block(mx.array([7]), caches)[:1]
    narrow = state @ network.lm_head.weight.T + network.markov_head(mx.array([7]), state)
    wide = network.step_logits(network.base_logits(state), mx.array([7]), state)

    assert wide.shape == (1, tiny.VOCABULARY)
    assert mx.allclose(wide[0, 6 * mx.arange(REDUCED)], narrow[0], atol=1e-5)
    assert mx.sum(wide > -mx.inf).item() == REDUCED


@pytest.mark.parametrize("offsets", [mx.full((REDUCED,), 10**6), mx.full((REDUCED,), -1)], ids=["beyond", "before"])
def test_a_table_that_points_beyond_the_vocabulary_is_damage(
    main: LoadedModel, tmp_path: Path, offsets: mx.array
) -> None:
    folder = tiny.save_drafter(tmp_path, CONFIG, weights(offsets))
    with pytest.raises(ModelDamaged, match="beyond the vocabulary"):
        at_once(loading_any_draft(folder, main))
