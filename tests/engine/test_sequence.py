"""The tokens and the cache of one conversation: how wide a forward is, what may be taken back, what is refused."""

from __future__ import annotations

from dataclasses import replace

import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.decoding.sequence import Sequence, common_prefix, within_vocabulary
from engine.models.loading import LoadedModel
from tests.engine.batch_harness import model, prompt
from tests.families.configs import VOCABULARY

PROMPT = list(prompt(24))


def read(main: LoadedModel, tokens: list[int] = PROMPT) -> Sequence:
    sequence = Sequence(main, list(tokens))
    sequence.prefill_chunk()
    return sequence


class OneWider:
    def padded(self, width: int) -> int:
        return width + 1


def with_context(tokens: int) -> LoadedModel:
    main = model("qwen3")
    return replace(main, info=replace(main.info, context_tokens=tokens))


@pytest.mark.parametrize(("context", "width"), [(26, 3), (27, 4), (28, 4), (2000, 4)])
def test_a_forward_is_padded_only_within_the_context(context: int, width: int) -> None:
    """After 23 tokens; the logits are those of the tokens asked for, and are what an unpadded forward gives."""
    sequence, plain = read(with_context(context)), read(with_context(context))
    sequence.costs = OneWider()
    logits, expected = (one.feed(mx.array([7, 8, 9])) for one in (sequence, plain))
    assert (sequence.caches.width, plain.caches.width) == (width, 3)
    assert logits.shape == (3, VOCABULARY)
    assert mx.allclose(logits, expected, atol=1e-4)


def test_what_cannot_be_forgotten_is_not_padded() -> None:
    sequence = read(model("qwen3"))
    sequence.costs = OneWider()
    sequence.caches.can_roll_back = False
    sequence.feed(mx.array([7, 8, 9]))
    assert sequence.caches.width == 3


@pytest.mark.parametrize("family", ["qwen3", "gemma3_text", "qwen3_5"])
def test_a_step_in_flight_is_taken_back_as_if_it_had_never_been(family: str) -> None:
    sequence, other = read(model(family)), read(model(family))
    first = sequence.feed(mx.array([sequence.tokens[-1]]))
    sequence.close_step(1)
    sequence.in_flight = mx.argmax(sequence.feed(mx.array([9])), axis=-1)
    sequence.discard_in_flight()
    sequence.discard_in_flight()
    assert vars(sequence)["in_flight"] is None
    assert (sequence.caches.width, sequence.caches.position, sequence.uncached) == (0, len(PROMPT), 0)
    second = sequence.feed(mx.array([11]))
    logits = other.feed(mx.array([other.tokens[-1], 11]))
    assert mx.allclose(mx.concatenate([first, second]), logits, atol=1e-3)


def test_the_newest_token_is_read_again_where_the_caches_can_forget_it() -> None:
    sequence = read(model("qwen3"))
    logits = sequence.feed(mx.array([7]))
    sequence.close_step(1)
    sequence.uncache_last()
    assert sequence.caches.position == len(PROMPT) - 1
    assert mx.allclose(sequence.feed(mx.array([7])), logits, atol=1e-4)


def test_the_only_token_is_read_again_and_of_nothing_nothing() -> None:
    sequence = Sequence(model("qwen3"), list(PROMPT))
    sequence.uncache_last()
    assert sequence.caches.position == 0
    sequence.feed(mx.array(PROMPT[:1]))
    sequence.close_step(1)
    sequence.uncache_last()
    assert sequence.caches.position == 0


def test_a_recurrent_state_is_not_read_again() -> None:
    sequence = read(model("qwen3_5"))
    sequence.uncache_last()
    assert sequence.caches.position == len(PROMPT) - 1


def test_tokens_beyond_the_vocabulary_are_read_as_its_last() -> None:
    given_tokens = mx.array([0, VOCABULARY - 2, VOCABULARY - 1, VOCABULARY, 2**32 - 1], dtype=mx.uint32)
    last = VOCABULARY - 1
    assert within_vocabulary(given_tokens, model("qwen3")).tolist() == [0, last - 1, last, last, last]


@given(st.lists(st.integers(0, 2), max_size=8), st.lists(st.integers(0, 2), max_size=8), st.integers(1018, 1026))
def test_the_common_beginning_is_the_longest_that_both_have(a: list[int], b: list[int], before: int) -> None:
    """Also of long ones, and of a list and a tuple."""
    shared = max(length for length in range(9) if length <= min(len(a), len(b)) and a[:length] == b[:length])
    assert common_prefix(a, b) == common_prefix(b, a) == common_prefix(tuple(a), b) == shared
    long = [5] * before
    assert common_prefix(long + a, long + b) == common_prefix(tuple(long + a), long + b) == before + shared
