"""One round at a time, against a network that is asked for every token anew and has no cache."""

from __future__ import annotations

from functools import cache

import mlx.core as mx
import pytest

from engine import LogitsBroken, Sampling
from engine.decoding.accept import NO_TOKEN, Draft, integers
from engine.decoding.round import plain_round, speculative_round, valid_tokens
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from tests.engine.batch_harness import model, prompt
from tests.helpers.lazy_faults import refused
from tests.helpers.samples import sampled

FAMILIES = ["qwen3", "gemma3_text", "qwen3_5"]
PROMPT = prompt(24, salt=5)
PATIENCE_S = 60


@cache
def verdict(family: str, tokens: tuple[int, ...]) -> int:
    (token,) = integers(mx.argmax(model(family).network(mx.array([tokens]))[0, -1:], axis=-1))
    return token


def plain(family: str, length: int) -> list[int]:
    """What the network says after the prompt."""
    tokens = PROMPT
    for _ in range(length):
        tokens += (verdict(family, tokens),)
    return list(tokens[len(PROMPT) :])


def draft_of(family: str, right: int, length: int) -> list[int]:
    """`length` tokens, of which the first `right` are what the network will say."""
    return [*plain(family, right), *((verdict(family, PROMPT) + 1 + at) % 20 for at in range(length - right))]


def begun(family: str, uncached: int = 1) -> tuple[Sequence, Sampler]:
    sequence = Sequence(model(family), list(PROMPT))
    while sequence.uncached > uncached:
        mx.eval(sequence.feed(mx.array(sequence.tokens[sequence.caches.position : len(PROMPT) - uncached])))
        sequence.close_step(len(PROMPT) - uncached)
    return sequence, Sampler(Sampling(temperature=0), 0, model(family).logit_width, PROMPT)


def whole(emitted: list[int]) -> int:
    return len(emitted)


@pytest.mark.costly
@pytest.mark.parametrize(("family", "uncached"), sampled(FAMILIES, [1, 3], rest=pytest.mark.slow))
@pytest.mark.parametrize(("right", "length"), [(0, 1), (0, 4), (2, 2), (2, 5), (4, 4)])
@pytest.mark.parametrize("limit", [1, 2, 3, 9])
def test_a_drafted_round_tells_what_it_did(family: str, uncached: int, right: int, length: int, limit: int) -> None:
    """A reply that ends within the round has drafted and accepted nothing behind its end."""
    sequence, sampler = begun(family, uncached)
    drafted = draft_of(family, right, length)
    assert verdict(family, (*PROMPT, *drafted[:right])) not in drafted[right : right + 1]
    draft = Draft(mx.array(drafted, dtype=mx.uint32))

    done = speculative_round(sequence, sampler, lambda: draft, lambda emitted: min(limit, len(emitted)))

    emitted = plain(family, right + 1)[:limit]
    assert done.emitted == tuple(emitted)
    assert done.accepted == min(right, limit)
    assert done.drafted == (length if limit > right else min(length, limit))
    assert done.draft is draft
    assert (done.draft_s, done.verify_s, done.typical) == (0.0, 0.0, True)
    assert done.seconds > 0
    assert sequence.tokens == [*PROMPT, *emitted]
    assert sequence.uncached == 1
    following = verdict(family, tuple(sequence.tokens))
    assert plain_round(sequence, sampler, whole).emitted == (following,)


@pytest.mark.parametrize("family", FAMILIES)
def test_rounds_that_look_ahead_say_the_same_and_which_are_typical(family: str) -> None:
    """Typical are those with one forward's work: not one that starts the next as well, nor one that finds its own."""
    sequence, sampler = begun(family)
    said, typical = list[int](), list[bool]()
    for look_ahead in (False, True, True, False, False):
        done = plain_round(sequence, sampler, whole, look_ahead=look_ahead)
        said.extend(done.emitted)
        typical.append(done.typical)
        assert (sequence.in_flight is not None) == look_ahead
        assert (done.drafted, done.accepted) == (0, 0)
        assert done.seconds > 0
    assert said == plain(family, 5)
    assert typical == [True, False, True, False, True]


@pytest.mark.parametrize("look_ahead", [False, True])
def test_a_round_that_reads_the_end_of_the_prompt_is_not_typical(look_ahead: bool) -> None:
    sequence, sampler = begun("qwen3", uncached=3)
    done = plain_round(sequence, sampler, whole, look_ahead=look_ahead)
    assert done.emitted == tuple(plain("qwen3", 1))
    assert not done.typical


@pytest.mark.parametrize(
    ("drawn", "stands"), [([4, 5], [4, 5]), ([4, NO_TOKEN, 6], [4]), ([4, 5, 6, NO_TOKEN], [4, 5, 6])]
)
def test_what_comes_before_the_first_token_that_could_not_be_drawn_stands(drawn: list[int], stands: list[int]) -> None:
    sequence, sampler = begun("qwen3")
    assert valid_tokens(drawn, sequence, sampler) == stands


def test_a_round_without_any_token_breaks_the_reply() -> None:
    sequence, sampler = begun("qwen3")
    with pytest.raises(LogitsBroken):
        valid_tokens([NO_TOKEN, 4], sequence, sampler)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_drawn_ahead_is_drawn_with_the_noise_of_its_position(family: str) -> None:
    """So a round that looks ahead, one that does not, and one with a draft all say the same at a temperature, too."""
    said = []
    for look_ahead in ((False,) * 12, (True,) * 11 + (False,), (True, True, False) * 4):
        sequence, _ = begun(family)
        sampler = Sampler(Sampling(temperature=1.5, seed=3), 3, model(family).logit_width, PROMPT)
        for ahead in look_ahead:
            plain_round(sequence, sampler, whole, look_ahead=ahead)
        said.append(sequence.tokens)
    assert said[0] == said[1] == said[2]
    sequence, _ = begun(family)
    sampler = Sampler(Sampling(temperature=1.5, seed=3), 3, model(family).logit_width, PROMPT)
    draft = Draft(mx.array(said[0][len(PROMPT) : len(PROMPT) + 8], dtype=mx.uint32))
    assert speculative_round(sequence, sampler, lambda: draft, whole).accepted == 8
    assert len(set(said[0][len(PROMPT) :])) > 6


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("broken", "timed"), [("tokens", True), ("probabilities", False), ("probabilities", True)])
def test_a_draft_that_cannot_be_computed_costs_a_plain_step(family: str, broken: str, timed: bool) -> None:
    """Its tokens are seen to before they are checked: here where the round is timed, else by `Guarded.propose`."""
    sequence, sampler = begun(family)
    drafts = {
        "tokens": Draft(refused()),
        "probabilities": Draft(mx.array(draft_of(family, 2, 2), dtype=mx.uint32), probabilities=refused()),
    }

    done = speculative_round(sequence, sampler, lambda: drafts[broken], whole, timed=timed)

    assert done.failure is not None
    assert done.emitted == tuple(plain(family, 1))
    assert (done.drafted, done.accepted, done.proposed, done.typical) == (0, 0, 0, False)
    assert 0 < done.seconds < PATIENCE_S
    assert sequence.tokens == [*PROMPT, *done.emitted]
    assert plain_round(sequence, sampler, whole).emitted == tuple(plain(family, 2)[1:])
