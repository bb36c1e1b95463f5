"""How often a drafter's next token is the main model's, on a reply of the main model's own.

A drafter whose layout is misread drafts all the same, and nothing but this shows it: so each is examined once, while
the engine rests, one forward at a time.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from engine.api.errors import EngineError
from engine.api.types import Message, MessageRole, Request, Sampling
from engine.decoding.accept import integers
from engine.decoding.hidden_states import HiddenStates
from engine.decoding.round import plain_round
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.decoding.text import prompt_tokens
from engine.drafting.drafters import proposer_of
from engine.drafting.plans import Plan
from engine.drafting.proposers.base import StateProposer
from engine.prefix.memory import PrefixStore

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

_QUESTION = "Explain in a few sentences why it rains more often in the mountains than at the sea."
_GREEDY = Sampling(temperature=0)
_TOKENS = 48
_LEAST_TOKENS = 16  # a reply that ends before says too little


def agreement(main: LoadedModel, draft: LoadedModel) -> Generator[None, None, float | None]:
    """The share of tokens, None where it cannot be told: main model and drafter take turns, a forward a slice."""
    try:
        tokens = prompt_tokens(Request(messages=(Message(MessageRole.USER, _QUESTION),)), main)
    except EngineError:
        tokens = main.tokenizer.encode(_QUESTION)
    proposer = proposer_of(draft, main, PrefixStore(), 0)
    if len(tokens) < 2 or len(tokens) + _TOKENS > main.info.context_tokens or not isinstance(proposer, StateProposer):
        return None
    sampler = Sampler(_GREEDY, 0, main.logit_width, tokens)
    sequence = Sequence(main, list(tokens))
    states = sequence.hidden_states = HiddenStates(main.network, proposer.layers)
    while sequence.unread > 1:
        yield
        sequence.prefill_chunk()
    guessed: list[int] = []
    written: list[int] = []
    while len(written) < _TOKENS and not (written and written[-1] in main.ends):
        yield
        position, rows = states.take()
        if rows is not None:
            proposer.receive_states(position, rows)
            if proposer.offer(sequence.tokens).most:
                guessed += integers(proposer.propose(sequence.tokens, Plan(proposer.name, 1), sampler).tokens)[:1]
        yield
        emitted = plain_round(sequence, sampler, len).emitted
        proposer.commit(emitted)
        written += emitted
    pairs = list(zip(guessed, written[-len(guessed) :] if guessed else [], strict=True))
    return sum(guess == token for guess, token in pairs) / len(pairs) if len(pairs) >= _LEAST_TOKENS else None
