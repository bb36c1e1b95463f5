"""The text is the main model's, whatever drafts: compared with mlx-lm, with a naive loop, and with itself undrafted."""

from __future__ import annotations

import importlib
import queue
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, islice

import mlx.core as mx
import pytest
from mlx_lm import sample_utils

from engine import (
    Acceptance,
    DraftingState,
    Event,
    Finished,
    ModelReady,
    Request,
    Sampling,
    Speculation,
    SpeculationMode,
    TextDelta,
)
from engine.models.loading import LoadedModel
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import PATIENCE_S, EngineClient
from tests.helpers.loading import load_model
from tests.helpers.samples import sampled
from tests.helpers.tiny_models import number

PROMPTS = [tuple(range(40, 80)), (5,), (200, 3, 3, 3, 90, 41, 5, 250, 18)]
LENGTH = 20
MANY_LENGTHS = [*(Speculation.fixed(n) for n in (1, 2, 3, 5, 8)), Speculation.auto()]
SOME_LENGTHS = [Speculation.fixed(2), Speculation.fixed(5), Speculation.auto()]
SAMPLINGS = [
    Sampling(temperature=0),
    Sampling(temperature=0.7, seed=11),
    Sampling(temperature=1.0, seed=12),
    Sampling(temperature=0, repetition_penalty=1.3),
    Sampling(temperature=0.7, seed=13, repetition_penalty=1.2, top_p=0.9),
    Sampling(temperature=1.0, seed=14, top_k=20, min_p=0.02, repetition_penalty=1.1),
]


@pytest.fixture(scope="module")
def target(zoo: Zoo) -> LoadedModel:
    return load_model(zoo.main)


def by_mlx_lm(model: LoadedModel, prompt: Sequence[int], length: int) -> tuple[int, ...]:
    steps = importlib.import_module("mlx_lm.generate").generate_step(
        mx.array(list(prompt)), model.network, max_tokens=length
    )
    return tuple(token for token, _ in islice(steps, length))


def by_definition(model: LoadedModel, prompt: Sequence[int], length: int, penalty: float) -> tuple[int, ...]:
    """Greedy with mlx-lm's repetition penalty over the whole prefix, the whole prefix fed anew for every token."""
    processor = sample_utils.make_repetition_penalty(penalty, context_size=10_000)
    tokens = list(prompt)
    for _ in range(length):
        logits = model.network(mx.array([tokens]))[:, -1, :]
        tokens.append(int(number(mx.argmax(processor(mx.array(tokens), logits)))))
    return tuple(tokens[len(prompt) :])


def up_to_end(tokens: Sequence[int], model: LoadedModel) -> tuple[int, ...]:
    """mlx-lm's bare step goes on after an end token; a reply does not."""
    ends = model.tokenizer.eos_token_ids
    stop = next((at + 1 for at, token in enumerate(tokens) if token in ends), len(tokens))
    return tuple(tokens[:stop])


def request(prompt: Sequence[int], sampling: Sampling, speculation: Speculation, length: int = LENGTH) -> Request:
    return Request(tokens=tuple(prompt), sampling=sampling, speculation=speculation, max_tokens=length)


@pytest.mark.costly
@pytest.mark.parametrize("prompt", PROMPTS)
def test_plain_greedy_equals_mlx_lm(client: EngineClient, target: LoadedModel, prompt: Sequence[int]) -> None:
    """Without a draft, greedy decoding is mlx-lm's own."""
    ours = client.run(request(prompt, Sampling(temperature=0), Speculation.off())).tokens

    assert len(set(ours)) > 8
    assert ours == up_to_end(by_mlx_lm(target, prompt, LENGTH), target)


@pytest.mark.costly
@pytest.mark.parametrize("prompt", PROMPTS)
def test_penalty_sees_the_whole_prefix(client: EngineClient, target: LoadedModel, prompt: Sequence[int]) -> None:
    """The repetition penalty counts every token before, prompt included, drafted or not."""
    expected = up_to_end(by_definition(target, prompt, LENGTH, penalty=1.3), target)
    sampling = Sampling(temperature=0, repetition_penalty=1.3)

    assert client.run(request(prompt, sampling, Speculation.off())).tokens == expected
    assert client.run(request(prompt, sampling, Speculation.fixed(4))).tokens == expected


@pytest.mark.parametrize(
    ("sampling", "draft", "prompt", "kv_bits"),
    sampled(
        {f"t{each.temperature}p{each.repetition_penalty}": each for each in SAMPLINGS},
        ["itself", "close", "poor", "other"],
        {"long": PROMPTS[0], "repeating": PROMPTS[2]},
        {"16": 16, "8": 8},
    ),
)
def test_text_never_depends_on_the_proposer(
    client: EngineClient, zoo: Zoo, draft: str, sampling: Sampling, prompt: Sequence[int], kv_bits: int
) -> None:
    """INVARIANT: the same seed gives the same tokens with no draft, with any draft, and with any draft length."""
    assert isinstance(client.set_draft(zoo.drafts[draft]), ModelReady)
    plain = client.run(replace(request(prompt, sampling, Speculation.off()), kv_bits=kv_bits))
    assert len(set(plain.tokens)) > 4
    for speculation in MANY_LENGTHS if draft == "close" and sampling.repetition_penalty > 1 else SOME_LENGTHS:
        drafted = client.run(replace(request(prompt, sampling, speculation), kv_bits=kv_bits))
        assert drafted.tokens == plain.tokens, speculation
        assert drafted.stats.drafted > 0 or speculation.mode is SpeculationMode.AUTO


@pytest.mark.parametrize("sampling", SAMPLINGS[:2], ids=["greedy", "sampled"])
def test_text_never_depends_on_when_drafting_is_set_otherwise(client: EngineClient, sampling: Sampling) -> None:
    changes = {
        3: Speculation.fixed(4),
        6: Speculation.off(),
        10: Speculation.fixed(1),
        15: Speculation.fixed(7),
        20: Speculation.auto(),
    }
    heard: queue.SimpleQueue[Finished] = queue.SimpleQueue()
    told = 0

    def on_engine_thread(event: Event) -> None:
        nonlocal told
        if isinstance(event, TextDelta):
            told += 1
            if told in changes:
                client.engine.set_speculation(event.request, changes[told])
        elif isinstance(event, Finished):
            heard.put(event)

    asked = replace(request(PROMPTS[0], sampling, Speculation.off(), length=60), trace=True)
    plain = client.run(asked)
    client.engine.submit(asked, on_engine_thread)
    changed = heard.get(timeout=PATIENCE_S)

    assert changed.tokens == plain.tokens
    lengths = [len(each.drafted) for each in changed.rounds]
    assert [length for length, _ in groupby(lengths)][:5] == [0, 4, 0, 1, 7]


def test_drafting_really_happens(client: EngineClient, zoo: Zoo) -> None:
    """A perfect draft is accepted whole, at any temperature, as it draws with the main model's noise; a close one in
    part, a stranger hardly ever.
    """
    rates = {}
    for name, folder in zoo.drafts.items():
        client.set_draft(folder)
        stats = client.run(request(PROMPTS[0], Sampling(temperature=0), Speculation.fixed(4))).stats
        assert stats.accept_rate is not None
        assert stats.drafting is DraftingState.ACTIVE
        rates[name] = stats.accept_rate

    client.set_draft(zoo.drafts["itself"])
    sampled = client.run(request(PROMPTS[0], Sampling(temperature=1.0, seed=3), Speculation.fixed(4))).stats
    assert rates["itself"] == sampled.accept_rate == 1.0
    assert 0.2 < rates["close"] < 1.0
    assert rates["other"] < 0.2


def test_different_seeds_give_different_texts(client: EngineClient) -> None:
    texts = {
        client.run(request(PROMPTS[0], Sampling(temperature=1.0, seed=seed), Speculation.off(), length=8)).tokens
        for seed in range(3)
    }

    assert len(texts) == 3


def test_no_seed_reports_one_that_repeats_the_text(client: EngineClient) -> None:
    first = client.run(request(PROMPTS[0], Sampling(temperature=1.0), Speculation.auto()))
    again = client.run(request(PROMPTS[0], Sampling(temperature=1.0, seed=first.finished.seed), Speculation.off()))

    assert again.tokens == first.tokens


def by_mlx_lms_processors(model: LoadedModel, prompt: Sequence[int], length: int) -> tuple[int, ...]:
    """Greedy with mlx-lm's own processors, their windows wide enough for the whole prefix."""
    whole = 10_000
    process = sample_utils.make_logits_processors({41: 4.0, 90: -3.0}, 1.15, whole, 0.7, whole, 0.4, whole)
    tokens = list(prompt)
    for _ in range(length):
        logits = model.network(mx.array([tokens]))[:, -1, :]
        for processor in process:
            logits = processor(mx.array(tokens), logits)
        tokens.append(int(number(mx.argmax(logits))))
    return tuple(tokens[len(prompt) :])


@pytest.mark.costly
@pytest.mark.parametrize("speculation", [Speculation.off(), Speculation.fixed(1), Speculation.fixed(5)], ids=str)
def test_all_penalties_and_bias_equal_mlx_lms(
    client: EngineClient, target: LoadedModel, speculation: Speculation
) -> None:
    prompt = (41, 90, 41, 7, 41)
    sampling = Sampling(
        temperature=0,
        repetition_penalty=1.15,
        presence_penalty=0.7,
        frequency_penalty=0.4,
        logit_bias=((41, 4.0), (90, -3.0)),
    )

    tokens = client.run(request(prompt, sampling, speculation)).tokens

    assert tokens == up_to_end(by_mlx_lms_processors(target, prompt, LENGTH), target)


def test_xtc_is_the_same_with_any_draft(client: EngineClient) -> None:
    sampling = Sampling(temperature=1.0, seed=21, xtc_probability=0.5, xtc_threshold=0.05)
    texts = {
        client.run(request(PROMPTS[0], sampling, speculation)).tokens
        for speculation in (Speculation.off(), Speculation.fixed(1), Speculation.fixed(6), Speculation.auto())
    }

    assert len(texts) == 1


def test_rejection_is_repeatable_and_accepts_a_perfect_draft_whole(client: EngineClient, zoo: Zoo) -> None:
    """The other acceptor, end to end: its text depends on the draft, but not on chance."""
    speculation = Speculation(SpeculationMode.FIXED, 4, Acceptance.REJECTION)
    sampling = Sampling(temperature=0.9, top_p=0.95, seed=8)
    first, again = (client.run(request(PROMPTS[0], sampling, speculation)) for _ in range(2))
    client.set_draft(zoo.drafts["itself"])
    perfect = client.run(request(PROMPTS[0], sampling, speculation))

    assert first.tokens == again.tokens
    assert 0 < (first.stats.accept_rate or 0) < 1
    assert perfect.stats.accept_rate == 1.0
