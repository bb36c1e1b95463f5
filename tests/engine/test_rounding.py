"""Where wide and narrow forwards round differently, a draft changes a text only at a tie; how close is measured.

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
from engine.decoding.sampling import Sampler, gumbel_noise, normalised
from engine.decoding.sequence import Sequence
from engine.drafting.calibration import Tuner
from engine.drafting.costs import RoundCosts
from engine.drafting.plans import Plan
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore
from tests.engine.conftest import Zoo
from tests.helpers.loading import load_draft
from tests.helpers.samples import fair

EPSILON = 0.2
PROMPTS = [[3 + (11 * n + 29 * salt) % 200 for n in range(12)] for salt in range(4)]
REPLY_TOKENS = 28
SEED = 7


@pytest.fixture(scope="module")
def draft(zoo: Zoo, main: LoadedModel) -> LoadedModel:
    return load_draft(zoo.drafts["close"], main)


@pytest.fixture(autouse=True)
def rounding(main: LoadedModel) -> Iterator[None]:
    with hooked([main.network], _rounded):
        yield


def _rounded(module: Any, run: Any, tokens: mx.array, cache: Any = None, **keywords: Any) -> mx.array:
    logits: mx.array = run(tokens, cache=cache, **keywords)
    if tokens.shape[1] == 1 or cache is None:
        return logits
    start = cache[0].offset - tokens.shape[1]
    rows = [mx.random.uniform(-1, 1, logits.shape[2:], key=mx.random.key(start + at)) for at in range(tokens.shape[1])]
    return logits + EPSILON * mx.stack(rows)


def written(main: LoadedModel, draft: LoadedModel | None, prompt: list[int], sampling: Sampling) -> list[int]:
    sequence = Sequence(main, list(prompt))
    sampler = Sampler(sampling, SEED, main.logit_width, prompt)
    while sequence.uncached > 1:
        sequence.prefill_chunk()
    proposer = DraftModelProposer(draft, PrefixStore()) if draft is not None else None
    while len(sequence.tokens) < len(prompt) + REPLY_TOKENS:
        _round(sequence, sampler, proposer)
    return sequence.tokens[: len(prompt) + REPLY_TOKENS]


def _round(sequence: Sequence, sampler: Sampler, proposer: DraftModelProposer | None) -> Round:
    if proposer is None:
        return plain_round(sequence, sampler, len)
    while proposer.offer(sequence.tokens).behind:
        proposer.read_on()
    plan = Plan("draft", 4)
    done = speculative_round(sequence, sampler, lambda: proposer.propose(sequence.tokens, plan, sampler), len)
    assert done.failure is None
    proposer.commit(done.emitted)
    return done


@pytest.mark.parametrize("temperature", fair([0.0, 0.8], 0.8))
def test_a_draft_changes_a_text_only_where_two_tokens_are_closer_than_rounding_can_part(
    main: LoadedModel, draft: LoadedModel, temperature: float
) -> None:
    """Two tokens as good as tied, of which each may be off by as much; some texts do differ there."""
    leads = []
    for prompt in PROMPTS:
        plain = written(main, None, prompt, Sampling(temperature=temperature))
        drafted = written(main, draft, prompt, Sampling(temperature=temperature))
        at = next((at for at, (one, other) in enumerate(zip(plain, drafted, strict=True)) if one != other), None)
        if at is not None:
            leads.append(_lead(main, plain[:at], plain[at], drafted[at], temperature))
    assert leads
    assert all(0 < lead <= 2 * EPSILON for lead in leads)


def _lead(main: LoadedModel, prefix: list[int], one: int, other: int, temperature: float) -> float:
    """In nats before the temperature, of the token that plain decoding draws behind `prefix`."""
    values = normalised(main.network(mx.array([prefix]))[0, -1:].astype(mx.float32))
    if temperature:
        values = values + temperature * gumbel_noise(SEED, len(prefix), 1, values.shape[-1])
    lead: float = (values[0, one] - values[0, other]).item()  # type: ignore[assignment]
    return lead


@pytest.mark.slow
def test_the_rounding_is_measured(main: LoadedModel) -> None:
    costs, tuner = RoundCosts(), Tuner()
    tuner.begin(main, None, costs)
    while tuner.pending:
        tuner.step()

    assert 0.5 * EPSILON < costs.calibration.rounding < 3 * EPSILON
