"""Block drafters: a reduced vocabulary, tokens in their places, and folders that point beyond it."""

from __future__ import annotations

from pathlib import Path

import mlx.core as mx
import pytest

from engine.api.errors import ModelDamaged
from engine.drafting.drafters import loading_any_draft
from engine.drafting.proposers.features import Context
from engine.drafting.proposers.layers import check_offsets, widened
from engine.models.loading import LoadedModel, at_once, load_model
from engine.prefix.memory import PrefixStore
from tests.engine.conftest import Zoo
from tests.helpers import tiny_drafters as tiny

REDUCED = 40
CONFIG = tiny.dspark_config(draft_vocab_size=REDUCED, confidence_head_with_markov=True)


@pytest.fixture(scope="module")
def main(zoo: Zoo) -> LoadedModel:
    return load_model(zoo.main)


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


def test_offsets_say_how_far_on_a_token_stands() -> None:
    check_offsets(mx.array([0, 2]), 4)
    with pytest.raises(ValueError, match="float32"):
        check_offsets(mx.array([0.0, 2.0]), 4)
    for beyond in ([0, 3], [-1, 2]):
        with pytest.raises(ValueError, match="beyond the vocabulary"):
            check_offsets(mx.array(beyond), 4)
    assert widened(mx.array([[1.0, 2.0]]), mx.array([0, 2]), 4).tolist() == [[1.0, -mx.inf, -mx.inf, 2.0]]


def test_a_drafter_that_rests_takes_in_what_waits_now_and_then(main: LoadedModel, tmp_path: Path) -> None:
    """A reply of any length leaves it with no more than some states unread, and the same rows in the end."""
    config = tiny.dflash_config()
    folder = tiny.save_drafter(tmp_path, config, tiny.block_weights(config))
    draft = at_once(loading_any_draft(folder, main))
    mx.random.seed(3)
    states = mx.random.normal((900, 2 * tiny.WIDTH))
    tokens = [7 * n % 250 for n in range(2)]
    resting, eager = (Context(draft, main, PrefixStore(), (0, 1)) for _ in range(2))
    resting.follow(tokens)
    waited = 0
    for position in range(900):
        resting.receive(position, states[position : position + 1])
        tokens.append(position % 250)
        waited = max(waited, len(resting._waiting))
    eager.follow(tokens)
    eager.receive(0, states)
    resting.follow(tokens)
    for context in (resting, eager):
        context.read()

    assert waited < 300
    assert resting.caches.position == eager.caches.position == 900
    for ours, theirs in zip(resting.caches.layers, eager.caches.layers, strict=True):
        assert mx.allclose(ours.keys[..., :900, :], theirs.keys[..., :900, :], atol=1e-5)
