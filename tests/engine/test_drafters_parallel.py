"""P-EAGLE: what its masked rows are, beside an EAGLE-3 head that reads the masks as if they were tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from engine import Sampling
from engine.caches.making import CacheMaker
from engine.decoding.accept import integers
from engine.decoding.sampling import Sampler
from engine.drafting.acceptance import StopRule, Worth
from engine.drafting.drafters import loading_any_draft, proposer_of
from engine.drafting.plans import Plan
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore
from tests.helpers import tiny_drafters as tiny
from tests.helpers.loading import at_once

MASK, READ = 260, 9
CONFIGS: dict[str, dict[str, Any]] = {
    "speculators": tiny.peagle_config(),
    "served by vLLM": tiny.peagle_served_config(),
    "norms before and behind": tiny.peagle_config(norm_before_fc=True, fc_norm=True, norm_output=True),
}


@pytest.fixture(scope="module", params=CONFIGS)
def draft(request: pytest.FixtureRequest, main: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return loaded(CONFIGS[request.param], main, tmp_path_factory.mktemp("parallel"))


def loaded(config: dict[str, Any], main: LoadedModel, folder: Path, **tensors: mx.array) -> LoadedModel:
    tiny.save_drafter(folder, config, tiny.peagle_weights(config) | tensors)
    return at_once(loading_any_draft(folder, main))


def read(network: Any) -> tuple[Any, mx.array, mx.array]:
    """What was read, and with which states."""
    mx.random.seed(2)
    tokens, states = mx.arange(40, 40 + READ), mx.random.normal((READ, network.reads_width))
    caches = CacheMaker(network)()
    return caches, states, network.read(tokens, states, caches)[-1:]


def test_masked_rows_are_those_of_a_head_that_reads_masks(draft: LoadedModel) -> None:
    """Behind what was read, with the learnt state; they leave nothing, and fewer are the beginning of more."""
    network = draft.network
    caches, states, last = read(network)
    masks = mx.full((network.tokens - 1,), MASK, dtype=mx.int32)
    learnt = mx.broadcast_to(network.mask_hidden[0], (masks.size, network.reads_width))
    tokens = mx.concatenate([mx.arange(40, 40 + READ), masks])
    expected = network.read(tokens, mx.concatenate([states, learnt]), CacheMaker(network)())[READ - 1 :]

    made = network.block(last, network.tokens, caches)

    assert made.shape == (network.tokens, tiny.WIDTH)
    assert mx.allclose(made, expected, atol=1e-4)
    assert caches.position == READ
    for length in range(1, network.tokens):
        assert mx.allclose(network.block(last, length, caches), made[:length], atol=1e-4)


def test_as_many_tokens_as_it_was_trained_for_are_drafted_at_once(draft: LoadedModel, main: LoadedModel) -> None:
    network = draft.network
    caches, states, last = read(network)
    proposer: Any = proposer_of(draft, main, PrefixStore(), 0)
    proposer.receive_states(0, states)
    tokens = [7, *range(40, 40 + READ)]
    assert proposer.offer(tokens).most == network.tokens in (5, 8)  # said, or not
    logits = network.logits(network.block(last, network.tokens, caches))
    expected, chances = integers(mx.argmax(logits, axis=-1)), mx.softmax(logits, axis=-1).max(axis=-1)
    sampler = Sampler(Sampling(temperature=0), 0, main.logit_width, tokens)
    never = StopRule((0.0,) * network.tokens, Worth().by_grade)
    for length in (1, 3, network.tokens):
        drafted = proposer.propose(tokens, Plan(proposer.name, length, stop=never), sampler)
        assert integers(drafted.tokens) == expected[:length]
        assert drafted.probabilities.tolist() == pytest.approx(chances[:length].tolist(), abs=2e-3)
    at_once_stops = StopRule((0.0, 2.0, *never.floors[2:]), never.worth)
    assert proposer.propose(tokens, Plan(proposer.name, 4, stop=at_once_stops), sampler).tokens.size == 2


def test_a_rehearsal_drafts_as_many_tokens(draft: LoadedModel) -> None:
    caches = draft.make_caches()
    for length in (1, draft.network.tokens):
        assert draft.network.rehearse(length, caches).shape == (length, tiny.VOCABULARY)


def test_the_embedding_and_the_state_of_its_folder_are_used(main: LoadedModel, tmp_path: Path) -> None:
    """It is trained with the rest; the state of a mask has a dimension less in some folders."""
    config = tiny.peagle_config()
    flat = tiny.peagle_weights(config)["mask_hidden"].reshape(1, -1)
    one = loaded(config, main, tmp_path / "one")
    other = loaded(config, main, tmp_path / "other", mask_hidden=flat)
    table = mx.random.normal((tiny.VOCABULARY, tiny.WIDTH))
    third = loaded(config, main, tmp_path / "third", **{"embed_tokens.weight": table})
    rows = [read(each.network)[2] for each in (one, other, third)]
    assert mx.array_equal(rows[0], rows[1])
    assert mx.array_equal(one.network.mask_hidden, other.network.mask_hidden)
    assert not mx.allclose(rows[0], rows[2], atol=1e-2)
