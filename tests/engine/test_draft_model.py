"""What the draft model proposes, and where it stops."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from engine import Sampling
from engine.decoding.accept import integers
from engine.decoding.sampling import Sampler
from engine.drafting.acceptance import StopRule, Worth
from engine.drafting.plans import Plan
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.models.loading import LoadedModel, load_model
from engine.prefix.memory import PrefixStore
from tests.engine.conftest import Zoo

PROMPT = list(range(40, 80))
LIMIT = 12


@pytest.fixture(scope="module")
def model(zoo: Zoo) -> LoadedModel:
    return load_model(zoo.main)


def stop_below(floor: float) -> StopRule:
    return StopRule((floor,) * LIMIT, Worth().by_grade)


def drafted(model: LoadedModel, stop: StopRule | None = None) -> list[int]:
    proposer = DraftModelProposer(model, PrefixStore())
    while proposer.offer(PROMPT).behind:
        proposer.read_on()
    sampler = Sampler(Sampling(temperature=0), 0, model.logit_width, PROMPT)
    return integers(proposer.propose(PROMPT, Plan("draft", LIMIT, stop=stop), sampler).tokens)


@pytest.mark.parametrize("floor", [None, 1e-30])
def test_nothing_is_drafted_behind_an_end(model: LoadedModel, floor: float | None) -> None:
    """Whether or not it also stops by its own doubt."""
    free = drafted(model)
    assert len(free) == LIMIT
    for end in set(free):
        ending = replace(model, tokenizer=SimpleNamespace(eos_token_ids={end}))
        until = min(free.index(end) + 1, LIMIT)
        guesses = drafted(ending, None if floor is None else stop_below(floor))
        # With a fixed length the last ones are not looked at.
        assert guesses == free[:until] or (floor is None and until > LIMIT - 2 and guesses == free)


def test_it_stops_where_the_rule_says(model: LoadedModel) -> None:
    assert len(drafted(model, stop_below(1.1))) == 1
    assert len(drafted(model, StopRule((0.0, 0.0, 1.1), Worth().by_grade))) == 3
    assert len(drafted(model, stop_below(0.0))) == LIMIT


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
        guesses = [one.propose(tokens, Plan("draft", 4), sampler).tokens.tolist() for one in (proposer, afresh)]
        assert guesses[0] == guesses[1]
        proposer.commit([guesses[0][0], 5])  # type: ignore[index, list-item]
        tokens += [guesses[0][0], 5]  # type: ignore[index, list-item]
        proposer.offer(tokens)
        proposer.read_on()
        tokens += range(100, 100 + others)
