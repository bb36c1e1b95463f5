"""Texts that a station computes together, in one cache, against each of them computed by itself from its beginning."""

from __future__ import annotations

import random

import mlx.core as mx
import pytest

from engine import Sampling
from engine.decoding.accept import integers
from engine.decoding.sampling import Sampler
from engine.models.loading import LoadedModel
from engine.station.conversation import Conversation, StationDraft
from engine.station.tree import Beliefs, Prediction

PROMPT = list(range(40, 70))


def conversation(model: LoadedModel, rows: int, sampling: Sampling, tokens: list[int] = PROMPT) -> Conversation:
    draft = StationDraft(model.network, model.make_caches, model.logit_width, 4096, frozenset(), rows)
    sampler = Sampler(sampling, 5, model.logit_width, tokens)
    return Conversation(draft, list(tokens), sampler, Beliefs(), None)


def by_itself(model: LoadedModel, tokens: list[int], sampling: Sampling) -> int:
    """The draft's draw after `tokens`, all of them fed at once to fresh caches."""
    logits = model.network(mx.array([tokens]))[0, -1:]
    sampler = Sampler(sampling, 5, model.logit_width, tokens)
    return integers(sampler.draft(logits, len(tokens), None, (1.0,), 0).tokens)[0]


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize(
    "sampling",
    [Sampling(temperature=0), Sampling(temperature=0.8, repetition_penalty=1.2)],
    ids=["greedy", "sampled"],
)
def test_every_prediction_is_that_of_its_text(dense: LoadedModel, rows: int, sampling: Sampling) -> None:
    """While the main model writes at random: along the tree, beside it, several tokens at once, in mid forward."""
    chance = random.Random(rows)
    talk = conversation(dense, rows, sampling)
    compared = together = 0
    for _ in range(40):
        nodes = talk.next()
        if not nodes:
            nodes = [talk.tree.root]
            talk.commit([chance.randrange(200)])
            nodes = talk.next()
        texts = [talk.tokens + node.path for node in nodes]
        computed = talk.forward(nodes)
        if chance.random() < 0.3:  # while the forward is computed
            talk.commit(written(talk, chance))
        together += len(nodes) > 1
        for node, text, prediction in zip(nodes, texts, computed(), strict=True):
            assert prediction.token == by_itself(dense, text, sampling)
            compared += 1
            if talk.tree.holds(node):
                talk.tree.predict(node, prediction)
        if chance.random() < 0.2:
            talk.commit(written(talk, chance))
    assert compared >= 40
    assert (together > 5) == (rows > 1)


def written(talk: Conversation, chance: random.Random) -> list[int]:
    """What the main model might have written: mostly what was prepared."""
    node = talk.tree.root
    tokens: list[int] = []
    while node.children and chance.random() < 0.8:
        token = chance.choice(list(node.children))
        tokens.append(token)
        node = node.children[token]
    return [*tokens, chance.randrange(200)] if chance.random() < 0.3 or not tokens else tokens


def test_another_conversation_goes_on_from_the_same_beginning(dense: LoadedModel) -> None:
    greedy = Sampling(temperature=0)
    first = conversation(dense, 4, greedy)
    for _ in range(5):
        nodes = first.next()
        for node, prediction in zip(nodes, first.forward(nodes)(), strict=True):
            first.tree.predict(node, prediction)
    caches = first.release()
    assert caches.position == len(PROMPT)
    draft = StationDraft(dense.network, dense.make_caches, dense.logit_width, 4096, frozenset(), 4)
    tokens = [*PROMPT, 7, 8, 9]
    second = Conversation(draft, tokens, Sampler(greedy, 5, dense.logit_width, tokens), Beliefs(), caches)
    (prediction,) = second.forward(second.next())()
    assert isinstance(prediction, Prediction)
    assert prediction.token == by_itself(dense, tokens, greedy)
