"""What the draft model proposes, and where it stops."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import pytest

from engine import MAX_DRAFT_TOKENS, Acceptance, Sampling
from engine.decoding.accept import integers
from engine.decoding.sampling import Sampler
from engine.drafting.acceptance import Sharpness, StopRule, Worth
from engine.drafting.plans import Offer, Plan
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.models.loading import DraftTranslation, LoadedModel
from engine.models.token_map import TokenMap
from engine.models.vocabulary import Spelling, TokenTable
from engine.prefix.memory import PrefixStore
from tests.engine.batch_harness import model as family
from tests.engine.batch_harness import prompt
from tests.engine.conftest import Zoo
from tests.helpers.loading import load_model

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


@pytest.mark.parametrize(("device", "ahead"), [(mx.cpu, 0), (mx.gpu, 1)])
def test_it_stops_where_the_rule_says(
    model: LoadedModel, monkeypatch: pytest.MonkeyPatch, device: mx.DeviceType, ahead: int
) -> None:
    """On a GPU one token further: that one is under way. Not where those before it are not worth it either."""
    monkeypatch.setattr(mx, "default_device", lambda: device)
    half = (0.5,) * len(Worth().by_grade)
    assert len(drafted(model, StopRule((0.0, 0.4, 0.4), half))) == 2 + ahead
    assert len(drafted(model, StopRule((0.0, 0.6, 0.6), half))) == 2
    assert len(drafted(model, StopRule((0.0, 0.0, 1.1), Worth().by_grade))) == 3
    assert len(drafted(model, stop_below(1.1))) == 1
    assert len(drafted(model, stop_below(0.0))) == LIMIT


def in_other_tokens(model: LoadedModel) -> LoadedModel:
    """As a draft whose ids are all others, and which lacks every tenth token of a main model: that one it spells."""
    ids = range(model.logit_width)
    letters = [chr(0x4E00 + token) for token in ids]
    main = {token: letters[token] if token % 10 else letters[token - 1] + letters[token - 2] for token in ids}
    shifted = {token: letters[token - 7] for token in ids}
    ours, its = (TokenTable(texts, {}, Spelling.PLAIN, ()) for texts in (main, shifted))
    return replace(model, translation=DraftTranslation(TokenMap(ours, its, model.logit_width), model.logit_width))


@pytest.mark.parametrize("changed", [lambda model: model, in_other_tokens], ids=["same tokens", "other tokens"])
def test_what_it_reads_ahead_changes_no_guess(
    model: LoadedModel, changed: Callable[[LoadedModel], LoadedModel]
) -> None:
    """Nor do tokens that others wrote meanwhile: every draft is what one who read all of it afresh would say."""
    model = changed(model)
    sampler = Sampler(Sampling(temperature=0), 0, model.logit_width, PROMPT)
    proposer, tokens = DraftModelProposer(model, PrefixStore()), list(PROMPT)
    for others in (0, 1, 0, 3, 17, 0, 14, 2):
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


def reading(model: LoadedModel, store: PrefixStore | None = None, tokens: list[int] = PROMPT) -> DraftModelProposer:
    """One that has read all but the last token."""
    proposer = DraftModelProposer(model, store or PrefixStore())
    while proposer.offer(tokens).behind:
        proposer.read_on()
    return proposer


@pytest.mark.parametrize(
    ("room", "most"), [(-5, 0), (0, 0), (1, 1), (7, 7), (MAX_DRAFT_TOKENS, MAX_DRAFT_TOKENS), (900, MAX_DRAFT_TOKENS)]
)
def test_an_offer_is_what_fits_the_context_once_the_chat_is_read(model: LoadedModel, room: int, most: int) -> None:
    narrow = replace(model, info=replace(model.info, context_tokens=len(PROMPT) + room))
    proposer = DraftModelProposer(narrow, PrefixStore())
    first = proposer.offer(PROMPT)
    assert first == Offer("draft", 0, has_probabilities=True, behind=len(PROMPT) - 1 if room > 0 else 0)
    if room > 0:
        proposer.read_on()
        assert proposer.offer(PROMPT) == Offer("draft", most, has_probabilities=True)


@pytest.mark.parametrize(("uncached", "behind"), [(1, 0), (2, 0), (16, 0), (17, 16), (40, 39)])
def test_many_tokens_of_others_put_it_behind(model: LoadedModel, uncached: int, behind: int) -> None:
    """What a round or two wrote it reads with its next draft: rounds that a lookup drafts wait for no reading."""
    proposer = reading(model)
    offer = proposer.offer([*PROMPT, *range(90, 90 + uncached - 1)])
    assert (offer.behind, offer.most > 0) == (behind, behind == 0)


class Counting:
    """A network that notes how wide its forwards are."""

    def __init__(self, network: Any) -> None:
        self._network, self.widths = network, list[int]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)

    def __call__(self, tokens: mx.array, cache: Any) -> mx.array:
        self.widths.append(tokens.shape[1])
        logits: mx.array = self._network(tokens, cache=cache)
        return logits


@pytest.mark.costly
@pytest.mark.parametrize("changed", [lambda model: model, in_other_tokens], ids=["same tokens", "other tokens"])
@pytest.mark.parametrize(("accepted", "lacks"), [(0, 1), (1, 1), (3, 1), (4, 2)])
def test_a_token_costs_one_forward_and_nothing_is_read_twice(
    model: LoadedModel, changed: Callable[[LoadedModel], LoadedModel], accepted: int, lacks: int
) -> None:
    counted = changed(replace(model, network=Counting(model.network)))
    proposer, sampler = reading(counted), Sampler(Sampling(temperature=0), 0, model.logit_width, PROMPT)
    counted.network.widths.clear()
    guesses = integers(proposer.propose(PROMPT, Plan("draft", 4), sampler).tokens)
    assert counted.network.widths == [1, 1, 1, 1]

    counted.network.widths.clear()
    emitted = [*guesses[:accepted], 5]
    proposer.commit(emitted)
    tokens = [*PROMPT, *emitted]
    assert proposer.offer(tokens).behind == 0
    proposer.read_on()
    assert counted.network.widths == [lacks]
    proposer.propose(tokens, Plan("draft", 3), sampler)
    assert counted.network.widths == [lacks, 1, 1]


@pytest.mark.parametrize("stop", [None, StopRule((0.0,) * LIMIT, Worth().by_grade)])
@pytest.mark.parametrize("sampling", [Sampling(temperature=0), Sampling(temperature=0.8, seed=3)])
@pytest.mark.parametrize("acceptance", Acceptance)
def test_a_draft_says_of_each_token_what_the_network_does(
    model: LoadedModel, stop: StopRule | None, sampling: Sampling, acceptance: Acceptance
) -> None:
    """Its probability where the rule asks for it, the whole distribution where rejection needs that; row by row."""
    level = 1 if sampling.temperature else 0
    sampler = Sampler(sampling, 3, model.logit_width, PROMPT, (), acceptance)
    draft = reading(model).propose(PROMPT, Plan("draft", 5, stop=stop, sharpness=level), sampler)
    tokens = integers(draft.tokens)
    logits = model.network(mx.array([[*PROMPT, *tokens[:-1]]]))[0, len(PROMPT) - 1 :]
    scale = Sharpness.LEVELS[level] / (sampling.temperature or 1.0)
    logprobs = logits * scale - mx.logsumexp(logits * scale, axis=-1, keepdims=True)
    chances = [math.exp(logprobs[at, token].item()) for at, token in enumerate(tokens)]

    assert len(tokens) == 5
    assert (draft.probabilities is not None) == (stop is not None)
    if draft.probabilities is not None:
        assert draft.probabilities.tolist() == pytest.approx(chances, rel=1e-3)
    assert (draft.logprobs is not None) == (acceptance is Acceptance.REJECTION and sampling.temperature > 0)
    if draft.logprobs is not None:
        assert mx.allclose(mx.exp(draft.logprobs), mx.exp(logprobs), atol=1e-4)
    assert (draft.guesses is not None) == (sampling.temperature > 0)
    if draft.guesses is not None:
        assert draft.guesses.shape == (5, len(Sharpness.LEVELS))
        assert draft.guesses[:, level].tolist() == tokens


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["qwen3", "qwen3_5"])
@pytest.mark.parametrize("last", ["read", "read ahead", "committed"])
def test_what_it_has_read_serves_the_next_turn(kind: str, last: str) -> None:
    """Whatever it did last: the next one goes on from all that stands, and drafts as one who read all afresh."""
    network, store, tokens = family(kind), PrefixStore(), list(prompt(40))
    sampler = Sampler(Sampling(temperature=0), 0, network.logit_width, tokens)
    proposer = DraftModelProposer(network, store, turn_end=30)
    assert proposer.offer(tokens).behind
    while proposer.offer(tokens).behind:
        proposer.read_on()
    if last == "read ahead":
        proposer.read_on()
    if last == "committed":
        guesses = integers(proposer.propose(tokens, Plan("draft", 3), sampler).tokens)
        proposer.commit([guesses[0], 5])
        tokens += [guesses[0], 5]
    proposer.close()
    proposer.close()

    assert len(store.kept) == 1
    kept = store.kept[0].sequence
    assert kept.turn_end == 30
    assert len(tokens) - 16 <= kept.caches.position < len(tokens)  # a draft reads so many itself
    following = [*tokens, *range(50, 60)]
    told = [
        integers(reading(network, where, following).propose(following, Plan("draft", 4), sampler).tokens)
        for where in (store, PrefixStore())
    ]
    assert told[0] == told[1]


def test_one_that_was_never_asked_keeps_nothing(model: LoadedModel) -> None:
    store = PrefixStore()
    proposer = DraftModelProposer(model, store)
    proposer.close()
    assert store.kept == []
    with pytest.raises(RuntimeError, match="offer"):
        proposer.read_on()


@pytest.mark.parametrize(
    ("kind", "tokens", "turn_end", "behind"),
    [
        ("qwen3_5", 12, 8, [11, 0]),  # a checkpoint is kept at 8, which a reading has to end at
        ("qwen3_5", 2, 1, [1, 0]),
        ("qwen3_5", 1, 1, [0]),
        ("qwen3_5", 16, 0, [0]),
        ("qwen3_5", 17, 0, [16, 0]),
        ("qwen3", 12, 8, [0]),  # here it takes none
    ],
)
def test_it_stops_reading_by_itself_where_a_checkpoint_is_kept(
    kind: str, tokens: int, turn_end: int, behind: list[int]
) -> None:
    """Up to 16 tokens are read with the draft, but not past such a place."""
    proposer, told = DraftModelProposer(family(kind), PrefixStore(), turn_end), list[int]()
    for _ in behind:
        told.append(proposer.offer(list(prompt(tokens))).behind)
        if told[-1]:
            proposer.read_on()
    assert told == behind
