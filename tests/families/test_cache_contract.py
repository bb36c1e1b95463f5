"""The promise of a cache transaction, for every kind of cache: what was forgotten leaves no trace."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import mlx.core as mx
import pytest
from mlx_lm.models.cache import ConcatenateKVCache, QuantizedKVCache

from engine.api.types import MAX_DRAFT_TOKENS
from engine.caches.base import CacheSet
from engine.caches.eight_bits import CodedCache, EightBitCache
from engine.caches.kinds import CacheMisuse
from engine.caches.replay import Replay
from engine.caches.window import SLACK_TOKENS
from engine.decoding.sequence import Sequence
from engine.models.loading import LoadedModel
from tests.families.configs import VOCABULARY
from tests.families.examine import CLOSE, apart
from tests.families.harness import PROMPT, build, fresh, loaded, says_next

WIDEST = 6
STEPS = [(width, kept) for width in range(1, WIDEST + 1) for kept in range(width + 1)]
STEPS += [(MAX_DRAFT_TOKENS + 1, kept) for kept in (0, 1, 20, MAX_DRAFT_TOKENS + 1)]
LONG = 90  # tokens; by then a window has been cut again and again, and reading longer ones afresh takes long

# Kinds that some family brings along …
OF_FAMILIES = {
    "key-value": "qwen3",
    "window": "gemma3_text",
    "window seen by others": "gemma3n",
    "chunked": "llama4",
    "bundle of key-value caches": "deepseek_v32",
    "gated delta": "qwen3_5",
    "gated delta with three convolutions": "kimi_linear",
    "gated linear": "bailing_hybrid",
    "state space": "mamba2",
    "selective state space": "jamba",
    "state space bundled with key-value": "falcon_h1",
    "short convolution": "lfm2",
    "convolution bundled with window": "baichuan_m1",
    "linear recurrent unit": "recurrent_gemma",
    "token shift": "rwkv7",
    "tokens": "longcat_flash_ngram",
    "of a family's own class": "deepseek_v41",
}
# … and kinds that only somebody who makes caches by hand would use.
BY_HAND: dict[str, Callable[[], Any]] = {
    "quantized": lambda: QuantizedKVCache(group_size=32, bits=8),
    "concatenated": ConcatenateKVCache,
    "eight bits": EightBitCache,
    "codes of eight bits": CodedCache,
}


@cache
def model_with(kind: str) -> LoadedModel:
    if kind in OF_FAMILIES:
        return loaded(build(OF_FAMILIES[kind]))
    network = build("qwen3", head_dim=32)
    layers = len(network.layers)
    caches = lambda: CacheSet([BY_HAND[kind]() for _ in range(layers)], Replay(network))  # noqa: E731
    return cast(LoadedModel, SimpleNamespace(network=network, make_caches=caches, logit_width=VOCABULARY, vision=None))


def assert_as_if_read_afresh(conversation: Sequence) -> None:
    afresh = fresh(conversation.model, conversation.tokens)
    assert apart(says_next(conversation), says_next(afresh)) <= CLOSE


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*OF_FAMILIES, *BY_HAND])
def test_rollback_equals_a_fresh_prefill(kind: str) -> None:
    """For every count of tokens kept of every step, twice in a row; the windows have long wrapped."""
    conversation = fresh(model_with(kind), PROMPT)
    for width, kept in STEPS:
        if len(conversation.tokens) > LONG:
            conversation = fresh(conversation.model, PROMPT)
        for guess in (11, 60):
            tokens = [conversation.tokens[-1], *range(guess, guess + width - 1)]
            mx.eval(conversation.feed(mx.array(tokens)))
            conversation.caches.commit(kept)
            conversation.tokens[-1:] = [*tokens[:kept], guess + kept]
            assert conversation.caches.position == len(conversation.tokens) - 1
        assert_as_if_read_afresh(conversation)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*OF_FAMILIES, *BY_HAND])
def test_rollback_points_lead_back_to_the_end_of_every_step(kind: str) -> None:
    """As a draft does: one token after the other, then back to where the main model went another way."""
    conversation = fresh(model_with(kind), PROMPT)
    start = conversation.caches.position
    for kept in range(5):
        conversation.caches.keep_rollback_points()
        for token in (conversation.tokens[-1], 20, 30, 40):
            mx.async_eval(conversation.feed(mx.array([token])))
            conversation.caches.commit(1)
        conversation.caches.roll_back(start + kept)
        conversation.tokens[-1:] = [*[conversation.tokens[-1], 20, 30, 40][:kept], 50 + kept]
        assert_as_if_read_afresh(conversation)
        start += kept


def test_a_step_that_cannot_be_taken_apart_says_so() -> None:
    """Prefill is not recorded, so of a recurrent chunk either all stands or nothing."""
    conversation = fresh(model_with("gated delta"), PROMPT)
    mx.eval(conversation.feed(mx.array(list(range(1, SLACK_TOKENS + 2)))))
    with pytest.raises(CacheMisuse, match="as a whole"):
        conversation.caches.commit(20)
