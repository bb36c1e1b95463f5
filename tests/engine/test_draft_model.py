"""What the draft model proposes, and where it stops."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from engine import Sampling
from engine.decoding.sampling import Sampler
from engine.drafting.confidence import Confidence
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.models.loading import LoadedModel, load_model
from engine.prefix.memory import PrefixStore
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


def test_beyond_its_context_it_offers_nothing_and_reads_nothing(model: LoadedModel) -> None:
    short = replace(model, info=replace(model.info, context_tokens=len(PROMPT) - 5))
    offer = DraftModelProposer(short, PrefixStore()).offer(PROMPT)

    assert (offer.most, offer.behind) == (0, 0)


def test_what_it_reads_ahead_changes_no_guess(model: LoadedModel) -> None:
    """Nor do tokens that others wrote meanwhile: every draft is what one who read all of it afresh would say."""
    sampler = Sampler(Sampling(temperature=0), 0, model.logit_width, PROMPT)
    proposer, tokens = DraftModelProposer(model, PrefixStore()), list(PROMPT)
    for others in (0, 1, 0, 3, 7, 0, 2):
        afresh = DraftModelProposer(model, PrefixStore())
        for reader in (proposer, afresh):
            while reader.offer(tokens).behind:
                reader.read_on()
        guesses = [one.propose(tokens, 4, sampler).tokens.tolist() for one in (proposer, afresh)]
        assert guesses[0] == guesses[1]
        proposer.commit([guesses[0][0], 5])  # type: ignore[index, list-item]
        tokens += [guesses[0][0], 5]  # type: ignore[index, list-item]
        proposer.offer(tokens)
        proposer.read_on()
        tokens += range(100, 100 + others)
