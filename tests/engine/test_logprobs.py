"""Log-probabilities that are told with a reply: those of the model itself, whatever draws, drafts and constrains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from mlx_lm import utils as mlx_utils

from engine import (
    Constraint,
    ConstraintKind,
    Request,
    Sampling,
    Speculation,
    TokenScore,
    TokensScored,
)
from tests.engine.batch_harness import Harness
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import EngineClient, Outcome
from tests.helpers.loading import load_model

TEXT = "A draft model guesses, and the main model"
CLOSE = 2e-3  # nats; a wide forward rounds differently from a narrow one


@pytest.fixture(scope="module")
def network(zoo: Zoo) -> Any:
    network = mlx_utils.load_model(zoo.main)[0]
    network.set_dtype(mx.float32)  # as the engine has it on a CPU
    return network


def scores_of(outcome: Outcome, *, of_prompt: bool = False) -> list[TokenScore]:
    heard = [event for event in outcome.events if isinstance(event, TokensScored) and event.of_prompt is of_prompt]
    return [score for event in heard for score in event.scores]


def direct(network: Any, tokens: Sequence[int]) -> np.ndarray:
    """(tokens, vocabulary): after each of them."""
    logits = network(mx.array([list(tokens)]))[0].astype(mx.float32)
    return np.array(logits - mx.logsumexp(logits, axis=-1, keepdims=True))


def check(scores: Sequence[TokenScore], logprobs: np.ndarray) -> None:
    for score, row in zip(scores, logprobs, strict=True):
        told = {likely.token: likely.logprob for likely in (score, *score.likeliest)}
        assert told == pytest.approx({token: row[token] for token in told}, abs=CLOSE)
        highest = np.sort(row)[::-1][: len(score.likeliest)]
        assert [likely.logprob for likely in score.likeliest] == pytest.approx(highest.tolist(), abs=CLOSE)


HOT = Sampling(temperature=0.9, top_k=20, top_p=0.9, repetition_penalty=1.2, seed=5, logit_bias=((97, 3.0),))
FORM = Constraint(ConstraintKind.JSON, '{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}')
ASKED = [
    pytest.param(Request(text=TEXT, sampling=Sampling(temperature=0), max_tokens=24), id="greedy"),
    pytest.param(Request(text=TEXT, sampling=HOT, max_tokens=24), id="drawn"),
    pytest.param(Request(text=TEXT, sampling=HOT, constraint=FORM, max_tokens=12), id="in a form"),
]


@pytest.mark.costly
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("speculation", [Speculation.off(), Speculation.fixed(4)], ids=["alone", "drafted"])
def test_they_are_those_of_a_direct_forward(
    client: EngineClient, network: Any, asked: Request, speculation: Speculation
) -> None:
    outcome = client.run(replace(asked, speculation=speculation, logprobs=3, prompt_logprobs=True))
    prompt = [score.token for score in scores_of(outcome, of_prompt=True)]
    written = scores_of(outcome)
    assert tuple(score.token for score in written) == outcome.tokens
    logprobs = direct(network, [*prompt, *outcome.tokens])
    first, *rest = scores_of(outcome, of_prompt=True)
    assert first.logprob is None
    check([*rest, *written], logprobs[:-1])
    assert b"".join(score.text for score in [first, *rest]).decode() == TEXT
    assert outcome.tokens == client.run(replace(asked, speculation=Speculation.off())).tokens


@pytest.mark.usefixtures("short_chunks")
def test_a_prompt_that_is_kept_is_told_all_the_same(client: EngineClient, network: Any) -> None:
    """Longer than a chunk, and known from before."""
    tokens = tuple(40 + 7 * at % 150 for at in range(80))
    asked = Request(tokens=tokens, max_tokens=1, logprobs=0, prompt_logprobs=True)
    for outcome in (client.run(asked), client.run(asked)):
        scores = scores_of(outcome, of_prompt=True)
        assert tuple(score.token for score in scores) == tokens
        check(scores[1:], direct(network, tokens)[:-1])


@pytest.mark.usefixtures("short_chunks")
def test_a_token_that_a_drafter_has_read_again_is_told_once(zoo: Zoo) -> None:
    harness, tokens = Harness(load_model(zoo.main)), tuple(40 + 7 * at % 150 for at in range(80))
    reply = harness.submit(Request(tokens=tokens, max_tokens=1, logprobs=0, prompt_logprobs=True))
    while reply.queued.reply is None or not reply.reply.sequence.caches.position:
        harness.scheduler.step()
    reply.reply.sequence.uncache_last()
    harness.run_dry()
    (heard,) = (event for event in reply.events if isinstance(event, TokensScored) and event.of_prompt)
    assert tuple(score.token for score in heard.scores) == tokens


def test_several_replies_in_one_forward_are_told_their_own(client: EngineClient, network: Any) -> None:
    requests = [
        Request(tokens=(60, 70, 80 + at), max_tokens=16, logprobs=1, sampling=Sampling(seed=at)) for at in range(3)
    ]
    outcomes = client.run_all(requests)
    assert all(outcome.stats.shared_rounds for outcome in outcomes)
    for asked, outcome in zip(requests, outcomes, strict=True):
        check(scores_of(outcome), direct(network, [*asked.tokens, *outcome.tokens])[len(asked.tokens) - 1 : -1])
