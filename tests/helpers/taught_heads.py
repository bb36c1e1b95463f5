"""An EAGLE-3 head that agrees with its main model, as it knows one text by heart; and ways to break it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optimizers
from mlx.utils import tree_flatten

from engine.caches.making import CacheMaker
from engine.decoding.hidden_states import HiddenStates
from engine.drafting.proposers.eagle3 import EagleDrafter
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafters import EagleConfig
from tests.helpers import tiny_drafters as tiny
from tests.helpers.tiny_models import build, qwen3_config


@dataclass(frozen=True)
class Taught:
    """An EAGLE-3 head that knows by heart what its main model says in a text, and what it was taught with."""

    weights: dict[str, mx.array]
    network: Any
    text: mx.array
    verdicts: mx.array

    def head(self, **changes: Any) -> EagleDrafter:
        config = drafter_config(tiny.eagle_config(**TAUGHT | changes), self.weights)
        assert isinstance(config, EagleConfig)
        head = EagleDrafter(config, ModelAccess(self.network))
        named = head.sanitize(self.weights)
        named.pop("t2d", None)
        head.load_weights(list(named.items()), strict=True)
        return head

    def states(self, layers: tuple[int, ...]) -> mx.array:
        hidden = HiddenStates(self.network, layers)
        with hidden.step():
            self.network(self.text[None])
        hidden.keep(0, self.text.size)
        states = hidden.take()[1]
        assert states is not None
        return states


TAUGHT: dict[str, Any] = {"eagle_aux_hidden_state_layer_ids": [2, 3, 4], "draft_vocab_size": 200}


def teach(tokens: int, steps: int) -> Taught:
    """Some seconds of processor time for 100 tokens and 50 steps."""
    network = build(qwen3_config(num_hidden_layers=6))
    mx.random.seed(3)
    text = mx.random.randint(0, 250, (tokens,)).astype(mx.uint32)
    verdicts = mx.argmax(network(text[None])[0], axis=-1)
    weights = tiny.eagle_weights(tiny.eagle_config(**TAUGHT))
    known = sorted({int(token) for token in verdicts.tolist()})  # type: ignore[union-attr,arg-type]
    kept = sorted([*known, *(token for token in range(tiny.VOCABULARY) if token not in known)][:200])
    weights["d2t"] = mx.array(kept) - mx.arange(200)
    weights["layers.0.hidden_norm.weight"] = mx.exp(mx.random.normal((tiny.WIDTH,)))
    start = Taught(weights, network, text, verdicts)
    head = start.head()
    head.freeze(keys=["d2t"], recurse=False)
    optimizer = optimizers.Adam(learning_rate=3e-3)
    states = start.states(head.reads)

    def loss(head: EagleDrafter) -> mx.array:
        own = head.read(text[1:], states[:-1], CacheMaker(head)())
        return nn.losses.cross_entropy(head.logits(own), verdicts[1:]).mean()  # type: ignore[no-any-return]

    for _ in range(steps):
        _, gradients = nn.value_and_grad(head, loss)(head)
        optimizer.update(head, gradients)
        mx.eval(head.parameters(), optimizer.state)
    return replace(start, weights=dict(tree_flatten(head.parameters())))


def knows(taught: Taught, head: EagleDrafter, layers: tuple[int, ...] | None = None, shift: int = 1) -> float:
    """The share of the main model's verdicts in the text that the head drafts."""
    states, last = taught.states(layers or head.reads), taught.text.size - 1
    own = head.read(taught.text[shift : last + shift], states[:last], CacheMaker(head)())
    right = mx.argmax(head.logits(own), axis=-1) == taught.verdicts[1:]
    return float(right.astype(mx.float32).mean().item())  # type: ignore[arg-type]
