"""Drafters in half precision, as on a GPU: nothing raises, and nothing is kept wider than the main model computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from engine import Sampling
from engine.caches.base import CacheSet
from engine.caches.checkpoints import arrays_in
from engine.caches.kinds import leaves
from engine.caches.making import CacheMaker
from engine.decoding.accept import integers
from engine.decoding.sampling import Sampler
from engine.drafting.acceptance import StopRule, Worth
from engine.drafting.drafters import loading_any_draft, proposer_of
from engine.drafting.plans import Plan
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore
from tests.engine import test_block_reference, test_drafters_assistant, test_drafters_chain, test_drafters_parallel
from tests.engine.conftest import Zoo
from tests.helpers import half_precision, tiny_assistants, tiny_heads
from tests.helpers import tiny_drafters as tiny
from tests.helpers.loading import at_once, load_model
from tests.helpers.tiny_models import build, qwen3_config

BLOCKS = {name: (config, tiny.block_weights) for name, config in test_block_reference.CONFIGS.items()}
PARALLEL = {name: (config, tiny.peagle_weights) for name, config in test_drafters_parallel.CONFIGS.items()}
KINDS = {name: (config_of(), weights_of) for name, (config_of, weights_of) in tiny.KINDS.items()}
DRAFTERS: dict[str, tuple[dict[str, Any], Any]] = BLOCKS | PARALLEL | KINDS
TOKENS = [60 + at for at in range(21)]


@pytest.fixture(autouse=True)
def as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mx, "gather_mm", half_precision.gather_mm)


@pytest.fixture(scope="module")
def main(zoo: Zoo) -> LoadedModel:
    model = load_model(zoo.main)
    model.network.set_dtype(mx.bfloat16)
    return model


def kept(caches: CacheSet) -> set[mx.Dtype]:
    return {array.dtype for leaf in leaves(caches.layers) for array in arrays_in(leaf.state)}


@pytest.mark.parametrize("name", DRAFTERS)
def test_a_drafter_reads_drafts_and_is_timed(main: LoadedModel, name: str, tmp_path: Path) -> None:
    config, weights_of = DRAFTERS[name]
    draft = at_once(loading_any_draft(tiny.save_drafter(tmp_path, config, weights_of(config)), main))
    network = draft.network
    network.set_dtype(mx.bfloat16)
    states = mx.random.normal((len(TOKENS) - 1, network.reads_width), dtype=mx.bfloat16)
    read, timed = draft.make_caches(), draft.make_caches()
    network.read(mx.array(TOKENS[1:]), states, read)
    mx.eval(network.rehearse(3, timed))
    assert kept(read) == kept(timed) == {mx.bfloat16}

    proposer: Any = proposer_of(draft, main, PrefixStore(), 0)
    proposer.receive_states(0, states)
    length = proposer.offer(TOKENS).most
    sampler = Sampler(Sampling(temperature=1.0, seed=3), 0, main.logit_width, TOKENS)
    for stop in (None, StopRule((0.0,) * length, Worth().by_grade)):
        drafted = proposer.propose(TOKENS, Plan(proposer.name, length, stop=stop), sampler)
        assert len(integers(drafted.tokens)) == length


@pytest.mark.parametrize("name", [*test_drafters_chain.DIALECTS, *tiny_heads.MAINS, *tiny_assistants.MAINS])
def test_a_head_is_timed_as_it_drafts(name: str) -> None:
    if name in tiny_assistants.MAINS:
        head: Any = test_drafters_assistant.assistant(name)
    elif name in tiny_heads.MAINS:
        head = test_drafters_chain.mtp_head(name)
    else:
        head = test_drafters_chain.eagle(name, build(qwen3_config()))
    for network in (head, head._main._network):
        network.set_dtype(mx.bfloat16)
    caches = CacheMaker(head)()
    mx.eval(head.rehearse(3, caches))
    assert kept(caches) == {mx.bfloat16}
