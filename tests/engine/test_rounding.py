"""Where wide and narrow forwards round differently, a narrow one decides what is in doubt, as in plain decoding.

The rounding is made here, large enough to turn many tokens: every logit of a forward over several tokens is off by up
to `EPSILON`, each time by the same amount for the same token at the same place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mlx.core as mx
import pytest

from engine import Sampling
from engine.caches.hooks import hooked
from engine.decoding.round import Round, plain_round, speculative_round
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.drafting.calibration import Tuner
from engine.drafting.costs import RoundCosts
from engine.drafting.plans import Plan
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.models.loading import LoadedModel, load_draft, load_model
from engine.prefix.memory import PrefixStore
from tests.engine.conftest import Zoo

EPSILON = 0.2
PROMPTS = [[3 + (11 * n + 29 * salt) % 200 for n in range(12)] for salt in range(12)]
REPLY_TOKENS = 28
SAMPLINGS = {
    "greedy": Sampling(temperature=0.0),
    "sampled": Sampling(temperature=0.8),
    "top_k 1": Sampling(temperature=0.8, top_k=1),
    "top_k 20": Sampling(temperature=0.8, top_k=20),
    "min_p": Sampling(temperature=0.8, min_p=0.05),
    "top_p and xtc": Sampling(temperature=0.8, top_p=0.95, xtc_probability=0.5, xtc_threshold=0.05),
}


@pytest.fixture(scope="module")
def main(zoo: Zoo) -> LoadedModel:
    return load_model(zoo.main)


@pytest.fixture(scope="module")
def draft(zoo: Zoo, main: LoadedModel) -> LoadedModel:
    return load_draft(zoo.drafts["close"], main)


@pytest.fixture(autouse=True)
def rounding(main: LoadedModel) -> Iterator[None]:
    with hooked([main.network], _rounded):
        yield


def _rounded(module: Any, run: Any, tokens: mx.array, cache: Any = None, **keywords: Any) -> mx.array:
    logits: mx.array = run(tokens, cache=cache, **keywords)
    if tokens.shape[1] == 1:
        return logits
    start = cache[0].offset - tokens.shape[1]
    rows = [mx.random.uniform(-1, 1, logits.shape[2:], key=mx.random.key(start + at)) for at in range(tokens.shape[1])]
    return logits + EPSILON * mx.stack(rows)


def written(
    main: LoadedModel, draft: LoadedModel | None, prompt: list[int], sampling: Sampling, known: float
) -> list[int]:
    sequence = Sequence(main, list(prompt))
    sequence.rounding = known
    sampler = Sampler(sampling, 7, main.logit_width, prompt)
    while sequence.unread > 1:
        sequence.prefill_chunk()
    proposer = DraftModelProposer(draft, PrefixStore()) if draft is not None else None
    looks = 0
    while len(sequence.tokens) < len(prompt) + REPLY_TOKENS:
        done = _round(sequence, sampler, proposer)
        looks += done.second_looks
    assert known or not looks
    return sequence.tokens[len(prompt) : len(prompt) + REPLY_TOKENS]


def _round(sequence: Sequence, sampler: Sampler, proposer: DraftModelProposer | None) -> Round:
    if proposer is None:
        return plain_round(sequence, sampler, len)
    while proposer.offer(sequence.tokens).behind:
        proposer.read_on()
    plan = Plan("draft", 4)
    done = speculative_round(sequence, sampler, lambda: proposer.propose(sequence.tokens, plan, sampler), len)
    proposer.commit(done.emitted)
    return done


@pytest.mark.slow
@pytest.mark.parametrize("prompts", [PROMPTS[:4], pytest.param(PROMPTS, marks=pytest.mark.drill)], ids=len)
@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_a_second_look_gives_the_text_of_plain_decoding(
    main: LoadedModel, draft: LoadedModel, sampling: str, prompts: list[list[int]]
) -> None:
    """Every text; without it many differ, so there is something to be mended."""
    _compare(main, draft, SAMPLINGS[sampling], prompts)


def _compare(main: LoadedModel, draft: LoadedModel, sampling: Sampling, prompts: list[list[int]]) -> None:
    plain = [written(main, None, prompt, sampling, 0.0) for prompt in prompts]

    assert [written(main, draft, prompt, sampling, EPSILON) for prompt in prompts] == plain
    careless = [written(main, draft, prompt, sampling, 0.0) for prompt in prompts]
    assert sum(text != expected for text, expected in zip(careless, plain, strict=True)) >= len(prompts) // 4


def test_the_rounding_is_measured(main: LoadedModel) -> None:
    costs, tuner = RoundCosts(), Tuner()
    tuner.begin(main, None, costs)
    while tuner.pending:
        tuner.step()

    assert 0.5 * EPSILON < costs.calibration.rounding < 3 * EPSILON
