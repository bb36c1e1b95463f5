"""P-EAGLE beside speculators', whose training forward is given one draft behind all that was read: its masks and
attention are those of the draft.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mlx.core as mx
import numpy as np
import torch
from speculators.models.peagle import PEagleDraftModel, PEagleSpeculatorConfig, core

from engine.caches.making import CacheMaker
from engine.decoding.accept import integers
from engine.drafting.proposers.layers import widened
from engine.drafting.proposers.peagle import PEagleDrafter
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafters import SEEN_ROWS, EagleConfig
from tests.helpers import tiny_drafters as tiny
from tests.helpers.tiny_models import build, qwen3_config
from tests.parity.authors import larger, speculators_model, to_torch, with_biases

_ROUNDS = 20
_QWEN = {"model_type": "qwen3"}
_WHOLE = tiny.peagle_config(draft_vocab_size=tiny.VOCABULARY)


def _slides(*types: str, window: int) -> dict[str, Any]:
    """Layers of which some slide."""
    return {**_QWEN, "layer_types": list(types), "sliding_window": window, "use_sliding_window": True}


_CASES: dict[str, dict[str, Any]] = {
    "P-EAGLE": tiny.peagle_config(),
    "P-EAGLE, norm before residual": tiny.peagle_config(norm_before_residual=True),
    "P-EAGLE, norm before fc": tiny.peagle_config(norm_before_fc=True),
    "P-EAGLE, norms of layers": tiny.peagle_config(fc_norm=True),
    "P-EAGLE, feeds back normed": tiny.peagle_config(norm_output=True),
    "P-EAGLE, norms of heads": tiny.peagle_config(layer=_QWEN),
    "P-EAGLE, four layers, eight tokens": tiny.peagle_config(layer={"num_hidden_layers": 4})
    | {"speculators_config": {}},
    "P-EAGLE, scaled rotation": tiny.peagle_config(layer=_QWEN | {"rope_scaling": tiny.YARN}),
    "P-EAGLE, biases": tiny.peagle_config(layer={"attention_bias": True}),
    "P-EAGLE, sliding layers": tiny.peagle_config(layer=_slides("sliding_attention", "full_attention", window=12)),
    "P-EAGLE, the whole vocabulary": _WHOLE,
}


def peagle_cases() -> Iterator[tuple[str, int, int, float]]:
    torch.set_grad_enabled(False)
    network = build(qwen3_config())
    for name, config in _CASES.items():
        yield f"speculators {name}", *_compared(network, config, _weights(config))
    untied = _weights(_WHOLE)
    tied = {name: weight for name, weight in untied.items() if name != "lm_head.weight"}
    yield "speculators P-EAGLE, the main model's head", *_compared(network, _WHOLE, tied)
    # Ours sees no further back where no layer slides; theirs is told so.
    context = {"max_position_embeddings": 2 * SEEN_ROWS}
    sliding = tiny.peagle_config(layer=_slides("sliding_attention", "sliding_attention", window=SEEN_ROWS) | context)
    full = tiny.peagle_config(layer=_QWEN | context)
    name = f"speculators P-EAGLE, after {SEEN_ROWS} rows"
    yield name, *_compared(network, full, _weights(full), their_config=sliding, already_read=SEEN_ROWS - 8, rounds=5)


def _weights(config: dict[str, Any]) -> dict[str, mx.array]:
    layer = config["transformer_layer_config"]
    weights = tiny.peagle_weights(config, head_norms=layer["model_type"] == "qwen3")
    return with_biases(weights) if layer.get("attention_bias") else weights


def _compared(
    network: Any,
    config: dict[str, Any],
    weights: dict[str, mx.array],
    *,
    their_config: dict[str, Any] | None = None,
    already_read: int = 0,
    rounds: int = _ROUNDS,
) -> tuple[int, int, float]:
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, EagleConfig)
    ours, d2t = PEagleDrafter(parsed, ModelAccess(network)), weights.get("d2t")
    own = ours.sanitize(weights)
    own.pop("t2d", None)
    ours.load_weights(list(own.items()), strict=True)
    theirs = speculators_model(
        PEagleDraftModel,
        PEagleSpeculatorConfig,
        their_config or config,
        {"lm_head.weight": network.lm_head.weight} | weights,
    )
    caches, tokens, states = CacheMaker(ours)(), list[int](), mx.zeros((0, ours.reads_width))
    mx.random.seed(3)
    differing, error = 0, 0.0
    for turn in range(rounds):
        new = mx.random.normal((1 + 5 * turn % 7 + (0 if turn else already_read), ours.reads_width))
        read = mx.random.randint(0, 250, (new.shape[0],)).astype(mx.uint32)
        tokens, states = tokens + integers(read), mx.concatenate([states, new])
        state = ours.read(read, new, caches)[-1:]
        mine = ours.logits(ours.block(state, ours.tokens, caches))
        wanted = mx.array(_their_rows(theirs, tokens, states, ours.tokens).numpy())
        wanted = wanted if d2t is None else widened(wanted, d2t, tiny.VOCABULARY)
        differing += integers(mx.argmax(mine, axis=-1)) != integers(mx.argmax(wanted, axis=-1))
        error = larger(error, torch.tensor(np.array(mx.where(mine == wanted, 0, mx.abs(mine - wanted)))))
    return rounds, differing, error


def _their_rows(theirs: Any, tokens: list[int], states: mx.array, length: int) -> torch.Tensor:
    """Logits of the last row and of the masked ones behind it."""
    count = len(tokens)
    anchors = torch.tensor([*range(count), *[count - 1] * (length - 1)])
    depths = torch.tensor([0] * count + list(range(1, length)))
    padded = mx.concatenate([states, mx.zeros((length, states.shape[1]))])
    seen: list[torch.Tensor] = []
    hook = theirs.lm_head.register_forward_hook(lambda _module, _given, made: seen.append(made[0, count - 1 :]))
    core.generate_cod_sample_indices = lambda **_: (anchors, depths)
    core.compute_metrics = lambda **_: (None, {})
    theirs(
        hidden_states=to_torch(padded)[None],
        input_ids=torch.tensor([tokens + [0] * length]),
        document_ids=torch.zeros((1, count + length), dtype=torch.long),
        verifier_last_hidden_states=torch.zeros((1, count + length, tiny.WIDTH)),
    )
    hook.remove()
    return seen[0]
