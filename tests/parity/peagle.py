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
from engine.models.drafters import EagleConfig, drafter_config
from tests.helpers import tiny_drafters as tiny
from tests.helpers.tiny_models import build, qwen3_config
from tests.parity.authors import larger, speculators_model, to_torch

_ROUNDS = 20
_CASES: dict[str, dict[str, Any]] = {
    "P-EAGLE": tiny.peagle_config(),
    "P-EAGLE, norm before residual": tiny.peagle_config(norm_before_residual=True),
    "P-EAGLE, norms before fc and of layers": tiny.peagle_config(norm_before_fc=True, fc_norm=True),
    "P-EAGLE, norms of heads": tiny.peagle_config(layer={"model_type": "qwen3"}),
}


def peagle_cases() -> Iterator[tuple[str, int, int, float]]:
    torch.set_grad_enabled(False)
    network = build(qwen3_config())
    for name, config in _CASES.items():
        yield f"speculators {name}", *_compared(network, config)


def _compared(network: Any, config: dict[str, Any]) -> tuple[int, int, float]:
    qwen = config["transformer_layer_config"]["model_type"] == "qwen3"
    weights = tiny.peagle_weights(config, head_norms=qwen)
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, EagleConfig)
    ours = PEagleDrafter(parsed, ModelAccess(network))
    own = ours.sanitize(weights)
    own.pop("t2d")
    ours.load_weights(list(own.items()), strict=True)
    theirs = speculators_model(PEagleDraftModel, PEagleSpeculatorConfig, config, weights)
    caches, tokens, states = CacheMaker(ours)(), list[int](), mx.zeros((0, ours.reads_width))
    mx.random.seed(3)
    differing, error = 0, 0.0
    for turn in range(_ROUNDS):
        new = mx.random.normal((1 + 5 * turn % 7, ours.reads_width))
        read = mx.random.randint(0, 250, (new.shape[0],)).astype(mx.uint32)
        tokens, states = tokens + integers(read), mx.concatenate([states, new])
        state = ours.read(read, new, caches)[-1:]
        mine = ours.logits(ours.ahead(state, ours.tokens, caches))
        narrow = _their_rows(theirs, tokens, states, ours.tokens)
        wanted = widened(mx.array(narrow.numpy()), weights["d2t"], tiny.VOCABULARY)
        differing += integers(mx.argmax(mine, axis=-1)) != integers(mx.argmax(wanted, axis=-1))
        error = larger(error, torch.tensor(np.array(mx.where(mine == wanted, 0, mx.abs(mine - wanted)))))
    return _ROUNDS, differing, error


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
