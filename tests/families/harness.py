"""A tiny network of any family, and its replies: mlx-lm's, plain, and drafted for by one who errs at chosen places."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import mlx.core as mx
from mlx.utils import tree_map_with_path
from mlx_lm.utils import MODEL_REMAPPING

from engine.api.types import Sampling
from engine.caches.eight_bits import EightBitCache
from engine.caches.making import CacheMaker
from engine.decoding.accept import NO_DRAFT, Draft
from engine.decoding.round import Round, plain_round, speculative_round
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence as Conversation
from engine.drafting.plans import Offer, Plan
from engine.drafting.proposers.base import Proposer
from engine.models.loading import LoadedModel
from tests.families.configs import SEEDS, VOCABULARY, config

Network = Any  # an mlx.nn.Module, which ships no types

PROMPT = [(n * n + 5 * n + 3) % 89 + 1 for n in range(42)]  # longer than every window and chunk
REPLY_TOKENS = 56
GREEDY = Sampling(temperature=0)
WARM = Sampling(temperature=0.8, seed=7)

_generate = importlib.import_module("mlx_lm.generate")  # the package exports a function of the same name


def build(family: str, **changes: Any) -> Network:
    module = importlib.import_module(f"mlx_lm.models.{MODEL_REMAPPING.get(family, family)}")
    mx.random.seed(SEEDS.get(family, 3))
    network = module.Model(module.ModelArgs.from_dict(config(family) | changes))
    network.update(tree_map_with_path(_livelier, network.parameters()))
    network.set_dtype(mx.float32)
    network.eval()
    mx.eval(network.parameters())
    return network


def _livelier(path: str, weight: mx.array) -> mx.array:
    """Layers that outweigh the embedding, so that draws vary with the context and tied ones do not stutter.

    Nothing that matters stays at zero.
    """
    if not mx.issubdtype(weight.dtype, mx.floating):
        return mx.random.randint(0, 1 << 30, weight.shape).astype(weight.dtype)
    if "norm" in path and weight.ndim == 1:
        return weight + 0.5 * mx.random.normal(weight.shape).astype(weight.dtype)
    if weight.ndim < 2:
        return weight
    if not mx.any(weight).item():
        return 0.3 * mx.random.normal(weight.shape).astype(weight.dtype)
    return weight * (0.3 if "emb" in path or "wte" in path else 3.0)


def noised(network: Network, noise: float = 0.03) -> Network:
    """The same network, a little off: a draft that is often right."""
    mx.random.seed(1)
    network.update(
        tree_map_with_path(
            lambda _, w: w + noise * mx.std(w) * mx.random.normal(w.shape) if w.ndim > 1 else w, network.parameters()
        )
    )
    mx.eval(network.parameters())
    return network


def loaded(network: Network, eight_bits: type[EightBitCache] | None = None) -> LoadedModel:
    """As much of a loaded model as rounds need: a network and its caches."""
    width = network(mx.array([[1]])).shape[-1]
    info = SimpleNamespace(context_tokens=4096)
    parts = {"info": info, "network": network, "make_caches": CacheMaker(network, eight_bits), "logit_width": width}
    return cast(LoadedModel, SimpleNamespace(**parts, ends=frozenset[int](), translation=None, vision=None))


def mlx_lm_reply(network: Network, tokens: int = REPLY_TOKENS) -> list[int]:
    return [int(token) for token, _ in _generate.generate_step(mx.array(PROMPT), network, max_tokens=tokens)]


@dataclass
class Errant(Proposer):
    """Drafts the plain reply, but for one wrong token: at the next place each round, past the end included.

    So a reply of some rounds sees every count of accepted tokens, from none to all.
    """

    truth: Sequence[int]  # prompt and plain reply
    name: str = "errant"
    rounds: int = 0

    def offer(self, tokens: Sequence[int]) -> Offer:
        return Offer(self.name, len(self.truth) - len(tokens))

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        draft = list(self.truth[len(tokens) : len(tokens) + plan.length])
        if not draft:
            return NO_DRAFT
        wrong = self.rounds % (plan.length + 1)
        if wrong < len(draft):
            draft[wrong] = (draft[wrong] + 1) % VOCABULARY
        self.rounds += 1
        return Draft(mx.array(draft, dtype=mx.uint32))


@dataclass
class Told:
    """A reply, what happened on the way, and what its cache would say next."""

    tokens: list[int]
    conversation: Conversation
    accepted: set[int] = field(default_factory=set)


def reply(
    model: LoadedModel,
    sampling: Sampling = GREEDY,
    proposer: Proposer | None = None,
    length: Callable[[int], int] = lambda _: 0,
    tokens: int = REPLY_TOKENS,
) -> Told:
    """A reply of `tokens` tokens; round number n drafts `length(n)`."""
    conversation = Conversation(model, list(PROMPT))
    while conversation.uncached > 1:
        conversation.prefill_chunk()
    sampler = Sampler(sampling, sampling.seed or 0, model.logit_width, PROMPT)
    told, rounds, target = Told([], conversation), 0, len(PROMPT) + tokens
    while (room := target - len(conversation.tokens)) > 0:
        limit = min(length(rounds), room - 1)
        done = _round(conversation, sampler, proposer, limit)
        rounds += 1
        if done.drafted == length(rounds - 1):
            told.accepted.add(done.accepted)
    told.tokens = conversation.tokens[len(PROMPT) :]
    return told


def _round(conversation: Conversation, sampler: Sampler, proposer: Proposer | None, limit: int) -> Round:
    if proposer is None or not limit:
        return plain_round(conversation, sampler, len)
    plan = Plan(proposer.name, limit)
    done = speculative_round(conversation, sampler, lambda: proposer.propose(conversation.tokens, plan, sampler), len)
    assert done.failure is None
    proposer.commit(done.emitted)
    return done


def says_next(conversation: Conversation) -> mx.array:
    """The logits after all of the conversation; it is as before afterwards."""
    logits = conversation.feed(mx.array(conversation.tokens[conversation.caches.position :]))[-1]
    mx.eval(logits)
    conversation.caches.commit(0)
    return logits


def fresh(model: LoadedModel, tokens: list[int]) -> Conversation:
    """The same conversation, read in one go."""
    conversation = Conversation(model, list(tokens))
    while conversation.uncached > 1:
        conversation.prefill_chunk()
    return conversation
