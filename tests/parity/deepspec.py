"""EAGLE-3 with Gemma 4's layers beside DeepSpec's own code, which no registry has: a checkout of it
has to be on PYTHONPATH (compared at commit afdfa7c), or there are no cases.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any
from unittest.mock import patch

import mlx.core as mx
import torch

from engine.drafting.proposers.eagle3 import EagleDrafter
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafters import EagleConfig
from tests.helpers import tiny_assistants
from tests.helpers import tiny_drafters as tiny
from tests.parity.authors import chain, to_torch

_DEPTH = 5
_WIDTH = tiny_assistants.MAINS["gemma4-large"]["hidden_size"]
_OWN_VALUES = {"attention_k_eq_v": False}
_FITTING = {"hidden_size": _WIDTH, "target_hidden_size": _WIDTH}
EAGLES: dict[str, dict[str, Any]] = {
    "EAGLE-3": tiny.gemma_eagle_config(**_FITTING),
    "EAGLE-3, values of their own": tiny.gemma_eagle_config(**_FITTING, **_OWN_VALUES),
}


def deepspec_cases() -> Iterator[tuple[str, int, int, float]]:
    if find_spec("deepspec") is None:
        return
    torch.set_grad_enabled(False)
    main = tiny_assistants.build_main("gemma4-large")
    for name, config in EAGLES.items():
        yield f"DeepSpec {name}, Gemma 4", *_eagle(main, config)


def _eagle(main: Any, config: dict[str, Any]) -> tuple[int, int, float]:
    from deepspec.modeling import Gemma4Eagle3Model

    weights = tiny.eagle_weights(config, head_norms=True)
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, EagleConfig)
    ours = EagleDrafter(parsed, ModelAccess(main))
    ours.load_weights(list(weights.items()), strict=True)
    theirs = _theirs(Gemma4Eagle3Model, config, weights, main)

    def logits(tokens: list[int], states: mx.array, at: int, steps: int) -> list[mx.array]:
        known, made = theirs.project_hidden_states(to_torch(states)[None]), []
        for step in range(steps):
            rows = at + 1 + step
            out = theirs(hidden_states=known[:, :rows], input_ids=torch.tensor([tokens[:rows]]))
            made.append(mx.array(theirs.compute_logits(out[0, -1:]).numpy()))
            known = torch.cat([known[:, :rows], out[:, -1:]], dim=1)
        return made

    return chain(ours, logits, _DEPTH)


def _rotary(config: Any, layer_type: str) -> Any:
    from transformers.models.gemma4.modeling_gemma4 import Gemma4TextRotaryEmbedding

    assert set(config.layer_types) == {layer_type}
    return Gemma4TextRotaryEmbedding(config)


def _theirs(model: Any, config: dict[str, Any], weights: dict[str, mx.array], main: Any) -> Any:
    """With the main model's embedding and head, as it is trained."""
    from transformers.models.gemma4 import Gemma4TextConfig

    text = tiny_assistants.MAINS["gemma4-large"] | copy.deepcopy(config)
    said = Gemma4TextConfig(**{key: value for key, value in text.items() if key != "architectures"})
    for key, default in (("num_anchors", 1), ("ttt_length", 7), ("step_loss_decay", 0.8)):
        setattr(said, key, default)
    for key in ("global_head_dim", "num_global_key_value_heads"):  # the installed version has them a layer
        setattr(said, key, text[key])
    said._attn_implementation = "eager"
    # Written for transformers 5.10, where a rotation is of one type of layers; now it is told at each call.
    with patch.object(sys.modules[model.__module__], "Gemma4TextRotaryEmbedding", _rotary):
        theirs = model(said).eval()
    embedding = main.language_model.model.embed_tokens.weight
    given = {"embed_tokens.weight": embedding, "lm_head.weight": embedding} | weights
    missing, unexpected = theirs.load_state_dict({name: to_torch(w) for name, w in given.items()}, strict=False)
    assert not missing, missing
    assert not unexpected, unexpected
    return theirs
