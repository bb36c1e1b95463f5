"""Examines a drafter: how many of its tokens are accepted, and whether another reading of its files has more accepted.

A drafter whose layout is read wrongly still drafts, only worse. So each drafter is examined once, while the engine is
idle, one forward at a time. Good drafters differ too much (1.5 to 6 tokens a pass) for a fixed threshold. So other
readings, each with one convention reversed, draft at the same positions; the right reading has more accepted than any
of them.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import mlx.core as mx

from engine.api.errors import EngineError
from engine.api.types import Message, MessageRole, Request, Sampling
from engine.decoding.accept import integers
from engine.decoding.hidden_states import HiddenStates
from engine.decoding.prompt import prompt_tokens
from engine.decoding.round import plain_round
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence as TokenSequence
from engine.decoding.sequence import common_prefix
from engine.drafting.drafters import proposer_of
from engine.drafting.plans import Plan
from engine.drafting.proposers.layers import Changes
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore

_log = logging.getLogger(__name__)

QUESTIONS = (
    "Explain in a few sentences why it rains more often in the mountains than at the sea.",
    "Write a Python function that says whether a number is prime, and explain it line by line.",
    "Give me a recipe for pancakes, step by step.",
)
_GREEDY = Sampling(temperature=0)
_TOKENS = 48  # of each reply
LONGEST = 7  # tokens of a draft
STRIDE = 2  # tokens between two positions where a draft is tried
_LEAST_PLACES = 8  # with fewer positions the result is None
_LEAST_GAIN = 0.1  # least gain of another reading: in tokens a pass, and as a share of the accepted tokens
_HOPE = 0.7  # after each question another reading is dropped below this share of the examined one's accepted tokens
_ERRORS = 4  # standard errors that the gain must exceed as well; MEASURED: misread ones of the starter reach 6 or more

Slices = Generator[None, None, None]


@dataclass(frozen=True, slots=True)
class Examined:
    """`per_pass`: tokens a pass; `misread`: the convention with which, reversed, more are accepted; "": none."""

    per_pass: float
    misread: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a drafter. Its changes are undone after each use, so replies in between do not see them."""

    name: str
    changes: Changes = ()

    @contextmanager
    def applied(self) -> Iterator[None]:
        before = [(part, name, getattr(part, name)) for part, name, _ in self.changes]
        try:
            for part, name, value in self.changes:
                setattr(part, name, value)
            yield
        finally:
            for part, name, value in before:
                setattr(part, name, value)


@dataclass(frozen=True, slots=True)
class _Reply:
    """A prompt and the main model's reply (`tokens`), and `states` of `layers` at all of them but the newest."""

    tokens: list[int]
    prompt: int
    layers: tuple[int, ...]
    states: mx.array

    def states_of(self, layers: Sequence[int], start: int, end: int) -> mx.array:
        width = self.states.shape[1] // len(self.layers)
        columns = [self.layers.index(layer) * width for layer in layers]
        return mx.concatenate([self.states[start:end, at : at + width] for at in columns], axis=-1)


def examination(main: LoadedModel, draft: LoadedModel) -> Generator[None, None, Examined | None]:
    """Examine a drafter in slices of a main model forward or a draft. None: too few positions to compare."""
    if not _layers_of(Reading(""), main, draft):
        return None
    others = [Reading(name, changes) for name, changes in draft.network.other_readings().items()]
    possible = (each for each in others if max(_layers_of(each, main, draft)) < len(main.network.layers))
    readings = [Reading(""), *possible]
    read = tuple(sorted({layer for reading in readings for layer in _layers_of(reading, main, draft)}))
    accepted: dict[str, list[int]] = {reading.name: [] for reading in readings}
    for question in QUESTIONS:
        reply = yield from _reply(main, question, read)
        for reading in readings if reply is not None else ():
            assert reply is not None
            yield from _asked(reading, main, draft, reply, accepted[reading.name])
        if len(accepted[""]) >= _LEAST_PLACES:
            least = _HOPE * sum(accepted[""])
            readings = [reading for reading in readings if sum(accepted[reading.name]) >= least]
    own = accepted.pop("")
    if len(own) < _LEAST_PLACES:
        return None
    better = {
        name: gain for name, found in accepted.items() if len(found) == len(own) and (gain := gain_of(found, own)) > 0
    }
    misread = max(better, key=lambda name: better[name], default="")
    if misread:
        _log.info("%s would be right further with another reading of: %s", draft.source, misread)
    return Examined(1 + sum(own) / len(own), misread)


def _layers_of(reading: Reading, main: LoadedModel, draft: LoadedModel) -> tuple[int, ...]:
    with reading.applied():
        return proposer_of(draft, main, PrefixStore(), 0).layers


def _reply(main: LoadedModel, question: str, layers: tuple[int, ...]) -> Generator[None, None, _Reply | None]:
    try:
        tokens = prompt_tokens(Request(messages=(Message(MessageRole.USER, question),)), main)
    except EngineError:
        tokens = main.tokenizer.encode(question)
    if len(tokens) < 2 or len(tokens) + _TOKENS > main.info.context_tokens:
        return None
    sampler = Sampler(_GREEDY, 0, main.logit_width, tokens)
    sequence = TokenSequence(main, list(tokens))
    kept = sequence.hidden_states = HiddenStates(main.network, layers, main.first_layer)
    with main.alone():
        kept.check(main.network)
    while sequence.uncached > 1:
        yield
        sequence.prefill_chunk()
    while len(sequence.tokens) - len(tokens) < _TOKENS and not (set(sequence.tokens[len(tokens) :]) & set(main.ends)):
        yield
        plain_round(sequence, sampler, len)
    _, states = kept.take()
    return None if states is None else _Reply(list(sequence.tokens), len(tokens), layers, states)


def _asked(reading: Reading, main: LoadedModel, draft: LoadedModel, reply: _Reply, accepted: list[int]) -> Slices:
    """Add to `accepted` the accepted tokens of a draft at each position; 0 where no draft can be made."""
    with reading.applied():
        proposer = proposer_of(draft, main, PrefixStore(), 0)
    sampler = Sampler(_GREEDY, 0, main.logit_width, reply.tokens[: reply.prompt])
    fed = 0
    for end in range(reply.prompt, len(reply.tokens) - LONGEST + 1, STRIDE):
        yield
        tokens = reply.tokens[:end]
        with reading.applied():
            proposer.receive_states(fed, reply.states_of(proposer.layers, fed, end - 1))
            most = min(LONGEST, proposer.offer(tokens).most)
            drafted = integers(proposer.propose(tokens, Plan(proposer.name, most), sampler).tokens) if most else []
            proposer.commit(reply.tokens[end : end + STRIDE])
        accepted.append(common_prefix(drafted[:LONGEST], reply.tokens[end:]))
        fed = end - 1


def gain_of(other: Sequence[int], own: Sequence[int]) -> float:
    """Mean gain of the other reading in tokens a pass, over the same places; 0 unless it is significant."""
    count = len(own)
    differences = [theirs - ours for theirs, ours in zip(other, own, strict=True)]
    mean = sum(differences) / count
    error = math.sqrt(sum((each - mean) ** 2 for each in differences) / count / max(1, count - 1))
    return mean if mean > max(_ERRORS * error, _LEAST_GAIN, _LEAST_GAIN * sum(own) / count) else 0.0
