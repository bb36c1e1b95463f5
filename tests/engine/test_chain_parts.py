"""Drafting token by token, with a network that is a list of logits; and how far back a head looks."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import pytest

from engine import Sampling
from engine.caches.making import CacheMaker
from engine.decoding.accept import Draft, integers
from engine.decoding.sampling import Sampler
from engine.drafting.acceptance import StopRule, Worth
from engine.drafting.plans import Plan
from engine.drafting.proposers.chain import draft_chain
from engine.drafting.proposers.eagle3 import EagleDrafter
from engine.models.access import ModelAccess
from engine.models.drafters import EagleConfig, drafter_config
from tests.helpers import tiny_drafters as tiny
from tests.helpers.tiny_models import build, qwen3_config

LENGTH, WIDTH, TRAINED_ON = 8, 16, 24
SURE, UNSURE = 50.0, 0.1
RULE = StopRule((0.5,) * LENGTH, Worth().by_grade)


class Told:
    """Says 0, 1, 2, … as surely as it is told."""

    def __init__(self, sureness: float) -> None:
        self._sureness, self.steps = sureness, 0

    def logits(self, token: mx.array | None = None) -> mx.array:
        self.steps += token is not None
        return self._sureness * (mx.arange(WIDTH) == self.steps)[None].astype(mx.float32)

    def draft(self, stop: StopRule | None, ends: tuple[int, ...] = ()) -> Draft:
        sampler = Sampler(Sampling(temperature=0), 0, WIDTH, ())
        return draft_chain(self.logits(), self.logits, 0, Plan("draft", LENGTH, stop=stop), sampler, ends)


@pytest.mark.parametrize(("device", "ahead"), [(mx.cpu, 0), (mx.gpu, 1)])
def test_a_draft_goes_on_while_it_is_sure(monkeypatch: pytest.MonkeyPatch, device: mx.DeviceType, ahead: int) -> None:
    """On a GPU, where to wait costs more than a token, one more is under way."""
    monkeypatch.setattr(mx, "default_device", lambda: device)
    assert integers(Told(SURE).draft(RULE).tokens) == list(range(LENGTH))
    assert integers(Told(UNSURE).draft(RULE).tokens) == list(range(1 + ahead))
    assert integers(Told(UNSURE).draft(None).tokens) == list(range(LENGTH))


@pytest.mark.parametrize("ends", [(), (2,)])
def test_probabilities_are_told_where_a_rule_asks_for_them(ends: tuple[int, ...]) -> None:
    told = Told(SURE).draft(RULE, ends)
    assert told.probabilities is not None
    assert told.probabilities.shape == told.tokens.shape
    assert Told(SURE).draft(None, ends).probabilities is None


@pytest.mark.parametrize(("stop", "under_way"), [(None, 2), (RULE, 1)])
def test_the_device_has_work_while_a_token_is_waited_for(stop: StopRule | None, under_way: int) -> None:
    """As much as is drafted in vain where that token is an end."""
    network = Told(SURE)
    assert integers(network.draft(stop, (2,)).tokens) == [0, 1, 2]
    assert network.steps == 2 + under_way


def head(config: dict[str, Any]) -> EagleDrafter:
    weights = tiny.eagle_weights(config)
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, EagleConfig)
    made = EagleDrafter(parsed, ModelAccess(build(qwen3_config())))
    named = made.sanitize(weights)
    named.pop("t2d", None)
    made.load_weights(list(named.items()), strict=True)
    return made


@pytest.mark.parametrize("parts", [(30,), (20, 10), (25, 1, 1, 1, 1, 1)])
def test_a_row_looks_back_over_as_many_as_the_head_was_trained_on(parts: tuple[int, ...]) -> None:
    """However many are read at once."""
    eagle = head(tiny.eagle_config(layer={"max_position_embeddings": TRAINED_ON}))
    mx.random.seed(4)
    tokens, states = mx.arange(30).astype(mx.uint32), mx.random.normal((30, eagle.reads_width))

    def read(states: mx.array) -> mx.array:
        caches, at = CacheMaker(eagle)(), 0
        for width in parts:
            made, at = eagle.read(tokens[at : at + width], states[at : at + width], caches), at + width
        return made[-1]

    def other(row: int) -> mx.array:
        return mx.where(mx.arange(30)[:, None] == row, -states, states)

    whole = read(states)
    assert all(mx.allclose(read(other(row)), whole, atol=1e-5) for row in (0, 30 - TRAINED_ON - 1))
    assert not any(mx.allclose(read(other(row)), whole, atol=1e-5) for row in (30 - TRAINED_ON, 29))


def test_a_head_narrower_than_its_main_model_has_an_embedding_of_its_own() -> None:
    eagle = head(tiny.eagle_config(target_hidden_size=tiny.WIDTH, layer={"hidden_size": 48}))
    states = mx.ones((3, eagle.reads_width))
    one, other = (
        eagle.read(mx.array(tokens, dtype=mx.uint32), states, CacheMaker(eagle)()) for tokens in ([1, 2, 3], [1, 2, 4])
    )
    assert one.shape == (3, 48)
    assert mx.allclose(one[:2], other[:2], atol=1e-6)
    assert not mx.allclose(one[2], other[2], atol=1e-6)
