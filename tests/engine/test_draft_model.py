"""What the draft model proposes, and where it stops."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from engine import Sampling
from engine.confidence import Confidence
from engine.models.loading import LoadedModel, load_model
from engine.prefix_store import PrefixStore
from engine.proposers.draft_model import DraftModelProposer
from engine.sampling import Sampler
from tests.engine.conftest import Zoo

PROMPT = list(range(40, 80))
LIMIT = 12


@pytest.fixture(scope="module")
def model(zoo: Zoo) -> LoadedModel:
    return load_model(zoo.main)


def drafted(model: LoadedModel, confidence: Confidence | None = None) -> list[int]:
    proposer = DraftModelProposer(model, PrefixStore(), confidence=confidence)
    while proposer.offer(PROMPT).behind:
        proposer.read_on()
    sampler = Sampler(Sampling(temperature=0), 0, model.logit_width, PROMPT)
    tokens: list[int] = proposer.propose(PROMPT, LIMIT, sampler).tokens.tolist()  # type: ignore[assignment]
    return tokens


@pytest.mark.parametrize("floor", [0.0, 1e-30])
def test_nothing_is_drafted_behind_an_end(model: LoadedModel, floor: float) -> None:
    """Whether or not it also minds how sure it is."""
    free = drafted(model)
    assert len(free) == LIMIT
    for end in set(free):
        ending = replace(model, tokenizer=SimpleNamespace(eos_token_ids={end}))
        confidence = Confidence()
        confidence.floor = floor
        until = min(free.index(end) + 1, LIMIT)
        assert drafted(ending, confidence) == free[:until]


def test_it_goes_on_for_one_token_behind_its_doubt(model: LoadedModel) -> None:
    confidence = Confidence()
    confidence.floor = 1.1  # more than any chance

    assert len(drafted(model, confidence)) == 2
